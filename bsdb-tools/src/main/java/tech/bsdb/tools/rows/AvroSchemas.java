package tech.bsdb.tools.rows;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import org.apache.avro.JsonProperties;
import org.apache.avro.LogicalType;
import org.apache.avro.LogicalTypes;
import org.apache.avro.Schema;
import tech.bsdb.tools.rows.RowType.Column;
import tech.bsdb.tools.rows.RowType.Kind;
import tech.bsdb.tools.rows.RowType.ListOf;
import tech.bsdb.tools.rows.RowType.MapOf;
import tech.bsdb.tools.rows.RowType.Pairs;
import tech.bsdb.tools.rows.RowType.Scalar;
import tech.bsdb.tools.rows.RowType.Struct;

/**
 * The Avro schema of rows (docs/guides/rows.md). Records are named after their columns. A name that
 * Avro does not allow is replaced by a valid one, and the original is kept as a property.
 */
public final class AvroSchemas {
  /**
   * A logical type on a list of records of a key and a value, which are the entries of a map: Avro
   * has maps of strings only. Iceberg has the same.
   */
  private static final String MAP = "map";

  private final Set<String> types = new HashSet<>();

  private AvroSchemas() {}

  /** Returns the schema of rows with these columns, in the form of a parsed stored schema. */
  public static RowSchema of(List<Column> columns) {
    // Avro recognizes logical types when it parses a schema, but not in one built by code.
    return RowSchema.parse(new AvroSchemas().record("row", columns).toString());
  }

  private Schema record(String name, List<Column> columns) {
    Schema record = Schema.createRecord(typeName(name), null, null, false);
    Set<String> taken = new HashSet<>();
    for (Column column : columns) {
      if (isName(column.name())) {
        taken.add(column.name());
      }
    }
    List<Schema.Field> fields = new ArrayList<>();
    for (Column column : columns) {
      boolean allowed = isName(column.name());
      String fieldName = allowed ? column.name() : free(cleaned(column.name()), taken);
      Schema.Field field =
          column.nullable()
              ? new Schema.Field(fieldName, schema(column, name), null, JsonProperties.NULL_VALUE)
              : new Schema.Field(fieldName, schema(column, name), null);
      if (!allowed) {
        field.addProp(RowSchema.COLUMN, column.name());
      }
      fields.add(field);
    }
    record.setFields(fields);
    return record;
  }

  private Schema schema(Column column, String parent) {
    Schema own = schema(column.type(), parent + "_" + column.name());
    return column.nullable() && own.getType() != Schema.Type.NULL
        ? Schema.createUnion(Schema.create(Schema.Type.NULL), own)
        : own;
  }

  private Schema schema(RowType type, String name) {
    if (type instanceof Struct struct) {
      return record(name, struct.fields());
    }
    if (type instanceof ListOf list) {
      return Schema.createArray(schema(list.element(), name));
    }
    if (type instanceof MapOf map) {
      return Schema.createMap(schema(map.value(), name));
    }
    if (type instanceof Pairs pairs) {
      Column key = new Column("key", pairs.key().type(), pairs.key().nullable());
      Column value = new Column("value", pairs.value().type(), pairs.value().nullable());
      return named(Schema.createArray(record(name, List.of(key, value))), MAP);
    }
    return scalar((Scalar) type, name);
  }

  private Schema scalar(Scalar scalar, String name) {
    return switch (scalar.kind()) {
      case NULL -> Schema.create(Schema.Type.NULL);
      case BOOLEAN -> Schema.create(Schema.Type.BOOLEAN);
      case INT -> Schema.create(Schema.Type.INT);
      case LONG -> Schema.create(Schema.Type.LONG);
      case FLOAT -> Schema.create(Schema.Type.FLOAT);
      case DOUBLE -> Schema.create(Schema.Type.DOUBLE);
      case DECIMAL ->
          LogicalTypes.decimal(scalar.first(), scalar.second())
              .addToSchema(Schema.create(Schema.Type.BYTES));
      case DATE -> named(Schema.create(Schema.Type.INT), scalar.describe());
      case TIME, TIMESTAMP, LOCAL_TIMESTAMP -> {
        boolean isInt = scalar.equals(Scalar.time(Kind.TIME, 3));
        yield named(Schema.create(isInt ? Schema.Type.INT : Schema.Type.LONG), scalar.describe());
      }
      case STRING -> Schema.create(Schema.Type.STRING);
      case BYTES -> Schema.create(Schema.Type.BYTES);
      case FIXED -> fixed(name, scalar.first());
      case UUID -> named(fixed(name, 16), "uuid");
      case INTERVAL -> named(fixed(name, 12), "duration");
    };
  }

