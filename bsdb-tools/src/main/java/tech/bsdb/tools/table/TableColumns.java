package tech.bsdb.tools.table;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.input.DeleteField;
import tech.bsdb.tools.input.InputException;
import tech.bsdb.tools.rows.RowType;
import tech.bsdb.tools.rows.RowType.Column;
import tech.bsdb.tools.rows.RowType.Kind;
import tech.bsdb.tools.rows.RowType.ListOf;
import tech.bsdb.tools.rows.RowType.MapOf;
import tech.bsdb.tools.rows.RowType.Pairs;
import tech.bsdb.tools.rows.RowType.Scalar;
import tech.bsdb.tools.rows.RowType.Struct;
import tech.bsdb.tools.where.Cells;
import tech.bsdb.tools.where.ColumnName;
import tech.bsdb.tools.where.RowTest;
import tech.bsdb.tools.where.Verdict;
import tech.bsdb.tools.where.Where;

/**
 * The parts of a table's file to read. Everything is checked on creation; errors name the file and
 * the column. Immutable.
 *
 * @param file the file
 * @param columns the columns of the row that it has; of a raw value, that one
 * @param keys the sources of the parts of the key
 * @param mark the source of the value that marks deletions, or null
 * @param cells the sources of the columns of the condition
 * @param test the condition, or null
 * @param partitions the values from its directories by column, except for columns that the file
 *     itself has
 */
