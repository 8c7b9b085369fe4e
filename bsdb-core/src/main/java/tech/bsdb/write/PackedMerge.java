package tech.bsdb.write;

import java.io.Closeable;
import java.io.IOException;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import tech.bsdb.BuildListener.Stage;
import tech.bsdb.BuildOptions;
import tech.bsdb.ChangeCounts;
import tech.bsdb.data.DataFile;
import tech.bsdb.data.PackedWriter;
import tech.bsdb.data.PageCursor;
import tech.bsdb.data.RecordScanner;
import tech.bsdb.error.CorruptDatabaseException;
import tech.bsdb.format.Facts;
import tech.bsdb.format.Page;
import tech.bsdb.format.PageEncoder;
import tech.bsdb.format.RecordFrame;
import tech.bsdb.index.BinIndex;
import tech.bsdb.index.FilterWriter;
import tech.bsdb.io.ChunkBuffer;
import tech.bsdb.io.OrderedTasks;
import tech.bsdb.lookup.PackedSource;
import tech.bsdb.write.MergedBins.LongValue;
import tech.bsdb.write.PackedJoin.Change;

/**
 * Assembles a database of the layout packed from a base with the same layout and seed, and changes,
 * in one sequential pass over both, without spilling or sorting. The number of bins depends on the
 * number and the length of all records. If {@link MergedSize} cannot tell these, another pass
 * counts before. Not thread-safe.
 */
final class PackedMerge implements Closeable {
  /** Records of the base for each change from which they are few. */
  private static final int FEW = 8;

  /** Tasks of the counting pass, at most. */
  private static final int COUNTS = 256;

  /** Pages of the base for each task of the counting pass, at least. */
  private static final int PAGES_PER_COUNT = 256;

  /** Bytes of a long value that are copied at once. */
  private static final int LONG_PART = 1 << 14;

  /* The numbers of the sources in references to long values. */
  private static final int BASE = 0;

  private static final int CHANGES = 1;

  /** What was assembled: the files, the records in them, and what became of base and changes. */
  record Merged(Assembled assembled, RecordTotals totals, MergeCounts counts) {}

  private final PackedSource base;
  private final PackedSource changes;
  private final BuildOptions options;
  private final PackedFiles files;

  /** Memory that finished tasks have left, so that it need not be cleared anew for each. */
  private final Queue<byte[]> freeBytes = new ConcurrentLinkedQueue<>();

  private final Queue<PackedJoin.Memory> free = new ConcurrentLinkedQueue<>();

  /**
   * Creates the files.
   *
   * @param chunk write buffer of all files. The caller closes it, after the merge
   * @param base the base; the caller closes it, after the merge
   * @param changes records of {@link TaggedChange}, with different keys; closed by the caller, too
   */
  PackedMerge(
      BuildPlace place,
      ChunkBuffer chunk,
      PackedSource base,
      PackedSource changes,
      BuildOptions options)
      throws IOException {
    this.base = base;
    this.changes = changes;
    this.options = options;
    this.files =
        new PackedFiles(place.directory(), chunk, options.dataFiles(), options.filterBits());
  }

  /**
   * Merges all records.
   *
   * @throws tech.bsdb.error.CorruptDatabaseException if damage in the base shows
   * @throws CancellationException if the build was cancelled
   */
  Merged complete(AssemblyProgress progress) throws IOException {
    MergedSize size = size(progress);
    progress.ended(Stage.COUNT);
    PackedShape shape = PackedShape.of(size.records(), size.bytes());
    Facts.Filter facts = files.filterFacts(size.records());
    FilterWriter filter = files.filterWriter(facts);
    BinIndex.Builder index = new BinIndex.Builder(shape.bins(), shape.spanning());
    Count count = write(shape, index, filter, progress);
    requireSame(base.facts().records(), count.counts.ofBase(), "records");
    requireSame(size.records(), count.totals.records(), "records after the merge");
    requireSame(size.bytes(), count.totals.recordBytes(), "bytes of records after the merge");
    List<Assembled.Content> contents = files.finish(index.build(), filter, null);
    progress.ended(Stage.INDEX);
    Facts.Bins bins = new Facts.Bins(shape.bins(), shape.spanning());
    return new Merged(
        new Assembled(size.records(), 0, 0, 0, bins, facts, null, contents),
        count.totals,
        count.counts);
  }

