package tech.bsdb.tools.table;

import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.rows.RowType;
import tech.bsdb.tools.rows.RowType.Column;
import tech.bsdb.tools.rows.RowType.Kind;
import tech.bsdb.tools.rows.RowType.ListOf;
import tech.bsdb.tools.rows.RowType.MapOf;
import tech.bsdb.tools.rows.RowType.Pairs;
import tech.bsdb.tools.rows.RowType.Scalar;
import tech.bsdb.tools.rows.RowType.Struct;

/**
 * The types that hold all values of two others without loss (docs/guides/parquet.md "Types that
 * differ"): of integers and decimals the longer one, double of floats and int, and of times the
 * finer unit, in which a value that is too far away makes a bad row.
 */
public final class Widening {
  private static final int MAX_DIGITS = 38;

  private static final Set<Kind> TIMESTAMPS = EnumSet.of(Kind.TIMESTAMP, Kind.LOCAL_TIMESTAMP);
  private static final Set<Kind> TIMES =
      EnumSet.of(Kind.TIME, Kind.TIMESTAMP, Kind.LOCAL_TIMESTAMP);
  private static final Set<Kind> INTEGERS = EnumSet.of(Kind.INT, Kind.LONG);
  private static final Set<Kind> FLOATS = EnumSet.of(Kind.FLOAT, Kind.DOUBLE);
  private static final Set<Kind> HELD_BY_DOUBLE = EnumSet.of(Kind.INT, Kind.FLOAT, Kind.DOUBLE);

  private Widening() {}

  /** Returns the type that holds all values of two types; empty if there is none. */
  public static Optional<Scalar> of(Scalar a, Scalar b) {
    if (a.equals(b)) {
      return Optional.of(a);
    }
    Set<Kind> kinds = EnumSet.of(a.kind(), b.kind());
    if (INTEGERS.containsAll(kinds)) {
      return Optional.of(Scalar.of(Kind.LONG));
    }
    if (HELD_BY_DOUBLE.containsAll(kinds)) {
      return Optional.of(Scalar.of(Kind.DOUBLE));
    }
    if (a.kind() == b.kind() && TIMES.contains(a.kind())) {
      return Optional.of(a.first() > b.first() ? a : b);
    }
    Scalar both = decimal(a, b);
    return Optional.ofNullable(both != null && both.first() <= MAX_DIGITS ? both : null);
  }

  /** Says why there is no type that holds all values of two types. */
  public static String whyNone(RowType a, RowType b) {
    if (a instanceof Scalar one && b instanceof Scalar other) {
      Set<Kind> kinds = EnumSet.of(one.kind(), other.kind());
      Scalar both = decimal(one, other);
      if (both != null) {
        return "decimals have at most " + MAX_DIGITS + " digits, both together " + both.first();
      }
      if (kinds.contains(Kind.LONG) && kinds.stream().anyMatch(FLOATS::contains)) {
        return "double does not hold every long";
      }
      if (kinds.equals(TIMESTAMPS)) {
        return "only one of them has a time zone";
      }
    }
    return "no type holds both";
  }

  /** Whether both types are numbers, or times, of which the same one may have two texts. */
  public static boolean textsDiffer(Scalar a, Scalar b) {
    if (isExact(a) && isExact(b)) {
      return decimal(a).second() != decimal(b).second();
    }
    return a.kind() == b.kind()
        ? TIMES.contains(a.kind()) && a.first() != b.first()
        : isNumber(a) && isNumber(b);
  }

  private static boolean isNumber(Scalar type) {
    return isExact(type) || FLOATS.contains(type.kind());
  }

  /** Returns the decimal type of two whole or decimal types, however long; null if it is none. */
  private static @Nullable Scalar decimal(Scalar a, Scalar b) {
    if (!isExact(a) || !isExact(b)) {
      return null;
    }
    Scalar one = decimal(a);
    Scalar other = decimal(b);
    int scale = Math.max(one.second(), other.second());
    int whole = Math.max(one.first() - one.second(), other.first() - other.second());
    return Scalar.decimal(whole + scale, scale);
  }

  private static boolean isExact(Scalar type) {
    return type.kind() == Kind.DECIMAL || INTEGERS.contains(type.kind());
  }

  /** Returns a type of exact numbers as one of decimals. */
  public static Scalar decimal(Scalar exact) {
    return switch (exact.kind()) {
      case INT -> Scalar.decimal(10, 0);
      case LONG -> Scalar.decimal(19, 0);
      default -> exact;
    };
  }

  /** Returns how many units of a type of times a second has. */
  public static long perSecond(Scalar time) {
    if (!TIMES.contains(time.kind())) {
      throw new IllegalArgumentException(time.describe());
    }
    return time.first() == 3 ? 1_000 : time.first() == 6 ? 1_000_000 : 1_000_000_000;
  }

  /**
   * Returns columns with the types of stored ones of their names, where those hold their values.
   */
  public static List<Column> toward(List<Column> columns, List<Column> stored) {
    return columns.stream()
        .map(column -> find(stored, column.name()).map(to -> toward(column, to)).orElse(column))
        .toList();
  }

  /** Finds a column by its name, in any case, or a field of a struct by its dotted path. */
  public static Optional<Column> find(List<Column> columns, String name) {
    for (Column column : columns) {
      if (AnyCase.of(column.name()).equals(AnyCase.of(name))) {
        return Optional.of(column);
      }
    }
    int dot = name.indexOf('.');
    return dot < 0
        ? Optional.empty()
        : find(columns, name.substring(0, dot))
            .filter(column -> column.type() instanceof Struct)
            .flatMap(column -> find(((Struct) column.type()).fields(), name.substring(dot + 1)));
  }

  private static Column toward(Column column, Column stored) {
    return new Column(column.name(), toward(column.type(), stored.type()), column.nullable());
  }

  private static RowType toward(RowType type, RowType stored) {
    if (type instanceof Scalar a && stored instanceof Scalar b) {
      return of(a, b).filter(b::equals).orElse(a);
    }
    if (type instanceof Struct a && stored instanceof Struct b) {
      return new Struct(toward(a.fields(), b.fields()));
    }
    if (type instanceof ListOf a && stored instanceof ListOf b) {
      return new ListOf(toward(a.element(), b.element()));
    }
    if (type instanceof MapOf a && stored instanceof MapOf b) {
      return new MapOf(toward(a.value(), b.value()));
    }
    if (type instanceof Pairs a && stored instanceof Pairs b) {
      return new Pairs(toward(a.key(), b.key()), toward(a.value(), b.value()));
    }
    return type;
  }
}
