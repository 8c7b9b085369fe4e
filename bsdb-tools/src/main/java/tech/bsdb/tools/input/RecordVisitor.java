package tech.bsdb.tools.input;

import java.io.IOException;

/**
 * Receives records one at a time. The arrays belong to the caller and are valid only during the
 * call.
 */
@FunctionalInterface
public interface RecordVisitor {
  /** Receives a record; the key and the value are ranges of arrays, possibly of the same one. */
  void visit(byte[] key, int keyFrom, int keyLength, byte[] value, int valueFrom, int valueLength)
      throws IOException;
}
