package tech.bsdb.lake.delta;

import io.delta.kernel.data.ArrayValue;
import io.delta.kernel.data.ColumnVector;
import io.delta.kernel.data.MapValue;
import io.delta.kernel.types.ArrayType;
import io.delta.kernel.types.BinaryType;
import io.delta.kernel.types.BooleanType;
import io.delta.kernel.types.ByteType;
import io.delta.kernel.types.DataType;
import io.delta.kernel.types.DateType;
import io.delta.kernel.types.DecimalType;
import io.delta.kernel.types.DoubleType;
import io.delta.kernel.types.FloatType;
import io.delta.kernel.types.IntegerType;
import io.delta.kernel.types.LongType;
import io.delta.kernel.types.MapType;
import io.delta.kernel.types.ShortType;
import io.delta.kernel.types.StringType;
import io.delta.kernel.types.StructField;
import io.delta.kernel.types.StructType;
import io.delta.kernel.types.TimestampNTZType;
import io.delta.kernel.types.TimestampType;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.rows.RowType;
import tech.bsdb.tools.rows.RowType.Column;
import tech.bsdb.tools.rows.RowType.Kind;
import tech.bsdb.tools.rows.RowType.ListOf;
import tech.bsdb.tools.rows.RowType.MapOf;
import tech.bsdb.tools.rows.RowType.Pairs;
import tech.bsdb.tools.rows.RowType.Scalar;
import tech.bsdb.tools.rows.RowType.Struct;

/** Types of Delta Lake's columns as types of rows, and their values in a batch. */
final class DeltaType {
  private static final int MICROS = 6;

  private DeltaType() {}

  /** A type that rows do not have; the message says what it is. */
  static final class UnreadableException extends Exception {
    private static final long serialVersionUID = 1L;

    UnreadableException(String what) {
      super(what, null, false, false);
    }
  }

  static Column column(StructField field) throws UnreadableException {
    return new Column(field.getName(), of(field.getDataType()), field.isNullable());
  }

  private static RowType of(DataType type) throws UnreadableException {
    if (type instanceof StructType struct) {
      List<Column> fields = new ArrayList<>();
      for (StructField field : struct.fields()) {
        fields.add(column(field));
      }
      return new Struct(fields);
    }
    if (type instanceof ArrayType array) {
      return new ListOf(column(array.getElementField()));
    }
    if (type instanceof MapType map) {
      Column value = column(map.getValueField());
      return map.getKeyType() instanceof StringType
          ? new MapOf(value)
          : new Pairs(column(map.getKeyField()), value);
    }
    return scalar(type);
  }

  private static Scalar scalar(DataType type) throws UnreadableException {
    if (type instanceof DecimalType decimal) {
      return Scalar.decimal(decimal.getPrecision(), decimal.getScale());
    }
    if (type instanceof TimestampType) {
      return Scalar.time(Kind.TIMESTAMP, MICROS);
    }
    if (type instanceof TimestampNTZType) {
      return Scalar.time(Kind.LOCAL_TIMESTAMP, MICROS);
    }
    if (type instanceof StringType) {
      return Scalar.of(Kind.STRING);
    }
    if (type instanceof ByteType || type instanceof ShortType || type instanceof IntegerType) {
      return Scalar.of(Kind.INT);
    }
    if (type instanceof LongType) {
      return Scalar.of(Kind.LONG);
    }
    if (type instanceof BooleanType) {
      return Scalar.of(Kind.BOOLEAN);
    }
    if (type instanceof FloatType) {
      return Scalar.of(Kind.FLOAT);
    }
    if (type instanceof DoubleType) {
      return Scalar.of(Kind.DOUBLE);
    }
    if (type instanceof DateType) {
      return Scalar.of(Kind.DATE);
    }
    if (type instanceof BinaryType) {
      return Scalar.of(Kind.BYTES);
    }
    throw new UnreadableException(type.toString().toLowerCase(Locale.ROOT));
  }

  /**
   * Returns a type whose strings are binary, so that their bytes are read and not decoded: Kernel's
   * decoder replaces what is not UTF-8.
   */
  static DataType withTextAsBytes(DataType type) {
    if (type instanceof StringType) {
      return BinaryType.BINARY;
    }
    if (type instanceof StructType struct) {
      return withTextAsBytes(struct);
    }
    if (type instanceof ArrayType array) {
      return new ArrayType(withTextAsBytes(array.getElementField()));
    }
    if (type instanceof MapType map) {
      return new MapType(withTextAsBytes(map.getKeyField()), withTextAsBytes(map.getValueField()));
    }
    return type;
  }

