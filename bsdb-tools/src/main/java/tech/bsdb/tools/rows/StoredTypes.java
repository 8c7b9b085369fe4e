package tech.bsdb.tools.rows;

import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import org.apache.avro.Schema;
import tech.bsdb.tools.rows.RowType.Column;
import tech.bsdb.tools.rows.RowType.Kind;
import tech.bsdb.tools.rows.RowType.ListOf;
import tech.bsdb.tools.rows.RowType.MapOf;
import tech.bsdb.tools.rows.RowType.Pairs;
import tech.bsdb.tools.rows.RowType.Scalar;
import tech.bsdb.tools.rows.RowType.Struct;

/** The types of rows of a schema: {@link AvroSchemas} read backwards. */
final class StoredTypes {
  /** The records that contain what is converted. */
  private final Set<Schema> open = Collections.newSetFromMap(new IdentityHashMap<>());

  private StoredTypes() {}

  /** The columns of a record. */
  static List<Column> columns(Schema record) {
    return new StoredTypes().struct(record).fields();
  }

  private Struct struct(Schema record) {
    if (!open.add(record)) {
      throw new IllegalArgumentException(
          "record " + record.getFullName() + " contains itself, which no column type can express");
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
    return switch (shape.kind) {
      case NULL -> Scalar.of(Kind.NULL);
      case BOOLEAN -> Scalar.of(Kind.BOOLEAN);
      case INT -> Scalar.of(Kind.INT);
      case LONG -> Scalar.of(Kind.LONG);
      case FLOAT -> Scalar.of(Kind.FLOAT);
      case DOUBLE -> Scalar.of(Kind.DOUBLE);
      case STRING, ENUM, BIG_DECIMAL -> Scalar.of(Kind.STRING);
      case BYTES -> Scalar.of(Kind.BYTES);
      case FIXED -> Scalar.fixed(shape.size);
      case UUID -> Scalar.of(Kind.UUID);
      case DURATION -> Scalar.of(Kind.INTERVAL);
      case DECIMAL, FIXED_DECIMAL -> Scalar.decimal(shape.precision, shape.scale);
      case DATE -> Scalar.of(Kind.DATE);
      case TIME -> byDigits(shape.digits, Kind.TIME_MILLIS, Kind.TIME_MICROS, Kind.TIME_NANOS);
      case TIMESTAMP ->
          byDigits(
              shape.digits, Kind.TIMESTAMP_MILLIS, Kind.TIMESTAMP_MICROS, Kind.TIMESTAMP_NANOS);
      case LOCAL_TIMESTAMP ->
          byDigits(
              shape.digits,
              Kind.LOCAL_TIMESTAMP_MILLIS,
              Kind.LOCAL_TIMESTAMP_MICROS,
              Kind.LOCAL_TIMESTAMP_NANOS);
      case RECORD, ARRAY, MAP, UNION -> throw new AssertionError(shape.kind);
    };
  }

  private static Scalar byDigits(int digits, Kind millis, Kind micros, Kind nanos) {
    return Scalar.of(digits == 3 ? millis : digits == 6 ? micros : nanos);
  }
}
