package tech.bsdb.tools.parquet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.time.temporal.JulianFields;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tech.bsdb.tools.parquet.ScalarEncoder.Int96;
import tech.bsdb.tools.text.HalfFloat;

/** Numbers in forms that Java has none for: INT96 timestamps and floats of 16 bits. */
class NumbersTest {
  private static ByteBuffer int96(long nanosOfDay, long day) {
    return ByteBuffer.allocate(12)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putLong(nanosOfDay)
        .putInt((int) day)
        .flip();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "1970-01-01T00:00:00Z",
        "1969-12-31T23:59:59.999999999Z",
        "2024-02-29T12:34:56.789012345Z",
        "1677-09-21T00:12:43.145224192Z",
        "2262-04-11T23:47:16.854775807Z"
      })
  void timestampsOf96Bits(String text) {
    Instant instant = Instant.parse(text);
    LocalDate day = instant.atOffset(ZoneOffset.UTC).toLocalDate();
    long nanosOfDay =
        ChronoUnit.NANOS.between(day.atStartOfDay().toInstant(ZoneOffset.UTC), instant);

    long nanos =
        Int96.since1970(int96(nanosOfDay, day.getLong(JulianFields.JULIAN_DAY)), 1_000_000_000);

    assertThat(Instant.EPOCH.plusNanos(nanos)).isEqualTo(instant);
  }

  @ParameterizedTest
  @CsvSource({"0, 1721426", "0, 5373484", "86399999999999, 2147483647", "0, -2147483648"})
  void timestampsBeyondALongAreRefused(long nanosOfDay, long day) {
    assertThatThrownBy(() -> Int96.since1970(int96(nanosOfDay, day), 1_000_000_000))
        .isInstanceOf(ArithmeticException.class);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "1969-12-31T23:59:59.999999Z",
        "0001-01-01T00:00:00.000001Z",
        "9999-12-31T23:59:59.999999Z"
      })
  void timestampsOf96BitsInMicroseconds(String text) {
    Instant instant = Instant.parse(text);
    long day = instant.atOffset(ZoneOffset.UTC).toLocalDate().getLong(JulianFields.JULIAN_DAY);
    long nanosOfDay = instant.atOffset(ZoneOffset.UTC).toLocalTime().toNanoOfDay();

    long micros = Int96.since1970(int96(nanosOfDay + 999, day), 1_000_000);

    assertThat(Instant.EPOCH.plus(micros, ChronoUnit.MICROS)).isEqualTo(instant);
    assertThatThrownBy(() -> Int96.since1970(int96(0, Integer.MAX_VALUE), 1_000_000))
        .isInstanceOf(ArithmeticException.class);
  }

  @Test
  void everyFloatOf16Bits() {
    for (int bits = 0; bits < 1 << 16; bits++) {
      int exponent = bits >> 10 & 31;
      double fraction = (bits & 1023) / 1024.0;
      double size =
          exponent == 31
              ? fraction == 0 ? Double.POSITIVE_INFINITY : Double.NaN
              : exponent == 0
                  ? fraction * Math.pow(2, -14)
                  : (1 + fraction) * Math.pow(2, exponent - 15);
      double expected = bits >= 1 << 15 ? -size : size;
      float found = HalfFloat.of(bits);
      assertThat(Double.compare(found, expected) == 0 || (Float.isNaN(found) && Double.isNaN(size)))
          .as(Integer.toHexString(bits))
          .isTrue();
      ByteBuffer bytes =
          ByteBuffer.allocate(3).order(ByteOrder.LITTLE_ENDIAN).position(1).putShort((short) bits);
      assertThat(Float.compare(HalfFloat.of(bytes.position(1)), found)).isZero();
    }
  }
}
