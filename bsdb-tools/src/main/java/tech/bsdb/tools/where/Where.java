package tech.bsdb.tools.where;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.rows.RowType.Column;

/**
 * Which rows are wanted. Immutable.
 *
 * @param text the condition as it was written
 */
public record Where(String text, Condition condition) {
  /**
   * Reads a condition.
   *
   * @throws ConditionException if it is not one
   */
  public static Where parse(String text) throws ConditionException {
    return new Where(text, new ConditionParser(text).parse());
  }

  /** Returns the columns that it names, each once, in the order of their first places. */
  public List<ColumnName> columns() {
    Map<List<String>, ColumnName> columns = new LinkedHashMap<>();
    condition.forEachColumn(column -> columns.putIfAbsent(column.parts(), column));
    return new ArrayList<>(columns.values());
  }

  /**
   * Binds the condition to columns.
   *
   * @param columns the columns that {@link #columns} names, in the same order; one that the rows do
   *     not have is of type null. If nothing is known of a column, it is null itself, and what the
   *     condition says of it may be true or not
   * @throws ConditionException if a column cannot be compared with a constant
   */
  public RowTest bind(List<@Nullable Column> columns) throws ConditionException {
    return new Binding(this, columns).of(condition);
  }

  /** Returns the error for a column that cannot be used. */
  public ConditionException refused(ColumnName column, String why) {
    return new ConditionException(text, column.position(), why);
  }
}
