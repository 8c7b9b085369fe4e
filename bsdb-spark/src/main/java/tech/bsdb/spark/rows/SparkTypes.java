package tech.bsdb.spark.rows;

import java.util.List;
import java.util.Objects;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.Metadata;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import tech.bsdb.spark.rows.ColumnTypes.TimeOfDay;
import tech.bsdb.tools.rows.RowType;
import tech.bsdb.tools.rows.RowType.Column;
import tech.bsdb.tools.rows.RowType.ListOf;
import tech.bsdb.tools.rows.RowType.MapOf;
import tech.bsdb.tools.rows.RowType.Pairs;
import tech.bsdb.tools.rows.RowType.Scalar;
import tech.bsdb.tools.rows.RowType.Struct;

/**
 * Converts types of rows to those of Spark: {@link ColumnTypes} backwards, and the types that only
 * other inputs have.
 *
 * <p>Times and timestamps of any unit are in microseconds, durations and UUIDs are text, and so are
 * decimals of more digits than Spark has.
 */
public final class SparkTypes {
  private SparkTypes() {}

  /** Converts the columns of rows. */
  public static StructType of(List<Column> columns) {
    StructField[] fields = new StructField[columns.size()];
    for (int i = 0; i < fields.length; i++) {
      Column column = columns.get(i);
      fields[i] =
          new StructField(column.name(), of(column.type()), column.nullable(), Metadata.empty());
    }
    return new StructType(fields);
  }

  /** Converts the type of a column. */
  public static DataType of(RowType type) {
    if (type instanceof Struct struct) {
      return of(struct.fields());
    }
    if (type instanceof ListOf list) {
      return new ArrayType(of(list.element().type()), list.element().nullable());
    }
    if (type instanceof MapOf map) {
      return new MapType(DataTypes.StringType, of(map.value().type()), map.value().nullable());
    }
    if (type instanceof Pairs pairs) {
      return new MapType(
          of(pairs.key().type()), of(pairs.value().type()), pairs.value().nullable());
    }
    return scalar((Scalar) type);
  }

  private static DataType scalar(Scalar type) {
    return switch (type.kind()) {
      case NULL -> DataTypes.NullType;
      case BOOLEAN -> DataTypes.BooleanType;
      case INT -> DataTypes.IntegerType;
      case LONG -> DataTypes.LongType;
      case FLOAT -> DataTypes.FloatType;
      case DOUBLE -> DataTypes.DoubleType;
      case DECIMAL ->
          type.first() > DecimalType.MAX_PRECISION()
              ? DataTypes.StringType
              : new DecimalType(type.first(), type.second());
      case DATE -> DataTypes.DateType;
      case TIME -> TimeOfDay.micros();
      case TIMESTAMP -> DataTypes.TimestampType;
      case LOCAL_TIMESTAMP -> DataTypes.TimestampNTZType;
      case STRING, UUID, INTERVAL -> DataTypes.StringType;
      case BYTES, FIXED -> DataTypes.BinaryType;
    };
  }

  /**
   * Whether a column can be read as a type: one whose values are stored the same way, such as a
   * short one as an integer, and that allows all nulls of the column.
   */
  public static boolean canRead(StructField stored, StructField asked) {
    DataType type;
    try {
      type = of(ColumnTypes.type(asked.dataType(), asked.name()));
    } catch (IllegalArgumentException noForm) {
      return false;
    }
    return (asked.nullable() || !stored.nullable()) && holds(type, stored.dataType());
  }

  /** Whether a type has all values of another one. */
  private static boolean holds(DataType type, DataType stored) {
    if (type instanceof StructType wide && stored instanceof StructType narrow) {
      if (wide.length() != narrow.length()) {
        return false;
      }
      for (int i = 0; i < wide.length(); i++) {
        StructField to = wide.fields()[i];
        StructField from = narrow.fields()[i];
        if (!to.name().equals(from.name())
            || (from.nullable() && !to.nullable())
            || !holds(to.dataType(), from.dataType())) {
          return false;
        }
      }
      return true;
    }
    if (type instanceof ArrayType to && stored instanceof ArrayType from) {
      return (to.containsNull() || !from.containsNull())
          && holds(to.elementType(), from.elementType());
    }
    if (type instanceof MapType to && stored instanceof MapType from) {
      return (to.valueContainsNull() || !from.valueContainsNull())
          && holds(to.keyType(), from.keyType())
          && holds(to.valueType(), from.valueType());
    }
    return Objects.equals(type, stored);
  }
}
