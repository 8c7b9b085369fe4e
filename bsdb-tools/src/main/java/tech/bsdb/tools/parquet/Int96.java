package tech.bsdb.tools.parquet;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Decodes the timestamps of older writers: nanoseconds of the day (8 bytes), then a Julian day (4
 * bytes).
 */
final class Int96 {
  private static final long JULIAN_DAY_OF_EPOCH = 2_440_588;
  private static final long NANOS_PER_DAY = 86_400_000_000_000L;

  private Int96() {}

  /**
   * Returns the nanoseconds since 1970 in UTC.
   *
   * @param bytes 12 bytes, little-endian
   * @throws ArithmeticException if the result does not fit in a long
   */
  static long nanos(ByteBuffer bytes) {
    ByteBuffer ordered = bytes.order(ByteOrder.LITTLE_ENDIAN);
    long nanosOfDay = ordered.getLong(ordered.position());
    long day = ordered.getInt(ordered.position() + Long.BYTES) - JULIAN_DAY_OF_EPOCH;
    return day < 0
        ? Math.addExact(
            Math.multiplyExact(day + 1, NANOS_PER_DAY),
            Math.subtractExact(nanosOfDay, NANOS_PER_DAY))
        : Math.addExact(Math.multiplyExact(day, NANOS_PER_DAY), nanosOfDay);
  }
}
