package tech.bsdb.tools.parquet;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.parquet.schema.GroupType;
import org.apache.parquet.schema.LogicalTypeAnnotation.VariantLogicalTypeAnnotation;
import org.apache.parquet.schema.MessageType;
import org.apache.parquet.schema.Type;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.input.DeleteField;
import tech.bsdb.tools.input.InputException;
import tech.bsdb.tools.rows.RowType;
import tech.bsdb.tools.rows.RowType.Column;
import tech.bsdb.tools.rows.RowType.Kind;
import tech.bsdb.tools.rows.RowType.Scalar;
import tech.bsdb.tools.table.AnyCase;
import tech.bsdb.tools.table.FileColumns;
import tech.bsdb.tools.table.PartitionValue;
import tech.bsdb.tools.table.TableOptions;
import tech.bsdb.tools.where.ColumnName;
import tech.bsdb.tools.where.RowTest;
import tech.bsdb.tools.where.Where;

/**
 * The parts of a file to read: the columns of the row and the leaves of the key. Everything is
 * checked on creation; errors name the file and the column. Immutable.
 *
 * @param name the file's name
 * @param file its schema
 * @param row the columns of the row that the file has
 * @param keys the sources of the parts of the key
 * @param mark the source of the value that marks deletions, or null
 * @param cells the sources of the columns of the condition
 * @param test the condition, or null
 * @param partitions the values from its directories by column, except for columns that the file
 *     itself has
 * @param types how its types are mapped
 */
