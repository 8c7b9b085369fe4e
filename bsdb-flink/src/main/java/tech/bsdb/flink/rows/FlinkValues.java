package tech.bsdb.flink.rows;

import java.math.BigDecimal;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.flink.table.data.DecimalData;
import org.apache.flink.table.data.GenericArrayData;
import org.apache.flink.table.data.GenericMapData;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.data.TimestampData;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.rows.BadRowException;
import tech.bsdb.tools.rows.RowObjects;

/** Makes Flink's own objects of the values of rows. */
public final class FlinkValues implements RowObjects {
  /** The most digits of a decimal of Flink. */
  static final int MOST_DIGITS = 38;

  private static final int MILLIS_OF_DAY = 86_400_000;

  /** Creates the factory, which has no state. */
  public FlinkValues() {}

  @Override
  public Object decimal(BigDecimal value, int precision) throws BadRowException {
    DecimalData decimal =
        precision > MOST_DIGITS
            ? null
            : DecimalData.fromBigDecimal(value, precision, Math.max(0, value.scale()));
    if (decimal == null) {
      throw new BadRowException(
          "a decimal has %s digits, more than its precision %s"
              .formatted(value.precision(), Math.min(precision, MOST_DIGITS)));
    }
    return decimal;
  }

  @Override
  public Object text(byte[] bytes, int from, int length) {
    return StringData.fromBytes(Arrays.copyOfRange(bytes, from, from + length));
  }

  @Override
  public Object bytes(byte[] bytes, int from, int length) {
    return Arrays.copyOfRange(bytes, from, from + length);
  }

  @Override
  public Object date(int days) {
    return days;
  }

  /** Makes milliseconds, which are all that Flink has of a time: of finer ones, whole ones. */
  @Override
  public Object time(long units, int digits) throws BadRowException {
    long millis =
        switch (digits) {
          case 3 -> units;
          case 6 -> units / 1_000;
          default -> units / 1_000_000;
        };
    if (millis >= MILLIS_OF_DAY) {
      throw new BadRowException("the time of day 24:00 has no form in Flink");
    }
    return (int) millis;
  }

  @Override
  public Object timestamp(long units, int digits) {
    long perMilli =
        switch (digits) {
          case 3 -> 1;
          case 6 -> 1_000;
          default -> 1_000_000;
        };
    long rest = Math.floorMod(units, perMilli);
    return TimestampData.fromEpochMillis(
        Math.floorDiv(units, perMilli), (int) (rest * (1_000_000 / perMilli)));
  }

  @Override
  public Object struct(@Nullable Object[] fields) {
    return GenericRowData.of(fields);
  }

  @Override
  public Object list(@Nullable Object[] elements) {
    return new GenericArrayData(elements);
  }

  @Override
  public Object map(@Nullable Object[] keys, @Nullable Object[] values) {
    Map<@Nullable Object, @Nullable Object> map = new LinkedHashMap<>();
    for (int i = 0; i < keys.length; i++) {
      map.put(keys[i], values[i]);
    }
    return new GenericMapData(map);
  }
}
