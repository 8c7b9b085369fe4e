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
import org.apache.parquet.schema.MessageType;
import org.apache.parquet.schema.Type;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.input.InputException;
import tech.bsdb.tools.parquet.RowType.Column;
import tech.bsdb.tools.parquet.RowType.Kind;
import tech.bsdb.tools.parquet.RowType.Scalar;

/**
 * What of a file is wanted: its columns of the row, and the leaves of the key. Everything is
 * checked when it is made, and named with the file where it is not there. Immutable.
 */
final class RowSelection {
  /**
   * Records, lists and maps in each other that a column may have. Rows may have a few more, but in
   * the JSON of their schema each is four levels, of which Avro reads a thousand.
   */
  private static final int MOST_DEPTH = 200;

  /** The most columns that a message lists. */
  private static final int LISTED = 30;

  private final MessageType file;
  private final List<Type> row;
  private final List<Key> keys;
  private final Map<String, PartitionValue> partitions;

  private RowSelection(
      MessageType file, List<Type> row, List<Key> keys, Map<String, PartitionValue> partitions) {
    this.file = file;
    this.row = row;
    this.keys = keys;
    this.partitions = partitions;
  }

  /**
   * Where a part of the key comes from.
   *
   * @param path the leaf's path in the file; nothing where a directory has it
   * @param partition what a directory has, or null
   */
  record Key(List<String> path, @Nullable PartitionValue partition) {}

  /**
   * Looks for the columns in a file and its directories; a column of the file wins.
   *
   * @param all what the file's directories have, by column
   * @throws InputException if the key has no such column here, or one that cannot be a key
   */
  static RowSelection of(
      ParquetOptions options, String name, MessageType file, Map<String, PartitionValue> all)
      throws InputException {
    Map<String, PartitionValue> partitions = new LinkedHashMap<>(all);
    partitions.keySet().removeIf(file::containsField);
    List<Key> keys = new ArrayList<>();
    for (String column : options.keyColumns()) {
      keys.add(key(column, name, file, partitions));
    }
    List<Type> row = new ArrayList<>();
    String raw = options.rawColumn();
    if (raw != null) {
      PartitionValue partition = partitions.get(raw);
      if (partition == null) {
        row.add(raw(raw, name, file, partitions));
      } else if (partition.type().kind() != Kind.STRING) {
        throw notBytes(name, raw, partition.type());
      }
    } else if (options.valueColumns().isEmpty() && !options.keysOnly()) {
      row.addAll(file.getFields());
    } else {
      for (String column : options.valueColumns()) {
        if (file.containsField(column)) { // that others have it, the merge sees
          row.add(file.getType(column));
        }
      }
    }
    for (Type column : row) {
      if (ParquetTypes.column(column).type().depth() > MOST_DEPTH) {
        throw new InputException(
            name
                + ": column "
                + column.getName()
                + " is nested more than "
                + MOST_DEPTH
                + " levels deep (to leave it out: --value-fields)");
      }
    }
    Set<String> wanted = new HashSet<>();
    row.forEach(column -> wanted.add(column.getName()));
    keys.forEach(key -> wanted.addAll(key.path().subList(0, Math.min(1, key.path().size()))));
    checkNames(name, file, wanted);
    return new RowSelection(file, row, keys, partitions);
  }

  /** Two columns of one name cannot be told apart, which matters where one of them is wanted. */
  private static void checkNames(String name, GroupType file, Set<String> wanted)
      throws InputException {
    Set<String> names = new HashSet<>();
    for (Type field : file.getFields()) {
      if (!names.add(field.getName()) && wanted.contains(field.getName())) {
        throw new InputException(
            name
                + ": has two columns named "
                + field.getName()
                + "; neither can be read (leave them out: --value-fields)");
      }
    }
  }

  private static Key key(
      String column, String name, MessageType file, Map<String, PartitionValue> partitions)
      throws InputException {
    PartitionValue partition = partitions.get(column);
    return partition == null
        ? new Key(keyPath(column, name, file, partitions), null)
        : new Key(List.of(), partition);
  }