  /** Fails unless the base holds what its manifest and its index say. */
  private void requireSame(long expected, long found, String what) throws CorruptDatabaseException {
    if (found != expected) {
      throw base.files().get(0).place().corrupt(0, expected + " " + what, found + "");
    }
  }

  private static void checkNotCancelled(BooleanSupplier cancelled) {
    if (cancelled.getAsBoolean()) {
      throw new CancellationException("the build was cancelled");
    }
  }

  /** The size of the result, by looks at the changed records if they are few. */
  private MergedSize size(AssemblyProgress progress) throws IOException {
    boolean few = changes.facts().records() <= base.facts().records() / FEW;
    MergedSize size = few ? MergedSize.of(base, changes, progress::cancelled) : null;
    if (size == null) {
      RecordTotals totals = count(progress).totals;
      size = new MergedSize(totals.records(), totals.recordBytes());
    }
    return size;
  }

  private Count count(AssemblyProgress progress) throws IOException {
    long pages = base.index().pages();
    long ranges = Math.max(1, Math.min(COUNTS, pages / PAGES_PER_COUNT));
    Count all = new Count();
    try (OrderedTasks<Count> running =
        new OrderedTasks<>(
            "bsdb-merge-count",
            options.threads(),
            options.threads() + 1,
            counted -> {
              all.add(counted);
              progress.progress(Stage.COUNT, all.counts.ofBase());
            })) {
      for (long i = 0; i < ranges; i++) {
        long range = i;
        running.submit(
            () -> {
              Count counted = new Count(progress::cancelled);
              PackedJoin.over(
                      base, changes, ranges, range, range + 1, new PackedJoin.Memory(), counted)
                  .run();
              return counted;
            });
      }
      running.drain();
    } catch (ExecutionException e) {
      throw OrderedTasks.failure(e);
    }
    return all;
  }

  /** Counts what a join passes on. */
  private static final class Count implements PackedJoin.Receiver {
    private static final int BETWEEN_CHECKS = 1 << 14;

    final RecordTotals totals = new RecordTotals();
    final MergeCounts counts = new MergeCounts();
    private final BooleanSupplier cancelled;

    Count() {
      this(() -> false);
    }

    Count(BooleanSupplier cancelled) {
      this.cancelled = cancelled;
    }

    void add(Count other) {
      totals.add(other.totals);
      counts.add(other.counts);
    }

    @Override
    public void keep(RecordScanner record, long high, long low) {
      counts.kept++;
      totals.add(record.keyLength(), record.valueLength());
      if (counts.kept % BETWEEN_CHECKS == 0) {
        checkNotCancelled(cancelled);
      }
    }

    @Override
    public void replace(RecordScanner old, Change record, long high, long low) {
      counts.replaced++;
      totals.add(record.keyLength(), record.valueLength());
    }

    @Override
    public void add(Change record, long high, long low) {
      counts.added++;
      totals.add(record.keyLength(), record.valueLength());
    }

    @Override
    public void delete(RecordScanner old) {
      counts.deleted++;
    }

    @Override
    public void deleteAbsent() {
      counts.deletedAbsent++;
    }
  }

  /** The records of a range of bins, and what became of the records of base and changes. */
  private record Part(MergedBins bins, Count count) {}

