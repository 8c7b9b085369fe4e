package tech.bsdb.write;

import java.io.IOException;
import java.nio.file.Path;
import tech.bsdb.BuildListener.Stage;
import tech.bsdb.DuplicatePolicy;
import tech.bsdb.data.FramedRecord;
import tech.bsdb.data.RecordWriter;
import tech.bsdb.hash.SignatureFunction;

/**
 * Holds records back until all are known, and writes them in the order of their signatures. So the
 * order in which they were added does not matter, except for which of several records with the same
 * key is kept. Not thread-safe.
 */
final class SignatureOrder implements RecordOrder {
  private final RecordSpill spill;
  private final RecordWriter to;
  private final DuplicatePolicy duplicates;
  private final SignatureFunction function;
  private final long memoryBytes;
  private final int threads;

  /**
   * Creates the temporary files.
   *
   * @param directory the directory of the temporary files
   * @param to receives the records in order; the caller finishes and closes it
   * @param duplicates what to do with records that have the same key
   * @param function gives the signatures
   * @param memoryBytes the memory limit for concurrent passes; a single pass may exceed it
   */
  SignatureOrder(
      Path directory,
      RecordWriter to,
      DuplicatePolicy duplicates,
      SignatureFunction function,
      long memoryBytes,
      int threads)
      throws IOException {
    this.spill = new RecordSpill(directory);
    this.to = to;
    this.duplicates = duplicates;
    this.function = function;
    this.memoryBytes = memoryBytes;
    this.threads = threads;
  }

  @Override
  public void add(FramedRecord record) throws IOException {
    spill.add(record);
  }

  @Override
  public void finish() throws IOException {
    spill.finish();
  }

  @Override
  public void write(AssemblyProgress progress) throws IOException {
    PackedShape bins = PackedShape.of(spill.records(), spill.recordBytes());
    SortedPasses passes =
        new SortedPasses(
            spill, bins, memoryBytes, threads, duplicates, function, progress::cancelled, false);
    SpilledRecord record = new SpilledRecord(spill);
    long[] done = {0};
    passes.run(
        "bsdb-order",
        sorted -> sorted,
        (sorted, fromPartition) -> {
          byte[] bytes = sorted.bytes();
          for (int i = 0; i < sorted.records(); i++) {
            to.add(record.of(bytes, sorted.recordStart(i), sorted.high(i), sorted.low(i)));
          }
          done[0] += sorted.records();
          progress.progress(Stage.RECORDS, done[0]);
        });
    close();
  }

  @Override
  public void close() {
    spill.close();
  }
}
