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

  /**
   * Receives the deletion of a key, of which only changes of a database have any. Whoever wants
   * records alone ignores it.
   */
  default void delete(byte[] key, int keyFrom, int keyLength) throws IOException {}
}
