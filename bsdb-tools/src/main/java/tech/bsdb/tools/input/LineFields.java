package tech.bsdb.tools.input;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Finds the key and the value in a line; for use by one thread. */
interface LineFields {
  /**
   * Passes the line's record on.
   *
   * @param bytes contains the line, valid UTF-8, without its end and empty only if {@link
   *     #takesEmptyLines}, in {@code from} to {@code to}
   * @return why it is not a record, or null if it was passed on
   */
  @Nullable Defect handOn(byte[] bytes, int from, int to, RecordVisitor records) throws IOException;

  /** Whether a line without any character is passed on, too. */
  default boolean takesEmptyLines() {
    return false;
  }

  /** A more specific error message for the last defect returned, or null if there is none. */
  default @Nullable String detail() {
    return null;
  }
}
