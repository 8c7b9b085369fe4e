package tech.bsdb.tools.rows;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import org.apache.avro.LogicalType;
import org.apache.avro.LogicalTypes;
import org.apache.avro.Schema;
import tech.bsdb.tools.text.JsonBuffer;

/**
 * A part of a schema, prepared for traversing rows: its kind and attributes. Shapes of recursive
 * records contain themselves. Immutable after construction, and thread-safe.
 */
final class Shape {
  /** The encoding of the bytes, and how they are written. */
  enum Kind {
    NULL,
    BOOLEAN,
    INT,
    LONG,
    FLOAT,
    DOUBLE,
    STRING,
    BYTES,
    FIXED,
    ENUM,
    RECORD,
    ARRAY,
    MAP,
    UNION,
    DATE,
    TIME,
    TIMESTAMP,
    LOCAL_TIMESTAMP,
    DECIMAL,
    FIXED_DECIMAL,
    BIG_DECIMAL,
    UUID,
    DURATION
  }

  /** A bsdb logical type on a long: nanoseconds of a day, for which Avro has no type. */
  static final String TIME_NANOS = "time-nanos";

  private static final Shape[] NONE = {};

  final Kind kind;

  /** The fields of a record, the branches of a union, or the element type of a list or map. */
  Shape[] parts = NONE;

  /**
   * For a record {@code ,"name":} for each field; for an enumeration {@code "symbol"} for each
   * symbol.
   */
  byte[][] names = {};

  /** The size of a fixed value in bytes; for a decimal the maximum. */
  int size;

  /** The precision of a decimal. */
  int precision;

  /** The scale of a decimal. */
  int scale;

  /** The fraction digits of times and timestamps: 3, 6 or 9. */
  int digits;

  /** Whether a list holds the entries of a map, as records of a key and a value. */
  boolean entries;

  private Shape(Kind kind) {
    this.kind = kind;
  }

  /** Creates the shape of a schema. */
  static Shape of(Schema schema) {
    return of(schema, new IdentityHashMap<>());
  }

  private static Shape of(Schema schema, Map<Schema, Shape> records) {
    return switch (schema.getType()) {
      case NULL -> new Shape(Kind.NULL);
      case BOOLEAN -> new Shape(Kind.BOOLEAN);
      case FLOAT -> new Shape(Kind.FLOAT);
      case DOUBLE -> new Shape(Kind.DOUBLE);
      case STRING -> new Shape(Kind.STRING);
      case INT -> ofInt(schema);
      case LONG -> ofLong(schema);
      case BYTES -> ofBytes(schema);
      case FIXED -> ofFixed(schema);
      case ENUM -> {
        Shape shape = new Shape(Kind.ENUM);
        shape.names = schema.getEnumSymbols().stream().map(Shape::quoted).toArray(byte[][]::new);
        yield shape;
      }
      case ARRAY -> {
        Shape shape = ofParts(Kind.ARRAY, List.of(schema.getElementType()), records);
        shape.entries = AvroSchemas.isMap(schema);
        yield shape;
      }
      case MAP -> ofParts(Kind.MAP, List.of(schema.getValueType()), records);
      case UNION -> ofParts(Kind.UNION, schema.getTypes(), records);
      case RECORD -> {
        Shape known = records.get(schema);
        yield known == null ? ofRecord(schema, records) : known;
      }
    };
  }

  private static Shape ofRecord(Schema schema, Map<Schema, Shape> records) {
    Shape shape = new Shape(Kind.RECORD);
    records.put(schema, shape);
    List<Schema.Field> fields = schema.getFields();
    Shape[] parts = new Shape[fields.size()];
    byte[][] names = new byte[parts.length][];
    for (int i = 0; i < parts.length; i++) {
      parts[i] = of(fields.get(i).schema(), records);
      names[i] = name(RowSchema.column(fields.get(i)));
    }
    shape.parts = parts;
    shape.names = names;
    return shape;
  }

