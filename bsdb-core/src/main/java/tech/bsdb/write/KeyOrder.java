package tech.bsdb.write;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import tech.bsdb.BuildListener.Stage;
import tech.bsdb.DuplicatePolicy;
import tech.bsdb.data.FramedRecord;
import tech.bsdb.data.RecordWriter;
import tech.bsdb.hash.Signature;
import tech.bsdb.hash.SignatureFunction;
import tech.bsdb.io.OrderedTasks;

/**
 * Holds records back until all are known, and writes them in the order of their keys; those with
 * the same key in the order in which they were added. So the records of a range lie together. If
 * duplicates are rejected, finds them: of what is written, nobody could tell any more when it was
 * added. Neither the memory nor the number of threads affects what comes out. Not thread-safe.
 */
final class KeyOrder implements RecordOrder {
  /** Records of a sample for each partition. */
  private static final long SAMPLES = 16;

  /** Bytes of a sample, about. */
  private static final long SAMPLE_BYTES = 4L << 20;

  /** How many records pass between two looks at whether the build still runs. */
  private static final int UNCHECKED = 1 << 12;

  private final Path directory;
  private final RecordWriter to;
  private final boolean rejects;
  private final SignatureFunction function;
  private final KeyOrderLimits limits;
  private int created;
  private Divided all;
  private boolean first = true;
  private long done;

  /** Records in partitions. */
  private record Divided(RecordSpill spill, KeyPartitions partitions) {
    void add(FramedRecord record, long number) throws IOException {
      spill.add(partitions.of(record), record, number);
    }
  }

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
    this.limits = new KeyOrderLimits(memoryBytes, threads);
    this.all = divided(List.of(), new int[1]);
  }

  /**
   * Creates partitions without records.
   *
   * @param fileOf the numbers of their files
   */
  private Divided divided(List<byte[]> sample, int[] fileOf) {
    RecordSpill spill =
        new RecordSpill(new Spill(directory, "order-" + created++, fileOf, KeyOrderLimits.CHUNK));
    KeySplitters splitters = new KeySplitters(sample, limits.sampledPartitions());
    return new Divided(
        spill,
        new KeyPartitions(
            splitters, spill, fileOf.length, KeyOrderLimits.PARTITION_BYTES, limits.share()));
  }

  @Override
  public void add(FramedRecord record) throws IOException {
    all.add(record, all.spill.records());
    if (first && all.spill.bytes(0) >= limits.firstBytes()) {
      first = false;
      RecordSpill undivided = all.spill;
      undivided.finish();
      all = divide(undivided, 0, () -> {}); // so few that a cancelled build ends soon
    }
  }

  @Override
  public void finish() throws IOException {
    all.spill.finish();
  }

  /**
   * Some keys of a partition, from everywhere in it. They are chosen at random, so that there is no
   * input for which they are always a bad choice; they do not affect what is written.
   */
  private List<byte[]> sample(RecordSpill spill, int partition) throws IOException {
    long count = spill.count(partition);
    long fitting = Math.max(2, SAMPLE_BYTES * count / Math.max(1, spill.bytes(partition)));
    long step = Math.max(1, count / Math.min(fitting, limits.sampledPartitions() * SAMPLES));
    SplittableRandom random = new SplittableRandom();
    List<byte[]> sample = new ArrayList<>();
    long[] at = {0};
    long[] next = {random.nextLong(step)};
    long[] room = {2 * SAMPLE_BYTES};
    spill.read(
        partition,
        (number, bytes, from, keyFrom, keyLength, length) -> {
          if (at[0] == next[0] && room[0] >= keyLength) {
            sample.add(Arrays.copyOfRange(bytes, keyFrom, keyFrom + keyLength));
            room[0] -= keyLength;
          }
          if (++at[0] % step == 0) {
            next[0] = at[0] + random.nextLong(step);
          }
        });
    return sample;
  }

  /** Divides the records of a partition, which is dropped. */
  private Divided divide(RecordSpill spill, int partition, Runnable checkRunning)
      throws IOException {
    Divided divided = divided(sample(spill, partition), limits.filesOfPartitions());
    try {
      SpilledRecord record = new SpilledRecord(spill);
      long[] unchecked = {0};
      spill.read(
          partition,
          (number, bytes, from, keyFrom, keyLength, length) -> {
            FramedRecord framed = record.of(bytes, from, 0, 0);
            divided.add(framed, number);
            if (++unchecked[0] % UNCHECKED == 0 || RunWriter.isLong(framed)) {
              checkRunning.run();
            }
          });
      spill.drop(partition);
      return divided;
    } catch (IOException | RuntimeException | Error e) {
      divided.spill.close();
      throw e;
    }
  }

  @Override
  public void write(AssemblyProgress progress) throws IOException {
    progress.ended(Stage.RECORDS);
    write(all, progress);
    close();
    progress.ended(Stage.ORDER);
  }

  private void write(Divided divided, AssemblyProgress progress) throws IOException {
    RecordSpill spill = divided.spill;
    try (OrderedTasks<Integer> tasks =
            new OrderedTasks<>(
                "bsdb-order",
                limits.threads(),
                2 * limits.threads(),
                records -> {
                  done += records;
                  check(progress);
                  progress.progress(Stage.ORDER, done);
                });
        RunWriter runs = new RunWriter(spill, to, rejects, function, () -> check(progress))) {
      int number = 0;
      for (int i = 0; i < divided.partitions.count(); i++) {
        int partition = i;
        if (RecordRun.memory(spill.count(i), spill.bytes(i)) <= limits.runBytes()) {
          int turn = number++;
          tasks.submit(() -> runs.write(partition, turn));
          continue;
        }
        tasks.drain();
        runs.freeRuns();
        if (divided.partitions.isInOrder(i)) {
          writeAsIs(spill, i, progress);
          spill.drop(i);
        } else {
          Divided smaller = divide(spill, i, () -> check(progress));
          try (RecordSpill closing = smaller.spill) {
            closing.finish();
            write(smaller, progress);
          }
        }
      }
      tasks.drain();
    } catch (ExecutionException e) {
      throw OrderedTasks.failure(e);
    }
  }

  private static void check(AssemblyProgress progress) {
    if (progress.cancelled()) {
      throw new CancellationException("the build was cancelled");
    }
  }

  /** Writes the records of a partition in the order in which they were added. */
  private void writeAsIs(RecordSpill spill, int partition, AssemblyProgress progress)
      throws IOException {
    SpilledRecord record = new SpilledRecord(spill);
    Signature signature = new Signature();
    byte[][] last = {null};
    spill.read(
        partition,
        (number, bytes, from, keyFrom, keyLength, length) -> {
          if (rejects) {
            byte[] key = Arrays.copyOfRange(bytes, keyFrom, keyFrom + keyLength);
            if (Arrays.equals(key, last[0])) {
              throw RunWriter.duplicate(spill, partition, key);
            }
            last[0] = key;
          }
          function.sign(bytes, keyFrom, keyLength, signature);
          FramedRecord framed = record.of(bytes, from, signature.high, signature.low);
          to.add(framed);
          if (++done % UNCHECKED == 0 || RunWriter.isLong(framed)) {
            check(progress);
            progress.progress(Stage.ORDER, done);
          }
        });
  }

  @Override
  public void close() {
    all.spill.close();
  }
}