  private Count write(
      PackedShape shape,
      BinIndex.Builder index,
      @Nullable FilterWriter filter,
      AssemblyProgress progress)
      throws IOException {
    List<PageEncoder> data = files.data();
    PackedWriter writer = new PackedWriter(data.get(0), shape.spanning(), index::add);
    long perUnit = shape.bins() / shape.units();
    Count all = new Count();
    int[] file = {0};
    EarlyForce force = new EarlyForce();
    OrderedTasks.Taker<Part> taker =
        part -> {
          MergedBins merged = part.bins;
          checkNotCancelled(progress::cancelled);
          long unit = merged.fromBin() / perUnit;
          int wanted = (int) (unit * data.size() / shape.units());
          while (file[0] < wanted) {
            writer.nextFile(data.get(++file[0]));
          }
          put(merged, writer, progress::cancelled);
          force.written(files.dataFile(file[0]), data.get(file[0]).position());
          if (filter != null) {
            merged.forEachSignature(filter::add);
          }
          freeBytes.add(merged.bytes());
          all.add(part.count);
          progress.progress(Stage.INDEX, all.totals.records());
        };
    try (force;
        OrderedTasks<Part> running =
            new OrderedTasks<>("bsdb-merge", options.threads(), concurrent(shape), taker)) {
      for (int unit = 0; unit < shape.units(); unit++) {
        long first = unit * perUnit;
        long parts = parts(shape.bins(), first, first + perUnit);
        for (long i = 0; i < parts; i++) {
          long from = first + perUnit * i / parts;
          long to = first + perUnit * (i + 1) / parts;
          running.submit(() -> merge(shape.bins(), from, to, filter != null));
        }
      }
      running.drain();
    } catch (ExecutionException e) {
      throw OrderedTasks.failure(e);
    }
    writer.finish();
    return all;
  }

  /** The number of tasks into which a range of bins is split, so that each takes little memory. */
  private long parts(long allBins, long fromBin, long toBin) {
    long most = Math.max(1, Math.min(options.memoryBytes() / 4, 1L << 29));
    long bytes = bytes(allBins, fromBin, toBin);
    return Math.max(1, Math.min(toBin - fromBin, (bytes + most - 1) / most));
  }

  /** Bytes of the pages that hold the records of a range of bins. */
  private long bytes(long allBins, long fromBin, long toBin) {
    return base.pages(allBins, fromBin, toBin) + changes.pages(allBins, fromBin, toBin)
        << Page.SHIFT;
  }

  /** The number of results that may be in memory. */
  private int concurrent(PackedShape shape) {
    long perUnit = shape.bins() / shape.units();
    long largest = 1;
    for (int unit = 0; unit < shape.units(); unit++) {
      long from = unit * perUnit;
      long bytes = bytes(shape.bins(), from, from + perUnit);
      largest = Math.max(largest, bytes / parts(shape.bins(), from, from + perUnit));
    }
    return (int)
        Math.max(1, Math.min(options.threads() + 1L, options.memoryBytes() / (2 * largest)));
  }

  private Part merge(long allBins, long fromBin, long toBin, boolean signs) throws IOException {
    byte[] bytes = freeBytes.poll();
    if (bytes == null) {
      bytes = new byte[(int) Math.min(1 << 28, bytes(allBins, fromBin, toBin) + Page.SIZE)];
    }
    PackedJoin.Memory memory = Objects.requireNonNullElseGet(free.poll(), PackedJoin.Memory::new);
    MergedBins merged = new MergedBins(allBins, fromBin, toBin, signs, bytes);
    Count count = new Count();
    Merging merging = new Merging(merged, count);
    PackedJoin.over(base, changes, allBins, fromBin, toBin, memory, merging).run();
    free.add(memory);
    merged.finish();
    return new Part(merged, count);
  }

  /** Collects and counts what a join passes on. */
  private record Merging(MergedBins merged, Count count) implements PackedJoin.Receiver {
    @Override
    public void keep(RecordScanner record, long high, long low) {
      count.keep(record, high, low);
      merged.start(high, low, record.inline());
      merged.put(record.bytes(), record.from(), record.inline());
      if (record.isLong()) {
        merged.putLong(BASE, record.place(), record.valueLength());
      }
    }

