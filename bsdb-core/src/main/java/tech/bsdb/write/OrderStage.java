package tech.bsdb.write;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;
import tech.bsdb.BuildListener.Stage;
import tech.bsdb.BuildOptions;
import tech.bsdb.format.AddressBits;
import tech.bsdb.format.Facts;
import tech.bsdb.io.ChunkBuffer;
import tech.bsdb.io.OrderedTasks;
import tech.bsdb.io.Resources;
import tech.bsdb.order.OrderWriter;
import tech.bsdb.write.Assembled.Content;

/**
 * Writes the order of the keys of a packed database whose other files are finished. No key occurs
 * twice, since packing dropped duplicates. The keys are either known in order or were {@linkplain
 * CollectedKeys collected} before; many of these are divided into partitions, which are sorted one
 * after the other. Neither the memory nor the number of threads affects what comes out. Not
 * thread-safe.
 */
final class OrderStage {
  private static final String EQUAL = "two keys in order are equal";

  /** Keys of a sample for each partition. */
  static final int SAMPLE_OF_PARTITION = 32;

  /** How many records pass between two reports of progress. */
  private static final int REPORT = 1 << 16;

  private final Assembled assembled;
  private final RecordTotals totals;
  private final BuildPlace place;
  private final ChunkBuffer chunk;
  private final OrderLimits limits;
  private final AssemblyProgress progress;

  /** Partitions that were divided again. */
  private int dividedAgain;

  /**
   * Creates the stage.
   *
   * @param assembled the finished files of the database, whose layout is packed
   * @param totals the records added
   * @param chunk write buffer of the file. The caller closes it, after the file
   */
  OrderStage(
      Assembled assembled,
      RecordTotals totals,
      BuildPlace place,
      ChunkBuffer chunk,
      BuildOptions options,
      AssemblyProgress progress) {
    this.assembled = assembled;
    this.totals = totals;
    this.place = place;
    this.chunk = chunk;
    this.limits = new OrderLimits(options.memoryBytes(), options.threads());
    this.progress = progress;
  }

  /**
   * Writes the order of the keys, which were collected while the database was packed or merged.
   *
   * @param resources closes its file
   * @param collected is closed
   * @return the database with the file
   */
  Assembled add(Resources resources, CollectedKeys collected) throws IOException {
    try (collected) {
      Spill divided = collected.divided();
      if (divided != null) {
        return written(resources, sink -> passSorted(divided, limits.runBytes(), sink));
      }
      KeyRun run = collected.inMemory();
      run.sort();
      return written(resources, sink -> pass(run, sink));
    }
  }

  /** Keys in ascending order, each once. */
  @FunctionalInterface
  interface SortedKeys {
    /** Returns the next key, or null if there is none. */
    byte @Nullable [] next() throws IOException;
  }

  /**
   * Writes the order of the keys, which are known in order.
   *
   * @param resources closes its file
   * @return the database with the file
   */
  Assembled add(Resources resources, SortedKeys sorted) throws IOException {
    return written(
        resources,
        sink -> {
          for (byte[] key = sorted.next(); key != null; key = sorted.next()) {
            sink.add(key, 0, key.length, OrderWriter.UNKNOWN);
          }
        });
  }

  /** The file of keys that are not sorted in memory all at once. */
  static Path spillFile(BuildPlace place) {
    return place.temporaryDirectory().resolve("order.part");
  }

  /** Receives keys in ascending order. */
  @FunctionalInterface
  private interface Sink {
    /**
     * Receives a key, which is part of an array.
     *
     * @param sharedWithLast bytes that it has in common with the last key, or {@link
     *     OrderWriter#UNKNOWN}
     */
    void add(byte[] bytes, int from, int to, int sharedWithLast) throws IOException;
  }

  /** Passes keys on in ascending order. */
  @FunctionalInterface
  private interface Source {
    void into(Sink sink) throws IOException;
  }

  /** Writes the file. */
  private Assembled written(Resources resources, Source source) throws IOException {
    OutputFile file =
        resources.add(new OutputFile(place.directory(), OrderWriter.identity(), chunk));
    OrderWriter writer = new OrderWriter(file.pages(), AddressBits.NONE.all());
    source.into((key, from, to, shared) -> put(writer, key, from, to, shared));
    List<Long> levels = writer.finish();
    file.finish();
    if (writer.records() != assembled.keys()) {
      throw new IllegalStateException(
          writer.records() + " keys in order, but " + assembled.keys() + " in the database");
    }
    report(totals.records());
    progress.ended(Stage.ORDER);
    List<Content> contents = new ArrayList<>(assembled.contents());
    contents.add(new Content(file, file.pages().position()));
    return new Assembled(
        assembled.keys(),
        assembled.valuesCut(),
        assembled.hashBuckets(),
        assembled.zstdLongest(),
        assembled.bins(),
        assembled.filter(),
        new Facts.Order(levels, AddressBits.NONE),
        contents);
  }

