package tech.bsdb.tools.table;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeParseException;
import java.time.temporal.ChronoField;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.rows.RowBuffer;
import tech.bsdb.tools.rows.RowType.Kind;
import tech.bsdb.tools.rows.RowType.Scalar;

/**
 * Infers the type of partition values as Spark does: the first of int, long, decimal, double, date,
 * timestamp and string that fits. Forms that only Java reads as numbers ({@code 4d}, {@code 0x10})
 * and integers of more than 38 digits are text here, so that nothing is lost. Timestamps have no
 * time zone, so that the machine's does not matter.
 *
 * @see <a
 *     href="https://spark.apache.org/docs/latest/sql-data-sources-parquet.html#partition-discovery">partition
 *     discovery</a>
 */
public final class PartitionType {
  private static final int MAX_DIGITS = 38;
  private static final Pattern INTEGER = Pattern.compile("[+-]?[0-9]{1,60}");
  private static final Pattern NUMBER =
      Pattern.compile("[+-]?([0-9]+\\.?[0-9]*|\\.[0-9]+)([eE][+-]?[0-9]{1,5})?");
  private static final Pattern NO_NUMBER = Pattern.compile("NaN|-?Infinity");
  private static final Pattern DATE = Pattern.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}");
  private static final Pattern TIMESTAMP =
      Pattern.compile(DATE + " [0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]{1,6})?");
  private static final Scalar LOCAL_MICROS = Scalar.time(Kind.LOCAL_TIMESTAMP, 6);
  private static final Scalar STRING = Scalar.of(Kind.STRING);

  private PartitionType() {}

  /** Returns the common type of all non-null values of a column; string if there are none. */
  static Scalar of(List<@Nullable String> values) {
    Scalar type = null;
    for (String value : values) {
      if (value != null) {
        Scalar own = of(value);
        type = type == null ? own : wider(type, own);
      }
    }
    return type == null ? STRING : type;
  }

  private static Scalar of(String text) {
    if (INTEGER.matcher(text).matches()) {
      BigInteger number = new BigInteger(text.startsWith("+") ? text.substring(1) : text);
      int bits = number.bitLength();
      return bits < 32
          ? Scalar.of(Kind.INT)
          : bits < 64 ? Scalar.of(Kind.LONG) : decimal(new BigDecimal(number));
    }
    if (NUMBER.matcher(text).matches()) {
      BigDecimal number = new BigDecimal(text);
      return number.scale() <= 0 ? decimal(number) : Scalar.of(Kind.DOUBLE);
    }
    if (NO_NUMBER.matcher(text).matches()) {
      return Scalar.of(Kind.DOUBLE);
    }
    if (isDate(text)) {
      return Scalar.of(Kind.DATE);
    }
    return isTimestamp(text) ? LOCAL_MICROS : STRING;
  }

  private static Scalar decimal(BigDecimal whole) {
    int digits = whole.precision() - whole.scale();
    return digits > MAX_DIGITS ? STRING : Scalar.decimal(digits, 0);
  }

  private static boolean isDate(String text) {
    try {
      return DATE.matcher(text).matches() && LocalDate.parse(text).getYear() >= 0;
    } catch (DateTimeParseException noSuchDay) {
      return false;
    }
  }

  private static boolean isTimestamp(String text) {
    try {
      return TIMESTAMP.matcher(text).matches() && timestamp(text).getYear() >= 0;
    } catch (DateTimeParseException noSuchTime) {
      return false;
    }
  }

  private static LocalDateTime timestamp(String text) {
    return LocalDateTime.parse(text.replace(' ', 'T'));
  }

  private static Scalar wider(Scalar a, Scalar b) {
    if (a.equals(b)) {
      return a;
    }
    if (isWhole(a) && isWhole(b)) {
      if (a.kind() != Kind.DECIMAL && b.kind() != Kind.DECIMAL) {
        return Scalar.of(Kind.LONG);
      }
      return Scalar.decimal(Math.max(digits(a), digits(b)), 0);
    }
    if (TypeMerge.isPair(a, b, Kind.INT, Kind.DOUBLE)) {
      return Scalar.of(Kind.DOUBLE);
    }
    if (TypeMerge.isPair(a, b, Kind.DATE, Kind.LOCAL_TIMESTAMP)) {
      return LOCAL_MICROS;
    }
    return STRING;
  }

  private static boolean isWhole(Scalar type) {
    return type.kind() == Kind.INT || type.kind() == Kind.LONG || type.kind() == Kind.DECIMAL;
  }

  private static int digits(Scalar type) {
    return type.kind() == Kind.INT ? 10 : type.kind() == Kind.LONG ? 20 : type.first();
  }

  /** Writes a value in Avro's encoding of the inferred type. */
  static void write(String text, Scalar type, RowBuffer out) {
    switch (type.kind()) {
      case INT, LONG -> out.putLong(new BigDecimal(text).longValueExact());
      case DOUBLE -> out.putDouble(Double.parseDouble(text));
      case DECIMAL -> {
        byte[] number = new BigDecimal(text).toBigIntegerExact().toByteArray();
        out.putBytes(number, 0, number.length);
      }
      case DATE -> out.putLong(LocalDate.parse(text).toEpochDay());
      case LOCAL_TIMESTAMP -> out.putLong(micros(text));
      default -> {
        byte[] bytes = text.getBytes(UTF_8);
        out.putBytes(bytes, 0, bytes.length);
      }
    }
  }

  private static long micros(String text) {
    LocalDateTime time =
        DATE.matcher(text).matches() ? LocalDate.parse(text).atStartOfDay() : timestamp(text);
    return Math.addExact(
        Math.multiplyExact(time.toEpochSecond(ZoneOffset.UTC), 1_000_000L),
        time.get(ChronoField.MICRO_OF_SECOND));
  }
}
