package tech.bsdb.tools.input;

import java.io.IOException;

/** Takes records one by one. The arrays are the caller's and valid during the call only. */
@FunctionalInterface
public interface RecordVisitor {
  /** Takes a record; the key and the value are ranges of arrays that may be the same. */
  void visit(byte[] key, int keyFrom, int keyLength, byte[] value, int valueFrom, int valueLength)
      throws IOException;
}
