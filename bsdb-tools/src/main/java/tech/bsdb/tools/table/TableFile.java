package tech.bsdb.tools.table;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.rows.RowType.Column;

/** A file of a {@link Table}, or what else has a name and rows. Thread-safe. */
public interface TableFile {
  /** Returns the name shown to users; a row's place is {@code NAME: row N}. */
  String name();

  /** Returns all columns that can be read, whether or not options name them, in their order. */
  List<Column> columns();

  /**
   * Returns the other columns by name, and what they are or contain that cannot be read, such as "a
   * union of int and string". A build that needs one of them is refused.
   */
  default Map<String, String> unreadable() {
    return Map.of();
  }

  /** Returns the directories named {@code NAME=VALUE} on its path, from the top. */
  default List<String> directories() {
    return List.of();
  }

  /** Returns the parts to read, in order; several are read at a time. */
  List<Part> parts();

  /**
   * Opens a part for one thread.
   *
   * @param columns the indexes in {@link #columns()} of the columns to read, ascending
   * @throws IOException if it cannot be read or is damaged; an exception that is not an {@link
   *     tech.bsdb.tools.input.InputException} gets the file's name and the part's place
   */
  Rows open(Part part, List<Integer> columns) throws IOException;

  /** Whether it is unchanged since it was opened, as far as can be detected. */
  default boolean isUnchanged() {
    return true;
  }

  /**
   * Some consecutive rows of a file.
   *
   * @param index its index in {@link #parts()}
   * @param place where it is in the file, for messages, such as {@code stripe 3}; or empty
   * @param bytes about what it takes in memory while it is read, and the measure of progress
   */
  record Part(int index, String place, long bytes) {}

  /**
   * The rows of a part; for one thread.
   *
   * <p>Values by the kind of their column's type:
   *
   * <table>
   * <caption>Classes of values</caption>
   * <tr><td>BOOLEAN, INT, LONG, FLOAT, DOUBLE</td><td>the box of the primitive type</td></tr>
   * <tr><td>DECIMAL</td><td>{@link java.math.BigDecimal} with exactly the type's scale</td></tr>
   * <tr><td>DATE</td><td>{@link Integer}, days since 1970</td></tr>
   * <tr><td>TIME, TIMESTAMP, LOCAL_TIMESTAMP</td><td>{@link Long} in the type's unit</td></tr>
   * <tr><td>STRING</td><td>{@link CharSequence}, or UTF-8 as {@code byte[]} or {@link
   *     java.nio.ByteBuffer}, which is checked</td></tr>
   * <tr><td>BYTES, FIXED</td><td>{@code byte[]} or {@link java.nio.ByteBuffer}</td></tr>
   * <tr><td>UUID</td><td>{@link java.util.UUID}</td></tr>
   * <tr><td>INTERVAL</td><td>{@code byte[12]}: months, days, milliseconds, little-endian</td></tr>
   * <tr><td>list</td><td>{@link List}</td></tr>
   * <tr><td>map</td><td>{@link Map}, or a {@link List} of {@link java.util.Map.Entry}, which keeps
   *     equal keys</td></tr>
   * <tr><td>struct</td><td>{@code Object[]} in the order of its fields</td></tr>
   * </table>
   */
  interface Rows extends AutoCloseable {
    /** Moves to the next row; returns false after the last one. */
    boolean next() throws IOException;

    /**
     * Returns a value of the current row, or null; valid until the next row.
     *
     * @param column the index of one of the opened columns
     * @throws BadValueException if the file has a value that no row can have, which makes the row a
     *     bad one
     */
    @Nullable Object value(int column) throws IOException, BadValueException;

    /** Returns about how many of the part's {@link Part#bytes} were read. */
    long done();

    @Override
    void close() throws IOException;
  }

  /** A value that no row can have. It has no stack trace, since the fault is the file's. */
  final class BadValueException extends Exception {
    private static final long serialVersionUID = 1L;

    private final String detail;

    /**
     * Creates an exception.
     *
     * @param reason the kind of problem, under which rows are counted
     * @param detail more about it, or empty; the column is added
     */
    public BadValueException(String reason, String detail) {
      super(reason, null, false, false);
      this.detail = detail;
    }

    /** Returns more about the problem, or an empty string. */
    public String detail() {
      return detail;
    }
  }
}
