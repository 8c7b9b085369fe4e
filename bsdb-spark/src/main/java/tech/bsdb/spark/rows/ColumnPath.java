package tech.bsdb.spark.rows;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.jspecify.annotations.Nullable;

/**
 * The place of a column, or of a field of a struct, in a row. Immutable.
 *
 * @param name its name, with dots
 * @param steps the ordinals that lead to it: all but the last are those of structs
 * @param widths the number of fields of the row and of each of these structs
 * @param field its type
 */
public record ColumnPath(String name, List<Integer> steps, List<Integer> widths, StructField field)
    implements Serializable {
  /** Copies the lists. */
  public ColumnPath {
    steps = List.copyOf(steps);
    widths = List.copyOf(widths);
  }

  /** All columns and fields of structs that a name may mean, since names may contain dots. */
  public static List<ColumnPath> all(StructType columns, String name) {
    List<ColumnPath> found = new ArrayList<>();
    for (int i = 0; i < columns.length(); i++) {
      StructField field = columns.fields()[i];
      List<Integer> step = List.of(i);
      List<Integer> width = List.of(columns.length());
      if (field.name().equals(name)) {
        found.add(new ColumnPath(name, step, width, field));
      } else if (name.startsWith(field.name() + ".")
          && field.dataType() instanceof StructType inner) {
        for (ColumnPath path : all(inner, name.substring(field.name().length() + 1))) {
          found.add(
              new ColumnPath(
                  name, joined(step, path.steps), joined(width, path.widths), path.field));
        }
      }
    }
    return found;
  }

  private static List<Integer> joined(List<Integer> head, List<Integer> tail) {
    List<Integer> both = new ArrayList<>(head);
    both.addAll(tail);
    return both;
  }

  /** The type of its values. */
  public DataType type() {
    return field.dataType();
  }

  /** Its ordinal in its {@link #holder}. */
  public int ordinal() {
    return steps.get(steps.size() - 1);
  }

  /** The row or struct that holds it; null if one on the way to it is null. */
  public @Nullable InternalRow holder(InternalRow row) {
    InternalRow holder = row;
    for (int i = 0; i < steps.size() - 1; i++) {
      if (holder.isNullAt(steps.get(i))) {
        return null;
      }
      holder = holder.getStruct(steps.get(i), widths.get(i + 1));
    }
    return holder;
  }
}
