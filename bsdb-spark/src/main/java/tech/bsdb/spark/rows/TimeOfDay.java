package tech.bsdb.spark.rows;

import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.TimeType;

/** Spark's type of times of day, which Spark 4.0 lacks. */
final class TimeOfDay {
  private TimeOfDay() {}

  static boolean isTime(DataType type) {
    return type.typeName().startsWith("time(");
  }

  /**
   * The type of times in microseconds.
   *
   * @throws IllegalArgumentException if this Spark lacks it
   */
  static DataType micros() {
    try {
      return Since41.micros();
    } catch (NoClassDefFoundError missing) {
      throw new IllegalArgumentException(
          "the rows have times of day, for which Spark has a type since 4.1; use a newer one",
          missing);
    }
  }

  /** The only class that names the type, so that all others can be loaded without it. */
  private static final class Since41 {
    static DataType micros() {
      return new TimeType(TimeType.MICROS_PRECISION());
    }
  }
}
