package tech.bsdb.tools.avro;

import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.avro.LogicalType;
import org.apache.avro.LogicalTypes;
import org.apache.avro.Schema;
import tech.bsdb.tools.rows.RowType;
import tech.bsdb.tools.rows.RowType.Column;
import tech.bsdb.tools.rows.RowType.Kind;
import tech.bsdb.tools.rows.RowType.ListOf;
import tech.bsdb.tools.rows.RowType.MapOf;
import tech.bsdb.tools.rows.RowType.Pairs;
import tech.bsdb.tools.rows.RowType.Scalar;
import tech.bsdb.tools.rows.RowType.Struct;

/**
 * The columns of a file's schema. Immutable.
 *
 * @param columns those that can be read
 * @param places their fields, by index in {@link #columns}
 * @param unreadable the others by name, and why
 */
record AvroTypes(List<Column> columns, List<Integer> places, Map<String, String> unreadable) {

  /** Says what cannot be read, as a noun. */
  private static final class Unreadable extends Exception {
    private static final long serialVersionUID = 1L;

    Unreadable(String what) {
      super(what, null, false, false);
    }
  }

  /** Returns the columns of a record. */
  static AvroTypes of(Schema record) {
    List<Column> columns = new ArrayList<>();
    List<Integer> places = new ArrayList<>();
    Map<String, String> unreadable = new LinkedHashMap<>();
    Set<Schema> open = Collections.newSetFromMap(new IdentityHashMap<>());
    open.add(record);
    for (Schema.Field field : record.getFields()) {
      try {
        columns.add(column(field.name(), field.schema(), open));
        places.add(field.pos());
      } catch (Unreadable e) {
        unreadable.put(field.name(), String.valueOf(e.getMessage()));
      }
    }
    return new AvroTypes(columns, places, unreadable);
  }

  private static Column column(String name, Schema schema, Set<Schema> open) throws Unreadable {
    Schema value = value(schema);
    return new Column(name, type(value, open), schema.isNullable());
  }

  /**
   * Returns the branch of a union beside null, or the schema itself if it is no union.
   *
   * @throws Unreadable if there are several
   */
  private static Schema value(Schema schema) throws Unreadable {
    if (schema.getType() != Schema.Type.UNION) {
      return schema;
    }
    List<Schema> branches = branches(schema);
    if (branches.size() > 1) {
      String last = branches.get(branches.size() - 1).getFullName();
      throw new Unreadable(
          "a union of "
              + branches.stream()
                  .limit(branches.size() - 1)
                  .map(Schema::getFullName)
                  .collect(Collectors.joining(", "))
              + " and "
              + last);
    }
    return branches.isEmpty() ? Schema.create(Schema.Type.NULL) : branches.get(0);
  }

  /** Returns the branches of a union that are not null. */
  static List<Schema> branches(Schema union) {
    return union.getTypes().stream().filter(type -> type.getType() != Schema.Type.NULL).toList();
  }