record RowSelection(
    String name,
    MessageType file,
    List<Type> row,
    List<Key> keys,
    @Nullable Key mark,
    List<Key> cells,
    @Nullable RowTest test,
    Map<String, PartitionValue> partitions,
    ParquetTypes types)
    implements FileColumns {
  /**
   * The maximum nesting of records, lists and maps in a column. Rows may have a few more levels,
   * but each takes four in the schema's JSON, of which Avro reads a thousand.
   */
  private static final int MAX_DEPTH = 200;

  private static final String KEY = "the key";
  private static final String MARK = "--delete-field";

  /**
   * The source of a part of the key.
   *
   * @param path the leaf's path in the file; empty if it comes from a directory
   * @param partition the value from a directory, or null
   */
  record Key(List<String> path, @Nullable PartitionValue partition) {
    /** A column of the condition that the file does not have. */
    static final Key MISSING = new Key(List.of(), null);
  }

  /**
   * Finds the columns in a file and its directories; a column of the file takes precedence.
   *
   * @param all the values from the file's directories, by column
   * @throws InputException if a key column is missing or cannot be a key
   */
  static RowSelection of(
      TableOptions options, String name, MessageType file, Map<String, PartitionValue> all)
      throws InputException {
    Map<String, PartitionValue> partitions = new LinkedHashMap<>(all);
    partitions.keySet().removeIf(column -> !GroupFields.variants(file, column).isEmpty());
    ParquetTypes types = ParquetTypes.of(options.types());
    Columns columns = new Columns(name, file, partitions, types);
    List<Key> keys = new ArrayList<>();
    for (String column : options.keyColumns()) {
      keys.add(columns.key(column, KEY));
    }
    DeleteField deleteField = options.deleteField();
    Key mark = deleteField == null ? null : columns.key(deleteField.field(), MARK);
    List<Type> row = new ArrayList<>();
    String raw = options.rawColumn();
    if (raw != null) {
      PartitionValue partition = partitions.get(raw);
      if (partition == null) {
        row.add(columns.raw(raw));
      } else if (partition.type().kind() != Kind.STRING) {
        throw columns.notBytes(raw, partition.type());
      }
    } else if (options.valueColumns().isEmpty() && !options.keysOnly()) {
      row.addAll(file.getFields());
    } else {
      for (String column : options.valueColumns()) {
        GroupFields.field(file, column).ifPresent(row::add); // the merge checks that others have it
      }
    }
    for (Type column : row) {
      if (isDeeper(column, MAX_DEPTH) || types.column(column).type().depth() > MAX_DEPTH) {
        throw new InputException(
            "%s: column %s is nested more than %s levels deep (to leave it out: --value-fields)"
                .formatted(name, column.getName(), MAX_DEPTH));
      }
    }
    for (Type column : row) {
      Optional<String> refused = ParquetTypes.refused(column);
      if (refused.isPresent()) {
        throw new InputException(
            ("%s: column %s is, or contains, a %s, which cannot be read (write it as JSON text, in Spark"
                    + " with to_json; to leave it out: --value-fields)")
                .formatted(name, column.getName(), refused.get()));
      }
    }
    List<Key> cells = new ArrayList<>();
    List<Column> cellTypes = new ArrayList<>();
    Where where = options.where();
    for (ColumnName column : where == null ? List.<ColumnName>of() : where.columns()) {
      cells.add(columns.cell(column, cellTypes));
    }
    RowTest test = FileColumns.bind(where, name, cellTypes);
    Set<String> wanted = new HashSet<>();
    row.forEach(column -> wanted.add(column.getName()));
    RowSelection selection =
        new RowSelection(name, file, row, keys, mark, cells, test, partitions, types);
    selection
        .leaves()
        .forEach(leaf -> wanted.addAll(leaf.path().subList(0, Math.min(1, leaf.path().size()))));
    checkNames(name, file, wanted);
    return selection;
  }

  /** Whether a column has more than some levels for certain, found without many stack frames. */
  private static boolean isDeeper(Type column, int levels) {
    if (column.isPrimitive()) {
      return false;
    }
    int below = column.isRepetition(Type.Repetition.REPEATED) ? levels : levels - 1;
    for (Type field : column.asGroupType().getFields()) {
      if (below < 0 || isDeeper(field, below)) {
        return true;
      }
    }
    return false;
  }

  /** Rejects duplicate column names if one of them is selected: they cannot be told apart. */
  private static void checkNames(String name, GroupType file, Set<String> wanted)
      throws InputException {
    Set<String> names = new HashSet<>();
    for (Type field : file.getFields()) {
      if (!names.add(field.getName()) && wanted.contains(field.getName())) {
        throw new InputException(
            "%s: has two columns named %s; neither can be read (leave them out: --value-fields)"
                .formatted(name, field.getName()));
      }
    }
  }

  @Override
  public String listed() {
    return new Columns(name, file, partitions, types).listed();
  }

  @Override
  public List<Column> columns() {
    return row.stream().map(types::column).toList();
  }

  @Override
  public boolean hasCell(int number) {
    return !cells.get(number).equals(Key.MISSING);
  }

  @Override
  public boolean hasColumn(String name) {
    return !GroupFields.variants(file, name).isEmpty();
  }

  @Override
  public List<String> meant(String name) {
    return AnyCase.meant(
        file.getFields(),
        Type::getName,
        field -> field.isPrimitive() ? null : field.asGroupType().getFields(),
        name);
  }

  @Override
  public List<Scalar> keyTypes() {
    return keys.stream().map(this::type).toList();
  }

  @Override
  public boolean isFromDirectory(int part) {
    return keys.get(part).partition() != null;
  }

  @Override
  public @Nullable Scalar markType() {
    return mark == null ? null : type(mark);
  }

  /** Returns the type of a part of the key, or of the mark. */
  Scalar type(Key key) {
    PartitionValue partition = key.partition();
    return partition == null ? leafType(key.path()) : partition.type();
  }

  /** Returns the sources of the key, the mark and the condition. */
  private List<Key> leaves() {
    List<Key> leaves = new ArrayList<>(keys);
    cells.stream().filter(cell -> !cell.equals(Key.MISSING)).forEach(leaves::add);
    if (mark != null) {
      leaves.add(mark);
    }
    return leaves;
  }

  private Scalar leafType(List<String> path) {
    return types.scalar(file.getColumnDescription(path.toArray(new String[0])).getPrimitiveType());
  }

  /** Returns the part of the file's schema to read. */
  MessageType projection() {
    Set<Type> whole = new HashSet<>(row);
    List<Type> fields = new ArrayList<>();
    for (Type field : file.getFields()) {
      if (whole.contains(field)) {
        fields.add(field);
      } else {
        Set<List<String>> below = new LinkedHashSet<>();
        for (Key key : leaves()) {
          if (key.partition() == null && key.path().get(0).equals(field.getName())) {
            below.add(key.path().subList(1, key.path().size()));
          }
        }
        if (!below.isEmpty()) {
          fields.add(pruned(field, below));
        }
      }
    }
    return new MessageType(file.getName(), fields);
  }

  private static Type pruned(Type field, Set<List<String>> paths) {
    if (field.isPrimitive()) {
      return field;
    }
    List<Type> kept = new ArrayList<>();
    for (Type child : field.asGroupType().getFields()) {
      Set<List<String>> below = new LinkedHashSet<>();
      for (List<String> path : paths) {
        if (path.get(0).equals(child.getName())) {
          below.add(path.subList(1, path.size()));
        }
      }
      if (!below.isEmpty()) {
        kept.add(pruned(child, below));
      }
    }
    return field.asGroupType().withNewFields(kept);
  }

  /** The columns of a file and of its directories, to find those that are named. */
  private record Columns(
      String name, MessageType file, Map<String, PartitionValue> partitions, ParquetTypes types) {
    Key key(String column, String role) throws InputException {
      PartitionValue partition = partitions.get(column);
      return partition == null
          ? new Key(keyPath(column, role), null)
          : new Key(List.of(), partition);
    }

    private List<String> keyPath(String column, String role) throws InputException {
      List<Type> found = find(List.of(column));
      if (found.isEmpty() && column.contains(".")) {
        found = find(Arrays.asList(column.split("\\.", -1)));
      }
      if (found.isEmpty()) {
        throw new InputException(
            "%s: has no column %s for %s (%s%s)"
                .formatted(
                    name,
                    column,
                    role,
                    column.contains(",") && role.equals(KEY)
                        ? "several columns need --key-join; "
                        : "",
                    listed()));
      }
      List<String> path = found.stream().map(Type::getName).toList();
      Type type = found.get(found.size() - 1);
      for (Type field : found) {
        if (field.getLogicalTypeAnnotation() instanceof VariantLogicalTypeAnnotation) {
          throw new InputException(
              "%s: column %s%s: it is, or is inside, a VARIANT"
                  .formatted(name, column, cannotBe(role)));
        }
      }
      if (file.getMaxRepetitionLevel(path.toArray(new String[0])) > 0) {
        throw new InputException(
            name + ": column " + column + cannotBe(role) + ": it is repeated, or inside a list");
      }
      if (!type.isPrimitive()) {
        throw new InputException(
            "%s: column %s%s: it is %s"
                .formatted(name, column, cannotBe(role), types.column(type).type().describe()));
      }
      return path;
    }

    /**
     * Finds a column of the condition.
     *
     * @param types receives its type
     */
    Key cell(ColumnName column, List<Column> types) throws InputException {
      List<Type> found = findOnly(List.of(column.text()));
      if (found.isEmpty() && column.parts().size() > 1) {
        found = findOnly(column.parts());
      }
      if (found.isEmpty()) {
        Optional<PartitionValue> partition =
            AnyCase.field(List.copyOf(partitions.values()), PartitionValue::name, column.text());
        RowType type = partition.isPresent() ? partition.get().type() : Scalar.of(Kind.NULL);
        types.add(new Column(column.text(), type, true));
        return partition.map(value -> new Key(List.of(), value)).orElse(Key.MISSING);
      }
      for (Type field : found) {
        Optional<String> refused =
            field.isPrimitive()
                    || field.getLogicalTypeAnnotation() instanceof VariantLogicalTypeAnnotation
                ? ParquetTypes.refused(field)
                : Optional.empty();
        if (refused.isPresent()) {
          throw new InputException(
              "%s: column %s cannot be used in --where: it is, or is inside, a %s"
                  .formatted(name, column.text(), refused.get()));
        }
      }
      List<String> path = found.stream().map(Type::getName).toList();
      if (file.getMaxRepetitionLevel(path.toArray(new String[0])) > 0) {
        throw new InputException(
            "%s: column %s cannot be used in --where: it is repeated, or inside a list or map"
                .formatted(name, column.text()));
      }
      Type last = found.get(found.size() - 1);
      types.add(new Column(column.text(), this.types.column(last).type(), true));
      return new Key(path, null);
    }

    /**
     * Returns the field at a path and those above it; none if there is no such field.
     *
     * @throws InputException if names that differ only in case may be meant
     */
    private List<Type> findOnly(List<String> path) throws InputException {
      List<Type> found = find(path);
      Type type = file;
      for (int i = 0; i < path.size() && found.isEmpty() && !type.isPrimitive(); i++) {
        List<String> variants = GroupFields.variants(type.asGroupType(), path.get(i));
        if (variants.size() > 1 && !variants.contains(path.get(i))) {
          throw new InputException(
              "%s: has columns %s; which one is %s in --where cannot be told (write it as in the file)"
                  .formatted(name, String.join(" and ", variants), path.get(i)));
        }
        Optional<Type> field = GroupFields.field(type.asGroupType(), path.get(i));
        if (field.isEmpty()) {
          break;
        }
        type = field.get();
      }
      return found;
    }

    private static String cannotBe(String role) {
      return role.equals(KEY) ? " cannot be a key" : " cannot be compared with " + role;
    }

    /** Returns the field at a path and those above it; none if there is no such field. */
    private List<Type> find(List<String> path) {
      Type type = file;
      List<Type> found = new ArrayList<>();
      for (String part : path) {
        Optional<Type> field =
            type.isPrimitive() ? Optional.empty() : GroupFields.field(type.asGroupType(), part);
        if (field.isEmpty()) {
          return List.of();
        }
        type = field.get();
        found.add(type);
      }
      return found;
    }

    Type raw(String column) throws InputException {
      Optional<Type> found = GroupFields.field(file, column);
      if (found.isEmpty()) {
        throw new InputException(
            "%s: has no column %s for the value (%s)".formatted(name, column, listed()));
      }
      Type type = found.get();
      boolean bytes =
          type.isPrimitive()
              && !type.isRepetition(Type.Repetition.REPEATED)
              && switch (type.asPrimitiveType().getPrimitiveTypeName()) {
                case BINARY, FIXED_LEN_BYTE_ARRAY -> true;
                default -> false;
              };
      if (!bytes) {
        throw notBytes(column, types.column(type).type());
      }
      return type;
    }

    InputException notBytes(String column, RowType type) {
      return new InputException(
          "%s: column %s is %s; --value-raw needs a column of text or bytes"
              .formatted(name, column, type.describe()));
    }

    /** Returns the names of all columns, for a message. */
    String listed() {
      List<String> all = new ArrayList<>();
      file.getFields().forEach(field -> all.add(field.getName()));
      all.addAll(partitions.keySet());
      return FileColumns.listed(all);
    }
  }
}
