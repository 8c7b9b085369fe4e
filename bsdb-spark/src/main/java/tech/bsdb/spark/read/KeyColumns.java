package tech.bsdb.spark.read;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.jspecify.annotations.Nullable;
import tech.bsdb.spark.rows.ColumnPath;
import tech.bsdb.spark.rows.ColumnTypes;
import tech.bsdb.tools.rows.RowBuffer;
import tech.bsdb.tools.rows.RowSchema;
import tech.bsdb.tools.rows.RowType;
import tech.bsdb.tools.rows.RowType.Column;
import tech.bsdb.tools.rows.RowType.Kind;
import tech.bsdb.tools.rows.RowType.Scalar;
import tech.bsdb.tools.rows.RowType.Struct;

/**
 * The columns of a table whose values tell keys: that of the key's own bytes, and those that the
 * keys of rows were made of, if they are known and their text can be told. Not thread-safe.
 */
final class KeyColumns {
  /** The metadata column of the bytes of keys. */
  static final String RAW = "_key";

  private final Map<String, KeyColumn> columns = new LinkedHashMap<>();
  private final List<String> whole = new ArrayList<>();
  private final List<String> joined = new ArrayList<>();
  private final byte[] separator;

  /** A column, and the texts of its values in keys. */
  private record KeyColumn(DataType type, KeyTexts texts) {}

  /**
   * Finds the columns.
   *
   * @param declared the columns of the table, as queries know them
   */
  KeyColumns(StoredTable table, StructType declared) {
    RowBuffer join = new RowBuffer();
    join.putText(table.options().keyJoin());
    separator = join.copy();
    if (!List.of(declared.fieldNames()).contains(RAW)) {
      put(RAW, DataTypes.BinaryType);
      whole.add(RAW);
    }
    String rows = table.rows();
    if (rows == null) {
      put(
          StoredTable.KEY,
          table.options().textKeys() ? DataTypes.StringType : DataTypes.BinaryType);
      whole.add(StoredTable.KEY);
      return;
    }
    List<Column> stored = RowSchema.parse(rows).types();
    for (String name : table.options().keyColumns()) {
      List<ColumnPath> paths = ColumnPath.all(declared, name);
      RowType own = stored(stored, name);
      if (own == null && name.contains(",") && table.options().keyColumns().size() == 1) {
        throw new IllegalArgumentException(
            "key: there is no column " + name + " (several columns need keyJoin)");
      }
      if (own == null || paths.size() != 1 || !hasSameText(own, paths.get(0).type())) {
        joined.forEach(columns::remove);
        joined.clear();
        return;
      }
      put(name, paths.get(0).type());
      joined.add(name);
    }
  }

  private void put(String name, DataType type) {
    columns.put(name, new KeyColumn(type, new KeyTexts(type, name)));
  }

  private static @Nullable RowType stored(List<Column> columns, String name) {
    for (Column column : columns) {
      if (column.name().equals(name)) {
        return column.type();
      }
      if (name.startsWith(column.name() + ".") && column.type() instanceof Struct inner) {
        return stored(inner.fields(), name.substring(column.name().length() + 1));
      }
    }
    return null;
  }

  /** Whether a value of a type of Spark has the text that its key was made of. */
  private static boolean hasSameText(RowType stored, DataType type) {
    if (!(stored instanceof Scalar scalar)
        || (type instanceof StringType && !type.equals(DataTypes.StringType))) { // a collation
      return false;
    }
    if (scalar.kind() == Kind.UUID || scalar.kind() == Kind.FIXED) {
      return true;
    }
    try {
      return ColumnTypes.column(new StructField("key", type, true, null)).type().equals(stored);
    } catch (IllegalArgumentException noForm) {
      return false;
    }
  }

  /** The type of a column that tells keys, or a part of them; null if it does not. */
  @Nullable DataType type(String name) {
    KeyColumn column = columns.get(name);
    return column == null ? null : column.type;
  }

  /** Whether the values of a column are in the order of their bytes in keys. */
  boolean hasOrderOfBytes(String name) {
    DataType type = type(name);
    return DataTypes.StringType.equals(type) || DataTypes.BinaryType.equals(type);
  }

  /**
   * The names of the columns that tell keys together, in order, as the option {@code key} says;
   * empty if none do.
   */
  List<String> joined() {
    return List.copyOf(joined);
  }

  /**
   * The names of the columns that hold the keys themselves, and not what the user says they are.
   */
  List<String> whole() {
    return List.copyOf(whole);
  }

  /** The keys, or parts of them, that a value of a column may have; null if they cannot be told. */
  @Nullable List<byte[]> keys(String name, Object value) {
    KeyColumn column = columns.get(name);
    if (column == null) {
      throw new IllegalArgumentException("column " + name + " tells no keys");
    }
    return column.texts.of(value);
  }

  /** The bytes between the parts of a key. */
  byte[] separator() {
    return separator;
  }
}
