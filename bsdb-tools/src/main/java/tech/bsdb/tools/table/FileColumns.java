package tech.bsdb.tools.table;

import java.util.List;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.rows.RowType.Column;
import tech.bsdb.tools.rows.RowType.Scalar;

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
}