  private static RowType type(Schema schema, Set<Schema> open) throws Unreadable {
    LogicalType logical = schema.getLogicalType();
    return switch (schema.getType()) {
      case RECORD -> record(schema, open);
      case ARRAY -> {
        Column element = column("element", schema.getElementType(), open);
        yield isMap(schema) && element.type() instanceof Struct entry
            ? new Pairs(entry.fields().get(0), entry.fields().get(1))
            : new ListOf(element);
      }
      case MAP -> new MapOf(column("value", schema.getValueType(), open));
      case UNION -> throw new IllegalStateException("a union in a union");
      case NULL -> Scalar.of(Kind.NULL);
      case BOOLEAN -> Scalar.of(Kind.BOOLEAN);
      case FLOAT -> Scalar.of(Kind.FLOAT);
      case DOUBLE -> Scalar.of(Kind.DOUBLE);
      case ENUM -> Scalar.of(Kind.STRING);
      case STRING -> Scalar.of(logical instanceof LogicalTypes.Uuid ? Kind.UUID : Kind.STRING);
      case INT -> ofInt(logical);
      case LONG -> ofLong(schema, logical);
      case BYTES -> {
        if (logical instanceof LogicalTypes.BigDecimal) {
          throw new Unreadable("a big-decimal, whose values have a scale each");
        }
        yield logical instanceof LogicalTypes.Decimal decimal
            ? decimal(decimal)
            : Scalar.of(Kind.BYTES);
      }
      case FIXED -> {
        if (logical instanceof LogicalTypes.Decimal decimal) {
          yield decimal(decimal);
        }
        if (logical instanceof LogicalTypes.Uuid && schema.getFixedSize() == 16) {
          yield Scalar.of(Kind.UUID);
        }
        yield logical instanceof LogicalTypes.Duration
            ? Scalar.of(Kind.INTERVAL)
            : Scalar.fixed(schema.getFixedSize());
      }
    };
  }

  private static Scalar decimal(LogicalTypes.Decimal decimal) throws Unreadable {
    if (decimal.getScale() < 0) {
      throw new Unreadable("a decimal with a negative scale");
    }
    return Scalar.decimal(decimal.getPrecision(), decimal.getScale());
  }

  private static Struct record(Schema schema, Set<Schema> open) throws Unreadable {
    if (!open.add(schema)) {
      throw new Unreadable("a record " + schema.getFullName() + " that contains itself");
    }
    List<Column> fields = new ArrayList<>();
    for (Schema.Field field : schema.getFields()) {
      fields.add(column(field.name(), field.schema(), open));
    }
    open.remove(schema);
    return new Struct(fields);
  }

  /**
   * Whether a list of records of a key and a value stands for a map, whose keys need not be strings
   * then, as in files of Iceberg and in schemas of databases.
   */
  private static boolean isMap(Schema array) {
    Schema entry = array.getElementType();
    return "map".equals(array.getProp(LogicalType.LOGICAL_TYPE_PROP))
        && entry.getType() == Schema.Type.RECORD
        && entry.getFields().size() == 2
        && !entry.getFields().get(0).schema().isNullable();
  }

  private static Scalar ofInt(LogicalType logical) {
    if (logical instanceof LogicalTypes.Date) {
      return Scalar.of(Kind.DATE);
    }
    return logical instanceof LogicalTypes.TimeMillis
        ? Scalar.time(Kind.TIME, 3)
        : Scalar.of(Kind.INT);
  }

  private static Scalar ofLong(Schema schema, LogicalType logical) {
    if ("time-nanos".equals(schema.getProp(LogicalType.LOGICAL_TYPE_PROP))) { // of databases
      return Scalar.time(Kind.TIME, 9);
    }
    if (logical == null) {
      return Scalar.of(Kind.LONG);
    }
    // Iceberg's mark of timestamps without a time zone, for which Avro had no type
    boolean local = Boolean.FALSE.equals(schema.getObjectProp("adjust-to-utc"));
    Kind timestamp = local ? Kind.LOCAL_TIMESTAMP : Kind.TIMESTAMP;
    return switch (logical.getName()) {
      case "time-micros" -> Scalar.time(Kind.TIME, 6);
      case "timestamp-millis" -> Scalar.time(timestamp, 3);
      case "timestamp-micros" -> Scalar.time(timestamp, 6);
      case "timestamp-nanos" -> Scalar.time(timestamp, 9);
      case "local-timestamp-millis" -> Scalar.time(Kind.LOCAL_TIMESTAMP, 3);
      case "local-timestamp-micros" -> Scalar.time(Kind.LOCAL_TIMESTAMP, 6);
      case "local-timestamp-nanos" -> Scalar.time(Kind.LOCAL_TIMESTAMP, 9);
      default -> Scalar.of(Kind.LONG);
    };
  }
}
