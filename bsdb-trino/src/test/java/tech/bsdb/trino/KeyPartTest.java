package tech.bsdb.trino;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.trino.spi.type.LongTimestamp;
import io.trino.spi.type.LongTimestampWithTimeZone;
import io.trino.spi.type.TimeZoneKey;
import io.trino.spi.type.TimestampType;
import io.trino.spi.type.TimestampWithTimeZoneType;
import io.trino.spi.type.Type;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import tech.bsdb.tools.rows.BadRowException;
import tech.bsdb.tools.rows.RowBuffer;

final class KeyPartTest {
  private static String text(Type type, Object value) throws BadRowException {
    RowBuffer out = new RowBuffer();
    KeyPart.of(type).write(value, out);
    return new String(out.copy(), UTF_8);
  }

  private static String local(String time) throws BadRowException {
    Instant at = Instant.parse(time);
    long micros = at.getEpochSecond() * 1_000_000 + at.getNano() / 1_000;
    return text(
        TimestampType.TIMESTAMP_NANOS, new LongTimestamp(micros, at.getNano() % 1_000 * 1_000));
  }

  private static String instant(String time) throws BadRowException {
    Instant at = Instant.parse(time);
    return text(
        TimestampWithTimeZoneType.TIMESTAMP_TZ_NANOS,
        LongTimestampWithTimeZone.fromEpochMillisAndFraction(
            at.getEpochSecond() * 1_000 + at.getNano() / 1_000_000,
            at.getNano() % 1_000_000 * 1_000,
            TimeZoneKey.UTC_KEY));
  }

  /**
   * The first is 2^64 nanoseconds after one of the year 2026; others just too late and too early.
   */
  @Test
  void timesThatNanosecondsCannotHoldHaveNoText() {
    for (String time :
        new String[] {
          "2610-08-22T12:09:29.833008405Z",
          "2262-04-11T23:47:16.854775808Z",
          "1677-09-21T00:12:43.145224191Z"
        }) {
      assertThatThrownBy(() -> local(time)).isInstanceOf(BadRowException.class);
      assertThatThrownBy(() -> instant(time)).isInstanceOf(BadRowException.class);
    }
  }

  @Test
  void theFirstAndTheLastNanosecondHaveText() throws Exception {
    for (String time :
        new String[] {
          "1677-09-21T00:12:43.145224192Z",
          "1969-12-31T23:59:59.999999999Z",
          "2262-04-11T23:47:16.854775807Z"
        }) {
      assertThat(local(time)).isEqualTo(time.replace("Z", ""));
      assertThat(instant(time)).isEqualTo(time);
    }
  }
}
