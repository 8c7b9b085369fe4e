package tech.bsdb.trino;

import io.airlift.slice.Slice;
import io.airlift.slice.Slices;
import io.trino.spi.block.ArrayBlockBuilder;
import io.trino.spi.block.BlockBuilder;
import io.trino.spi.block.DuplicateMapKeyException;
import io.trino.spi.block.MapBlockBuilder;
import io.trino.spi.block.RowBlockBuilder;
import io.trino.spi.type.ArrayType;
import io.trino.spi.type.BigintType;
import io.trino.spi.type.BooleanType;
import io.trino.spi.type.DateTimeEncoding;
import io.trino.spi.type.DateType;
import io.trino.spi.type.DecimalType;
import io.trino.spi.type.Decimals;
import io.trino.spi.type.DoubleType;
import io.trino.spi.type.Int128;
import io.trino.spi.type.IntegerType;
import io.trino.spi.type.LongTimestamp;
import io.trino.spi.type.LongTimestampWithTimeZone;
import io.trino.spi.type.MapType;
import io.trino.spi.type.RealType;
import io.trino.spi.type.TimeType;
import io.trino.spi.type.TimeZoneKey;
import io.trino.spi.type.TimestampType;
import io.trino.spi.type.TimestampWithTimeZoneType;
import io.trino.spi.type.Type;
import io.trino.spi.type.TypeOperators;
import io.trino.spi.type.UuidType;
import io.trino.spi.type.VarbinaryType;
import io.trino.spi.type.VarcharType;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.rows.BadRowException;
import tech.bsdb.tools.rows.RowType;
import tech.bsdb.tools.rows.RowType.Column;
import tech.bsdb.tools.rows.RowType.ListOf;
import tech.bsdb.tools.rows.RowType.MapOf;
import tech.bsdb.tools.rows.RowType.Pairs;
import tech.bsdb.tools.rows.RowType.Scalar;
import tech.bsdb.tools.rows.RowType.Struct;

/**
 * Converts types of rows to those of Trino, and writes decoded values to the pages of Trino.
 * Immutable and thread-safe.
 *
 * <p>Durations are text, and so are decimals of more digits than Trino has. A type without values
 * is BOOLEAN.
 */
final class RowTypes {
  private static final int MILLIS = 3;
  private static final int MICROS = 6;
  private static final int MOST_FRACTION = 12;
  private static final long THOUSAND = 1_000;
  private static final int MILLION = 1_000_000;

  private final TypeOperators operators;

  RowTypes(TypeOperators operators) {
    this.operators = operators;
  }

  /**
   * A type, and the writer of its values.
   *
   * @param type the type in Trino
   */
  record Cell(Type type, CellWriter writer) {
    /** Writes a value of {@link DecodedRow}, or null. */
    void write(@Nullable Object value, BlockBuilder out) throws BadRowException {
      if (value == null) {
        out.appendNull();
      } else {
        writer.write(value, out);
      }
    }
  }

  /** Writes values that are not null. */
  @FunctionalInterface
  interface CellWriter {
    /**
     * Writes a value of {@link DecodedRow}.
     *
     * @throws BadRowException if the type does not have it
     */
    void write(Object value, BlockBuilder out) throws BadRowException;
  }

  /**
   * Converts the type of a column.
   *
   * @param path the name of the column, for messages
   * @throws IllegalArgumentException if Trino has no type for it
   */
  Cell of(RowType stored, String path) {
    if (stored instanceof Struct struct) {
      return struct(struct.fields(), path);
    }
    if (stored instanceof ListOf list) {
      Cell element = of(list.element().type(), path);
      return new Cell(
          new ArrayType(element.type()),
          (value, out) ->
              ((ArrayBlockBuilder) out)
                  .<BadRowException>buildEntry(
                      into -> {
                        for (Object each : (@Nullable Object[]) value) {
                          element.write(each, into);
                        }
                      }));
    }
    if (stored instanceof MapOf map) {
      return map(scalar(Scalar.of(RowType.Kind.STRING)), of(map.value().type(), path));
    }
    if (stored instanceof Pairs pairs) {
      return map(of(pairs.key().type(), path), of(pairs.value().type(), path));
    }
    return scalar((Scalar) stored);
  }

  private Cell struct(List<Column> fields, String path) {
    if (fields.isEmpty()) {
      throw new IllegalArgumentException(
          "column " + path + " is a record without fields, for which Trino has no type");
    }
    List<Cell> cells = new ArrayList<>();
    List<io.trino.spi.type.RowType.Field> named = new ArrayList<>();
    for (Column field : fields) {
      Cell cell = of(field.type(), path + "." + field.name());
      cells.add(cell);
      named.add(io.trino.spi.type.RowType.field(field.name(), cell.type()));
    }
    return new Cell(
        io.trino.spi.type.RowType.from(named),
        (value, out) ->
            ((RowBlockBuilder) out)
                .<BadRowException>buildEntry(
                    into -> {
                      @Nullable Object[] values = (@Nullable Object[]) value;
                      for (int i = 0; i < values.length; i++) {
                        cells.get(i).write(values[i], into.get(i));
                      }
                    }));
  }

