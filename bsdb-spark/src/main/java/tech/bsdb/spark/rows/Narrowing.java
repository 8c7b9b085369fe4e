package tech.bsdb.spark.rows;

import java.util.Arrays;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.util.ArrayBasedMapData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.ByteType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.ShortType;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.types.UserDefinedType;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.rows.BadRowException;

/**
 * Turns integers of {@link SparkValues} into the shorter ones that a column of a table was declared
 * with; rows have no such types. Immutable and thread-safe.
 */
@FunctionalInterface
public interface Narrowing {
  /** Leaves values as they are. */
  Narrowing NONE = value -> value;

  /**
   * Converts a value that is not null.
   *
   * @throws BadRowException if a number is out of range
   */
  Object narrow(Object value) throws BadRowException;

  /** The conversion to a type; {@link #NONE} if it has no short integers. */
  static Narrowing to(DataType type) {
    if (type instanceof ByteType) {
      return value -> {
        int number = (Integer) value;
        if (number != (byte) number) {
          throw new BadRowException(number + " is out of the range of TINYINT");
        }
        return (byte) number;
      };
    }
    if (type instanceof ShortType) {
      return value -> {
        int number = (Integer) value;
        if (number != (short) number) {
          throw new BadRowException(number + " is out of the range of SMALLINT");
        }
        return (short) number;
      };
    }
    if (type instanceof UserDefinedType<?> defined) {
      return to(defined.sqlType());
    }
    if (type instanceof ArrayType array) {
      Narrowing element = to(array.elementType());
      return element == NONE
          ? NONE
          : value -> new GenericArrayData(all(element, ((GenericArrayData) value).array()));
    }
    if (type instanceof MapType map) {
      Narrowing key = to(map.keyType());
      Narrowing entry = to(map.valueType());
      return key == NONE && entry == NONE
          ? NONE
          : value -> {
            ArrayBasedMapData entries = (ArrayBasedMapData) value;
            return new ArrayBasedMapData(
                new GenericArrayData(all(key, ((GenericArrayData) entries.keyArray()).array())),
                new GenericArrayData(
                    all(entry, ((GenericArrayData) entries.valueArray()).array())));
          };
    }
    return type instanceof StructType struct ? ofStruct(struct) : NONE;
  }

  private static Narrowing ofStruct(StructType struct) {
    List<Narrowing> fields =
        Arrays.stream(struct.fields()).map(field -> to(field.dataType())).toList();
    if (fields.stream().allMatch(field -> field == NONE)) {
      return NONE;
    }
    return value -> {
      @Nullable Object[] values = ((GenericInternalRow) value).values();
      for (int i = 0; i < values.length; i++) {
        values[i] = orNull(fields.get(i), values[i]);
      }
      return value;
    };
  }

  private static @Nullable Object[] all(Narrowing narrowing, @Nullable Object[] values)
      throws BadRowException {
    @Nullable Object[] narrow = new @Nullable Object[values.length];
    for (int i = 0; i < narrow.length; i++) {
      narrow[i] = orNull(narrowing, values[i]);
    }
    return narrow;
  }

  private static @Nullable Object orNull(Narrowing narrowing, @Nullable Object value)
      throws BadRowException {
    return value == null ? null : narrowing.narrow(value);
  }
}
