package tech.bsdb.tools.serve.batch;

import tech.bsdb.tools.text.JsonBuffer;

/** Writes values as JSON. */
@FunctionalInterface
public interface ValueJson {
  /**
   * Writes a value behind what is there.
   *
   * @throws NotJsonException if it cannot be; what was written of it counts for nothing
   */
  void write(byte[] values, int offset, int length, JsonBuffer out) throws NotJsonException;
}
