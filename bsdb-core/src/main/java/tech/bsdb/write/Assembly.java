package tech.bsdb.write;

import java.io.Closeable;
import java.io.IOException;
import org.jspecify.annotations.Nullable;
import tech.bsdb.data.RecordWriter;

/**
 * Turns records into the content files of a database. There is one implementation for each way of
 * locating records. The caller seals the files, writes the manifest and publishes the database. Not
 * thread-safe.
 */
interface Assembly extends Closeable {
  /**
   * Creates the writer of the records. Called once, before the first record. The assembly closes
   * the writer.
   *
   * @param dictionary the ZSTD dictionary to compress with and to store, or null
   */
  RecordWriter writer(byte @Nullable [] dictionary) throws IOException;

  /**
   * Finishes the writer after the last record, and completes all content files. Called once.
   *
   * @throws tech.bsdb.error.DuplicateKeyException if a key was added twice and duplicates are
   *     rejected
   * @throws java.util.concurrent.CancellationException if the build was cancelled
   */
  Assembled complete(AssemblyProgress progress) throws IOException;

  /** Ends all threads, frees all memory, and closes and deletes all files that were not sealed. */
  @Override
  void close() throws IOException;
}