  private static Shape ofParts(Kind kind, List<Schema> schemas, Map<Schema, Shape> records) {
    Shape shape = new Shape(kind);
    Shape[] parts = new Shape[schemas.size()];
    for (int i = 0; i < parts.length; i++) {
      parts[i] = of(schemas.get(i), records);
    }
    shape.parts = parts;
    return shape;
  }

  private static Shape ofInt(Schema schema) {
    LogicalType type = schema.getLogicalType();
    if (type instanceof LogicalTypes.Date) {
      return new Shape(Kind.DATE);
    }
    return type instanceof LogicalTypes.TimeMillis ? ofClock(Kind.TIME, 3) : new Shape(Kind.INT);
  }

  private static Shape ofLong(Schema schema) {
    LogicalType type = schema.getLogicalType();
    if (type == null) {
      return TIME_NANOS.equals(schema.getProp(LogicalType.LOGICAL_TYPE_PROP))
          ? ofClock(Kind.TIME, 9)
          : new Shape(Kind.LONG);
    }
    return switch (type.getName()) {
      case "time-micros" -> ofClock(Kind.TIME, 6);
      case TIME_NANOS -> ofClock(Kind.TIME, 9);
      case "timestamp-millis" -> ofClock(Kind.TIMESTAMP, 3);
      case "timestamp-micros" -> ofClock(Kind.TIMESTAMP, 6);
      case "timestamp-nanos" -> ofClock(Kind.TIMESTAMP, 9);
      case "local-timestamp-millis" -> ofClock(Kind.LOCAL_TIMESTAMP, 3);
      case "local-timestamp-micros" -> ofClock(Kind.LOCAL_TIMESTAMP, 6);
      case "local-timestamp-nanos" -> ofClock(Kind.LOCAL_TIMESTAMP, 9);
      default -> new Shape(Kind.LONG);
    };
  }

  private static Shape ofClock(Kind kind, int digits) {
    Shape shape = new Shape(kind);
    shape.digits = digits;
    return shape;
  }

  private static Shape ofBytes(Schema schema) {
    LogicalType type = schema.getLogicalType();
    if (type instanceof LogicalTypes.Decimal decimal) {
      int size = RowSchema.maxDecimalBytes(decimal.getPrecision());
      return ofDecimal(Kind.DECIMAL, decimal, size);
    }
    return new Shape(type instanceof LogicalTypes.BigDecimal ? Kind.BIG_DECIMAL : Kind.BYTES);
  }

  private static Shape ofFixed(Schema schema) {
    LogicalType type = schema.getLogicalType();
    int size = schema.getFixedSize();
    if (type instanceof LogicalTypes.Decimal decimal && size > 0) {
      return ofDecimal(Kind.FIXED_DECIMAL, decimal, size);
    }
    boolean uuid = type instanceof LogicalTypes.Uuid && size == 2 * Long.BYTES;
    boolean duration = type instanceof LogicalTypes.Duration && size == 3 * Integer.BYTES;
    Shape shape = new Shape(uuid ? Kind.UUID : duration ? Kind.DURATION : Kind.FIXED);
    shape.size = size;
    return shape;
  }

  private static Shape ofDecimal(Kind kind, LogicalTypes.Decimal decimal, int size) {
    Shape shape = new Shape(kind);
    shape.precision = decimal.getPrecision();
    shape.scale = decimal.getScale();
    shape.size = size;
    return shape;
  }

  private static byte[] name(String column) {
    JsonBuffer out = new JsonBuffer();
    out.put(',');
    out.put(quoted(column));
    out.put(':');
    return out.copy();
  }

  private static byte[] quoted(String text) {
    JsonBuffer out = new JsonBuffer();
    byte[] bytes = text.getBytes(UTF_8);
    out.putText(bytes, 0, bytes.length);
    return out.copy();
  }
}
