package tech.bsdb.tools.table;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import tech.bsdb.tools.input.InputException;
import tech.bsdb.tools.rows.RowType;
import tech.bsdb.tools.rows.RowType.Column;
import tech.bsdb.tools.rows.RowType.Kind;
import tech.bsdb.tools.rows.RowType.ListOf;
import tech.bsdb.tools.rows.RowType.MapOf;
import tech.bsdb.tools.rows.RowType.Pairs;
import tech.bsdb.tools.rows.RowType.Scalar;
import tech.bsdb.tools.rows.RowType.Struct;

/**
 * Finds the types to which the columns of all files resolve, by Avro's rules for schemas: int
 * merges with long and float with double; a column is nullable if it is in one of the files; a
 * column that some files lack is null there and must be nullable. Names may differ in case, unless
 * a file has several that differ only so. Columns are named and in the order of the first file.
 * Anything else is an error that names the file and the column, unless types may be widened further
 * ({@link Widening}).
 */
public final class TypeMerge {
  private final Map<String, Column> columns = new LinkedHashMap<>();
  private final boolean widen;
  private String first = "";

  /**
   * Begins without columns.
   *
   * @param widen whether types are widened further than by Avro's rules
   */
  public TypeMerge(boolean widen) {
    this.widen = widen;
  }

  /**
   * Adds a file's columns.
   *
   * @throws InputException if one of them cannot be merged with those of the previous files
   */
  public void add(String file, List<Column> more) throws InputException {
    if (first.isEmpty()) {
      first = file;
      more.forEach(column -> columns.put(column.name(), column));
      return;
    }
    List<Column> merged = fields(new ArrayList<>(columns.values()), more, file, "");
    columns.clear();
    merged.forEach(column -> columns.put(column.name(), column));
  }

  /** Returns the columns to which all files resolve. */
  public List<Column> columns() {
    return List.copyOf(columns.values());
  }

  private List<Column> fields(List<Column> known, List<Column> more, String file, String path)
      throws InputException {
    Map<String, Set<String>> ours = byAnyCase(known);
    Map<String, Set<String>> theirs = byAnyCase(more);
    Map<String, Column> added = new LinkedHashMap<>();
    for (Column column : more) {
      String name = AnyCase.of(column.name());
      Set<String> our = ours.getOrDefault(name, Set.of(column.name()));
      Set<String> their = theirs.getOrDefault(name, Set.of());
      boolean one = our.size() == 1 && their.size() == 1;
      if (!one && ours.containsKey(name) && !our.equals(their)) {
        throw new InputException(
            ("%s: has columns %s, but the previous files (%s...) have %s; which are the same cannot be"
                    + " told (read the files separately, or leave one out: --value-fields)")
                .formatted(file, shown(path, their), first, shown(path, our)));
      }
      added.put(one ? our.iterator().next() : column.name(), column);
    }
    List<Column> merged = new ArrayList<>();
    for (Column column : known) {
      Column other = added.remove(column.name());
      if (other != null) {
        merged.add(column(column, other, file, path + column.name()));
      } else if (isNullable(column)) {
        merged.add(column);
      } else {
        throw new InputException(
            ("%s: has no column %s%s, which %s requires (only a nullable column may be missing; to"
                    + " leave it out: --value-fields)")
                .formatted(file, path, column.name(), first));
      }
    }
    for (Column column : added.values()) {
      if (!isNullable(column)) {
        throw new InputException(
            ("%s: requires a column %s%s, which %s does not have (only a nullable column may be"
                    + " missing; to leave it out: --value-fields)")
                .formatted(file, path, column.name(), first));
      }
      merged.add(column);
    }
    return merged;
  }

  private static Map<String, Set<String>> byAnyCase(List<Column> columns) {
    Map<String, Set<String>> names = new HashMap<>();
    for (Column column : columns) {
      names
          .computeIfAbsent(AnyCase.of(column.name()), name -> new LinkedHashSet<>())
          .add(column.name());
    }
    return names;
  }

  private static String shown(String path, Set<String> names) {
    return names.stream().map(name -> path + name).collect(Collectors.joining(" and "));
  }

  private static boolean isNullable(Column column) {
    return column.nullable() || column.type().equals(Scalar.of(Kind.NULL));
  }

  private Column column(Column one, Column other, String file, String path) throws InputException {
    Scalar nothing = Scalar.of(Kind.NULL);
    if (one.type().equals(nothing) || other.type().equals(nothing)) {
      Column known = one.type().equals(nothing) ? other : one;
      boolean both = one.type().equals(other.type());
      return new Column(one.name(), known.type(), !both || one.nullable() || other.nullable());
    }
    return new Column(
        one.name(), type(one.type(), other.type(), file, path), one.nullable() || other.nullable());
  }

  private RowType type(RowType one, RowType other, String file, String path) throws InputException {
    if (one.equals(other)) {
      return one;
    }
    if (one instanceof Scalar a && other instanceof Scalar b) {
      Optional<Scalar> both = Widening.of(a, b);
      boolean usual = isPair(a, b, Kind.INT, Kind.LONG) || isPair(a, b, Kind.FLOAT, Kind.DOUBLE);
      if (both.isPresent() && (usual || widen)) {
        return both.get();
      }
      if (both.isPresent()) {
        throw differs(one, other, file, path, "--widen makes it " + both.get().describe());
      }
    } else if (one instanceof Struct a && other instanceof Struct b) {
      return new Struct(fields(a.fields(), b.fields(), file, path + "."));
    } else if (one instanceof ListOf a && other instanceof ListOf b) {
      return new ListOf(column(a.element(), b.element(), file, path + "[]"));
    } else if (one instanceof MapOf a && other instanceof MapOf b) {
      return new MapOf(column(a.value(), b.value(), file, path + ".value"));
    } else if (one instanceof Pairs a && other instanceof Pairs b) {
      return new Pairs(
          column(a.key(), b.key(), file, path + ".key"),
          column(a.value(), b.value(), file, path + ".value"));
    }
    throw differs(one, other, file, path, Widening.whyNone(one, other));
  }

  private InputException differs(
      RowType one, RowType other, String file, String path, String words) {
    return new InputException(
        "%s: column %s is %s, but in the previous files (%s...) it is %s; %s"
            .formatted(file, path, other.describe(), first, one.describe(), words));
  }

  /** Whether one type is of one kind, and the other one of the other. */
  public static boolean isPair(Scalar a, Scalar b, Kind small, Kind large) {
    return (a.kind() == small && b.kind() == large) || (a.kind() == large && b.kind() == small);
  }
}
