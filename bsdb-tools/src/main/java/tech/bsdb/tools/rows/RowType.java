package tech.bsdb.tools.rows;

import java.util.List;
import java.util.Locale;

/**
 * The logical type of a column, independent of its storage. Immutable.
 *
 * <p>Two files agree on a column if its types are equal.
 */
public sealed interface RowType {

  /** Describes the type, for messages. */
  String describe();

  /** Returns the nesting depth of records, lists and maps. */
  int depth();

  /** A column, a field of a struct, or an element. */
  record Column(String name, RowType type, boolean nullable) {
    /** Returns this column, nullable or not. */
    public Column withNullable(boolean nullable) {
      return new Column(name, type, nullable);
    }
  }

  /** The kind of a scalar value. */
  enum Kind {
    NULL,
    BOOLEAN,
    INT,
    LONG,
    FLOAT,
    DOUBLE,
    /** Parameters: precision and scale. */
    DECIMAL,
    DATE,
    /** A time of day. Parameter, as of timestamps: the fraction digits of the unit, 3, 6 or 9. */
    TIME,
    /** An instant. */
    TIMESTAMP,
    /** A date and time without a time zone. */
    LOCAL_TIMESTAMP,
    STRING,
    BYTES,
    /** Parameter: the length. */
    FIXED,
    UUID,
    INTERVAL;

    /** The name of the kind in messages. */
    private String word() {
      return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
  }

  /**
   * A scalar type.
   *
   * @param first the precision of a decimal, the length of a fixed value, or the fraction digits of
   *     a time or timestamp; else 0
   * @param second the scale of a decimal; else 0
   */
  record Scalar(Kind kind, int first, int second) implements RowType {
    /** Returns the type of a kind that has no parameters. */
    public static Scalar of(Kind kind) {
      return new Scalar(kind, 0, 0);
    }

    /** Returns the type of decimals. */
    public static Scalar decimal(int precision, int scale) {
      return new Scalar(Kind.DECIMAL, precision, scale);
    }

    /** Returns the type of values of one length. */
    public static Scalar fixed(int length) {
      return new Scalar(Kind.FIXED, length, 0);
    }

    /** Returns the type of times or timestamps in a unit with 3, 6 or 9 fraction digits. */
    public static Scalar time(Kind kind, int digits) {
      return new Scalar(kind, digits, 0);
    }

    @Override
    public int depth() {
      return 0;
    }

    /** Describes the type; of dates and times, it is the name of Avro's logical type. */
    @Override
    public String describe() {
      return switch (kind) {
        case DECIMAL -> kind.word() + "(" + first + "," + second + ")";
        case FIXED -> kind.word() + "(" + first + ")";
        case TIME, TIMESTAMP, LOCAL_TIMESTAMP ->
            kind.word() + (first == 3 ? "-millis" : first == 6 ? "-micros" : "-nanos");
        default -> kind.word();
      };
    }
  }

  /** Named fields. */
  record Struct(List<Column> fields) implements RowType {
    /** Copies the list. */
    public Struct {
      fields = List.copyOf(fields);
    }

    @Override
    public int depth() {
      return 1 + fields.stream().mapToInt(field -> field.type().depth()).max().orElse(0);
    }

    @Override
    public String describe() {
      return "struct";
    }
  }

  /** Any number of elements. */
  record ListOf(Column element) implements RowType {
    @Override
    public int depth() {
      return 1 + element.type().depth();
    }

    @Override
    public String describe() {
      return "list of " + element.type().describe();
    }
  }

  /** Values by string keys. */
  record MapOf(Column value) implements RowType {
    @Override
    public int depth() {
      return 1 + value.type().depth();
    }

    @Override
    public String describe() {
      return "map of string to " + value.type().describe();
    }
  }

  /** Values by keys that are not strings. */
  record Pairs(Column key, Column value) implements RowType {
    @Override
    public int depth() {
      return 2 + Math.max(key.type().depth(), value.type().depth());
    }

    @Override
    public String describe() {
      return "map of " + key.type().describe() + " to " + value.type().describe();
    }
  }
}
