package tech.bsdb.tools.rows;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.avro.Schema;

/** Maps names to the fields of a record: column names and aliases. Immutable and thread-safe. */
public final class FieldNames {
  private final Map<String, Integer> numbers = new HashMap<>();

  /**
   * Collects the names of a record's fields.
   *
   * @throws IllegalArgumentException if two fields have the same name
   */
  public FieldNames(Schema record) {
    List<Schema.Field> fields = record.getFields();
    for (int i = 0; i < fields.size(); i++) {
      String column = RowSchema.column(fields.get(i));
      if (numbers.put(column, i) != null) {
        throw new IllegalArgumentException(
            record.getFullName() + " has two fields for a column \"" + column + "\"");
      }
    }
    for (int i = 0; i < fields.size(); i++) {
      for (String alias : fields.get(i).aliases()) {
        numbers.putIfAbsent(alias, i);
      }
    }
  }

  /** Returns the index of the field with that name, or -1. */
  public int find(String name) {
    Integer number = numbers.get(name);
    return number == null ? -1 : number;
  }
}
