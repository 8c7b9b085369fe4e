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
import tech.bsdb.tools.rows.RowType.Column;
import tech.bsdb.tools.rows.RowType.Kind;
import tech.bsdb.tools.rows.RowType.Scalar;

/** Checks the constants of a condition against the types of columns, and converts them. */
final class Binding {
  private static final Map<String, Double> NOT_FINITE =
      Map.of(
          "NaN", Double.NaN,
          "Infinity", Double.POSITIVE_INFINITY,
          "-Infinity", Double.NEGATIVE_INFINITY);

  private final Where where;
  private final List<Column> columns;
  private final Map<List<String>, Integer> numbers = new HashMap<>();

  Binding(Where where, List<Column> columns) {
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
      int column = number(compare.column());
      Scalar type = scalar(compare.column());
      return isNull(type)
          ? new RowTest.Always(Verdict.NO)
          : new RowTest.Comparison(
              column, compare.comparator(), operand(compare.column(), type, compare.literal()));
    }
    if (condition instanceof Condition.In in) {
      return in(in);
    }
    if (condition instanceof Condition.IsNull test) {
      scalar(test.column());
      return new RowTest.NullTest(number(test.column()), test.not());
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
    if (isNull(type)) {
      return new RowTest.Always(Verdict.NO);
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
    if (isNull(type)) {
      return new RowTest.Always(Verdict.NO);
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

  private Scalar scalar(ColumnName column) throws ConditionException {
    Column found = columns.get(number(column));
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
    boolean number = literal instanceof Literal.Number;
    switch (type.kind()) {
      case BOOLEAN:
        if (literal instanceof Literal.Truth truth) {
          return new Operand.Bit(truth.value());
        }
        throw differs(column, type, literal, "write TRUE or FALSE");
      case INT, LONG:
        if (literal instanceof Literal.Number exact) {
          return Operand.Whole.of(exact.value());
        }
        throw differs(column, type, literal, "write a number without quotes");
      case DECIMAL:
        if (literal instanceof Literal.Number exact) {
          return Operand.Unscaled.of(exact.value().movePointRight(type.second()));
        }
        throw differs(column, type, literal, "write a number without quotes");
      case FLOAT, DOUBLE:
        return real(column, type, literal);
      case STRING:
        if (literal instanceof Literal.Text text) {
          return new Operand.Octets(text.value().getBytes(UTF_8), true);
        }
        throw differs(column, type, literal, number ? "write it in single quotes" : "write 'text'");
      case BYTES, FIXED:
        if (literal instanceof Literal.Bytes bytes) {
          return new Operand.Octets(bytes.value(), type.kind() == Kind.BYTES);
        }
        throw differs(
            column,
            type,
            literal,
            "write its bytes: X'%s'"
                .formatted(
                    literal instanceof Literal.Text text
                        ? HexFormat.of().withUpperCase().formatHex(text.value().getBytes(UTF_8))
                        : "00FF"));
      case UUID:
        return uuid(column, type, literal);
      case DATE:
        if (literal instanceof Literal.Day day) {
          return Operand.Whole.of(BigDecimal.valueOf(day.value().toEpochDay()));
        }
        throw differs(column, type, literal, "write DATE '2026-01-31'");
      case TIME:
        if (literal instanceof Literal.TimeOfDay time) {
          return units(BigDecimal.valueOf(time.value().toNanoOfDay(), 9), type);
        }
        throw differs(column, type, literal, "write TIME '12:34:56'");
      case TIMESTAMP, LOCAL_TIMESTAMP:
        return timestamp(column, type, literal);
      default:
        throw where.refused(
            column,
            "column %s is %s, which can only be tested with IS NULL and IS NOT NULL"
                .formatted(column.text(), type.describe()));
    }
  }

  private Operand real(ColumnName column, Scalar type, Literal literal) throws ConditionException {
    boolean single = type.kind() == Kind.FLOAT;
    if (literal instanceof Literal.Number exact) {
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
      LocalDateTime time = timestamp.value();
      ZoneOffset offset = timestamp.offset();
      long seconds = time.toEpochSecond(offset == null ? ZoneOffset.UTC : offset);
      return units(BigDecimal.valueOf(seconds).add(BigDecimal.valueOf(time.getNano(), 9)), type);
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
