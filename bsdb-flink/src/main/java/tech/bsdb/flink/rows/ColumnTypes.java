package tech.bsdb.flink.rows;

import java.util.ArrayList;
import java.util.List;
import org.apache.flink.table.types.logical.ArrayType;
import org.apache.flink.table.types.logical.DecimalType;
import org.apache.flink.table.types.logical.LocalZonedTimestampType;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.MapType;
import org.apache.flink.table.types.logical.RowType.RowField;
import org.apache.flink.table.types.logical.TimestampType;
import tech.bsdb.tools.rows.RowType;
import tech.bsdb.tools.rows.RowType.Column;
import tech.bsdb.tools.rows.RowType.Kind;
import tech.bsdb.tools.rows.RowType.ListOf;
import tech.bsdb.tools.rows.RowType.MapOf;
import tech.bsdb.tools.rows.RowType.Pairs;
import tech.bsdb.tools.rows.RowType.Scalar;
import tech.bsdb.tools.rows.RowType.Struct;

/** Converts types of Flink to those of rows. */
public final class ColumnTypes {
  private static final int MILLIS = 3;
  private static final int MICROS = 6;
  private static final int NANOS = 9;

  private ColumnTypes() {}

  /**
   * Converts the columns of a table.
   *
   * @throws IllegalArgumentException if one has no form in a row; the message names it
   */
  public static List<Column> columns(org.apache.flink.table.types.logical.RowType row) {
    List<Column> columns = new ArrayList<>();
    for (RowField field : row.getFields()) {
      columns.add(column(field.getName(), field.getType(), field.getName()));
    }
    return columns;
  }

  private static Column column(String name, LogicalType type, String path) {
    return new Column(name, type(type, path), type.isNullable());
  }

  private static RowType type(LogicalType type, String path) {
    if (type instanceof org.apache.flink.table.types.logical.RowType row) {
      List<Column> fields = new ArrayList<>();
      for (RowField field : row.getFields()) {
        fields.add(column(field.getName(), field.getType(), path + "." + field.getName()));
      }
      if (fields.isEmpty()) {
        throw new IllegalArgumentException("column " + path + " is a row without fields");
      }
      return new Struct(fields);
    }
    if (type instanceof ArrayType array) {
      return new ListOf(column("element", array.getElementType(), path));
    }
    if (type instanceof MapType map) {
      Column key = new Column("key", type(map.getKeyType(), path), false);
      Column value = column("value", map.getValueType(), path);
      return key.type().equals(Scalar.of(Kind.STRING)) ? new MapOf(value) : new Pairs(key, value);
    }
    return scalar(type, path);
  }

  /**
   * Converts the type of a column that has no parts.
   *
   * @param path the name of the column, for messages
   * @throws IllegalArgumentException if it has parts, or no form in a row
   */
  public static Scalar scalar(LogicalType type, String path) {
    return switch (type.getTypeRoot()) {
      case BOOLEAN -> Scalar.of(Kind.BOOLEAN);
      case TINYINT, SMALLINT, INTEGER -> Scalar.of(Kind.INT);
      case BIGINT -> Scalar.of(Kind.LONG);
      case FLOAT -> Scalar.of(Kind.FLOAT);
      case DOUBLE -> Scalar.of(Kind.DOUBLE);
      case CHAR, VARCHAR -> Scalar.of(Kind.STRING);
      case BINARY, VARBINARY -> Scalar.of(Kind.BYTES);
      case DATE -> Scalar.of(Kind.DATE);
      case TIME_WITHOUT_TIME_ZONE -> Scalar.time(Kind.TIME, MILLIS); // all that Flink has of one
      case DECIMAL -> {
        DecimalType decimal = (DecimalType) type;
        yield Scalar.decimal(decimal.getPrecision(), decimal.getScale());
      }
      case TIMESTAMP_WITHOUT_TIME_ZONE ->
          Scalar.time(Kind.LOCAL_TIMESTAMP, unit(((TimestampType) type).getPrecision()));
      case TIMESTAMP_WITH_LOCAL_TIME_ZONE ->
          Scalar.time(Kind.TIMESTAMP, unit(((LocalZonedTimestampType) type).getPrecision()));
      case NULL -> Scalar.of(Kind.NULL);
      default ->
          throw new IllegalArgumentException(
              "column %s is of type %s, which has no form in a database; cast it, or leave it out"
                  .formatted(path, type.asSummaryString()));
    };
  }

  private static int unit(int precision) {
    return precision <= MILLIS ? MILLIS : precision <= MICROS ? MICROS : NANOS;
  }
}
