package tech.bsdb.tools.where;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.rows.RowType.Column;
import tech.bsdb.tools.rows.RowType.Kind;
import tech.bsdb.tools.rows.RowType.Scalar;

/** Checks the constants of a condition against the types of columns, and converts them. */
final class Binding {
  private static final long SECONDS_OF_DAY = 86_400;

  private static final Map<String, Double> NOT_FINITE =
      Map.of(
          "NaN", Double.NaN,
          "Infinity", Double.POSITIVE_INFINITY,
          "-Infinity", Double.NEGATIVE_INFINITY);

  private final Where where;
  private final List<@Nullable Column> columns;
  private final Map<List<String>, Integer> numbers = new HashMap<>();

  Binding(Where where, List<@Nullable Column> columns) {
    this.where = where;
    this.columns = columns;
    for (ColumnName column : where.columns()) {
      numbers.put(column.parts(), numbers.size());
    }
    if (columns.size() != numbers.size()) {
      throw new IllegalArgumentException(columns.size() + " columns, not " + numbers.size());
    }
  }

  RowTest of(Condition condition) throws ConditionException {
    if (condition instanceof Condition.And and) {
      return new RowTest.AllOf(all(and.parts()));
    }
    if (condition instanceof Condition.Or or) {
      return new RowTest.AnyOf(all(or.parts()));
    }
    if (condition instanceof Condition.Compare compare) {
      Scalar type = scalar(compare.column());
      return type == null || isNull(type)
          ? fixed(type)
          : new RowTest.Comparison(
              number(compare.column()),
              compare.comparator(),
              operand(compare.column(), type, compare.literal()));
    }
    if (condition instanceof Condition.In in) {
      return in(in);
    }
    if (condition instanceof Condition.IsNull test) {
      return scalar(test.column()) == null
          ? fixed(null)
          : new RowTest.NullTest(number(test.column()), test.not());
    }
    if (condition instanceof Condition.Like like) {
      return like(like);
    }
    return new RowTest.Always(Verdict.of(((Condition.Constant) condition).value()));
  }

  private List<RowTest> all(List<Condition> conditions) throws ConditionException {
    List<RowTest> tests = new ArrayList<>();
    for (Condition condition : conditions) {
      tests.add(of(condition));
    }
    return tests;
  }

  private RowTest in(Condition.In in) throws ConditionException {
    Scalar type = scalar(in.column());
    if (type == null || isNull(type)) {
      return fixed(type);
    }
    List<Operand> operands = new ArrayList<>();
    for (Literal literal : in.literals()) {
      operands.add(operand(in.column(), type, literal));
    }
    operands.sort(null);
    return new RowTest.Membership(number(in.column()), operands, in.not());
  }

  private RowTest like(Condition.Like like) throws ConditionException {
    Scalar type = scalar(like.column());
    if (type == null || isNull(type)) {
      return fixed(type);
    }
    if (type.kind() != Kind.STRING) {
      throw new ConditionException(
          where.text(),
          like.pattern().position(),
          "LIKE is for text, but column %s is %s".formatted(like.column().text(), type.describe()));
    }
    return new RowTest.TextMatch(number(like.column()), like.pattern(), like.not());
  }

  private int number(ColumnName column) {
    return numbers.getOrDefault(column.parts(), -1);
  }

  private static boolean isNull(Scalar type) {
    return type.kind() == Kind.NULL;
  }

  /** Returns what compares a value that is always null, or of which nothing is known. */
  private static RowTest fixed(@Nullable Scalar type) {
    return new RowTest.Always(type == null ? Verdict.MAYBE : Verdict.NO);
  }

  /** Returns the type of a column; null if nothing is known of it. */
  private @Nullable Scalar scalar(ColumnName column) throws ConditionException {
    Column found = columns.get(number(column));
    if (found == null) {
      return null;
    }
    if (found.type() instanceof Scalar scalar) {
      return scalar;
    }
    throw where.refused(
        column,
        "column %s is a %s; conditions are about single values, such as the fields of structs (a.b)"
            .formatted(column.text(), found.type().describe()));
  }

