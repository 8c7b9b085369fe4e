package tech.bsdb.tools.parquet;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.apache.parquet.schema.GroupType;
import org.apache.parquet.schema.MessageType;
import org.apache.parquet.schema.PrimitiveType;
import org.apache.parquet.schema.Type;
import tech.bsdb.tools.input.InputException;
import tech.bsdb.tools.parquet.RowType.Column;
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
  private final List<List<String>> keys;

  private RowSelection(MessageType file, List<Type> row, List<List<String>> keys) {
    this.file = file;
    this.row = row;
    this.keys = keys;
  }

  /**
   * Looks for the columns in a file.
   *
   * @throws InputException if the key has no such column here, or one that cannot be a key
   */
  static RowSelection of(ParquetOptions options, String name, MessageType file)
      throws InputException {
    List<List<String>> keys = new ArrayList<>();
    for (String column : options.keyColumns()) {
      keys.add(keyPath(column, name, file));
    }
    List<Type> row = new ArrayList<>();
    if (options.rawColumn() != null) {
      row.add(raw(options.rawColumn(), name, file));
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
    keys.forEach(path -> wanted.add(path.get(0)));
    checkNames(name, file, wanted);
    return new RowSelection(file, row, keys);
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

  private static List<String> keyPath(String column, String name, MessageType file)
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
              + columns(file)
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

  private static Type raw(String column, String name, MessageType file) throws InputException {
    if (!file.containsField(column)) {
      throw new InputException(
          name + ": has no column " + column + " for the value (" + columns(file) + ")");
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
      throw new InputException(
          name
              + ": column "
              + column
              + " is "
              + ParquetTypes.column(type).type().describe()
              + "; --value-raw takes a column of text or bytes");
    }
    return type;
  }

  /** The names of all columns, as a part of a message. */
  String listed() {
    return columns(file);
  }

  private static String columns(MessageType file) {
    List<String> names = file.getFields().stream().map(Type::getName).limit(LISTED).toList();
    int more = file.getFieldCount() - names.size();
    return "its columns: " + String.join(", ", names) + (more > 0 ? " and " + more + " more" : "");
  }

  /** The columns of the row that the file has. */
  List<Column> columns() {
    return row.stream().map(ParquetTypes::column).toList();
  }

  /** The paths of the key's leaves. */
  List<List<String>> keys() {
    return keys;
  }

  /** What the leaves of the key hold. */
  List<Scalar> keyTypes() {
    List<Scalar> types = new ArrayList<>();
    for (List<String> path : keys) {
      PrimitiveType leaf =
          file.getColumnDescription(path.toArray(new String[0])).getPrimitiveType();
      types.add(ParquetTypes.scalar(leaf));
    }
    return types;
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
        for (List<String> key : keys) {
          if (key.get(0).equals(field.getName())) {
            below.add(key.subList(1, key.size()));
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
