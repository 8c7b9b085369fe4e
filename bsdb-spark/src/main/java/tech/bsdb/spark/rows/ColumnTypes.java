package tech.bsdb.spark.rows;

import static java.util.Map.entry;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.types.TimeType;
import org.apache.spark.sql.types.UserDefinedType;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.rows.RowType;
import tech.bsdb.tools.rows.RowType.Column;
import tech.bsdb.tools.rows.RowType.Kind;
import tech.bsdb.tools.rows.RowType.ListOf;
import tech.bsdb.tools.rows.RowType.MapOf;
import tech.bsdb.tools.rows.RowType.Pairs;
import tech.bsdb.tools.rows.RowType.Scalar;
import tech.bsdb.tools.rows.RowType.Struct;

/**
 * Converts types of Spark to those of rows: the types that a Parquet file of the same data has,
 * with timestamps in microseconds.
 */
public final class ColumnTypes {
  private static final Map<DataType, Kind> KINDS =
      Map.ofEntries(
          entry(DataTypes.BooleanType, Kind.BOOLEAN),
          entry(DataTypes.ByteType, Kind.INT),
          entry(DataTypes.ShortType, Kind.INT),
          entry(DataTypes.IntegerType, Kind.INT),
          entry(DataTypes.LongType, Kind.LONG),
          entry(DataTypes.FloatType, Kind.FLOAT),
          entry(DataTypes.DoubleType, Kind.DOUBLE),
          entry(DataTypes.DateType, Kind.DATE),
          entry(DataTypes.TimestampType, Kind.TIMESTAMP),
          entry(DataTypes.TimestampNTZType, Kind.LOCAL_TIMESTAMP),
          entry(DataTypes.BinaryType, Kind.BYTES),
          entry(DataTypes.NullType, Kind.NULL));

  private ColumnTypes() {}

  /**
   * Converts a column or a field of a struct.
   *
   * @throws IllegalArgumentException if no Parquet file could have it; the message names it
   */
  public static Column column(StructField field) {
    return new Column(field.name(), type(field.dataType(), field.name()), field.nullable());
  }

  /**
   * Converts the type of a column.
   *
   * @param column the name of the column, for messages
   */
  static RowType type(DataType type, String column) {
    if (type instanceof StructType struct) {
      List<Column> fields = new ArrayList<>();
      for (StructField field : struct.fields()) {
        fields.add(
            new Column(
                field.name(),
                type(field.dataType(), column + "." + field.name()),
                field.nullable()));
      }
      if (fields.isEmpty()) {
        throw new IllegalArgumentException("column " + column + " is a struct without fields");
      }
      return new Struct(fields);
    }
    if (type instanceof ArrayType array) {
      return new ListOf(
          new Column("element", type(array.elementType(), column), array.containsNull()));
    }
    if (type instanceof MapType map) {
      Column key = new Column("key", type(map.keyType(), column), false);
      Column value = new Column("value", type(map.valueType(), column), map.valueContainsNull());
      return key.type().equals(Scalar.of(Kind.STRING)) ? new MapOf(value) : new Pairs(key, value);
    }
    if (type instanceof UserDefinedType<?> defined) {
      return type(defined.sqlType(), column);
    }
    return scalar(type, column);
  }

  /**
   * Converts the type of a column that has no parts.
   *
   * @param column the name of the column, for messages
   * @throws IllegalArgumentException if it has parts, or no Parquet file could have it
   */
  static Scalar scalar(DataType type, String column) {
    if (type instanceof DecimalType decimal) {
      return Scalar.decimal(decimal.precision(), decimal.scale());
    }
    Kind kind = kind(type);
    if (kind == null) {
      throw new IllegalArgumentException(
          "column %s is of type %s, which has no form in a database; cast it, or leave it out"
              .formatted(column, type.catalogString()));
    }
    return switch (kind) {
      case TIME, TIMESTAMP, LOCAL_TIMESTAMP -> Scalar.time(kind, 6);
      default -> Scalar.of(kind);
    };
  }

  private static @Nullable Kind kind(DataType type) {
    if (type instanceof StringType) { // also CHAR and VARCHAR
      return Kind.STRING;
    }
    return TimeOfDay.isTime(type) ? Kind.TIME : KINDS.get(type);
  }

  /** Spark's type of times of day, which Spark 4.0 lacks. */
  static final class TimeOfDay {
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
}
