package tech.bsdb.data;

import java.io.IOException;

/** Receives every record with its address, in the order the records were added. */
@FunctionalInterface
public interface RecordSink {
  /**
   * Receives a record and its address.
   *
   * @param record its signature and its key are valid until the call returns
   */
  void placed(FramedRecord record, long address) throws IOException;
}