  private static List<String> keyPath(
      String column, String name, MessageType file, Map<String, PartitionValue> partitions)
      throws InputException {
    List<String> path = List.of(column);
    Optional<Type> found = find(path, file);
    if (found.isEmpty() && column.contains(".")) {
      path = Arrays.asList(column.split("\\.", -1));
      found = find(path, file);
    }
    if (found.isEmpty()) {
      throw new InputException(
          name
              + ": has no column "
              + column
              + " for the key ("
              + (column.contains(",") ? "several columns need --key-join; " : "")
              + columns(file, partitions)
              + ")");
    }
    Type type = found.get();
    if (file.getMaxRepetitionLevel(path.toArray(new String[0])) > 0) {
      throw new InputException(
          name + ": column " + column + " cannot be a key: it is repeated, or inside a list");
    }
    if (!type.isPrimitive()) {
      throw new InputException(
          name
              + ": column "
              + column
              + " cannot be a key: it is "
              + ParquetTypes.column(type).type().describe());
    }
    return path;
  }

  private static Optional<Type> find(List<String> path, MessageType file) {
    Type type = file;
    for (String part : path) {
      if (type.isPrimitive() || !type.asGroupType().containsField(part)) {
        return Optional.empty();
      }
      type = type.asGroupType().getType(part);
    }
    return Optional.of(type);
  }

  private static Type raw(
      String column, String name, MessageType file, Map<String, PartitionValue> partitions)
      throws InputException {
    if (!file.containsField(column)) {
      throw new InputException(
          name
              + ": has no column "
              + column
              + " for the value ("
              + columns(file, partitions)
              + ")");
    }
    Type type = file.getType(column);
    boolean bytes =
        type.isPrimitive()
            && !type.isRepetition(Type.Repetition.REPEATED)
            && switch (type.asPrimitiveType().getPrimitiveTypeName()) {
              case BINARY, FIXED_LEN_BYTE_ARRAY -> true;
              default -> false;
            };
    if (!bytes) {
      throw notBytes(name, column, ParquetTypes.column(type).type());
    }
    return type;
  }

  private static InputException notBytes(String name, String column, RowType type) {
    return new InputException(
        name
            + ": column "
            + column
            + " is "
            + type.describe()
            + "; --value-raw takes a column of text or bytes");
  }

  /** The names of all columns, as a part of a message. */
  String listed() {
    return columns(file, partitions);
  }

  private static String columns(MessageType file, Map<String, PartitionValue> partitions) {
    List<String> all = new ArrayList<>();
    file.getFields().forEach(field -> all.add(field.getName()));
    all.addAll(partitions.keySet());
    if (all.isEmpty()) {
      return "it has no columns at all";
    }
    List<String> names = all.subList(0, Math.min(LISTED, all.size()));
    int more = all.size() - names.size();
    return "its columns: " + String.join(", ", names) + (more > 0 ? " and " + more + " more" : "");
  }

  /** The columns of the row that the file has. */
  List<Column> columns() {
    return row.stream().map(ParquetTypes::column).toList();
  }

  /** Where the parts of the key come from. */
  List<Key> keys() {
    return keys;
  }

  /** Whether the file itself has a column of that name. */
  boolean hasColumn(String name) {
    return file.containsField(name);
  }

  /** What its directories have, by column, but for columns that the file has itself. */
  Map<String, PartitionValue> partitions() {
    return partitions;
  }

  /** What the parts of the key hold. */
  List<Scalar> keyTypes() {
    List<Scalar> types = new ArrayList<>();
    for (Key key : keys) {
      PartitionValue partition = key.partition();
      types.add(partition == null ? leafType(key.path()) : partition.type());
    }
    return types;
  }

  private Scalar leafType(List<String> path) {
    return ParquetTypes.scalar(
        file.getColumnDescription(path.toArray(new String[0])).getPrimitiveType());
  }

  /** The part of the file's schema that has to be read. */
  MessageType projection() {
    Set<Type> whole = new HashSet<>(row);
    List<Type> fields = new ArrayList<>();
    for (Type field : file.getFields()) {
      if (whole.contains(field)) {
        fields.add(field);
      } else {
        Set<List<String>> below = new LinkedHashSet<>();
        for (Key key : keys) {
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
}
