package tech.bsdb.tools.serve.batch;

import tech.bsdb.tools.text.JsonBuffer;

/** Writes values as JSON. */
@FunctionalInterface
public interface ValueJson {
  /**
   * Appends a value.
   *
   * @throws NotJsonException if the value cannot be written; anything appended so far must be
   *     discarded
   */
  void write(byte[] values, int offset, int length, JsonBuffer out) throws NotJsonException;
}