    @Override
    public void replace(RecordScanner old, Change record, long high, long low) {
      count.replace(old, record, high, low);
      put(record, high, low);
    }

    @Override
    public void add(Change record, long high, long low) {
      count.add(record, high, low);
      put(record, high, low);
    }

    private void put(Change record, long high, long low) {
      boolean elsewhere = record.place() >= 0;
      int value = elsewhere ? 0 : record.valueLength();
      merged.start(high, low, RecordFrame.WIDE + record.keyLength() + value);
      merged.putHeader(record.keyLength(), record.valueLength());
      merged.put(record.bytes(), 0, record.keyLength());
      if (elsewhere) {
        merged.putLong(CHANGES, record.place(), record.valueLength());
      } else {
        merged.put(record.bytes(), record.valueFrom(), value);
      }
    }

    @Override
    public void delete(RecordScanner old) {
      count.delete(old);
    }

    @Override
    public void deleteAbsent() {
      count.deleteAbsent();
    }
  }

  private void put(MergedBins merged, PackedWriter writer, BooleanSupplier cancelled)
      throws IOException {
    if (merged.longValues() == 0) {
      writer.putBins(merged.bytes(), merged.ends(), merged.filters());
      return;
    }
    int next = 0; // the next long value
    for (int bin = 0; bin < merged.bins(); bin++) {
      int from = merged.end(bin - 1);
      int end = merged.end(bin);
      int longsEnd = next;
      long length = (long) end - from;
      while (longsEnd < merged.longValues() && merged.longValue(longsEnd).bin() == bin) {
        length += merged.longValue(longsEnd++).length();
      }
      writer.startBin(length, merged.filter(bin));
      while (next < longsEnd) {
        LongValue value = merged.longValue(next++);
        writer.put(merged.bytes(), from, value.after() - from);
        from = value.after();
        putLong(value, writer, cancelled);
      }
      writer.put(merged.bytes(), from, end - from);
    }
  }

  private void putLong(LongValue value, PackedWriter writer, BooleanSupplier cancelled)
      throws IOException {
    boolean ofBase = value.source() == BASE;
    int skip = ofBase ? 0 : TaggedChange.TAG;
    List<DataFile> from = (ofBase ? base : changes).files();
    PageCursor cursor = PageCursor.ofValue(from, value.place(), skip + value.length());
    cursor.skip(skip);
    byte[] part = new byte[LONG_PART];
    for (int left = value.length(); left > 0; left -= LONG_PART) {
      int length = Math.min(left, LONG_PART);
      cursor.read(part, 0, length);
      writer.put(part, 0, length);
      checkNotCancelled(cancelled);
    }
  }

  /** Closes the files, and deletes those that were not sealed. */
  @Override
  public void close() throws IOException {
    files.close();
  }

  /** What a merge did with the records of the base and with the changes. Not thread-safe. */
  static final class MergeCounts {
    /** Records of the base that stay. */
    long kept;

    /** Records of the base that changes replace. */
    long replaced;

    /** Records that are not in the base. */
    long added;

    /** Records of the base that are deleted. */
    long deleted;

    /** Deletions of keys that are not in the base. */
    long deletedAbsent;

    /** Adds other counts. */
    void add(MergeCounts others) {
      kept += others.kept;
      replaced += others.replaced;
      added += others.added;
      deleted += others.deleted;
      deletedAbsent += others.deletedAbsent;
    }

    /**
     * The counts to report.
     *
     * @param superseded changes that another change of the same key made void
     */
    ChangeCounts report(long superseded) {
      return new ChangeCounts(kept, replaced, added, deleted, deletedAbsent, superseded);
    }

    /** The number of records of the base. */
    long ofBase() {
      return kept + replaced + deleted;
    }
  }
}
