package tech.bsdb.tools.where;

import tech.bsdb.tools.rows.RowBuffer;

/** The values of a row, or what many rows have in common, as a {@link RowTest} asks for them. */
@FunctionalInterface
public interface Cells {
  /** A null. */
  RowBuffer NULL = new RowBuffer();

  /** A value that is not known: it may be any one, or null. */
  RowBuffer UNKNOWN = new RowBuffer();

  /**
   * Returns a value in Avro's encoding of its column's type, {@link #NULL}, or {@link #UNKNOWN}.
   *
   * @param column the number of the column among those of the condition
   */
  RowBuffer of(int column);
}
