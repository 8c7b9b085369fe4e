package tech.bsdb.build;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;
import tech.bsdb.build.Assembled.Content;
import tech.bsdb.build.AssemblyProgress.Phase;
import tech.bsdb.build.FinishedKeys.Part;
import tech.bsdb.format.AddressBits;
import tech.bsdb.format.Facts;
import tech.bsdb.format.RecordAddress;
import tech.bsdb.format.RecordLayout;
import tech.bsdb.io.ChunkBuffer;
import tech.bsdb.order.OrderWriter;
import tech.bsdb.work.OrderedTasks;

/**
 * Writes the order of the keys of a database whose other files are finished: reads the keys from
 * the data files, unless they were {@linkplain CollectedKeys collected} before, divides them into
 * partitions, and sorts these one after the other. Neither the memory nor the number of threads
 * affects what comes out. Not thread-safe.
 */
public final class OrderStage {
  /** How many records pass between two reports of progress. */
  private static final int REPORT = 1 << 16;

  private final Assembled assembled;
  private final RecordTotals totals;
  private final FinishedKeys keys;
  private final RecordAddress addresses;
  private final DuplicateRule duplicates;
  private final KeyEntries entries;
  private final BuildPlace place;
  private final ChunkBuffer chunk;
  private final OrderLimits limits;
  private final AssemblyProgress progress;
  private final List<Content> data;

  /** The number of records whose keys were read back, which is half of the work then. */
  private long readBack;

  /**
   * Creates the stage.
   *
   * @param assembled the finished files of the database
   * @param totals the records added
   * @param dictionary the dictionary used to compress the records, or null
   * @param duplicates which of the records with the same key is the one that lookups find
   * @param chunk write buffer of the file. The caller closes it, after the file
   * @param memoryBytes the memory limit
   */
  public OrderStage(
      Assembled assembled,
      RecordTotals totals,
      byte @Nullable [] dictionary,
      DuplicateRule duplicates,
      BuildPlace place,
      ChunkBuffer chunk,
      long memoryBytes,
      int threads,
      AssemblyProgress progress) {
    this.assembled = assembled;
    this.totals = totals;
    this.addresses =
        RecordAddress.of(layout(assembled), Math.max(2, assembled.storage().zstdBlock()));
    this.duplicates = duplicates;
    this.entries = new KeyEntries(!layout(assembled).packed());
    this.place = place;
    this.chunk = chunk;
    this.limits = new OrderLimits(memoryBytes, threads);
    this.progress = progress;
    this.data = FinishedFiles.data(assembled.contents());
    this.keys = new FinishedKeys(assembled, addresses, dictionary, this::checkNotCancelled);
  }

  private static RecordLayout layout(Assembled assembled) {
    return assembled.storage().layout();
  }

  /**
   * Writes the order of the keys.
   *
   * @param resources closes its file
   * @return the database with the file
   */
  public Assembled add(BuildResources resources) throws IOException {
    long most = limits.runBytes();
    readBack = totals.records();
    if (!limits.divides(need())) {
      KeyRun run = new KeyRun(entries, (int) totals.records(), entryBytes());
      keys.scan(keys.wholes(), run::add);
      run.sort();
      return written(resources, sink -> pass(run, sink));
    }
    List<Part> places = keys.places();
    KeySplitters splitters = new KeySplitters(keys.sample(places), limits.partitions(need()));
    int chunkBytes = limits.chunkBytes(need(), splitters.partitions());
    try (KeySpill spill =
        new KeySpill(place.temporaryDirectory(), splitters, chunkBytes, entries)) {
      spillKeys(keys.parts(places), spill);
      return written(resources, sink -> passSorted(spill, most, sink));
    }
  }