  private Cell map(Cell key, Cell entry) {
    MapType type = new MapType(key.type(), entry.type(), operators);
    return new Cell(
        type,
        (value, out) -> {
          DecodedRow.Entries entries = (DecodedRow.Entries) value;
          for (Object each : entries.keys()) {
            if (each == null) {
              throw new BadRowException("a key of a map is null, which has no form in Trino");
            }
          }
          try {
            ((MapBlockBuilder) out)
                .strict()
                .<BadRowException>buildEntry(
                    (keys, values) -> {
                      for (int i = 0; i < entries.keys().length; i++) {
                        key.write(entries.keys()[i], keys);
                        entry.write(entries.values()[i], values);
                      }
                    });
          } catch (DuplicateMapKeyException e) {
            throw new BadRowException("a map has the same key twice, which has no form in Trino");
          }
        });
  }

  private static Cell scalar(Scalar type) {
    return switch (type.kind()) {
      case NULL, BOOLEAN ->
          new Cell(
              BooleanType.BOOLEAN,
              (value, out) -> BooleanType.BOOLEAN.writeBoolean(out, (Boolean) value));
      case INT -> integers(IntegerType.INTEGER);
      case LONG -> integers(BigintType.BIGINT);
      case DATE -> integers(DateType.DATE);
      case FLOAT ->
          new Cell(RealType.REAL, (value, out) -> RealType.REAL.writeFloat(out, (Float) value));
      case DOUBLE ->
          new Cell(
              DoubleType.DOUBLE,
              (value, out) -> DoubleType.DOUBLE.writeDouble(out, (Double) value));
      case STRING, INTERVAL -> slices(VarcharType.VARCHAR);
      case BYTES, FIXED -> slices(VarbinaryType.VARBINARY);
      case UUID -> new Cell(UuidType.UUID, RowTypes::writeUuid);
      case DECIMAL -> decimal(type.first(), type.second());
      case TIME -> time(type.first());
      case TIMESTAMP -> instant(type.first());
      case LOCAL_TIMESTAMP -> timestamp(type.first());
    };
  }

  private static Cell integers(Type type) {
    return new Cell(type, (value, out) -> type.writeLong(out, ((Number) value).longValue()));
  }

  private static Cell slices(Type type) {
    return new Cell(type, (value, out) -> type.writeSlice(out, (Slice) value));
  }

  private static void writeUuid(Object value, BlockBuilder out) throws BadRowException {
    String text = ((Slice) value).toStringUtf8();
    try {
      UUID uuid = UUID.fromString(text);
      if (uuid.toString().equalsIgnoreCase(text)) { // it also reads shorter forms
        UuidType.UUID.writeSlice(out, UuidType.javaUuidToTrinoUuid(uuid));
        return;
      }
    } catch (IllegalArgumentException e) {
      // told below
    }
    throw new BadRowException("a UUID is not one: " + text);
  }

  private static Cell decimal(int precision, int scale) {
    if (precision > Decimals.MAX_PRECISION || scale < 0 || scale > precision) {
      return new Cell(
          VarcharType.VARCHAR,
          (value, out) ->
              VarcharType.VARCHAR.writeSlice(
                  out, Slices.utf8Slice(((BigDecimal) value).toPlainString())));
    }
    DecimalType type = DecimalType.createDecimalType(precision, scale);
    return type.isShort()
        ? new Cell(
            type,
            (value, out) ->
                type.writeLong(out, ((BigDecimal) value).unscaledValue().longValueExact()))
        : new Cell(
            type,
            (value, out) ->
                type.writeObject(out, Int128.valueOf(((BigDecimal) value).unscaledValue())));
  }

  private static Cell time(int digits) {
    TimeType type = TimeType.createTimeType(digits);
    long picos = Math.round(Math.pow(10, MOST_FRACTION - digits));
    return new Cell(type, (value, out) -> type.writeLong(out, (Long) value * picos));
  }

  private static Cell timestamp(int digits) {
    TimestampType type = TimestampType.createTimestampType(digits);
    if (digits == MILLIS) {
      return new Cell(
          type,
          (value, out) -> {
            try {
              type.writeLong(out, Math.multiplyExact((Long) value, THOUSAND));
            } catch (ArithmeticException e) {
              throw tooFar((Long) value, type);
            }
          });
    }
    if (digits == MICROS) {
      return new Cell(type, (value, out) -> type.writeLong(out, (Long) value));
    }
    return new Cell(
        type,
        (value, out) -> {
          long nanos = (Long) value;
          int picos = (int) (Math.floorMod(nanos, THOUSAND) * THOUSAND);
          type.writeObject(out, new LongTimestamp(Math.floorDiv(nanos, THOUSAND), picos));
        });
  }

  private static Cell instant(int digits) {
    TimestampWithTimeZoneType type =
        TimestampWithTimeZoneType.createTimestampWithTimeZoneType(digits);
    if (digits == MILLIS) {
      return new Cell(
          type,
          (value, out) -> {
            long packed;
            try {
              packed = DateTimeEncoding.packDateTimeWithZone((Long) value, TimeZoneKey.UTC_KEY);
            } catch (IllegalArgumentException e) {
              throw tooFar((Long) value, type);
            }
            type.writeLong(out, packed);
          });
    }
    long perMilli = digits == MICROS ? THOUSAND : MILLION;
    int picos = digits == MICROS ? MILLION : (int) THOUSAND;
    return new Cell(
        type,
        (value, out) -> {
          long units = (Long) value;
          int fraction = (int) Math.floorMod(units, perMilli) * picos;
          type.writeObject(
              out,
              LongTimestampWithTimeZone.fromEpochMillisAndFraction(
                  Math.floorDiv(units, perMilli), fraction, TimeZoneKey.UTC_KEY));
        });
  }

  private static BadRowException tooFar(long units, Type type) {
    return new BadRowException(
        "a timestamp is too far from 1970 for " + type.getDisplayName() + ": " + units);
  }
}