  /** Writes the next key, which is greater than the last one. */
  private void put(OrderWriter writer, byte[] key, int from, int to, int shared)
      throws IOException {
    if (!writer.add(key, from, to, shared, 0)) {
      throw new IllegalStateException(EQUAL);
    }
    long passed = writer.records();
    if (passed % REPORT == 0) {
      report(passed);
    }
  }

  /**
   * Sorted keys, which lie one after the other: the thread that takes them over reads all from
   * front to back.
   */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  private record Sorted(byte[] keys, char[] shared, int count) {
    void pass(Sink sink) throws IOException {
      int at = 0;
      for (int i = 0; i < count; i++) {
        int start = at + KeyEntries.HEAD;
        at = start + KeyEntries.length(keys, at);
        sink.add(keys, start, at, i == 0 ? OrderWriter.UNKNOWN : shared[i]);
      }
    }
  }

  /** Passes the keys of all partitions on in order; threads sort ahead. */
  private void passSorted(Spill spill, long most, Sink sink) throws IOException {
    Queue<KeyRun> runs = new ConcurrentLinkedQueue<>();
    Queue<Sorted> arrays = new ConcurrentLinkedQueue<>();
    try (OrderedTasks<Sorted> tasks =
        new OrderedTasks<>(
            "bsdb-order",
            limits.threads(),
            limits.threads() + 1,
            sorted -> {
              sorted.pass(sink);
              arrays.add(sorted);
            })) {
      for (int i = 0; i < spill.partitions(); i++) {
        int partition = i;
        long bytes = spill.bytes(i) + KeyRun.OVERHEAD * spill.count(i);
        if (bytes > most) {
          tasks.drain();
          runs.clear();
          arrays.clear();
          try (KeySpill smaller = divided(spill, partition, bytes)) {
            passSorted(smaller.finish(), most, sink);
          }
        } else {
          tasks.submit(() -> sorted(spill, partition, runs, arrays));
        }
      }
      tasks.drain();
    } catch (ExecutionException e) {
      throw OrderedTasks.failure(e);
    }
  }

  private Sorted sorted(Spill spill, int partition, Queue<KeyRun> runs, Queue<Sorted> arrays)
      throws IOException {
    KeyRun free = runs.poll();
    KeyRun run =
        free == null ? new KeyRun((int) spill.count(partition), spill.bytes(partition)) : free;
    spill.read(partition, run::addEntries);
    run.sort();
    Sorted last = arrays.poll();
    Sorted sorted =
        new Sorted(
            run.sorted(last == null ? new byte[0] : last.keys),
            run.sharedWithLast(last == null ? new char[0] : last.shared),
            run.count());
    run.clear();
    runs.add(run);
    return sorted;
  }

  /**
   * Divides a partition that is larger than the memory of a run: the sample did not show it. Its
   * keys came in the order of their signatures, so that the first ones are a sample, too.
   */
  private KeySpill divided(Spill spill, int partition, long need) throws IOException {
    int partitions = limits.partitions(need);
    List<byte[]> sample = new ArrayList<>();
    long[] room = {limits.sampleBytes()};
    long step = Math.max(1, spill.count(partition) / SAMPLE_OF_PARTITION / partitions);
    long[] number = {0};
    spill.read(
        partition,
        KeyEntries.each(
            (bytes, from, to) -> {
              if (number[0]++ % step == 0 && room[0] > 0) {
                sample.add(Arrays.copyOfRange(bytes, from, to));
                room[0] -= to - from;
              }
            }));
    if (sample.stream().allMatch(key -> Arrays.equals(key, sample.get(0)))) {
      throw new IllegalStateException(EQUAL); // would be divided without end
    }
    Path file = place.temporaryDirectory().resolve("order-" + ++dividedAgain + ".part");
    KeySplitters splitters = new KeySplitters(sample, partitions);
    KeySpill smaller =
        new KeySpill(file, splitters, limits.chunkBytes(need, splitters.partitions()));
    try (KeySpill.KeyWriter writer = smaller.writer()) {
      Spill.Chunks entries = KeyEntries.each(writer::add);
      spill.read(
          partition,
          (bytes, from, to) -> {
            progress.checkNotCancelled();
            entries.take(bytes, from, to);
          });
      return smaller;
    } catch (IOException | RuntimeException | Error e) {
      smaller.close();
      throw e;
    }
  }

  private static void pass(KeyRun run, Sink sink) throws IOException {
    for (int i = 0; i < run.count(); i++) {
      int shared = i == 0 ? OrderWriter.UNKNOWN : run.sharedWithLast(i);
      sink.add(run.bytes(), run.start(i), run.end(i), shared);
    }
  }

  private void report(long done) {
    progress.checkNotCancelled();
    progress.progress(Stage.ORDER, done);
  }
}
