package tech.bsdb.tools.parquet;

import java.util.Optional;
import java.util.Set;
import org.apache.parquet.schema.GroupType;
import org.apache.parquet.schema.LogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.BsonLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.DateLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.DecimalLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.EnumLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.Float16LogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.GeographyLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.GeometryLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.IntLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.IntervalLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.JsonLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.ListLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.MapKeyValueTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.MapLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.StringLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.TimeLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.TimeUnit;
import org.apache.parquet.schema.LogicalTypeAnnotation.TimestampLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.UUIDLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.UnknownLogicalTypeAnnotation;
import org.apache.parquet.schema.PrimitiveType;
import org.apache.parquet.schema.Type;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.rows.RowType;
import tech.bsdb.tools.rows.RowType.Column;
import tech.bsdb.tools.rows.RowType.Kind;
import tech.bsdb.tools.rows.RowType.ListOf;
import tech.bsdb.tools.rows.RowType.MapOf;
import tech.bsdb.tools.rows.RowType.Pairs;
import tech.bsdb.tools.rows.RowType.Scalar;
import tech.bsdb.tools.rows.RowType.Struct;
import tech.bsdb.tools.table.TableOptions;
import tech.bsdb.tools.table.TableOptions.Int96Unit;

/**
 * Maps the types of a file's schema to row types (docs/guides/parquet.md), by the rules of the
 * format's specification, including those for lists and maps of older writers.
 *
 * @see <a href="https://github.com/apache/parquet-format/blob/master/LogicalTypes.md">logical
 *     types</a>
 * @param int96 the type of timestamps of 96 bits
 */
record ParquetTypes(Scalar int96) {
  /**
   * The logical types whose values are read as what the type says, or, of the first three, whose
   * bytes are passed on. A column that has another one cannot be read.
   */
  static final Set<Class<? extends LogicalTypeAnnotation>> READ =
      Set.of(
          BsonLogicalTypeAnnotation.class,
          GeographyLogicalTypeAnnotation.class,
          GeometryLogicalTypeAnnotation.class,
          DateLogicalTypeAnnotation.class,
          DecimalLogicalTypeAnnotation.class,
          EnumLogicalTypeAnnotation.class,
          Float16LogicalTypeAnnotation.class,
          IntLogicalTypeAnnotation.class,
          IntervalLogicalTypeAnnotation.class,
          JsonLogicalTypeAnnotation.class,
          ListLogicalTypeAnnotation.class,
          MapKeyValueTypeAnnotation.class,
          MapLogicalTypeAnnotation.class,
          StringLogicalTypeAnnotation.class,
          TimeLogicalTypeAnnotation.class,
          TimestampLogicalTypeAnnotation.class,
          UUIDLogicalTypeAnnotation.class,
          UnknownLogicalTypeAnnotation.class);

  static final ParquetTypes DEFAULT = new ParquetTypes(Scalar.time(Kind.TIMESTAMP, 9));

  /** Returns the mapping that options ask for. */
  static ParquetTypes of(TableOptions.Types types) {
    return types.int96() == Int96Unit.MICROS
        ? new ParquetTypes(Scalar.time(Kind.TIMESTAMP, 6))
        : DEFAULT;
  }

  /** Converts a field to a column; a repeated field is a list. */
  Column column(Type field) {
    if (field.isRepetition(Type.Repetition.REPEATED)) {
      return new Column(field.getName(), new ListOf(repeated(field)), false);
    }
    return new Column(field.getName(), type(field), field.isRepetition(Type.Repetition.OPTIONAL));
  }

  /** Converts a repeated field as if it were required. */
  private Column repeated(Type field) {
    return new Column(field.getName(), type(field), false);
  }

  private RowType type(Type field) {
    return field.isPrimitive() ? scalar(field.asPrimitiveType()) : group(field.asGroupType());
  }

  private RowType group(GroupType group) {
    Optional<Type> element = listElement(group);
    if (element.isPresent()) {
      return new ListOf(elementColumn(element.get()));
    }
    Optional<GroupType> entries = mapEntries(group);
    if (entries.isPresent()) {
      Column key = column(entries.get().getType(0));
      if (entries.get().getFieldCount() == 1) {
        return new ListOf(key.withNullable(false));
      }
      Column value = column(entries.get().getType(1));
      return key.type().equals(Scalar.of(Kind.STRING))
          ? new MapOf(value)
          : new Pairs(key.withNullable(false), value);
    }
    return struct(group);
  }

  private Column elementColumn(Type element) {
    return element.isRepetition(Type.Repetition.REPEATED) ? repeated(element) : column(element);
  }

  /** Returns the columns of a group. */
  Struct struct(GroupType group) {
    return new Struct(group.getFields().stream().map(this::column).toList());
  }

  /**
   * Returns the element of a list group: the repeated field itself if it was written without a
   * level of its own, else its only field.
   */
  static Optional<Type> listElement(GroupType group) {
    boolean list = group.getLogicalTypeAnnotation() instanceof ListLogicalTypeAnnotation;
    if (!list || group.getFieldCount() != 1) {
      return Optional.empty();
    }
    Type repeated = group.getType(0);
    if (!repeated.isRepetition(Type.Repetition.REPEATED)) {
      return Optional.empty();
    }
    return Optional.of(isElement(repeated, group) ? repeated : repeated.asGroupType().getType(0));
  }

