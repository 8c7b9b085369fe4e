package tech.bsdb.tools.where;

import java.util.List;

/**
 * A column that a condition names.
 *
 * @param parts its name, and those of the fields of structs below it
 * @param position where in the condition it is named, from 0
 */
public record ColumnName(List<String> parts, int position) {
  /** Copies the list. */
  public ColumnName {
    parts = List.copyOf(parts);
  }

  /** Returns the name with dots between its parts. */
  public String text() {
    return String.join(".", parts);
  }
}