record TableColumns(
    TableFile file,
    List<Column> columns,
    List<Key> keys,
    @Nullable Key mark,
    List<Key> cells,
    @Nullable RowTest test,
    Map<String, PartitionValue> partitions)
    implements FileColumns {
  /** The maximum nesting of records, lists and maps in a column. */
  private static final int MAX_DEPTH = 200;

  private static final String KEY = "the key";
  private static final String MARK = "--delete-field";

  /**
   * The source of a part of the key.
   *
   * @param path the index of its column, and of the field in each struct below; empty if it comes
   *     from a directory
   * @param name its name, in the case of the file
   * @param type its type
   * @param partition the value from a directory, or null
   */
  record Key(List<Integer> path, String name, Scalar type, @Nullable PartitionValue partition) {
    /** Whether the file does not have it. */
    boolean isMissing() {
      return path.isEmpty() && partition == null;
    }
  }

  /**
   * Finds the columns in a file and its directories; a column of the file takes precedence.
   *
   * @param all the values from the file's directories, by column
   * @throws InputException if a key column is missing or cannot be a key
   */
  static TableColumns of(TableOptions options, TableFile file, Map<String, PartitionValue> all)
      throws InputException {
    Map<String, PartitionValue> partitions = new LinkedHashMap<>(all);
    Search search = new Search(file, partitions);
    partitions.keySet().removeIf(search::has);
    List<Key> keys = new ArrayList<>();
    for (String column : options.keyColumns()) {
      keys.add(search.key(column, KEY));
    }
    DeleteField deleteField = options.deleteField();
    Key mark = deleteField == null ? null : search.key(deleteField.field(), MARK);
    List<Column> row = new ArrayList<>();
    String raw = options.rawColumn();
    if (raw != null) {
      search.raw(raw).ifPresent(row::add);
    } else if (options.valueColumns().isEmpty() && !options.keysOnly()) {
      for (String name : file.unreadable().keySet()) {
        throw search.unreadable(name);
      }
      row.addAll(file.columns());
    } else {
      for (String name : options.valueColumns()) {
        search.find(name).ifPresent(row::add); // the merge checks that others have it
      }
    }
    for (Column column : row) {
      if (column.type().depth() > MAX_DEPTH) {
        throw new InputException(
            "%s: column %s is nested more than %s levels deep (to leave it out: --value-fields)"
                .formatted(file.name(), column.name(), MAX_DEPTH));
      }
    }
    List<Key> cells = new ArrayList<>();
    Where where = options.where();
    for (ColumnName column : where == null ? List.<ColumnName>of() : where.columns()) {
      cells.add(search.cell(column));
    }
    List<Column> types =
        cells.stream().map(cell -> new Column(cell.name(), cell.type(), true)).toList();
    RowTest test = FileColumns.bind(where, file.name(), types);
    TableColumns selected = new TableColumns(file, row, keys, mark, cells, test, partitions);
    selected.checkNames();
    return selected;
  }

  /**
   * Rejects duplicate names of columns, and of fields of structs, if one of them is selected: they
   * cannot be told apart.
   */
  private void checkNames() throws InputException {
    Set<String> wanted = new HashSet<>();
    for (int i : wanted()) {
      Column column = file.columns().get(i);
      wanted.add(column.name());
      String repeated = repeatedField(column.type());
      if (repeated != null) {
        throw new InputException(
            ("%s: column %s has two fields named %s in a struct and cannot be read (to leave it out:"
                    + " --value-fields)")
                .formatted(file.name(), column.name(), repeated));
      }
    }
    Set<String> names = new HashSet<>();
    List<String> all = new ArrayList<>(file.columns().stream().map(Column::name).toList());
    all.addAll(file.unreadable().keySet());
    for (String name : all) {
      if (!names.add(name) && wanted.contains(name)) {
        throw new InputException(
            "%s: has two columns named %s; neither can be read (leave them out: --value-fields)"
                .formatted(file.name(), name));
      }
    }
  }

  /** Returns a name that two fields of a struct in a type have, or null. */
  private static @Nullable String repeatedField(RowType type) {
    List<Column> below =
        type instanceof Struct struct
            ? struct.fields()
            : type instanceof ListOf list
                ? List.of(list.element())
                : type instanceof MapOf map
                    ? List.of(map.value())
                    : type instanceof Pairs pairs ? List.of(pairs.key(), pairs.value()) : List.of();
    Set<String> names = new HashSet<>();
    for (Column field : below) {
      String repeated = names.add(field.name()) ? repeatedField(field.type()) : field.name();
      if (repeated != null) {
        return repeated;
      }
    }
    return null;
  }

  /** Returns the indexes of the file's columns to read, ascending. */
  List<Integer> wanted() {
    Set<Integer> wanted = new TreeSet<>();
    for (Column column : columns) {
      wanted.add(file.columns().indexOf(column));
    }
    List<Key> parts = new ArrayList<>(keys);
    parts.addAll(cells);
    if (mark != null) {
      parts.add(mark);
    }
    parts.stream()
        .filter(key -> !key.path().isEmpty())
        .forEach(key -> wanted.add(key.path().get(0)));
    return List.copyOf(wanted);
  }

  /** Whether its directories, or columns that it lacks, tell that none of its rows are wanted. */
  boolean isRuledOut() {
    return test != null
        && test.of(
                number -> {
                  Key cell = cells.get(number);
                  PartitionValue partition = cell.partition();
                  return partition != null
                      ? partition.value()
                      : cell.isMissing() ? Cells.NULL : Cells.UNKNOWN;
                })
            == Verdict.NO;
  }

  @Override
  public String name() {
    return file.name();
  }

  @Override
  public List<Scalar> keyTypes() {
    return keys.stream().map(Key::type).toList();
  }

  @Override
  public boolean isFromDirectory(int part) {
    return keys.get(part).partition() != null;
  }

  @Override
  public @Nullable Scalar markType() {
    return mark == null ? null : mark.type();
  }

  @Override
  public List<String> meant(String name) {
    return AnyCase.meant(
        file.columns(),
        Column::name,
        column -> column.type() instanceof Struct struct ? struct.fields() : null,
        name);
  }

  private static List<String> names(List<Column> fields, String name) {
    return AnyCase.variants(fields, Column::name, name).stream().map(Column::name).toList();
  }

  @Override
  public boolean hasCell(int number) {
    return !cells.get(number).isMissing();
  }

  @Override
  public boolean hasColumn(String name) {
    return new Search(file, partitions).has(name);
  }

  @Override
  public String listed() {
    return new Search(file, partitions).listed();
  }

  /** The columns of a file and of its directories, to find those that are named. */
  private record Search(TableFile file, Map<String, PartitionValue> partitions) {
    boolean has(String name) {
      return !names(file.columns(), name).isEmpty()
          || file.unreadable().keySet().stream()
              .anyMatch(column -> AnyCase.of(column).equals(AnyCase.of(name)));
    }

    Optional<Column> find(String name) throws InputException {
      Optional<Column> found = AnyCase.field(file.columns(), Column::name, name);
      Optional<String> unreadable =
          AnyCase.field(List.copyOf(file.unreadable().keySet()), column -> column, name);
      if (found.isEmpty() && unreadable.isPresent()) {
        throw unreadable(unreadable.get());
      }
      return found;
    }

    InputException unreadable(String column) {
      return new InputException(
          "%s: column %s is, or contains, %s, which cannot be read (to leave it out: --value-fields)"
              .formatted(file.name(), column, file.unreadable().get(column)));
    }

    Key key(String name, String role) throws InputException {
      PartitionValue partition = partitions.get(name);
      if (partition != null) {
        return new Key(List.of(), name, partition.type(), partition);
      }
      List<String> parts = List.of(name);
      if (find(name).isEmpty() && name.contains(".")) {
        parts = Arrays.asList(name.split("\\.", -1));
      }
      List<Integer> path = new ArrayList<>();
      List<String> names = new ArrayList<>();
      List<Column> fields = file.columns();
      RowType type = new Struct(fields);
      for (String part : parts) {
        if (path.isEmpty()) {
          find(part); // says if it cannot be read
        }
        Optional<Column> field = AnyCase.field(fields, Column::name, part);
        if (field.isEmpty()) {
          throw new InputException(
              "%s: has no column %s for %s (%s%s)"
                  .formatted(
                      file.name(),
                      name,
                      role,
                      name.contains(",") && role.equals(KEY)
                          ? "several columns need --key-join; "
                          : "",
                      listed()));
        }
        path.add(fields.indexOf(field.get()));
        names.add(field.get().name());
        type = field.get().type();
        fields = type instanceof Struct struct ? struct.fields() : List.of();
      }
      if (!(type instanceof Scalar scalar)) {
        throw new InputException(
            "%s: column %s%s: it is %s"
                .formatted(
                    file.name(),
                    name,
                    role.equals(KEY) ? " cannot be a key" : " cannot be compared with " + role,
                    type.describe()));
      }
      return new Key(path, String.join(".", names), scalar, null);
    }

    /** Finds a column of the condition. */
    Key cell(ColumnName name) throws InputException {
      List<String> parts =
          names(file.columns(), name.text()).isEmpty() ? name.parts() : List.of(name.text());
      List<Integer> path = new ArrayList<>();
      List<Column> fields = file.columns();
      RowType type = new Struct(fields);
      for (String part : parts) {
        if (path.isEmpty()) {
          find(part); // says if it cannot be read
        }
        List<String> variants = names(fields, part);
        if (variants.size() > 1 && !variants.contains(part)) {
          throw new InputException(
              "%s: has columns %s; which one is %s in --where cannot be told (write it as in the file)"
                  .formatted(file.name(), String.join(" and ", variants), part));
        }
        Optional<Column> field = AnyCase.field(fields, Column::name, part);
        if (field.isEmpty()) {
          return fromDirectory(name.text());
        }
        path.add(fields.indexOf(field.get()));
        type = field.get().type();
        fields = type instanceof Struct struct ? struct.fields() : List.of();
      }
      if (!(type instanceof Scalar scalar)) {
        throw new InputException(
            "%s: column %s cannot be used in --where: it is a %s"
                .formatted(file.name(), name.text(), type.describe()));
      }
      return new Key(path, name.text(), scalar, null);
    }

    private Key fromDirectory(String name) {
      Optional<PartitionValue> partition =
          AnyCase.field(List.copyOf(partitions.values()), PartitionValue::name, name);
      Scalar type = partition.map(PartitionValue::type).orElse(Scalar.of(Kind.NULL));
      return new Key(List.of(), name, type, partition.orElse(null));
    }

    Optional<Column> raw(String name) throws InputException {
      PartitionValue partition = partitions.get(name);
      if (partition != null) {
        requireBytes(name, partition.type());
        return Optional.empty();
      }
      Optional<Column> found = find(name);
      if (found.isEmpty()) {
        throw new InputException(
            "%s: has no column %s for the value (%s)".formatted(file.name(), name, listed()));
      }
      requireBytes(name, found.get().type());
      return found;
    }

    private void requireBytes(String name, RowType type) throws InputException {
      boolean bytes =
          type instanceof Scalar scalar
              && (scalar.kind() == Kind.STRING
                  || scalar.kind() == Kind.BYTES
                  || scalar.kind() == Kind.FIXED);
      if (!bytes) {
        throw new InputException(
            "%s: column %s is %s; --value-raw needs a column of text or bytes"
                .formatted(file.name(), name, type.describe()));
      }
    }

    String listed() {
      List<String> all = new ArrayList<>();
      file.columns().forEach(column -> all.add(column.name()));
      all.addAll(file.unreadable().keySet());
      all.addAll(partitions.keySet());
      return FileColumns.listed(all);
    }
  }
}
