package tech.bsdb.tools.parquet;

import tech.bsdb.tools.rows.RowBuffer;

/** A part of a key, row after row: a file's column or a directory's. */
interface KeyPart {
  /** The column's name, for messages. */
  String name();

  /** Writes the value of the row at hand; false if there is none. */
  boolean write(RowBuffer out);

  /** Ends the row. */
  void next();
}
