package tech.bsdb.lake.iceberg;

import java.math.BigDecimal;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import org.apache.iceberg.Schema;
import org.apache.iceberg.expressions.Expression;
import org.apache.iceberg.expressions.Expressions;
import org.apache.iceberg.types.Types.NestedField;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.rows.RowType.Kind;
import tech.bsdb.tools.rows.RowType.Scalar;
import tech.bsdb.tools.where.ColumnName;
import tech.bsdb.tools.where.Condition;
import tech.bsdb.tools.where.Literal;

/**
 * Conditions as Iceberg's expressions, with which its plans leave out files by their partitions and
 * statistics. An expression is true at least where the condition is: what cannot be translated
 * exactly is true. That includes floating-point numbers, since Iceberg's statistics know no NaN.
 *
 * @param schema the columns
 */
record IcebergFilter(Schema schema) {
  Expression of(Condition condition) {
    if (condition instanceof Condition.And and) {
      return and.parts().stream().map(this::of).reduce(Expressions.alwaysTrue(), Expressions::and);
    }
    if (condition instanceof Condition.Or or) {
      return or.parts().stream().map(this::of).reduce(Expressions.alwaysFalse(), Expressions::or);
    }
    if (condition instanceof Condition.Constant constant) {
      return constant.value() ? Expressions.alwaysTrue() : Expressions.alwaysFalse();
    }
    if (condition instanceof Condition.Compare compare) {
      return compare(compare);
    }
    return condition instanceof Condition.In in ? in(in) : Expressions.alwaysTrue();
  }

  private Expression compare(Condition.Compare compare) {
    NestedField field = field(compare.column());
    Object value = field == null ? null : value(field, compare.literal());
    if (field == null || value == null) {
      return Expressions.alwaysTrue();
    }
    String name = field.name();
    return switch (compare.comparator()) {
      case EQUAL -> Expressions.equal(name, value);
      case NOT_EQUAL -> Expressions.notEqual(name, value);
      case LESS -> Expressions.lessThan(name, value);
      case AT_MOST -> Expressions.lessThanOrEqual(name, value);
      case GREATER -> Expressions.greaterThan(name, value);
      case AT_LEAST -> Expressions.greaterThanOrEqual(name, value);
    };
  }

  private Expression in(Condition.In in) {
    NestedField field = field(in.column());
    if (field == null) {
      return Expressions.alwaysTrue();
    }
    List<Object> values = new ArrayList<>();
    for (Literal literal : in.literals()) {
      Object value = value(field, literal);
      if (value == null) {
        return Expressions.alwaysTrue();
      }
      values.add(value);
    }
    return in.not()
        ? Expressions.notIn(field.name(), values)
        : Expressions.in(field.name(), values);
  }

  private @Nullable NestedField field(ColumnName column) {
    return column.parts().size() == 1 ? schema.asStruct().field(column.parts().get(0)) : null;
  }

  /** Returns a constant as Iceberg compares it with a column; null if it cannot do so exactly. */
  private static @Nullable Object value(NestedField field, Literal literal) {
    if (IcebergType.unreadable(field.type()).isPresent() || !field.type().isPrimitiveType()) {
      return null;
    }
    Scalar type = (Scalar) IcebergType.column(field).type();
    if (literal instanceof Literal.Numeral numeral) {
      return number(type, numeral.value());
    }
    if (literal instanceof Literal.Text text) {
      return type.kind() == Kind.STRING ? text.value() : null;
    }
    if (literal instanceof Literal.Day day) {
      return type.kind() == Kind.DATE ? (Object) (int) day.value().toEpochDay() : null;
    }
    if (literal instanceof Literal.Timestamp time) {
      ZoneOffset offset = time.offset();
      return type.equals(Scalar.time(Kind.TIMESTAMP, 6)) && offset != null
          ? micros(time.value().minusSeconds(offset.getTotalSeconds()))
          : type.equals(Scalar.time(Kind.LOCAL_TIMESTAMP, 6)) && offset == null
              ? micros(time.value())
              : null;
    }
    return null;
  }

  private static @Nullable Object number(Scalar type, BigDecimal number) {
    try {
      return switch (type.kind()) {
        case INT -> number.intValueExact();
        case LONG -> number.longValueExact();
        case DECIMAL -> number.setScale(type.second()); // of the same scale, or none
        default -> null;
      };
    } catch (ArithmeticException notOne) {
      return null;
    }
  }

  private static @Nullable Long micros(LocalDateTime time) {
    return time.truncatedTo(ChronoUnit.MICROS).equals(time)
        ? ChronoUnit.MICROS.between(LocalDateTime.ofEpochSecond(0, 0, ZoneOffset.UTC), time)
        : null;
  }
}
