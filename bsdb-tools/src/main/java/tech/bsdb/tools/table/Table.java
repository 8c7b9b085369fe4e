package tech.bsdb.tools.table;

import java.util.List;

/**
 * A table as a library reads it, value by value: files of a format, or a snapshot of a lake's
 * table. Its files may be read by several threads; all else is for one.
 *
 * <p>{@link TableRecords} merges the columns of its files, selects what options name, checks and
 * encodes the values, and closes it.
 */
public interface Table extends TableRecords.Origin {
  /** Returns the files that hold rows, in the order of the input. */
  List<? extends TableFile> files();

  /** Returns what users should know about the table. */
  default List<String> notes() {
    return List.of();
  }

  @Override
  default List<String> names() {
    return files().stream().map(TableFile::name).toList();
  }
}