  /** Whether a list is a map whose keys are not strings. */
  static boolean isMap(Schema list) {
    if (!MAP.equals(list.getProp(LogicalType.LOGICAL_TYPE_PROP))) {
      return false;
    }
    Schema entry = list.getElementType();
    return entry.getType() == Schema.Type.RECORD
        && entry.getFields().size() == 2
        && entry.getFields().get(0).name().equals("key")
        && !entry.getFields().get(0).schema().isNullable()
        && entry.getFields().get(1).name().equals("value");
  }

  private Schema fixed(String name, int length) {
    return Schema.createFixed(typeName(name), null, null, length);
  }

  private static Schema named(Schema schema, String logicalType) {
    schema.addProp(LogicalType.LOGICAL_TYPE_PROP, logicalType);
    return schema;
  }

  private String typeName(String name) {
    return free(cleaned(name), types);
  }

  private static String free(String name, Set<String> taken) {
    String free = name;
    for (int i = 2; !taken.add(free); i++) {
      free = name + "_" + i;
    }
    return free;
  }

  private static boolean isName(String name) {
    return !name.isEmpty() && !isDigit(name.charAt(0)) && name.chars().allMatch(AvroSchemas::fits);
  }

  private static String cleaned(String name) {
    StringBuilder clean = new StringBuilder();
    name.codePoints().forEach(c -> clean.append(fits(c) ? (char) c : '_'));
    return clean.isEmpty() || isDigit(clean.charAt(0)) ? "_" + clean : clean.toString();
  }

  private static boolean fits(int c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || isDigit(c);
  }

  private static boolean isDigit(int c) {
    return c >= '0' && c <= '9';
  }

  /** Returns the columns of a record: {@link #of} read backwards. */
  static List<Column> columns(Schema record) {
    return new Stored().struct(record).fields();
  }

  /** The types of rows of a schema. */
  private static final class Stored {
    /** The records that contain what is converted. */
    private final Set<Schema> open = Collections.newSetFromMap(new IdentityHashMap<>());

    private Struct struct(Schema record) {
      if (!open.add(record)) {
        throw new IllegalArgumentException(
            "record "
                + record.getFullName()
                + " contains itself, which no column type can express");
      }
      List<Column> columns = new ArrayList<>();
      for (Schema.Field field : record.getFields()) {
        columns.add(column(RowSchema.column(field), field.schema()));
      }
      open.remove(record);
      return new Struct(columns);
    }

    private Column column(String name, Schema schema) {
      return new Column(name, type(schema), schema.isNullable());
    }

    private RowType type(Schema schema) {
      return switch (schema.getType()) {
        case RECORD -> struct(schema);
        case UNION -> union(schema);
        case MAP -> new MapOf(column("value", schema.getValueType()));
        case ARRAY -> {
          Column element = column("element", schema.getElementType());
          yield AvroSchemas.isMap(schema) && element.type() instanceof Struct entry
              ? new Pairs(entry.fields().get(0), entry.fields().get(1))
              : new ListOf(element);
        }
        default -> scalar(Shape.of(schema));
      };
    }

    private RowType union(Schema schema) {
      List<Schema> branches =
          schema.getTypes().stream().filter(type -> type.getType() != Schema.Type.NULL).toList();
      if (branches.isEmpty()) {
        return Scalar.of(Kind.NULL);
      }
      if (branches.size() == 1) {
        return type(branches.get(0));
      }
      List<Column> members = new ArrayList<>();
      for (Schema branch : branches) {
        members.add(new Column("member" + members.size(), type(branch), true));
      }
      return new Struct(members);
    }

    private static Scalar scalar(Shape shape) {
      String name = shape.kind.name();
      return switch (shape.kind) {
        case NULL, BOOLEAN, INT, LONG, FLOAT, DOUBLE, BYTES, UUID, DATE ->
            Scalar.of(Kind.valueOf(name));
        case STRING, ENUM, BIG_DECIMAL -> Scalar.of(Kind.STRING);
        case FIXED -> Scalar.fixed(shape.size);
        case DURATION -> Scalar.of(Kind.INTERVAL);
        case DECIMAL, FIXED_DECIMAL -> Scalar.decimal(shape.precision, shape.scale);
        case TIME, TIMESTAMP, LOCAL_TIMESTAMP -> Scalar.time(Kind.valueOf(name), shape.digits);
        case RECORD, ARRAY, MAP, UNION -> throw new AssertionError(shape.kind);
      };
    }
  }
}
