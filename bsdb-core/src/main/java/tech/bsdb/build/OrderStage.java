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
import tech.bsdb.data.DataFile;
import tech.bsdb.data.FileRange;
import tech.bsdb.data.RecordScanner;
import tech.bsdb.format.AddressBits;
import tech.bsdb.format.Facts;
import tech.bsdb.format.Page;
import tech.bsdb.format.RecordAddress;
import tech.bsdb.format.RecordLayout;
import tech.bsdb.io.ChunkBuffer;
import tech.bsdb.order.OrderWriter;
import tech.bsdb.work.OrderedTasks;

/**
 * Writes the order of the keys of a database whose other files are finished: reads the keys from
 * the data files, sorts them in runs of bounded memory, and merges the runs into the tree. Neither
 * the memory nor the number of threads affects what comes out. Not thread-safe.
 */
public final class OrderStage {
  /** The memory of a run: few runs for most databases, but small enough to be sorted fast. */
  private static final long MOST_RUN_BYTES = 32L << 20;

  /** The least memory of a run, whatever the limit. */
  private static final long LEAST_RUN_BYTES = 1L << 20;

  /** How many records pass between two reports of progress. */
  private static final int REPORT = 1 << 16;

  private final Assembled assembled;
  private final RecordTotals totals;
  private final byte @Nullable [] dictionary;
  private final RecordAddress addresses;
  private final DuplicateRule duplicates;
  private final BuildPlace place;
  private final ChunkBuffer chunk;
  private final long memoryBytes;
  private final int threads;
  private final AssemblyProgress progress;
  private final List<Content> data;
  private final Queue<KeyRun> free = new ConcurrentLinkedQueue<>();

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
    this.dictionary = dictionary;
    this.addresses =
        RecordAddress.of(layout(assembled), Math.max(2, assembled.storage().zstdBlock()));
    this.duplicates = duplicates;
    this.place = place;
    this.chunk = chunk;
    this.memoryBytes = memoryBytes;
    this.threads = threads;
    this.progress = progress;
    this.data = FinishedFiles.data(assembled.contents());
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
    try (KeyRuns spilled = new KeyRuns(place.temporaryDirectory())) {
      List<Sorted> runs = layout(assembled).packed() ? runsOfPages(spilled) : runs(spilled);
      AddressBits bits = bits(runs);
      OutputFile file =
          resources.add(new OutputFile(place.directory(), OrderWriter.identity(), chunk));
      OrderWriter writer = new OrderWriter(file.pages(), bits.all());
      Distinct distinct = new Distinct(writer, bits);
      merge(runs, spilled, distinct);
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
  }

  /**
   * Whether the database may lack one of two keys with the same signature, taken for one key given
   * twice. The build finds that out when it looks for all keys, and fails.
   */
  private boolean mayLackKeys() {
    return !layout(assembled).packed() && assembled.keys() < totals.records();
  }

  /**
   * A sorted run, in memory if it is the only one.
   *
   * @param kept the run, or null if it was spilled
   * @param detail the largest detail of its addresses
   */
  private record Sorted(@Nullable KeyRun kept, KeyRuns.Run spilled, int detail) {}

  private static final KeyRuns.Run NOWHERE = new KeyRuns.Run(0, 0, new byte[0]);

  /** The memory that all keys need at once. */
  private long need() {
    return totals.keyBytes() + (long) KeyRun.OVERHEAD * totals.records();
  }

  /** The memory of one of the runs, of which each thread has one. */
  private long runBytes() {
    long most = Math.min(MOST_RUN_BYTES, memoryBytes / (threads + 1));
    return Math.max(LEAST_RUN_BYTES, most);
  }

  /** Returns a run without keys, which may have held others. */
  private KeyRun emptyRun(long parts) {
    KeyRun used = free.poll();
    if (used != null) {
      return used;
    }
    long keys = totals.records() / parts + totals.records() / parts / 16 + 1;
    long bytes = totals.keyBytes() / parts + totals.keyBytes() / parts / 16 + 1;
    return new KeyRun((int) Math.min(1 << 26, keys), bytes);
  }

