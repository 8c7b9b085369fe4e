package tech.bsdb.write;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tech.bsdb.BuildListener.Stage;
import tech.bsdb.DuplicatePolicy;
import tech.bsdb.data.FramedRecord;
import tech.bsdb.data.RecordWriter;
import tech.bsdb.hash.Signature;
import tech.bsdb.hash.SignatureFunction;

/**
 * Holds records back until all are known, and writes them in the order of their keys; those with
 * the same key in the order in which they were added. So the records of a range lie together. If
 * duplicates are rejected, finds them: of what is written, nobody could tell any more when it was
 * added. Neither the memory nor the number of threads affects what comes out. Not thread-safe.
 */
final class KeyOrder implements RecordOrder {
  /** How many records pass between two looks at whether the build still runs. */
  private static final int UNCHECKED = 1 << 12;

  private final Path directory;
  private final RecordWriter to;
  private final boolean rejects;
  private final SignatureFunction function;
  private final SortLimits limits;
  private int created;
  private Records all;
  private boolean first = true;

  /**
   * Creates an instance without records.
   *
   * @param directory the directory of the temporary files
   * @param to receives the records in order; the caller finishes and closes it
   * @param duplicates what to do with records that have the same key; here, reject them or not
   * @param function gives the signatures
   * @param memoryBytes the memory limit
   */
  KeyOrder(
      Path directory,
      RecordWriter to,
      DuplicatePolicy duplicates,
      SignatureFunction function,
      long memoryBytes,
      int threads) {
    this.directory = directory;
    this.to = to;
    this.rejects = duplicates == DuplicatePolicy.ERROR;
    this.function = function;
    this.limits = new SortLimits(memoryBytes, threads);
    this.all = new Records(new KeySplitters(List.of(), 1), new int[1]);
  }

  @Override
  public void add(FramedRecord record) throws IOException {
    all.add(record, all.spill.records());
    if (first && all.spill.bytes(0) >= limits.firstBytes()) {
      first = false;
      RecordSpill undivided = all.spill;
      undivided.finish();
      all = divided(undivided, 0, () -> {}); // so few that a cancelled build ends soon
      undivided.drop(0);
    }
  }

  @Override
  public void finish() throws IOException {
    all.finish();
  }

  /** The records that were added. */
  KeySorter.Divided<?> divided() {
    return all;
  }

  /** Divides the records of a partition. */
  private Records divided(RecordSpill spill, int partition, Runnable checkRunning)
      throws IOException {
    KeySplitters splitters =
        KeySplitters.of(
            keys ->
                spill.read(
                    partition,
                    (number, bytes, from, keyFrom, keyLength, length) ->
                        keys.take(bytes, keyFrom, keyFrom + keyLength)),
            spill.count(partition),
            spill.bytes(partition),
            limits.sampledPartitions());
    Records divided = new Records(splitters, limits.filesOfPartitions());
    try {
      SpilledRecord record = new SpilledRecord(spill);
      long[] unchecked = {0};
      spill.read(
          partition,
          (number, bytes, from, keyFrom, keyLength, length) -> {
            FramedRecord framed = record.of(bytes, from, 0, 0);
            divided.add(framed, number);
            if (++unchecked[0] % UNCHECKED == 0 || RecordRun.isLong(framed)) {
              checkRunning.run();
            }
          });
      return divided;
    } catch (IOException | RuntimeException | Error e) {
      divided.close();
      throw e;
    }
  }

  @Override
  public void write(AssemblyProgress progress) throws IOException {
    progress.ended(Stage.RECORDS);
    Function<Records, KeySorter.Run> runs =
        of -> new RecordRun(of.spill, to, rejects, function, progress::checkNotCancelled);
    new KeySorter<>(limits, runs, progress).write(all);
    close();
    progress.ended(Stage.ORDER);
  }

  /** Records in partitions. */
  private final class Records implements KeySorter.Divided<Records> {
    private final RecordSpill spill;
    private final KeyPartitions partitions;

    /**
     * Creates partitions without records.
     *
     * @param fileOf the numbers of their files
     */
    Records(KeySplitters splitters, int[] fileOf) {
      spill = new RecordSpill(new Spill(directory, "order-" + created++, fileOf, SortLimits.CHUNK));
      partitions =
          new KeyPartitions(
              splitters, spill, fileOf.length, SortLimits.PARTITION_BYTES, limits.share());
    }

    void add(FramedRecord record, long number) throws IOException {
      spill.add(partitions.of(record), record, number);
    }

    @Override
    public void finish() throws IOException {
      spill.finish();
    }

    @Override
    public int partitions() {
      return partitions.count();
    }

    @Override
    public long memory(int partition) {
      return RecordRun.memory(spill.count(partition), spill.bytes(partition));
    }

    @Override
    public @Nullable Records divide(int partition, KeySorter<Records> sorter) throws IOException {
      if (partitions.isInOrder(partition)) {
        writeAsIs(partition, sorter);
        return null;
      }
      return divided(spill, partition, sorter::checkNotCancelled);
    }

    /** Writes the records of a partition in the order in which they were added. */
    private void writeAsIs(int partition, KeySorter<Records> sorter) throws IOException {
      SpilledRecord record = new SpilledRecord(spill);
      Signature signature = new Signature();
      byte[][] last = {null};
      int[] unchecked = {0};
      spill.read(
          partition,
          (number, bytes, from, keyFrom, keyLength, length) -> {
            if (rejects) {
              byte[] key = Arrays.copyOfRange(bytes, keyFrom, keyFrom + keyLength);
              if (Arrays.equals(key, last[0])) {
                throw RecordRun.duplicate(spill, partition, key);
              }
              last[0] = key;
            }
            function.sign(bytes, keyFrom, keyLength, signature);
            FramedRecord framed = record.of(bytes, from, signature.high, signature.low);
            to.add(framed);
            if (++unchecked[0] == UNCHECKED || RecordRun.isLong(framed)) {
              sorter.written(unchecked[0]);
              unchecked[0] = 0;
            }
          });
      sorter.written(unchecked[0]);
    }

    @Override
    public void drop(int partition) throws IOException {
      spill.drop(partition);
    }

    @Override
    public void close() {
      spill.close();
    }
  }

  @Override
  public void close() {
    all.close();
  }
}