  /**
   * Writes the order of the keys of a packed database, which were collected while it was packed.
   *
   * @param resources closes its file
   * @param collected is closed
   * @return the database with the file
   */
  public Assembled add(BuildResources resources, CollectedKeys collected) throws IOException {
    try (collected) {
      KeySpill divided = collected.divided();
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
  public interface SortedKeys {
    /** Returns the next key, or null if there is none. */
    byte @Nullable [] next() throws IOException;
  }

  /**
   * Writes the order of the keys of a packed database, which are known in order.
   *
   * @param resources closes its file
   * @return the database with the file
   */
  public Assembled add(BuildResources resources, SortedKeys sorted) throws IOException {
    return written(
        resources,
        sink -> {
          for (byte[] key = sorted.next(); key != null; key = sorted.next()) {
            sink.add(key, 0, key.length, 0);
          }
        });
  }

  /** Passes keys on in ascending order. */
  @FunctionalInterface
  private interface Source {
    void into(KeyRuns.Sink sink) throws IOException;
  }

  /** Writes the file. */
  private Assembled written(BuildResources resources, Source source) throws IOException {
    AddressBits bits = bits();
    OutputFile file =
        resources.add(new OutputFile(place.directory(), OrderWriter.identity(), chunk));
    OrderWriter writer = new OrderWriter(file.pages(), bits.all());
    Distinct distinct = new Distinct(writer, bits);
    source.into(distinct);
    distinct.finish();
    List<Long> levels = writer.finish();
    file.finish();
    if (writer.records() != assembled.keys() && !mayLackKeys()) {
      throw new IllegalStateException(
          writer.records() + " keys in order, but " + assembled.keys() + " in the database");
    }
    report(totals.records());
    progress.ended(Phase.ORDER);
    List<Content> contents = new ArrayList<>(assembled.contents());
    contents.add(new Content(file, file.pages().position()));
    return new Assembled(
        assembled.keys(),
        assembled.valuesCut(),
        assembled.storage().with(new Facts.Order(levels, bits)),
        contents);
  }

  /**
   * Whether the database may lack one of two keys with the same signature, taken for one key given
   * twice. The build finds that out when it looks for all keys, and fails.
   */
  private boolean mayLackKeys() {
    return !layout(assembled).packed() && assembled.keys() < totals.records();
  }

  private boolean addressed() {
    return !layout(assembled).packed();
  }

  private long entryBytes() {
    return totals.keyBytes() + entries.head() * totals.records();
  }

  /** The memory that all keys need at once. */
  private long need() {
    return OrderLimits.need(totals.records(), totals.keyBytes());
  }

  /** Divides the keys of all parts, on all threads. */
  private void spillKeys(List<Part> parts, KeySpill spill) throws IOException {
    Queue<KeySpill.Writer> idle = new ConcurrentLinkedQueue<>();
    int[] done = {0};
    try (OrderedTasks<Part> tasks =
        new OrderedTasks<>(
            "bsdb-order",
            limits.threads(),
            2 * limits.threads(),
            part -> report(totals.records() / 2 * ++done[0] / parts.size()))) {
      for (Part part : parts) {
        tasks.submit(
            () -> {
              KeySpill.Writer free = idle.poll();
              KeySpill.Writer writer = free == null ? spill.new Writer() : free;
              keys.scan(List.of(part), writer::add);
              idle.add(writer);
              return part;
            });
      }
      tasks.drain();
    } catch (ExecutionException e) {
      throw OrderedTasks.failure(e);
    }
    for (KeySpill.Writer writer : idle) {
      writer.finish();
    }
  }

  /**
   * Sorted keys, which lie one after the other: the thread that takes them over reads all from
   * front to back.
   */
  private record Sorted(byte[] keys, int count) {}

  /** Passes the keys of all partitions on in order; threads sort ahead. */
  private void passSorted(KeySpill spill, long most, KeyRuns.Sink sink) throws IOException {
    Queue<KeyRun> runs = new ConcurrentLinkedQueue<>();
    Queue<byte[]> arrays = new ConcurrentLinkedQueue<>();
    try (OrderedTasks<Sorted> tasks =
        new OrderedTasks<>(
            "bsdb-order",
            limits.threads(),
            limits.threads() + 1,
            sorted -> {
              entries.pass(sorted.keys, sorted.count, sink);
              arrays.add(sorted.keys);
            })) {
      for (int i = 0; i < spill.partitions(); i++) {
        int partition = i;
        long bytes = spill.bytes(i) + KeyRun.OVERHEAD * spill.keys(i);
        if (bytes > most) {
          tasks.drain();
          passMerged(spill, partition, most, sink);
        } else {
          tasks.submit(() -> sorted(spill, partition, runs, arrays));
        }
      }
      tasks.drain();
    } catch (ExecutionException e) {
      throw OrderedTasks.failure(e);
    }
  }

  private Sorted sorted(KeySpill spill, int partition, Queue<KeyRun> runs, Queue<byte[]> arrays)
      throws IOException {
    KeyRun free = runs.poll();
    KeyRun run =
        free == null
            ? new KeyRun(entries, (int) spill.keys(partition), spill.bytes(partition))
            : free;
    spill.new Reader(partition).read(run, Long.MAX_VALUE);
    run.sort();
    byte[] array = arrays.poll();
    Sorted sorted = new Sorted(run.sorted(array == null ? new byte[0] : array), run.count());
    run.clear();
    runs.add(run);
    return sorted;
  }

  /** Passes on a partition that is larger than the memory of a run: the sample did not show it. */
  private void passMerged(KeySpill spill, int partition, long most, KeyRuns.Sink sink)
      throws IOException {
    try (KeyRuns runs = new KeyRuns(place.temporaryDirectory(), entries)) {
      List<KeyRuns.Run> written = new ArrayList<>();
      KeySpill.Reader reader = spill.new Reader(partition);
      KeyRun run = new KeyRun(entries, 0, most);
      while (reader.read(run, most) > 0) {
        run.sort();
        written.add(runs.write(run));
        run.clear();
        checkNotCancelled();
      }
      runs.merge(written, most, sink);
    }
  }

  private static void pass(KeyRun run, KeyRuns.Sink sink) throws IOException {
    for (int i = 0; i < run.count(); i++) {
      sink.add(run.bytes(), run.start(i), run.end(i), run.address(i));
    }
  }

  /** The widths of the addresses, of which the packed layouts store none. */
  private AddressBits bits() {
    if (!addressed()) {
      return AddressBits.NONE;
    }
    long position = 0;
    for (Content content : data) {
      position = Math.max(position, content.end());
    }
    return new AddressBits(
        AddressBits.of(data.size() - 1L), AddressBits.of(position), AddressBits.of(0));
  }

  private void report(long done) {
    checkNotCancelled();
    progress.progress(Phase.ORDER, done);
  }

  private void checkNotCancelled() {
    if (progress.cancelled()) {
      throw new CancellationException("the build was cancelled");
    }
  }

  /** Passes keys on, each once. */
  private final class Distinct implements KeyRuns.Sink {
    private final OrderWriter writer;
    private final AddressBits bits;
    private final boolean distinct = assembled.keys() == totals.records();
    private byte[] key = new byte[0];
    private int length = -1;
    private long address;
    private long passed;

    Distinct(OrderWriter writer, AddressBits bits) {
      this.writer = writer;
      this.bits = bits;
    }

    @Override
    public void add(byte[] bytes, int from, int to, long next) throws IOException {
      if (++passed % REPORT == 0) {
        report(readBack == 0 ? passed : (readBack + passed) / 2);
      }
      if (distinct) {
        put(bytes, from, to, next);
        return;
      }
      if (length >= 0 && Arrays.equals(key, 0, length, bytes, from, to)) {
        boolean later = addresses.compare(next, address) > 0;
        if (later == (duplicates == DuplicateRule.KEEP_LAST)) {
          address = next;
        }
        return;
      }
      finish();
      length = to - from;
      if (key.length < length) {
        key = new byte[2 * length];
      }
      System.arraycopy(bytes, from, key, 0, length);
      address = next;
    }

    /** Passes the last key on. */
    void finish() throws IOException {
      if (length >= 0) {
        put(key, 0, length, address);
        length = -1;
      }
    }

    private void put(byte[] bytes, int from, int to, long next) throws IOException {
      writer.add(bytes, from, to, bits.all() == 0 ? 0 : bits.shorten(next, addresses));
    }
  }
}
