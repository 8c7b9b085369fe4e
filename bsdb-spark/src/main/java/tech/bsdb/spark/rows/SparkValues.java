package tech.bsdb.spark.rows;

import java.math.BigDecimal;
import java.util.Arrays;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.util.ArrayBasedMapData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.unsafe.types.UTF8String;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.rows.BadRowException;
import tech.bsdb.tools.rows.RowObjects;

/** Makes Spark's own objects of the values of rows, of the types {@link SparkTypes}. */
public final class SparkValues implements RowObjects {
  private static final long NANOS_OF_DAY = 86_400_000_000_000L;

  /** Decimals with more fraction digits are written with an exponent. */
  private static final int PLAIN_SCALE = 10_000;

  /** Creates the factory, which has no state. */
  public SparkValues() {}

  @Override
  public Object decimal(BigDecimal value, int precision) throws BadRowException {
    if (precision > DecimalType.MAX_PRECISION()) {
      boolean plain = Math.abs((long) value.scale()) <= PLAIN_SCALE;
      return UTF8String.fromString(plain ? value.toPlainString() : value.toString());
    }
    if (value.precision() > precision) {
      throw new BadRowException(
          "a decimal has " + value.precision() + " digits, more than its precision " + precision);
    }
    return Decimal.apply(value, precision, value.scale());
  }

  @Override
  public Object text(byte[] bytes, int from, int length) {
    return UTF8String.fromBytes(bytes, from, length);
  }

  @Override
  public Object bytes(byte[] bytes, int from, int length) {
    return Arrays.copyOfRange(bytes, from, from + length);
  }

  @Override
  public Object date(int days) {
    return days;
  }

  /** Makes nanoseconds that are whole microseconds. */
  @Override
  public Object time(long units, int digits) throws BadRowException {
    long nanos =
        switch (digits) {
          case 3 -> units * 1_000_000;
          case 6 -> units * CellWriter.NANOS_OF_MICRO;
          default -> units - units % CellWriter.NANOS_OF_MICRO;
        };
    if (nanos >= NANOS_OF_DAY) {
      throw new BadRowException("the time of day 24:00 has no form in Spark");
    }
    return nanos;
  }

  /** Makes microseconds; of nanoseconds, the microsecond in which they lie. */
  @Override
  public Object timestamp(long units, int digits) throws BadRowException {
    if (digits == 9) {
      return Math.floorDiv(units, CellWriter.NANOS_OF_MICRO);
    }
    if (digits == 6) {
      return units;
    }
    long micros = units * 1_000;
    if (micros / 1_000 != units) {
      throw new BadRowException("a timestamp of " + units + " ms is beyond the range of Spark");
    }
    return micros;
  }

  @Override
  public Object struct(@Nullable Object[] fields) {
    return new GenericInternalRow(fields);
  }

  @Override
  public Object list(@Nullable Object[] elements) {
    return new GenericArrayData(elements);
  }

  @Override
  public Object map(@Nullable Object[] keys, @Nullable Object[] values) {
    return new ArrayBasedMapData(new GenericArrayData(keys), new GenericArrayData(values));
  }
}
