package tech.bsdb.spark.rows;

import java.math.BigDecimal;
import java.util.Arrays;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.MapData;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.ByteType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.NullType;
import org.apache.spark.sql.types.ShortType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.types.UserDefinedType;
import tech.bsdb.tools.rows.RowBuffer;

/**
 * Writes a value of a column in Avro's binary encoding, as the type that {@link ColumnTypes} gives
 * the column. Immutable and thread-safe.
 */
@FunctionalInterface
public interface CellWriter {
  /** Spark's times of day are in nanoseconds. */
  long NANOS_OF_MICRO = 1_000;

  /**
   * Writes the value at a place of a row or an array, which must not be null unless the writer is
   * one of {@link #of(StructField)}.
   */
  void write(SpecializedGetters from, int ordinal, RowBuffer out);

  /** Returns the writer of a column, which writes null as the first branch of a union. */
  static CellWriter of(StructField field) {
    return nullable(of(field.dataType()), field.dataType(), field.nullable());
  }

  private static CellWriter nullable(CellWriter value, DataType type, boolean nullable) {
    if (!nullable || type instanceof NullType) {
      return value;
    }
    return (from, ordinal, out) -> {
      if (from.isNullAt(ordinal)) {
        out.putLong(0);
      } else {
        out.putLong(1);
        value.write(from, ordinal, out);
      }
    };
  }

  /** Returns the writer of the values of a type that are not null. */
  static CellWriter of(DataType type) {
    if (type instanceof StructType struct) {
      return struct(struct);
    }
    if (type instanceof ArrayType array) {
      CellWriter element =
          nullable(of(array.elementType()), array.elementType(), array.containsNull());
      return (from, ordinal, out) -> {
        ArrayData list = from.getArray(ordinal);
        int count = list.numElements();
        if (count > 0) {
          out.putLong(count);
          for (int i = 0; i < count; i++) {
            element.write(list, i, out);
          }
        }
        out.put(0);
      };
    }
    if (type instanceof MapType map) {
      return map(map);
    }
    if (type instanceof UserDefinedType<?> defined) {
      return of(defined.sqlType());
    }
    return scalar(type);
  }

  private static CellWriter struct(StructType struct) {
    CellWriter[] writers =
        Arrays.stream(struct.fields()).map(field -> of(field)).toArray(CellWriter[]::new);
    return (from, ordinal, out) -> {
      InternalRow row = from.getStruct(ordinal, writers.length);
      for (int i = 0; i < writers.length; i++) {
        writers[i].write(row, i, out);
      }
    };
  }

  private static CellWriter map(MapType map) {
    CellWriter key = of(map.keyType());
    CellWriter value = nullable(of(map.valueType()), map.valueType(), map.valueContainsNull());
    return (from, ordinal, out) -> {
      MapData entries = from.getMap(ordinal);
      int count = entries.numElements();
      if (count > 0) {
        ArrayData keys = entries.keyArray();
        ArrayData values = entries.valueArray();
        out.putLong(count);
        for (int i = 0; i < count; i++) {
          key.write(keys, i, out);
          value.write(values, i, out);
        }
      }
      out.put(0);
    };
  }

  private static CellWriter scalar(DataType type) {
    return switch (ColumnTypes.scalar(type, "").kind()) {
      case STRING ->
          (from, ordinal, out) -> out.putBytes(from.getUTF8String(ordinal).getByteBuffer());
      case BYTES ->
          (from, ordinal, out) -> {
            byte[] bytes = from.getBinary(ordinal);
            out.putBytes(bytes, 0, bytes.length);
          };
      case BOOLEAN -> (from, ordinal, out) -> out.put(from.getBoolean(ordinal) ? 1 : 0);
      case INT -> integer(type);
      case DATE -> (from, ordinal, out) -> out.putLong(from.getInt(ordinal));
      case FLOAT -> (from, ordinal, out) -> out.putFloat(from.getFloat(ordinal));
      case DOUBLE -> (from, ordinal, out) -> out.putDouble(from.getDouble(ordinal));
      case DECIMAL -> decimal((DecimalType) type);
      case TIME -> (from, ordinal, out) -> out.putLong(from.getLong(ordinal) / NANOS_OF_MICRO);
      case NULL -> (from, ordinal, out) -> {};
      default -> (from, ordinal, out) -> out.putLong(from.getLong(ordinal));
    };
  }

  private static CellWriter integer(DataType type) {
    if (type instanceof ByteType) {
      return (from, ordinal, out) -> out.putLong(from.getByte(ordinal));
    }
    return type instanceof ShortType
        ? (from, ordinal, out) -> out.putLong(from.getShort(ordinal))
        : (from, ordinal, out) -> out.putLong(from.getInt(ordinal));
  }

  private static CellWriter decimal(DecimalType type) {
    return (from, ordinal, out) -> {
      BigDecimal number =
          from.getDecimal(ordinal, type.precision(), type.scale()).toJavaBigDecimal();
      byte[] unscaled = number.setScale(type.scale()).unscaledValue().toByteArray();
      out.putBytes(unscaled, 0, unscaled.length);
    };
  }
}
