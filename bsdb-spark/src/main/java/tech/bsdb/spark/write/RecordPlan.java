package tech.bsdb.spark.write;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.apache.spark.sql.types.BinaryType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.jspecify.annotations.Nullable;
import tech.bsdb.spark.rows.ColumnPath;
import tech.bsdb.spark.rows.ColumnTypes;
import tech.bsdb.spark.rows.KeyWriter;
import tech.bsdb.tools.cli.NearestName;
import tech.bsdb.tools.rows.AvroSchemas;
import tech.bsdb.tools.rows.RowType.Column;

/**
 * Where in a row of a DataFrame the key and the value are. Immutable.
 *
 * @param keys the places of the parts of the key
 * @param value the places of the columns of the row, or of the one raw column
 * @param order the place of the column that decides between duplicates, or null
 * @param schema the schema of the row, or null for a raw value
 */
record RecordPlan(
    List<ColumnPath> keys,
    List<ColumnPath> value,
    @Nullable ColumnPath order,
    @Nullable String schema)
    implements Serializable {
  /**
   * Finds the columns.
   *
   * @throws IllegalArgumentException if there is no such column, or its type does not fit
   */
  static RecordPlan of(StructType rows, WriteSettings settings) {
    List<ColumnPath> keys = new ArrayList<>();
    for (String name : settings.keys()) {
      ColumnPath place = find(rows, name, "key");
      KeyWriter unused = KeyWriter.of(place.type(), place.name());
      keys.add(place);
    }
    String orderBy = settings.orderBy();
    ColumnPath order = orderBy == null ? null : find(rows, orderBy, "orderBy");
    String raw = settings.raw();
    if (raw != null) {
      ColumnPath place = find(rows, raw, "value");
      if (!(place.type() instanceof BinaryType) && !(place.type() instanceof StringType)) {
        throw new IllegalArgumentException(
            "column %s is %s; value needs a column of binary or text"
                .formatted(raw, place.type().catalogString()));
      }
      return new RecordPlan(List.copyOf(keys), List.of(place), order, null);
    }
    List<String> names = settings.columns();
    List<ColumnPath> value = new ArrayList<>();
    List<Column> columns = new ArrayList<>();
    for (String name : names.isEmpty() ? Arrays.asList(rows.fieldNames()) : names) {
      ColumnPath place = top(rows, name).orElseThrow(() -> missing(rows, name, "columns"));
      value.add(place);
      columns.add(ColumnTypes.column(place.field()));
    }
    return new RecordPlan(
        List.copyOf(keys), List.copyOf(value), order, AvroSchemas.of(columns).json());
  }

  /** The rows that go through the shuffle: shard, key, order, value. */
  StructType shuffled() {
    DataType decides = order == null ? DataTypes.NullType : order.type();
    return new StructType()
        .add("place", DataTypes.IntegerType, false)
        .add("key", DataTypes.BinaryType, true)
        .add("order", decides, true)
        .add("value", DataTypes.BinaryType, false);
  }

  private static ColumnPath find(StructType rows, String name, String option) {
    Optional<ColumnPath> top = top(rows, name);
    if (top.isPresent()) {
      return top.get();
    }
    List<Integer> steps = new ArrayList<>();
    List<Integer> widths = new ArrayList<>();
    StructType inside = rows;
    String[] parts = name.split("\\.", -1);
    for (int i = 0; i < parts.length; i++) {
      int ordinal = ordinal(inside, parts[i]);
      if (ordinal < 0) {
        break;
      }
      StructField field = inside.fields()[ordinal];
      steps.add(ordinal);
      widths.add(inside.length());
      if (i == parts.length - 1) {
        return new ColumnPath(name, steps, widths, field);
      }
      if (!(field.dataType() instanceof StructType struct)) {
        break;
      }
      inside = struct;
    }
    throw missing(rows, name, option);
  }

  private static Optional<ColumnPath> top(StructType rows, String name) {
    int ordinal = ordinal(rows, name);
    return ordinal < 0
        ? Optional.empty()
        : Optional.of(
            new ColumnPath(
                rows.fields()[ordinal].name(),
                List.of(ordinal),
                List.of(rows.length()),
                rows.fields()[ordinal]));
  }

  /** The place of a name, or of the only one that differs just in case; -1 if there is none. */
  private static int ordinal(StructType rows, String name) {
    List<String> names = Arrays.asList(rows.fieldNames());
    int exact = names.indexOf(name);
    if (exact >= 0) {
      return exact;
    }
    int found = -1;
    for (int i = 0; i < names.size(); i++) {
      if (names.get(i).equalsIgnoreCase(name)) {
        if (found >= 0) {
          return -1;
        }
        found = i;
      }
    }
    return found;
  }

  private static IllegalArgumentException missing(StructType rows, String name, String option) {
    List<String> names = Arrays.asList(rows.fieldNames());
    return new IllegalArgumentException(
        "%s: there is no column %s%s%s; the columns are %s"
            .formatted(
                option,
                name,
                NearestName.to(name, names).map(near -> ", did you mean " + near + "?").orElse(""),
                option.equals("key") && name.contains(",") ? " (several columns need keyJoin)" : "",
                String.join(", ", names)));
  }
}
