package tech.bsdb.tools.table;

import java.util.List;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.input.InputException;
import tech.bsdb.tools.rows.RowType.Column;
import tech.bsdb.tools.rows.RowType.Scalar;
import tech.bsdb.tools.where.ConditionException;
import tech.bsdb.tools.where.RowTest;
import tech.bsdb.tools.where.Where;

/** What of a file is read: the columns of the row, the parts of the key, and the mark. */
public interface FileColumns {
  /** Returns the file's name, for messages. */
  String name();

  /** Returns the columns of the row that the file has. */
  List<Column> columns();

  /** Returns the types of the parts of the key. */
  List<Scalar> keyTypes();

  /** Whether a part of the key comes from the file's directories. */
  boolean isFromDirectory(int part);

  /** Returns the type of the value that marks deletions, or null. */
  @Nullable Scalar markType();

  /**
   * Returns the columns, or the fields of structs, that may be meant by a name; those of the first
   * part of a dotted path that has no or several ones.
   */
  List<String> meant(String name);

  /** Whether it has a column of the condition, itself or from its directories. */
  boolean hasCell(int number);

  /** Whether the file itself has a column of that name, in any case. */
  boolean hasColumn(String name);

  /** Returns the names of all columns, for a message. */
  String listed();

  /** Returns words for the names of all columns, of which 30 are listed. */
  static String listed(List<String> all) {
    if (all.isEmpty()) {
      return "it has no columns at all";
    }
    List<String> names = all.subList(0, Math.min(30, all.size()));
    int more = all.size() - names.size();
    return "its columns: " + String.join(", ", names) + (more > 0 ? " and " + more + " more" : "");
  }

  /**
   * Returns the condition on the columns that it names; null if there is none.
   *
   * @throws InputException if a constant does not have the type of its column
   */
  static @Nullable RowTest bind(@Nullable Where where, String file, List<Column> columns)
      throws InputException {
    try {
      return where == null ? null : where.bind(columns);
    } catch (ConditionException e) {
      throw new InputException(file + ": " + e.getMessage(), e);
    }
  }
}
