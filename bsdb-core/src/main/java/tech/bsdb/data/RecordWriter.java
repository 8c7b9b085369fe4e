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
}