  private Operand operand(ColumnName column, Scalar type, Literal literal)
      throws ConditionException {
    return switch (type.kind()) {
      case BOOLEAN -> {
        if (literal instanceof Literal.Truth truth) {
          yield new Operand.Bit(truth.value());
        }
        throw differs(column, type, literal, "write TRUE or FALSE");
      }
      case INT, LONG, DECIMAL -> {
        if (!(literal instanceof Literal.Numeral exact)) {
          throw differs(column, type, literal, "write a number without quotes");
        }
        yield type.kind() == Kind.DECIMAL
            ? Operand.Unscaled.of(exact.value().movePointRight(type.second()))
            : Operand.Whole.of(exact.value());
      }
      case FLOAT, DOUBLE -> real(column, type, literal);
      case STRING -> {
        if (literal instanceof Literal.Text text) {
          yield new Operand.Octets(text.value().getBytes(UTF_8), true);
        }
        throw differs(
            column,
            type,
            literal,
            literal instanceof Literal.Numeral ? "write it in single quotes" : "write 'text'");
      }
      case BYTES, FIXED -> bytes(column, type, literal);
      case UUID -> uuid(column, type, literal);
      case DATE -> {
        if (literal instanceof Literal.Day day) {
          yield Operand.Whole.of(BigDecimal.valueOf(day.value().toEpochDay()));
        }
        throw differs(column, type, literal, "write DATE '2026-01-31'");
      }
      case TIME -> {
        if (literal instanceof Literal.TimeOfDay time) {
          yield units(BigDecimal.valueOf(time.value().toNanoOfDay(), 9), type);
        }
        throw differs(column, type, literal, "write TIME '12:34:56'");
      }
      case TIMESTAMP, LOCAL_TIMESTAMP -> timestamp(column, type, literal);
      case NULL, INTERVAL ->
          throw where.refused(
              column,
              "column %s is %s, which can only be tested with IS NULL and IS NOT NULL"
                  .formatted(column.text(), type.describe()));
    };
  }

  private Operand bytes(ColumnName column, Scalar type, Literal literal) throws ConditionException {
    if (literal instanceof Literal.Bytes bytes) {
      return new Operand.Octets(bytes.value(), type.kind() == Kind.BYTES);
    }
    String form =
        literal instanceof Literal.Text text
            ? HexFormat.of().withUpperCase().formatHex(text.value().getBytes(UTF_8))
            : "00FF";
    throw differs(column, type, literal, "write its bytes: X'" + form + "'");
  }

  private Operand real(ColumnName column, Scalar type, Literal literal) throws ConditionException {
    boolean single = type.kind() == Kind.FLOAT;
    if (literal instanceof Literal.Numeral exact) {
      return new Operand.Real(
          single ? exact.value().floatValue() : exact.value().doubleValue(), single);
    }
    Double other = literal instanceof Literal.Text text ? NOT_FINITE.get(text.value()) : null;
    if (other == null) {
      throw differs(
          column,
          type,
          literal,
          "write a number without quotes, or 'NaN', 'Infinity' or '-Infinity'");
    }
    return new Operand.Real(other, single);
  }

  private Operand uuid(ColumnName column, Scalar type, Literal literal) throws ConditionException {
    if (literal instanceof Literal.Text text && text.value().length() == 36) {
      try {
        UUID uuid = UUID.fromString(text.value());
        return new Operand.Octets(
            ByteBuffer.allocate(16)
                .putLong(uuid.getMostSignificantBits())
                .putLong(uuid.getLeastSignificantBits())
                .array(),
            false);
      } catch (IllegalArgumentException notOne) {
        // as below
      }
    }
    throw differs(column, type, literal, "write '00112233-4455-6677-8899-aabbccddeeff'");
  }

  private Operand timestamp(ColumnName column, Scalar type, Literal literal)
      throws ConditionException {
    boolean local = type.kind() == Kind.LOCAL_TIMESTAMP;
    if (literal instanceof Literal.Timestamp timestamp && local == (timestamp.offset() == null)) {
      ZoneOffset offset = timestamp.offset();
      LocalDateTime time = timestamp.value();
      long seconds =
          time.toLocalDate().toEpochDay() * SECONDS_OF_DAY
              - (offset == null ? 0 : offset.getTotalSeconds());
      BigDecimal ofDay = BigDecimal.valueOf(time.toLocalTime().toNanoOfDay(), 9);
      return units(BigDecimal.valueOf(seconds).add(ofDay), type);
    }
    throw differs(
        column,
        type,
        literal,
        local
            ? "write TIMESTAMP '2026-01-31 12:34:56' without a time zone"
            : "write a time zone: TIMESTAMP '2026-01-31 12:34:56Z', or with +01:00 instead of Z");
  }

  private static Operand units(BigDecimal seconds, Scalar type) {
    return Operand.Whole.of(seconds.movePointRight(type.first()));
  }

  private ConditionException differs(ColumnName column, Scalar type, Literal literal, String tip) {
    return new ConditionException(
        where.text(),
        literal.position(),
        "column %s is %s and cannot be compared with %s (%s)"
            .formatted(column.text(), type.describe(), literal.describe(), tip));
  }
}
