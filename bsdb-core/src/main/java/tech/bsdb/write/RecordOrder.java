package tech.bsdb.write;

import java.io.IOException;
import tech.bsdb.data.RecordWriter;

/** Holds records back in temporary files until all are known, and writes them in another order. */
interface RecordOrder extends RecordWriter {
  /**
   * Writes all records, and deletes the temporary files. Called once, after {@link #finish}. May
   * leave out records that are dropped because of others with the same key.
   *
   * @throws tech.bsdb.error.DuplicateKeyException if a key was added twice, duplicates are
   *     rejected, and it is noticed here; the index notices it, too
   * @throws java.util.concurrent.CancellationException if the build was cancelled
   */
  void write(AssemblyProgress progress) throws IOException;
}
