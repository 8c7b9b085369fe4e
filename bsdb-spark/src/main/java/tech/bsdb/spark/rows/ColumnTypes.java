package tech.bsdb.spark.rows;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.BinaryType;
import org.apache.spark.sql.types.BooleanType;
import org.apache.spark.sql.types.ByteType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DateType;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.DoubleType;
import org.apache.spark.sql.types.FloatType;
import org.apache.spark.sql.types.IntegerType;
import org.apache.spark.sql.types.LongType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.NullType;
import org.apache.spark.sql.types.ShortType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.types.TimestampNTZType;
import org.apache.spark.sql.types.TimestampType;
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
    return Scalar.of(kind);
  }

  private static @Nullable Kind kind(DataType type) {
    if (type instanceof StringType) { // also CHAR and VARCHAR
      return Kind.STRING;
    }
    if (TimeOfDay.isTime(type)) {
      return Kind.TIME_MICROS;
    }
    if (type instanceof BooleanType) {
      return Kind.BOOLEAN;
    }
    if (type instanceof ByteType || type instanceof ShortType || type instanceof IntegerType) {
      return Kind.INT;
    }
    if (type instanceof LongType) {
      return Kind.LONG;
    }
    if (type instanceof FloatType) {
      return Kind.FLOAT;
    }
    if (type instanceof DoubleType) {
      return Kind.DOUBLE;
    }
    if (type instanceof DateType) {
      return Kind.DATE;
    }
    if (type instanceof TimestampType) {
      return Kind.TIMESTAMP_MICROS;
    }
    if (type instanceof TimestampNTZType) {
      return Kind.LOCAL_TIMESTAMP_MICROS;
    }
    if (type instanceof BinaryType) {
      return Kind.BYTES;
    }
    return type instanceof NullType ? Kind.NULL : null;
  }
}
