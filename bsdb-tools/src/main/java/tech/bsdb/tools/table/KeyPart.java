package tech.bsdb.tools.table;

import tech.bsdb.tools.rows.RowBuffer;

/** A part of a key: a column of a file or of its directories. */
public interface KeyPart {
  /** Returns the column's name, for messages. */
  String name();

  /** Writes the current row's value; returns false if there is none. */
  boolean write(RowBuffer out);

  /** Advances to the next row. */
  void next();
}
