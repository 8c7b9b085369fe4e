package tech.bsdb.lake.iceberg;

import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.apache.iceberg.data.Record;
import org.apache.iceberg.types.Type;
import org.apache.iceberg.types.Types;
import org.apache.iceberg.types.Types.NestedField;
import org.apache.iceberg.util.DateTimeUtil;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.rows.RowType;
import tech.bsdb.tools.rows.RowType.Column;
import tech.bsdb.tools.rows.RowType.Kind;
import tech.bsdb.tools.rows.RowType.ListOf;
import tech.bsdb.tools.rows.RowType.MapOf;
import tech.bsdb.tools.rows.RowType.Pairs;
import tech.bsdb.tools.rows.RowType.Scalar;
import tech.bsdb.tools.rows.RowType.Struct;

/** Types of Iceberg's columns as types of rows, and the values of its generic records. */
final class IcebergType {
  private static final int MICROS = 6;
  private static final int NANOS = 9;

  private IcebergType() {}

  /** Returns what a type is or contains that rows do not have. */
  static Optional<String> unreadable(Type type) {
    if (type.isNestedType()) {
      return type.asNestedType().fields().stream()
          .map(field -> unreadable(field.type()))
          .flatMap(Optional::stream)
          .findFirst();
    }
    return switch (type.typeId()) {
      case VARIANT, GEOMETRY, GEOGRAPHY -> Optional.of(type.toString());
      default -> Optional.empty();
    };
  }

  static Column column(NestedField field) {
    return new Column(field.name(), of(field.type()), field.isOptional());
  }

  private static RowType of(Type type) {
    return switch (type.typeId()) {
      case STRUCT ->
          new Struct(type.asStructType().fields().stream().map(field -> column(field)).toList());
      case LIST -> new ListOf(column(type.asListType().fields().get(0)));
      case MAP -> {
        Types.MapType map = type.asMapType();
        Column value = column(map.fields().get(1));
        yield map.keyType().typeId() == Type.TypeID.STRING
            ? new MapOf(value)
            : new Pairs(column(map.fields().get(0)), value);
      }
      case BOOLEAN -> Scalar.of(Kind.BOOLEAN);
      case INTEGER -> Scalar.of(Kind.INT);
      case LONG -> Scalar.of(Kind.LONG);
      case FLOAT -> Scalar.of(Kind.FLOAT);
      case DOUBLE -> Scalar.of(Kind.DOUBLE);
      case DECIMAL ->
          Scalar.decimal(
              ((Types.DecimalType) type).precision(), ((Types.DecimalType) type).scale());
      case DATE -> Scalar.of(Kind.DATE);
      case TIME -> Scalar.time(Kind.TIME, MICROS);
      case TIMESTAMP -> timestamp(((Types.TimestampType) type).shouldAdjustToUTC(), MICROS);
      case TIMESTAMP_NANO -> timestamp(((Types.TimestampNanoType) type).shouldAdjustToUTC(), NANOS);
      case STRING -> Scalar.of(Kind.STRING);
      case UUID -> Scalar.of(Kind.UUID);
      case FIXED -> Scalar.fixed(((Types.FixedType) type).length());
      case BINARY -> Scalar.of(Kind.BYTES);
      case UNKNOWN -> Scalar.of(Kind.NULL);
      case VARIANT, GEOMETRY, GEOGRAPHY ->
          throw new IllegalArgumentException(type + " cannot be read");
    };
  }

  private static Scalar timestamp(boolean instant, int digits) {
    return Scalar.time(instant ? Kind.TIMESTAMP : Kind.LOCAL_TIMESTAMP, digits);
  }

  /** Returns what makes the value of a row from that of a record; null stays null. */
  static UnaryOperator<@Nullable Object> converter(Type type) {
    UnaryOperator<Object> converter = ofValues(type);
    return value -> value == null ? null : converter.apply(value);
  }

  private static UnaryOperator<Object> ofValues(Type type) {
    return switch (type.typeId()) {
      case STRUCT -> struct(type.asStructType());
      case LIST -> {
        UnaryOperator<@Nullable Object> element = converter(type.asListType().elementType());
        yield value -> {
          List<@Nullable Object> elements = new ArrayList<>();
          ((List<?>) value).forEach(each -> elements.add(element.apply(each)));
          return elements;
        };
      }
      case MAP -> {
        UnaryOperator<@Nullable Object> key = converter(type.asMapType().keyType());
        UnaryOperator<@Nullable Object> entry = converter(type.asMapType().valueType());
        yield value -> {
          Map<@Nullable Object, @Nullable Object> entries = new LinkedHashMap<>();
          ((Map<?, ?>) value).forEach((k, v) -> entries.put(key.apply(k), entry.apply(v)));
          return entries;
        };
      }
      case DATE -> value -> DateTimeUtil.daysFromDate((LocalDate) value);
      case TIME -> value -> DateTimeUtil.microsFromTime((LocalTime) value);
      case TIMESTAMP ->
          value ->
              value instanceof OffsetDateTime instant
                  ? DateTimeUtil.microsFromTimestamptz(instant)
                  : DateTimeUtil.microsFromTimestamp((LocalDateTime) value);
      case TIMESTAMP_NANO ->
          value ->
              value instanceof OffsetDateTime instant
                  ? DateTimeUtil.nanosFromTimestamptz(instant)
                  : DateTimeUtil.nanosFromTimestamp((LocalDateTime) value);
      default -> value -> value;
    };
  }

  private static UnaryOperator<Object> struct(Types.StructType type) {
    List<UnaryOperator<@Nullable Object>> fields =
        type.fields().stream().map(field -> converter(field.type())).toList();
    return value -> {
      Record record = (Record) value;
      @Nullable Object[] values = new @Nullable Object[fields.size()];
      for (int i = 0; i < values.length; i++) {
        values[i] = fields.get(i).apply(record.get(i));
      }
      return values;
    };
  }
}