  /**
   * Sorts the keys of the packed layouts, whose pages can be read from anywhere, by all threads.
   */
  private List<Sorted> runsOfPages(KeyRuns spilled) throws IOException {
    long pages = 0;
    for (Content content : data) {
      pages += content.entry().pages() - 1;
    }
    long parts = Math.max(1, (need() + runBytes() - 1) / runBytes());
    long share = Math.max(1, (pages + parts - 1) / parts);
    boolean alone = parts == 1 && data.size() == 1;
    List<Sorted> runs = new ArrayList<>();
    try (OrderedTasks<Sorted> tasks =
        new OrderedTasks<>("bsdb-order", threads, threads, runs::add)) {
      long done = 0;
      for (Content content : data) {
        long end = content.entry().pages();
        for (long page = 1; page < end; page += share) {
          FileRange range =
              new FileRange(page << Page.SHIFT, Math.min(end, page + share) << Page.SHIFT);
          long expected = Math.max(1, parts);
          tasks.submit(() -> sorted(content, range, expected, alone ? null : spilled));
          done += share;
          report(totals.records() / 2 * Math.min(done, pages) / Math.max(1, pages));
        }
      }
      tasks.drain();
    } catch (ExecutionException e) {
      throw OrderedTasks.failure(e);
    }
    return runs;
  }

  private Sorted sorted(Content content, FileRange range, long parts, @Nullable KeyRuns spilled)
      throws IOException {
    KeyRun run = emptyRun(parts);
    DataFile file = FinishedFiles.open(content);
    try (RecordScanner scanner = scanner(List.of(file), List.of(range))) {
      int left = REPORT;
      while (scanner.next()) {
        run.add(scanner.key(), 0);
        if (--left == 0) {
          checkNotCancelled();
          left = REPORT;
        }
      }
    }
    return sorted(run, 0, spilled);
  }

  private Sorted sorted(KeyRun run, int detail, @Nullable KeyRuns spilled) throws IOException {
    run.sort();
    if (spilled == null) {
      return new Sorted(run, NOWHERE, detail);
    }
    KeyRuns.Run written = spilled.write(run);
    run.clear();
    free.add(run);
    return new Sorted(null, written, detail);
  }

  private RecordScanner scanner(List<DataFile> files, List<FileRange> ranges) {
    return new RecordScanner(files, layout(assembled), addresses, dictionary, false, ranges);
  }

  /** Sorts the keys of the other layouts: this thread reads them, the others sort. */
  private List<Sorted> runs(KeyRuns spilled) throws IOException {
    long most = runBytes();
    boolean alone = need() <= most;
    long parts = Math.max(1, (need() + most - 1) / most);
    List<Sorted> runs = new ArrayList<>();
    try (OrderedTasks<Sorted> tasks =
            new OrderedTasks<>("bsdb-order", threads, threads, runs::add);
        RecordScanner scanner = scanner(FinishedFiles.open(data), FileRange.whole(data.size()))) {
      KeyRun run = emptyRun(parts);
      int detail = 0;
      long read = 0;
      while (scanner.next()) {
        long address = scanner.address();
        run.add(scanner.key(), address);
        detail = Math.max(detail, addresses.detail(address));
        if (!alone && run.memory() >= most) {
          submit(run, detail, spilled, tasks);
          run = emptyRun(parts);
        }
        if (++read % REPORT == 0) {
          report(read / 2);
        }
      }
      submit(run, detail, alone ? null : spilled, tasks);
      tasks.drain();
    } catch (ExecutionException e) {
      throw OrderedTasks.failure(e);
    }
    return runs;
  }

  private void submit(KeyRun run, int detail, @Nullable KeyRuns spilled, OrderedTasks<Sorted> tasks)
      throws IOException, ExecutionException {
    tasks.submit(() -> sorted(run, detail, spilled));
  }

  /** The widths of the addresses, of which the packed layouts store none. */
  private AddressBits bits(List<Sorted> runs) {
    if (layout(assembled).packed()) {
      return AddressBits.NONE;
    }
    long position = 0;
    for (Content content : data) {
      position = Math.max(position, content.end());
    }
    int detail = runs.stream().mapToInt(Sorted::detail).max().orElse(0);
    return new AddressBits(
        AddressBits.of(data.size() - 1L), AddressBits.of(position), AddressBits.of(detail));
  }

  private void merge(List<Sorted> runs, KeyRuns spilled, KeyRuns.Sink sink) throws IOException {
    KeyRun kept = runs.size() == 1 ? runs.get(0).kept : null;
    if (kept == null) {
      spilled.merge(runs.stream().map(Sorted::spilled).toList(), memoryBytes / 2, sink);
      return;
    }
    for (int i = 0; i < kept.count(); i++) {
      sink.add(kept.bytes(), kept.start(i), kept.end(i), kept.address(i));
    }
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
        report((totals.records() + passed) / 2);
      }
      if (distinct) {
        put(bytes, from, to, next);
        return;
      }
      if (length >= 0 && Arrays.equals(key, 0, length, bytes, from, to)) {
        if (duplicates == DuplicateRule.KEEP_LAST) {
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
