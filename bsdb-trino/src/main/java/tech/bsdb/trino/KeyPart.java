package tech.bsdb.trino;

import io.airlift.slice.Slice;
import io.trino.spi.type.BigintType;
import io.trino.spi.type.BooleanType;
import io.trino.spi.type.DateTimeEncoding;
import io.trino.spi.type.DateType;
import io.trino.spi.type.DecimalType;
import io.trino.spi.type.Int128;
import io.trino.spi.type.IntegerType;
import io.trino.spi.type.LongTimestamp;
import io.trino.spi.type.LongTimestampWithTimeZone;
import io.trino.spi.type.TimeType;
import io.trino.spi.type.TimestampType;
import io.trino.spi.type.TimestampWithTimeZoneType;
import io.trino.spi.type.Type;
import io.trino.spi.type.UuidType;
import io.trino.spi.type.VarbinaryType;
import io.trino.spi.type.VarcharType;
import java.math.BigInteger;
import tech.bsdb.tools.rows.BadRowException;
import tech.bsdb.tools.rows.KeyText;
import tech.bsdb.tools.rows.RowBuffer;
import tech.bsdb.tools.rows.RowType.Kind;
import tech.bsdb.tools.rows.RowType.Scalar;

/**
 * Writes a value as a key or a part of one, as {@code bsdb build-parquet} does: text and bytes as
 * they are, everything else in its JSON form without quotes. Not thread-safe.
 */
@FunctionalInterface
interface KeyPart {
  /**
   * Writes a value that is not null.
   *
   * @param value as Trino holds it
   * @throws BadRowException if it has no text
   */
  void write(Object value, RowBuffer out) throws BadRowException;

  /** Whether the values of a type of rows have one text each, so that lookups by them find rows. */
  static boolean hasText(Scalar stored, Type type) {
    return switch (stored.kind()) {
      case NULL, FLOAT, DOUBLE, INTERVAL -> false;
      case DECIMAL -> type instanceof DecimalType;
      default -> true;
    };
  }

  /** Returns the writer for the values of a type that {@link #hasText has text}. */
  static KeyPart of(Type type) {
    if (type instanceof VarcharType || type instanceof VarbinaryType) {
      return (value, out) -> out.put(((Slice) value).getBytes());
    }
    if (type.equals(UuidType.UUID)) {
      return (value, out) -> out.putText(UuidType.trinoUuidToJavaUuid((Slice) value).toString());
    }
    if (type.equals(BooleanType.BOOLEAN)) {
      return (value, out) -> out.putText(value.toString());
    }
    if (type.equals(BigintType.BIGINT) || type.equals(IntegerType.INTEGER)) {
      return (value, out) -> out.putNumber((Long) value);
    }
    if (type.equals(DateType.DATE)) {
      return asStored(Scalar.of(Kind.DATE), (value, out) -> out.putLong((Long) value));
    }
    if (type instanceof TimeType time) {
      int digits = time.getPrecision();
      long picos = Math.round(Math.pow(10, 12 - digits));
      return asStored(
          Scalar.time(Kind.TIME, digits), (value, out) -> out.putLong((Long) value / picos));
    }
    if (type instanceof TimestampType timestamp) {
      int digits = timestamp.getPrecision();
      return asStored(
          Scalar.time(Kind.LOCAL_TIMESTAMP, digits),
          (value, out) -> out.putLong(local(value, digits)));
    }
    if (type instanceof TimestampWithTimeZoneType timestamp) {
      int digits = timestamp.getPrecision();
      return asStored(
          Scalar.time(Kind.TIMESTAMP, digits), (value, out) -> out.putLong(instant(value, digits)));
    }
    if (type instanceof DecimalType decimal) {
      return asStored(
          Scalar.decimal(decimal.getPrecision(), decimal.getScale()),
          (value, out) -> {
            BigInteger unscaled =
                value instanceof Int128 large
                    ? large.toBigInteger()
                    : BigInteger.valueOf((Long) value);
            byte[] bytes = unscaled.toByteArray();
            out.putBytes(bytes, 0, bytes.length);
          });
    }
    throw new IllegalArgumentException("values of " + type + " cannot be keys");
  }

  /** The text of values, given what writes them as rows have them. */
  private static KeyPart asStored(Scalar type, KeyPart stored) {
    KeyText text = new KeyText(type);
    RowBuffer encoded = new RowBuffer();
    return (value, out) -> {
      encoded.reset();
      stored.write(value, encoded);
      text.write(encoded, out);
    };
  }

  private static long local(Object value, int digits) throws BadRowException {
    if (value instanceof LongTimestamp fine) {
      return units(fine.getEpochMicros(), 1_000, fine.getPicosOfMicro() / 1_000);
    }
    return digits == 3 ? (Long) value / 1_000 : (Long) value;
  }

  private static long instant(Object value, int digits) throws BadRowException {
    if (value instanceof LongTimestampWithTimeZone fine) {
      return digits == 6
          ? units(fine.getEpochMillis(), 1_000, fine.getPicosOfMilli() / 1_000_000)
          : units(fine.getEpochMillis(), 1_000_000, fine.getPicosOfMilli() / 1_000);
    }
    return DateTimeEncoding.unpackMillisUtc((Long) value);
  }

  /**
   * Adds a fraction to a time in larger units; the first of a long are not a whole number of these.
   */
  private static long units(long time, long perTime, long fraction) throws BadRowException {
    try {
      return time < 0
          ? Math.addExact(Math.multiplyExact(time + 1, perTime), fraction - perTime)
          : Math.addExact(Math.multiplyExact(time, perTime), fraction);
    } catch (ArithmeticException e) {
      throw new BadRowException("a timestamp is too far from 1970 for a row: " + time);
    }
  }
}