  private static boolean isElement(Type repeated, GroupType list) {
    if (repeated.isPrimitive()) {
      return true;
    }
    GroupType group = repeated.asGroupType();
    return group.getFieldCount() != 1
        || group.getType(0).isRepetition(Type.Repetition.REPEATED)
        || group.getName().equals("array")
        || group.getName().equals(list.getName() + "_tuple");
  }

  /** Returns the repeated group of a map, which has a key and a value, or only a key for a set. */
  static Optional<GroupType> mapEntries(GroupType group) {
    LogicalTypeAnnotation annotation = group.getLogicalTypeAnnotation();
    boolean map =
        annotation instanceof MapLogicalTypeAnnotation
            || annotation instanceof MapKeyValueTypeAnnotation;
    if (!map || group.getFieldCount() != 1 || group.getType(0).isPrimitive()) {
      return Optional.empty();
    }
    GroupType entries = group.getType(0).asGroupType();
    boolean whole =
        entries.isRepetition(Type.Repetition.REPEATED)
            && entries.getFieldCount() <= 2
            && !entries.getType(0).isRepetition(Type.Repetition.REPEATED);
    return whole ? Optional.of(entries) : Optional.empty();
  }

  /** Returns the logical type of a column, or below it, that cannot be read. */
  static Optional<String> refused(Type column) {
    LogicalTypeAnnotation annotation = column.getLogicalTypeAnnotation();
    if (annotation != null && !READ.contains(annotation.getClass())) {
      return Optional.of(annotation.toString());
    }
    if (column.isPrimitive()) {
      return Optional.empty();
    }
    GroupType group = column.asGroupType();
    return group.getFields().stream().flatMap(field -> refused(field).stream()).findFirst();
  }

  /** Converts a primitive type. An annotation that is unknown or does not apply is ignored. */
  Scalar scalar(PrimitiveType type) {
    LogicalTypeAnnotation annotation = type.getLogicalTypeAnnotation();
    if (annotation instanceof UnknownLogicalTypeAnnotation) {
      return Scalar.of(Kind.NULL);
    }
    if (annotation instanceof DecimalLogicalTypeAnnotation decimal) {
      return Scalar.decimal(decimal.getPrecision(), decimal.getScale());
    }
    return switch (type.getPrimitiveTypeName()) {
      case BOOLEAN -> Scalar.of(Kind.BOOLEAN);
      case INT32 -> ofInt32(annotation);
      case INT64 -> ofInt64(annotation);
      case INT96 -> int96;
      case FLOAT -> Scalar.of(Kind.FLOAT);
      case DOUBLE -> Scalar.of(Kind.DOUBLE);
      case BINARY -> Scalar.of(isText(annotation) ? Kind.STRING : Kind.BYTES);
      case FIXED_LEN_BYTE_ARRAY -> ofFixed(annotation, type.getTypeLength());
    };
  }

  private static Scalar ofInt32(@Nullable LogicalTypeAnnotation annotation) {
    if (annotation instanceof IntLogicalTypeAnnotation number) {
      return Scalar.of(!number.isSigned() && number.getBitWidth() == 32 ? Kind.LONG : Kind.INT);
    }
    if (annotation instanceof DateLogicalTypeAnnotation) {
      return Scalar.of(Kind.DATE);
    }
    return annotation instanceof TimeLogicalTypeAnnotation
        ? Scalar.time(Kind.TIME, 3)
        : Scalar.of(Kind.INT);
  }

  private static Scalar ofInt64(@Nullable LogicalTypeAnnotation annotation) {
    if (annotation instanceof IntLogicalTypeAnnotation number && !number.isSigned()) {
      return Scalar.decimal(20, 0);
    }
    if (annotation instanceof TimeLogicalTypeAnnotation time) {
      return Scalar.time(Kind.TIME, time.getUnit() == TimeUnit.NANOS ? 9 : 6);
    }
    if (annotation instanceof TimestampLogicalTypeAnnotation timestamp) {
      return Scalar.time(
          timestamp.isAdjustedToUTC() ? Kind.TIMESTAMP : Kind.LOCAL_TIMESTAMP,
          switch (timestamp.getUnit()) {
            case MILLIS -> 3;
            case MICROS -> 6;
            case NANOS -> 9;
          });
    }
    return Scalar.of(Kind.LONG);
  }

  private static boolean isText(@Nullable LogicalTypeAnnotation annotation) {
    return annotation instanceof StringLogicalTypeAnnotation
        || annotation instanceof EnumLogicalTypeAnnotation
        || annotation instanceof JsonLogicalTypeAnnotation;
  }

  private static Scalar ofFixed(@Nullable LogicalTypeAnnotation annotation, int length) {
    if (annotation instanceof UUIDLogicalTypeAnnotation) {
      return Scalar.of(Kind.UUID);
    }
    if (annotation instanceof IntervalLogicalTypeAnnotation) {
      return Scalar.of(Kind.INTERVAL);
    }
    return annotation instanceof Float16LogicalTypeAnnotation
        ? Scalar.of(Kind.FLOAT)
        : Scalar.fixed(length);
  }
}
