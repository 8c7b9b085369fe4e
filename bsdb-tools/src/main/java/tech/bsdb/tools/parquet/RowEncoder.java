package tech.bsdb.tools.parquet;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.parquet.column.ColumnDescriptor;
import org.apache.parquet.column.ColumnReadStore;
import org.apache.parquet.column.page.PageReadStore;
import org.apache.parquet.schema.GroupType;
import org.apache.parquet.schema.MessageType;
import org.apache.parquet.schema.Type;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.rows.RowBuffer;
import tech.bsdb.tools.rows.RowType;
import tech.bsdb.tools.rows.RowType.Column;
import tech.bsdb.tools.rows.RowType.Kind;
import tech.bsdb.tools.rows.RowType.ListOf;
import tech.bsdb.tools.rows.RowType.MapOf;
import tech.bsdb.tools.rows.RowType.Pairs;
import tech.bsdb.tools.rows.RowType.Scalar;
import tech.bsdb.tools.rows.RowType.Struct;
import tech.bsdb.tools.table.PartitionValue;
import tech.bsdb.tools.table.RowProblem;

/**
 * Encodes the rows of a file: reads its leaves in step, and writes each row as the record type to
 * which all files resolve. Not thread-safe.
 */
final class RowEncoder {
  private final MessageType file;
  private final LegacyCalendar calendar;
  private final RowProblem problem;
  private final Map<List<String>, Leaf> leaves = new LinkedHashMap<>();
  private final Encoder row;

  /**
   * Creates an encoder of a file's rows.
   *
   * @param file the file's schema
   * @param calendar the calendar of its dates and timestamps
   * @param wanted the columns of the row to which all files resolve
   * @param partitions the values from the file's directories, by column name
   * @param problem receives values that cannot be encoded
   */
  RowEncoder(
      MessageType file,
      LegacyCalendar calendar,
      List<Column> wanted,
      Map<String, PartitionValue> partitions,
      RowProblem problem) {
    this.file = file;
    this.calendar = calendar;
    this.problem = problem;
    List<Encoder> columns = new ArrayList<>();
    for (Column column : wanted) {
      PartitionValue partition = partitions.get(column.name());
      columns.add(
          partition == null
              ? column(file, column, List.of())
              : new Encoder.Same(partition.inRow()));
    }
    this.row = new Encoder.Fields(columns);
  }

  /** Returns the leaf at a path, which is read in step with the others. */
  Leaf leaf(List<String> path) {
    return leaves.computeIfAbsent(
        path, p -> new Leaf(file.getColumnDescription(p.toArray(new String[0])), calendar));
  }

  /** Returns the leaf at a path if the row has it and therefore advances it; else null. */
  @Nullable Leaf known(List<String> path) {
    return leaves.get(path);
  }

  /** Returns all leaves that are read. */
  Iterable<Leaf> leaves() {
    return leaves.values();
  }

  /** Begins a row group. */
  void begin(PageReadStore pages, ColumnReadStore readers) {
    for (Leaf leaf : leaves.values()) {
      ColumnDescriptor column = leaf.descriptor();
      leaf.begin(readers.getColumnReader(column), pages.getPageReader(column).getTotalValueCount());
    }
  }

  /** Ends a row group; fails if it has entries beyond its rows. */
  void end() throws IOException {
    for (Leaf leaf : leaves.values()) {
      leaf.end();
    }
  }

  /** Writes the next row. */
  void write(RowBuffer out) {
    row.write(out);
  }

  /** Passes over the next row. */
  void skip() {
    for (Leaf leaf : leaves.values()) {
      leaf.nextRow();
    }
  }

  /** Creates the encoder of a group's field, or of null if the group lacks it. */
  private Encoder column(GroupType group, Column column, List<String> above) {
    Optional<Type> field = GroupFields.field(group, column.name());
    if (field.isPresent()) {
      return column(field.get(), column, above);
    }
    return isNull(column.type()) ? new Encoder.Fields(List.of()) : Encoder.Same.NULL;
  }

