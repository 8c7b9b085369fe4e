package tech.bsdb.tools.parquet;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import org.apache.parquet.filter2.predicate.FilterApi;
import org.apache.parquet.filter2.predicate.FilterPredicate;
import org.apache.parquet.filter2.predicate.Operators;
import org.apache.parquet.io.api.Binary;
import org.apache.parquet.schema.LogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.DateLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.DecimalLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.EnumLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.IntLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.JsonLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.StringLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.TimeLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.TimestampLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.UUIDLogicalTypeAnnotation;
import org.apache.parquet.schema.MessageType;
import org.apache.parquet.schema.PrimitiveType;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.where.Condition.Comparator;
import tech.bsdb.tools.where.LikePattern;
import tech.bsdb.tools.where.Operand;
import tech.bsdb.tools.where.RowTest;

/**
 * Predicates on the values of one column as the file stores them. Immutable.
 *
 * @param <T> the class of stored values
 * @param <C> the class of the column
 * @param column the column
 * @param convert converts a constant; empty if the type cannot store it
 * @param exact whether equal values are stored as equal bytes
 * @param ordered whether the order of the statistics is that of conditions. It is not for
 *     floating-point numbers, among which statistics do not count NaN: a maximum says nothing
 */
record ColumnPredicates<
    T extends Comparable<T>, C extends Operators.Column<T> & Operators.SupportsLtGt>(
    C column, Function<Operand, Optional<Bound<T>>> convert, boolean exact, boolean ordered) {
  private static final int MAX_EXCLUDED = 100;

  /**
   * A constant as the file would store it.
   *
   * @param floor the constant, or the largest value below it
   * @param whole whether it is the constant
   */
  private record Bound<T>(T floor, boolean whole) {}

  /**
   * Translates a test; empty if there is no predicate that is true wherever it is.
   *
   * <p>For what must be read, such as a dictionary, a list of constants stays one predicate, so
   * that it is read once. Of statistics, the library would then ask only where the smallest and the
   * largest constant are.
   */
  @FunctionalInterface
  interface Translation {
    Optional<FilterPredicate> of(RowTest test, boolean content);
  }

  /** Returns the translation for the column at a path; it translates nothing if it is in doubt. */
  static Translation of(List<String> path, MessageType file, LegacyCalendar calendar) {
    PrimitiveType type = file.getColumnDescription(path.toArray(new String[0])).getPrimitiveType();
    String name = String.join(".", path);
    if (path.stream().anyMatch(part -> part.contains(".")) || !isKnown(type, calendar)) {
      return (test, content) -> Optional.empty(); // the library would split the name
    }
    return switch (type.getPrimitiveTypeName()) {
      case BOOLEAN -> (test, content) -> ofBoolean(FilterApi.booleanColumn(name), test);
      case INT32 ->
          new ColumnPredicates<>(
                  FilterApi.intColumn(name),
                  operand -> number(operand, type, Integer.SIZE).map(ColumnPredicates::narrow),
                  true,
                  true)
              ::translated;
      case INT64 ->
          new ColumnPredicates<>(
                  FilterApi.longColumn(name),
                  operand -> number(operand, type, Long.SIZE).map(ColumnPredicates::wide),
                  true,
                  true)
              ::translated;
      case FLOAT ->
          new ColumnPredicates<>(
                  FilterApi.floatColumn(name),
                  operand -> real(operand).map(real -> new Bound<>((float) (double) real, true)),
                  true,
                  false)
              ::translated;
      case DOUBLE ->
          new ColumnPredicates<>(
                  FilterApi.doubleColumn(name),
                  operand -> real(operand).map(real -> new Bound<>(real, true)),
                  true,
                  false)
              ::translated;
      case BINARY, FIXED_LEN_BYTE_ARRAY -> {
        boolean decimal = type.getLogicalTypeAnnotation() instanceof DecimalLogicalTypeAnnotation;
        yield new ColumnPredicates<>(
                FilterApi.binaryColumn(name),
                decimal ? operand -> unscaled(operand, type) : ColumnPredicates::octets,
                !decimal,
                true)
            ::translated;
      }
      case INT96 -> (test, content) -> Optional.empty();
    };
  }

  /** Whether values are stored as conditions see them, and in the order of conditions. */
  private static boolean isKnown(PrimitiveType type, LegacyCalendar calendar) {
    LogicalTypeAnnotation annotation = type.getLogicalTypeAnnotation();
    if (annotation == null) {
      return true;
    }
    return switch (type.getPrimitiveTypeName()) {
      case INT32, INT64 ->
          annotation instanceof IntLogicalTypeAnnotation
              || annotation instanceof DecimalLogicalTypeAnnotation
              || annotation instanceof TimeLogicalTypeAnnotation
              || (!calendar.dates()
                  && (annotation instanceof DateLogicalTypeAnnotation
                      || annotation instanceof TimestampLogicalTypeAnnotation));
      case BINARY, FIXED_LEN_BYTE_ARRAY ->
          annotation instanceof StringLogicalTypeAnnotation
              || annotation instanceof EnumLogicalTypeAnnotation
              || annotation instanceof JsonLogicalTypeAnnotation
              || annotation instanceof UUIDLogicalTypeAnnotation
              || annotation instanceof DecimalLogicalTypeAnnotation;
      default -> false;
    };
  }

  private static Optional<FilterPredicate> ofBoolean(Operators.BooleanColumn column, RowTest test) {
    if (test instanceof RowTest.NullTest nulls) {
      return Optional.of(nulls.not() ? FilterApi.notEq(column, null) : FilterApi.eq(column, null));
    }
    if (test instanceof RowTest.Comparison comparison
        && comparison.operand() instanceof Operand.Bit bit) {
      return switch (comparison.comparator()) {
        case EQUAL -> Optional.of(FilterApi.eq(column, bit.bit()));
        case NOT_EQUAL -> Optional.of(FilterApi.eq(column, !bit.bit()));
        default -> Optional.empty();
      };
    }
    return Optional.empty();
  }

  /** Converts a constant for integers; empty if it is beyond those of the type. */
  private static Optional<Bound<BigInteger>> number(Operand operand, PrimitiveType type, int bits) {
    boolean unsigned =
        type.getLogicalTypeAnnotation() instanceof IntLogicalTypeAnnotation number
            && !number.isSigned();
    return number(operand)
        .filter(
            bound ->
                unsigned
                    ? bound.floor().signum() >= 0 && bound.floor().bitLength() <= bits
                    : bound.floor().bitLength() < bits);
  }

  private static Optional<Bound<BigInteger>> number(Operand operand) {
    if (operand instanceof Operand.Whole whole) {
      return whole.ifFloor() > 0
          ? Optional.empty()
          : Optional.of(new Bound<>(BigInteger.valueOf(whole.floor()), whole.ifFloor() == 0));
    }
    if (operand instanceof Operand.Unscaled unscaled) {
      BigInteger floor = Operand.Whole.floor(unscaled.number());
      return Optional.of(
          new Bound<>(floor, new BigDecimal(floor).compareTo(unscaled.number()) == 0));
    }
    return Optional.empty();
  }

  private static Bound<Integer> narrow(Bound<BigInteger> bound) {
    return new Bound<>(bound.floor().intValue(), bound.whole());
  }

  private static Bound<Long> wide(Bound<BigInteger> bound) {
    return new Bound<>(bound.floor().longValue(), bound.whole());
  }

  private static Optional<Double> real(Operand operand) {
    return operand instanceof Operand.Real real && !Double.isNaN(real.number())
        ? Optional.of(real.number())
        : Optional.empty();
  }

  private static Optional<Bound<Binary>> octets(Operand operand) {
    return operand instanceof Operand.Octets octets
        ? Optional.of(new Bound<>(Binary.fromConstantByteArray(octets.bytes()), true))
        : Optional.empty();
  }

  private static Optional<Bound<Binary>> unscaled(Operand operand, PrimitiveType type) {
    boolean fixed =
        type.getPrimitiveTypeName() == PrimitiveType.PrimitiveTypeName.FIXED_LEN_BYTE_ARRAY;
    Bound<BigInteger> bound = number(operand).orElse(null);
    if (bound == null) {
      return Optional.empty();
    }
    byte[] bytes = bound.floor().toByteArray();
    if (fixed && bytes.length > type.getTypeLength()) {
      return Optional.empty();
    }
    byte[] padded = new byte[fixed ? type.getTypeLength() : bytes.length];
    Arrays.fill(padded, (byte) bound.floor().signum() < 0 ? (byte) -1 : 0);
    System.arraycopy(bytes, 0, padded, padded.length - bytes.length, bytes.length);
    return Optional.of(new Bound<>(Binary.fromConstantByteArray(padded), bound.whole()));
  }

  private Optional<FilterPredicate> translated(RowTest test, boolean content) {
    if (test instanceof RowTest.NullTest nulls) {
      return Optional.of(nulls.not() ? FilterApi.notEq(column, null) : FilterApi.eq(column, null));
    }
    if (test instanceof RowTest.Comparison comparison) {
      return comparison(comparison.comparator(), comparison.operand());
    }
    if (test instanceof RowTest.Membership membership) {
      return membership.not() ? notIn(membership.operands()) : in(membership.operands(), content);
    }
    return test instanceof RowTest.TextMatch match && !match.not()
        ? prefix(match.pattern())
        : Optional.empty();
  }

  private Optional<FilterPredicate> comparison(Comparator comparator, Operand operand) {
    Bound<T> bound = convert.apply(operand).orElse(null);
    if (bound == null) {
      return Optional.empty();
    }
    T floor = bound.floor();
    boolean whole = bound.whole();
    return switch (comparator) {
      case EQUAL -> whole ? Optional.of(equal(floor)) : Optional.empty();
      case LESS -> Optional.of(whole ? FilterApi.lt(column, floor) : FilterApi.ltEq(column, floor));
      case AT_MOST -> Optional.of(FilterApi.ltEq(column, upper(floor)));
      case GREATER -> ordered ? Optional.of(FilterApi.gt(column, floor)) : Optional.empty();
      case AT_LEAST ->
          ordered
              ? Optional.of(whole ? FilterApi.gtEq(column, floor) : FilterApi.gt(column, floor))
              : Optional.empty();
      case NOT_EQUAL ->
          ordered && whole
              ? Optional.of(FilterApi.or(FilterApi.lt(column, floor), FilterApi.gt(column, floor)))
              : Optional.empty();
    };
  }

  private FilterPredicate equal(T value) {
    if (!exact) {
      return FilterApi.and(FilterApi.gtEq(column, value), FilterApi.ltEq(column, value));
    }
    T other = otherZero(value);
    return other == null
        ? FilterApi.eq(column, value)
        : FilterApi.or(FilterApi.eq(column, value), FilterApi.eq(column, other));
  }

  /** Returns the value, or of both zeros the one that the library takes for the larger. */
  private T upper(T value) {
    T other = otherZero(value);
    return other != null && other.compareTo(value) > 0 ? other : value;
  }

  /** Returns the zero of the other sign, which the library takes for another number; or null. */
  @SuppressWarnings("unchecked") // T is the class of the value
  private static <T> @Nullable T otherZero(T value) {
    if (value instanceof Double number && number == 0) {
      return (T) (Double) (-number);
    }
    return value instanceof Float number && number == 0 ? (T) (Float) (-number) : null;
  }

  private Optional<FilterPredicate> in(List<Operand> operands, boolean content) {
    Set<T> values = new LinkedHashSet<>();
    for (Operand operand : operands) {
      Bound<T> bound = convert.apply(operand).orElse(null);
      if (bound == null) {
        return Optional.empty();
      }
      if (bound.whole()) { // otherwise no value is equal to it
        values.add(bound.floor());
      }
    }
    if (values.isEmpty()) {
      return Optional.empty();
    }
    if (!content || !exact) {
      return RowGroupPruning.joined(values.stream().map(this::equal).toList(), FilterApi::or);
    }
    for (T value : List.copyOf(values)) {
      T other = otherZero(value);
      if (other != null) {
        values.add(other);
      }
    }
    return Optional.of(FilterApi.in(column, values));
  }

  private Optional<FilterPredicate> notIn(List<Operand> operands) {
    if (operands.size() > MAX_EXCLUDED) {
      return Optional.empty();
    }
    List<FilterPredicate> predicates = new ArrayList<>();
    for (Operand operand : operands) {
      comparison(Comparator.NOT_EQUAL, operand).ifPresent(predicates::add);
    }
    return RowGroupPruning.joined(predicates, FilterApi::and);
  }

  private Optional<FilterPredicate> prefix(LikePattern pattern) {
    byte[] prefix = pattern.prefix();
    if (prefix.length == 0) {
      return Optional.empty();
    }
    byte[] after = prefix.clone();
    after[after.length - 1]++; // at most 0xF4 in UTF-8
    return RowGroupPruning.joined(
        List.of(
                comparison(Comparator.AT_LEAST, new Operand.Octets(prefix, true)),
                comparison(Comparator.LESS, new Operand.Octets(after, true)))
            .stream()
            .flatMap(Optional::stream)
            .toList(),
        FilterApi::and);
  }
}
