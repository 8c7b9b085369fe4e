package tech.bsdb.lake.delta;

import java.math.BigDecimal;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.rows.RowType.Scalar;

/**
 * Values of partition columns, which the log has as text (Delta's protocol, "Partition Value
 * Serialization"). Kernel's own parser depends on the time zone and the calendar of the JVM.
 */
final class PartitionText {
  private PartitionText() {}

  /**
   * Returns the value that a text stands for.
   *
   * @param text the text; null and an empty one stand for null
   * @throws IllegalArgumentException if it stands for none; the message says why
   */
  static @Nullable Object value(Scalar type, @Nullable String text) {
    if (text == null || text.isEmpty()) {
      return null;
    }
    try {
      return switch (type.kind()) {
        case STRING -> text;
        case INT -> Integer.valueOf(text);
        case LONG -> Long.valueOf(text);
        case FLOAT -> Float.valueOf(text);
        case DOUBLE -> Double.valueOf(text);
        case BOOLEAN -> bool(text);
        case DECIMAL -> new BigDecimal(text).setScale(type.second());
        case DATE -> (int) LocalDate.parse(text).toEpochDay();
        case TIMESTAMP -> micros(instant(text));
        case LOCAL_TIMESTAMP -> micros(local(text).toInstant(ZoneOffset.UTC));
        default -> throw new IllegalArgumentException("it has no text form");
      };
    } catch (DateTimeException | ArithmeticException | NumberFormatException e) {
      throw new IllegalArgumentException("it cannot be one", e);
    }
  }

  private static boolean bool(String text) {
    return switch (text.toLowerCase(Locale.ROOT)) {
      case "true" -> true;
      case "false" -> false;
      default -> throw new IllegalArgumentException("it cannot be one");
    };
  }

  private static Instant instant(String text) {
    if (!text.matches(".*(Z|[+-]\\d\\d:\\d\\d)")) {
      throw new IllegalArgumentException(
          "it has no time zone: it means a time in the zone of its writer, which the table does"
              + " not name");
    }
    return OffsetDateTime.parse(text.replace(' ', 'T')).toInstant();
  }

  private static LocalDateTime local(String text) {
    return text.length() <= "2024-01-31".length()
        ? LocalDate.parse(text).atStartOfDay() // of a column that was of type date once
        : LocalDateTime.parse(text.replace(' ', 'T'));
  }

  private static long micros(Instant instant) {
    return ChronoUnit.MICROS.between(Instant.EPOCH, instant);
  }
}
