package tech.bsdb.data;

import java.io.IOException;

/** Hears the address of every record, in the order in which the records were given. */
@FunctionalInterface
public interface RecordSink {
  /**
   * Takes a record's signature and address.
   *
   * @param high the first half of the signature
   * @param low the second half
   * @param address where the record stands
   */
  void placed(long high, long low, long address) throws IOException;
}