  private Encoder column(Type field, Column column, List<String> above) {
    List<String> path = new ArrayList<>(above);
    path.add(field.getName());
    if (field.isRepetition(Type.Repetition.REPEATED)) {
      Encoder element = always(field, ((ListOf) column.type()).element(), path);
      Encoder list = repeated(element, path);
      return column.nullable() ? new Encoder.Present(list) : list;
    }
    if (isNull(column.type())) {
      return new Encoder.Nothing(leaf(path));
    }
    if (isAlwaysNull(field)) { // though not in other files
      Leaf leaf = leaf(path);
      return new Encoder.Optional(new Encoder.Nothing(leaf), leaf, Integer.MAX_VALUE);
    }
    Encoder value = value(field, column.type(), path);
    Leaf lead = value.lead();
    if (!column.nullable()) {
      return value;
    }
    return field.isRepetition(Type.Repetition.OPTIONAL) && lead != null
        ? new Encoder.Optional(value, lead, definitionLevel(path))
        : new Encoder.Present(value);
  }

  /**
   * Creates the encoder of a field that is present whenever its parent is, whatever its repetition.
   */
  private Encoder always(Type field, Column column, List<String> path) {
    Encoder value = value(field, column.type(), path);
    return column.nullable() ? new Encoder.Present(value) : value;
  }

  private static boolean isNull(RowType type) {
    return type.equals(Scalar.of(Kind.NULL));
  }

  private static boolean isAlwaysNull(Type field) {
    return field.isPrimitive() && isNull(ParquetTypes.DEFAULT.scalar(field.asPrimitiveType()));
  }

  private Encoder value(Type field, RowType type, List<String> path) {
    if (type instanceof ListOf list) {
      return list(field.asGroupType(), list, path);
    }
    if (type instanceof MapOf map) {
      return map(
          field.asGroupType(), new Column("", Scalar.of(Kind.STRING), false), map.value(), path);
    }
    if (type instanceof Pairs pairs) {
      return map(field.asGroupType(), pairs.key(), pairs.value(), path);
    }
    if (type instanceof Struct struct) {
      List<Encoder> fields = new ArrayList<>();
      for (Column column : struct.fields()) {
        fields.add(column(field.asGroupType(), column, path));
      }
      return new Encoder.Fields(fields);
    }
    return ScalarEncoder.of(leaf(path), (Scalar) type, problem);
  }

  private Encoder list(GroupType group, ListOf list, List<String> path) {
    Type repeated = group.getType(0);
    List<String> below = new ArrayList<>(path);
    below.add(repeated.getName());
    Optional<GroupType> set = ParquetTypes.mapEntries(group);
    if (set.isPresent()) {
      Column key = list.element();
      Encoder element = key(set.get().getType(0), key.type(), below);
      return repeated(key.nullable() ? new Encoder.Present(element) : element, below);
    }
    Type element = ParquetTypes.listElement(group).orElseThrow();
    return repeated(
        element.equals(repeated)
            ? always(repeated, list.element(), below)
            : column(element, list.element(), below),
        below);
  }

  private Encoder map(GroupType group, Column key, Column value, List<String> path) {
    GroupType entries = ParquetTypes.mapEntries(group).orElseThrow();
    List<String> below = new ArrayList<>(path);
    below.add(entries.getName());
    return repeated(
        new Encoder.Fields(
            List.of(
                key(entries.getType(0), key.type(), below),
                column(entries.getType(1), value, below))),
        below);
  }

  private Encoder key(Type field, RowType type, List<String> above) {
    List<String> path = new ArrayList<>(above);
    path.add(field.getName());
    Encoder key = value(field, type, path);
    Leaf lead = key.lead();
    if (field.isRepetition(Type.Repetition.REQUIRED) || lead == null) {
      return key;
    }
    String column = String.join(".", path);
    return new Encoder.MapKey(
        key, lead, definitionLevel(path), () -> problem.note("a null key in a map", column));
  }

  private Encoder repeated(Encoder element, List<String> path) {
    Leaf lead = element.lead();
    if (lead == null) {
      throw new IllegalStateException("a list without leaves: " + path);
    }
    String[] names = path.toArray(new String[0]);
    return new Encoder.Repeated(
        element, lead, file.getMaxRepetitionLevel(names), file.getMaxDefinitionLevel(names));
  }

  private int definitionLevel(List<String> path) {
    return file.getMaxDefinitionLevel(path.toArray(new String[0]));
  }
}
