package tech.bsdb.tools.parquet;

import static java.util.Map.entry;

import java.util.Map;
import java.util.Optional;
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
import org.apache.parquet.schema.LogicalTypeAnnotation.TimestampLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.UUIDLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.UnknownLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.VariantLogicalTypeAnnotation;
import org.apache.parquet.schema.Type;

/** What is done with each logical type of Parquet (OPERATIONS.md "Building from Parquet"). */
final class LogicalTypes {
  /** A logical type's treatment. */
  enum Treatment {
    /** The value is read as what the type says. */
    READ,
    /** The bytes are passed on as they are stored. */
    BYTES,
    /** A column that has it cannot be read. */
    REFUSED
  }

  /** The treatment of all logical types; a test holds it against the library. */
  static final Map<Class<? extends LogicalTypeAnnotation>, Treatment> ALL =
      Map.ofEntries(
          entry(BsonLogicalTypeAnnotation.class, Treatment.BYTES),
          entry(DateLogicalTypeAnnotation.class, Treatment.READ),
          entry(DecimalLogicalTypeAnnotation.class, Treatment.READ),
          entry(EnumLogicalTypeAnnotation.class, Treatment.READ),
          entry(Float16LogicalTypeAnnotation.class, Treatment.READ),
          entry(GeographyLogicalTypeAnnotation.class, Treatment.BYTES),
          entry(GeometryLogicalTypeAnnotation.class, Treatment.BYTES),
          entry(IntLogicalTypeAnnotation.class, Treatment.READ),
          entry(IntervalLogicalTypeAnnotation.class, Treatment.READ),
          entry(JsonLogicalTypeAnnotation.class, Treatment.READ),
          entry(ListLogicalTypeAnnotation.class, Treatment.READ),
          entry(MapKeyValueTypeAnnotation.class, Treatment.READ),
          entry(MapLogicalTypeAnnotation.class, Treatment.READ),
          entry(StringLogicalTypeAnnotation.class, Treatment.READ),
          entry(TimeLogicalTypeAnnotation.class, Treatment.READ),
          entry(TimestampLogicalTypeAnnotation.class, Treatment.READ),
          entry(UUIDLogicalTypeAnnotation.class, Treatment.READ),
          entry(UnknownLogicalTypeAnnotation.class, Treatment.READ),
          entry(VariantLogicalTypeAnnotation.class, Treatment.REFUSED));

  private LogicalTypes() {}

  /** Returns the logical type of a column, or below it, that cannot be read. */
  static Optional<String> refused(Type column) {
    LogicalTypeAnnotation annotation = column.getLogicalTypeAnnotation();
    if (annotation != null
        && ALL.getOrDefault(annotation.getClass(), Treatment.REFUSED) == Treatment.REFUSED) {
      return Optional.of(annotation.toString());
    }
    if (column.isPrimitive()) {
      return Optional.empty();
    }
    GroupType group = column.asGroupType();
    return group.getFields().stream().flatMap(field -> refused(field).stream()).findFirst();
  }
}
