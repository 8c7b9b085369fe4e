package tech.bsdb.flink.rows;

import java.util.ArrayList;
import java.util.List;
import org.apache.flink.table.data.ArrayData;
import org.apache.flink.table.data.DecimalData;
import org.apache.flink.table.data.MapData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.data.TimestampData;
import org.apache.flink.table.types.logical.ArrayType;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.LogicalTypeRoot;
import org.apache.flink.table.types.logical.MapType;
import org.apache.flink.table.types.logical.RowType;
import tech.bsdb.tools.rows.BadRowException;
import tech.bsdb.tools.rows.RowBuffer;
import tech.bsdb.tools.rows.RowType.Scalar;

/**
 * Writes a value of Flink in Avro's binary encoding, as the type that {@link ColumnTypes} gives its
 * column. Immutable and thread-safe.
 */
@FunctionalInterface
public interface CellWriter {
  /**
   * Writes a value, which must not be null.
   *
   * @throws BadRowException if it has no form in a row
   */
  void write(Object value, RowBuffer out) throws BadRowException;

  /** Writes the columns of a row, in order. Immutable and thread-safe. */
  interface RowWriter {
    /**
     * Writes a row.
     *
     * @throws BadRowException if it has no form; the message names the column
     */
    void write(RowData row, RowBuffer out) throws BadRowException;
  }

  /** Returns the writer of the values of a type. */
  static CellWriter of(LogicalType type) {
    if (type instanceof RowType row) {
      RowWriter fields = row(row);
      return (value, out) -> fields.write((RowData) value, out);
    }
    if (type instanceof ArrayType array) {
      return list(array.getElementType());
    }
    if (type instanceof MapType map) {
      return map(map);
    }
    return scalar(type);
  }

  /** Returns the writer of rows. */
  static RowWriter row(RowType type) {
    int count = type.getFieldCount();
    List<CellWriter> writers = new ArrayList<>();
    List<RowData.FieldGetter> getters = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      writers.add(nullable(type.getTypeAt(i)));
      getters.add(RowData.createFieldGetter(type.getTypeAt(i), i));
    }
    return (row, out) -> {
      for (int i = 0; i < count; i++) {
        Object cell = getters.get(i).getFieldOrNull(row);
        if (cell == null && !type.getTypeAt(i).isNullable()) {
          throw new BadRowException("column " + type.getFieldNames().get(i) + " is null");
        }
        writers.get(i).write(cell, out);
      }
    };
  }

  private static CellWriter nullable(LogicalType type) {
    CellWriter writer = of(type);
    if (type.is(LogicalTypeRoot.NULL)) {
      return writer;
    }
    if (!type.isNullable()) {
      return (value, out) -> {
        if (value == null) {
          throw new BadRowException("there is a NULL in a type that is NOT NULL");
        }
        writer.write(value, out);
      };
    }
    return (value, out) -> {
      if (value == null) {
        out.putLong(0);
      } else {
        out.putLong(1);
        writer.write(value, out);
      }
    };
  }

  private static CellWriter list(LogicalType type) {
    CellWriter element = nullable(type);
    ArrayData.ElementGetter getter = ArrayData.createElementGetter(type);
    return (value, out) -> {
      ArrayData list = (ArrayData) value;
      int count = list.size();
      if (count > 0) {
        out.putLong(count);
        for (int i = 0; i < count; i++) {
          element.write(getter.getElementOrNull(list, i), out);
        }
      }
      out.put(0);
    };
  }

  private static CellWriter map(MapType type) {
    CellWriter key = of(type.getKeyType());
    CellWriter entry = nullable(type.getValueType());
    ArrayData.ElementGetter keys = ArrayData.createElementGetter(type.getKeyType());
    ArrayData.ElementGetter values = ArrayData.createElementGetter(type.getValueType());
    return (value, out) -> {
      MapData map = (MapData) value;
      int count = map.size();
      if (count > 0) {
        out.putLong(count);
        for (int i = 0; i < count; i++) {
          Object at = keys.getElementOrNull(map.keyArray(), i);
          if (at == null) {
            throw new BadRowException("a map has the key NULL");
          }
          key.write(at, out);
          entry.write(values.getElementOrNull(map.valueArray(), i), out);
        }
      }
      out.put(0);
    };
  }

  private static CellWriter scalar(LogicalType type) {
    Scalar scalar = ColumnTypes.scalar(type, "");
    return switch (scalar.kind()) {
      case BOOLEAN -> (value, out) -> out.put((Boolean) value ? 1 : 0);
      case FLOAT -> (value, out) -> out.putFloat((Float) value);
      case DOUBLE -> (value, out) -> out.putDouble((Double) value);
      case STRING -> (value, out) -> putBytes(((StringData) value).toBytes(), out);
      case BYTES -> (value, out) -> putBytes((byte[]) value, out);
      case DECIMAL -> (value, out) -> putBytes(((DecimalData) value).toUnscaledBytes(), out);
      case TIMESTAMP, LOCAL_TIMESTAMP ->
          (value, out) -> out.putLong(units((TimestampData) value, scalar.first()));
      case NULL -> (value, out) -> {};
      default -> (value, out) -> out.putLong(((Number) value).longValue());
    };
  }

  private static void putBytes(byte[] bytes, RowBuffer out) {
    out.putBytes(bytes, 0, bytes.length);
  }

  private static long units(TimestampData value, int digits) throws BadRowException {
    try {
      return switch (digits) {
        case 3 -> value.getMillisecond();
        case 6 ->
            Math.addExact(
                Math.multiplyExact(value.getMillisecond(), 1_000L),
                value.getNanoOfMillisecond() / 1_000);
        default ->
            Math.addExact(
                Math.multiplyExact(value.getMillisecond(), 1_000_000L),
                value.getNanoOfMillisecond());
      };
    } catch (ArithmeticException e) {
      throw new BadRowException(
          "the timestamp " + value + " is out of range with " + digits + " fraction digits");
    }
  }
}
