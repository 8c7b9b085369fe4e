package tech.bsdb.data;

import java.io.Closeable;
import java.io.IOException;

/** Writes records to the data files in one of the layouts. Not thread-safe. */
public interface RecordWriter extends Closeable {
  /** Appends a record. */
  void add(FramedRecord record) throws IOException;

  /** Writes pending records; no record may follow. */
  void finish() throws IOException;

  /** Stops the writer's threads and frees its memory; the files stay open. */
  @Override
  void close();

  /** Receives every record with its address, in the order the records were added. */
  @FunctionalInterface
  interface RecordSink {
    /**
     * Receives a record and its address.
     *
     * @param record its signature and its key are valid until the call returns
     */
    void placed(FramedRecord record, long address) throws IOException;
  }
}
