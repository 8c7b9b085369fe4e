package tech.bsdb.tools.input;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Finds the key and the value in a line; for one thread. */
interface LineFields {
  /**
   * Hands the line's record on.
   *
   * @param bytes has the line, valid UTF-8, not empty and without its end, in {@code from} to
   *     {@code to}
   * @return why it is not a record, or null if it was handed on
   */
  @Nullable Defect handOn(byte[] bytes, int from, int to, RecordVisitor records) throws IOException;

  /**
   * What is known of the defect that was given last beyond its name, in the words of an error
   * message; null if nothing.
   */
  default @Nullable String detail() {
    return null;
  }
}
