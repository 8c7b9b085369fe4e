package tech.bsdb.flink.rows;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.table.data.GenericArrayData;
import org.apache.flink.table.data.GenericMapData;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.types.logical.ArrayType;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.LogicalTypeRoot;
import org.apache.flink.table.types.logical.MapType;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.rows.BadRowException;
import tech.bsdb.tools.rows.RowType;
import tech.bsdb.tools.rows.RowType.Column;
import tech.bsdb.tools.rows.RowType.Kind;
import tech.bsdb.tools.rows.RowType.ListOf;
import tech.bsdb.tools.rows.RowType.MapOf;
import tech.bsdb.tools.rows.RowType.Pairs;
import tech.bsdb.tools.rows.RowType.Scalar;
import tech.bsdb.tools.rows.RowType.Struct;

/**
 * Turns a value of {@link FlinkValues} into one of the type that a column was declared with, which
 * may be a shorter integer. Immutable and thread-safe.
 */
@FunctionalInterface
interface StoredCell {
  /** Leaves values as they are. */
  StoredCell AS_IS = value -> value;

  /**
   * Converts a value that is not null.
   *
   * @throws BadRowException if the declared type does not have it
   */
  Object read(Object value) throws BadRowException;

  /** As {@link #read}, of what may be null. */
  default @Nullable Object orNull(@Nullable Object value) throws BadRowException {
    return value == null ? null : read(value);
  }

  /**
   * The conversion of a column.
   *
   * @param path the name of the column, for messages
   * @throws IllegalArgumentException if the column cannot be read as the type
   */
  static StoredCell of(Column stored, LogicalType declared, String path) {
    StoredCell value = of(stored.type(), declared, path);
    if (declared.isNullable() || !stored.nullable()) {
      return value;
    }
    return new StoredCell() {
      @Override
      public Object read(Object present) throws BadRowException {
        return value.read(present);
      }

      @Override
      public Object orNull(@Nullable Object perhaps) throws BadRowException {
        if (perhaps == null) {
          throw new BadRowException("column " + path + ", declared NOT NULL, is null");
        }
        return value.read(perhaps);
      }
    };
  }

  private static StoredCell of(RowType stored, LogicalType declared, String path) {
    if (stored instanceof Struct struct
        && declared instanceof org.apache.flink.table.types.logical.RowType row) {
      return struct(struct, row, path);
    }
    if (stored instanceof ListOf list && declared instanceof ArrayType array) {
      StoredCell element = of(list.element(), array.getElementType(), path);
      return element == AS_IS
          ? AS_IS
          : value -> {
            Object[] all = ((GenericArrayData) value).toObjectArray();
            for (int i = 0; i < all.length; i++) {
              all[i] = element.orNull(all[i]);
            }
            return new GenericArrayData(all);
          };
    }
    if (declared instanceof MapType map) {
      if (stored instanceof MapOf entries) {
        Column key = new Column("key", Scalar.of(Kind.STRING), false);
        return map(of(key, map.getKeyType(), path), of(entries.value(), map.getValueType(), path));
      }
      if (stored instanceof Pairs pairs) {
        return map(
            of(pairs.key(), map.getKeyType().copy(true), path),
            of(pairs.value(), map.getValueType(), path));
      }
    }
    if (stored instanceof Scalar scalar) {
      return scalar(scalar, declared, path);
    }
    throw mismatch(stored, declared, path);
  }

  private static StoredCell struct(
      Struct stored, org.apache.flink.table.types.logical.RowType declared, String path) {
    List<String> names = stored.fields().stream().map(Column::name).toList();
    if (!names.equals(declared.getFieldNames())) {
      throw new IllegalArgumentException(
          "column %s has the fields %s, but is declared with %s"
              .formatted(path, names, declared.getFieldNames()));
    }
    List<StoredCell> fields = new ArrayList<>();
    for (int i = 0; i < names.size(); i++) {
      fields.add(of(stored.fields().get(i), declared.getTypeAt(i), path + "." + names.get(i)));
    }
    return fields.stream().allMatch(each -> each == AS_IS)
        ? AS_IS
        : value -> {
          GenericRowData row = (GenericRowData) value;
          for (int i = 0; i < fields.size(); i++) {
            row.setField(i, fields.get(i).orNull(row.getField(i)));
          }
          return row;
        };
  }

  private static StoredCell map(StoredCell key, StoredCell entry) {
    return key == AS_IS && entry == AS_IS
        ? AS_IS
        : value -> {
          GenericMapData map = (GenericMapData) value;
          Object[] keys = ((GenericArrayData) map.keyArray()).toObjectArray();
          Map<@Nullable Object, @Nullable Object> read = new LinkedHashMap<>();
          for (Object each : keys) {
            read.put(key.orNull(each), entry.orNull(map.get(each)));
          }
          return new GenericMapData(read);
        };
  }

  private static StoredCell scalar(Scalar stored, LogicalType declared, String path) {
    LogicalTypeRoot root = declared.getTypeRoot();
    boolean text = root == LogicalTypeRoot.VARCHAR || root == LogicalTypeRoot.CHAR;
    boolean bytes = root == LogicalTypeRoot.VARBINARY || root == LogicalTypeRoot.BINARY;
    boolean fits =
        switch (stored.kind()) {
          case STRING, UUID, INTERVAL -> text;
          case BYTES, FIXED -> bytes;
          case NULL -> true;
          case TIME -> root == LogicalTypeRoot.TIME_WITHOUT_TIME_ZONE;
          case INT ->
              root == LogicalTypeRoot.INTEGER
                  || root == LogicalTypeRoot.SMALLINT
                  || root == LogicalTypeRoot.TINYINT;
          case TIMESTAMP, LOCAL_TIMESTAMP, DECIMAL -> holds(stored, declared);
          default -> ColumnTypes.scalar(declared, path).equals(stored);
        };
    if (!fits) {
      throw mismatch(stored, declared, path);
    }
    return switch (root) {
      case TINYINT -> value -> narrow((Integer) value, (byte) (int) (Integer) value, "TINYINT");
      case SMALLINT -> value -> narrow((Integer) value, (short) (int) (Integer) value, "SMALLINT");
      default -> AS_IS;
    };
  }

  /** Whether a type of the same kind has all digits of another one. */
  private static boolean holds(Scalar stored, LogicalType declared) {
    try {
      Scalar type = ColumnTypes.scalar(declared, "");
      return type.kind() == stored.kind()
          && (type.kind() == Kind.DECIMAL ? type.equals(stored) : type.first() >= stored.first());
    } catch (IllegalArgumentException noForm) {
      return false;
    }
  }

  private static Object narrow(int number, Number narrow, String type) throws BadRowException {
    if (narrow.intValue() != number) {
      throw new BadRowException(number + " is out of the range of " + type);
    }
    return narrow;
  }

  private static IllegalArgumentException mismatch(
      RowType stored, LogicalType declared, String path) {
    return new IllegalArgumentException(
        "column %s is stored as %s, which cannot be read as %s"
            .formatted(path, stored.describe(), declared.asSummaryString()));
  }
}