  static StructType withTextAsBytes(StructType struct) {
    return new StructType(struct.fields().stream().map(DeltaType::withTextAsBytes).toList());
  }

  private static StructField withTextAsBytes(StructField field) {
    DataType type = withTextAsBytes(field.getDataType());
    return type.equals(field.getDataType())
        ? field
        : new StructField(field.getName(), type, field.isNullable(), field.getMetadata());
  }

  /** Reads values of a type. */
  @FunctionalInterface
  interface Reader {
    /** Returns the value in a row of a vector; null is not asked for. */
    Object read(ColumnVector vector, int row);

    /** Returns the value in a row of a vector, or null. */
    default @Nullable Object get(ColumnVector vector, int row) {
      return vector.isNullAt(row) ? null : read(vector, row);
    }
  }

  /**
   * Returns the reader of a type, whose strings were read as binary.
   *
   * @param calendar is shown dates and timestamps
   */
  static Reader reader(RowType type, DataType stored, OldDates calendar) {
    if (type instanceof Struct struct) {
      List<StructField> fields = ((StructType) stored).fields();
      Reader[] readers = new Reader[fields.size()];
      for (int i = 0; i < readers.length; i++) {
        readers[i] = reader(struct.fields().get(i).type(), fields.get(i).getDataType(), calendar);
      }
      return (vector, row) -> {
        @Nullable Object[] values = new @Nullable Object[readers.length];
        for (int i = 0; i < readers.length; i++) {
          values[i] = readers[i].get(vector.getChild(i), row);
        }
        return values;
      };
    }
    if (type instanceof ListOf list) {
      Reader element =
          reader(list.element().type(), ((ArrayType) stored).getElementType(), calendar);
      return (vector, row) -> {
        ArrayValue array = vector.getArray(row);
        return all(element, array.getElements(), array.getSize());
      };
    }
    if (stored instanceof MapType map) {
      RowType keyType = type instanceof Pairs pairs ? pairs.key().type() : Scalar.of(Kind.STRING);
      RowType valueType =
          type instanceof Pairs pairs ? pairs.value().type() : ((MapOf) type).value().type();
      Reader key = reader(keyType, map.getKeyType(), calendar);
      Reader value = reader(valueType, map.getValueType(), calendar);
      return (vector, row) -> entries(key, value, vector.getMap(row));
    }
    return scalar(((Scalar) type).kind(), stored, calendar);
  }

  private static Reader scalar(Kind kind, DataType stored, OldDates calendar) {
    return switch (kind) {
      case INT ->
          stored instanceof ByteType
              ? (vector, row) -> (int) vector.getByte(row)
              : stored instanceof ShortType
                  ? (vector, row) -> (int) vector.getShort(row)
                  : ColumnVector::getInt;
      case LONG, LOCAL_TIMESTAMP -> ColumnVector::getLong;
      case TIMESTAMP -> (vector, row) -> calendar.micros(vector.getLong(row));
      case DATE -> (vector, row) -> calendar.day(vector.getInt(row));
      case BOOLEAN -> ColumnVector::getBoolean;
      case FLOAT -> ColumnVector::getFloat;
      case DOUBLE -> ColumnVector::getDouble;
      case DECIMAL -> ColumnVector::getDecimal;
      case STRING, BYTES -> ColumnVector::getBinary;
      default -> throw new IllegalStateException("no Delta Lake type is " + kind);
    };
  }

  private static List<@Nullable Object> all(Reader reader, ColumnVector vector, int size) {
    List<@Nullable Object> values = new ArrayList<>(size);
    for (int i = 0; i < size; i++) {
      values.add(reader.get(vector, i));
    }
    return values;
  }

  private static List<Map.Entry<?, ?>> entries(Reader key, Reader value, MapValue map) {
    List<Map.Entry<?, ?>> entries = new ArrayList<>(map.getSize());
    List<@Nullable Object> keys = all(key, map.getKeys(), map.getSize());
    List<@Nullable Object> values = all(value, map.getValues(), map.getSize());
    for (int i = 0; i < keys.size(); i++) {
      entries.add(new java.util.AbstractMap.SimpleImmutableEntry<>(keys.get(i), values.get(i)));
    }
    return entries;
  }
}
