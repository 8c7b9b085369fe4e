package tech.bsdb.data;

import java.io.IOException;

/** Receives the address of every record, in the order the records were added. */
@FunctionalInterface
public interface RecordSink {
  /**
   * Receives a record's signature and address.
   *
   * @param high the first half of the signature
   * @param low the second half
   * @param address the record's address
   */
  void placed(long high, long low, long address) throws IOException;
}
