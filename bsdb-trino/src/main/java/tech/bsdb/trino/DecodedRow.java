package tech.bsdb.trino;

import io.airlift.slice.Slices;
import java.math.BigDecimal;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.rows.BadRowException;
import tech.bsdb.tools.rows.RowObjects;

/**
 * Makes what {@link RowTypes} writes to the pages of Trino: slices of the bytes of a row, arrays of
 * the parts of structs and lists, and the units of times.
 */
final class DecodedRow implements RowObjects {
  /** The entries of a map. */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  record Entries(@Nullable Object[] keys, @Nullable Object[] values) {}

  private static final long DAY_MILLIS = 86_400_000;

  @Override
  public Object decimal(BigDecimal value, int precision) throws BadRowException {
    if (value.precision() > precision) {
      throw new BadRowException(
          "a decimal has %s digits, more than its precision %s"
              .formatted(value.precision(), precision));
    }
    return value;
  }

  @Override
  public Object text(byte[] bytes, int from, int length) {
    return Slices.wrappedBuffer(bytes, from, length);
  }

  @Override
  public Object bytes(byte[] bytes, int from, int length) {
    return Slices.wrappedBuffer(bytes, from, length);
  }

  @Override
  public Object date(int days) {
    return (long) days;
  }

  @Override
  public Object time(long units, int digits) throws BadRowException {
    long day = digits == 3 ? DAY_MILLIS : digits == 6 ? DAY_MILLIS * 1_000 : DAY_MILLIS * 1_000_000;
    if (units >= day) {
      throw new BadRowException("the time of day 24:00 has no form in Trino");
    }
    return units;
  }

  @Override
  public Object timestamp(long units, int digits) {
    return units;
  }

  @Override
  public Object struct(@Nullable Object[] fields) {
    return fields;
  }

  @Override
  public Object list(@Nullable Object[] elements) {
    return elements;
  }

  @Override
  public Object map(@Nullable Object[] keys, @Nullable Object[] values) {
    return new Entries(keys, values);
  }
}
