package tech.bsdb;

import java.io.Closeable;
import java.io.IOException;
import tech.bsdb.data.FramedRecord;

/** Writes the records of a build into its directory. Not thread-safe. */
sealed interface BuildOutput extends Closeable
    permits DatabaseWriter, MergeWriter, OneShardWriter, ShardSetWriter {
  /**
   * Adds a sample record for training the dictionary.
   *
   * @throws IllegalStateException if a record was added before
   */
  void sample(byte[] key, byte[] value);

  /** Adds a record. */
  void add(FramedRecord record) throws IOException;

  /**
   * Writes everything that lookups need, forces all files to the device and closes them. Called
   * once, after the last record.
   *
   * @throws tech.bsdb.error.DuplicateKeyException if a key was added twice and the options do not
   *     say which record to keep
   */
  Written finish(WriterProgress progress) throws IOException;

  /** Closes all files, and deletes those that were not finished. */
  @Override
  void close() throws IOException;
}
