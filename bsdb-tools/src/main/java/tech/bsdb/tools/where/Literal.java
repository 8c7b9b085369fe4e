package tech.bsdb.tools.where;

import java.math.BigDecimal;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.ZoneOffset;
import org.jspecify.annotations.Nullable;

/** A constant in a condition. */
public sealed interface Literal {
  /** Returns where in the condition it is, from 0. */
  int position();

  /** Says what kind of constant it is, for messages. */
  String describe();

  /** A number of any size, exactly as written. */
  record Numeral(BigDecimal value, int position) implements Literal {
    @Override
    public String describe() {
      return "a number";
    }
  }

  /** Text in quotes. */
  record Text(String value, int position) implements Literal {
    @Override
    public String describe() {
      return "text";
    }
  }

  /** TRUE or FALSE. */
  record Truth(boolean value, int position) implements Literal {
    @Override
    public String describe() {
      return "TRUE or FALSE";
    }
  }

  /** Bytes. */
  record Bytes(byte[] value, int position) implements Literal {
    @Override
    public String describe() {
      return "bytes";
    }
  }

  /** A day. */
  record Day(LocalDate value, int position) implements Literal {
    @Override
    public String describe() {
      return "a DATE";
    }
  }

  /** A time of day. */
  record TimeOfDay(LocalTime value, int position) implements Literal {
    @Override
    public String describe() {
      return "a TIME";
    }
  }

  /**
   * A date and time.
   *
   * @param offset its time zone; null if it has none
   */
  record Timestamp(LocalDateTime value, @Nullable ZoneOffset offset, int position)
      implements Literal {
    @Override
    public String describe() {
      return "a TIMESTAMP " + (offset == null ? "without" : "with") + " a time zone";
    }
  }
}
