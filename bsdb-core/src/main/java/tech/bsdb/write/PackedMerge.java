package tech.bsdb.write;

import java.io.Closeable;
import java.io.IOException;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;
import tech.bsdb.BuildListener.Stage;
import tech.bsdb.BuildOptions;
import tech.bsdb.Layout;
import tech.bsdb.data.DataFile;
import tech.bsdb.data.PackedWriter;
import tech.bsdb.data.PageCursor;
import tech.bsdb.data.RecordScanner;
import tech.bsdb.data.RecordView;
import tech.bsdb.error.CorruptDatabaseException;
import tech.bsdb.format.Page;
import tech.bsdb.format.PageEncoder;
import tech.bsdb.format.RecordFrame;
import tech.bsdb.index.BinIndex;
import tech.bsdb.index.FilterWriter;
import tech.bsdb.io.ChunkBuffer;
import tech.bsdb.io.OrderedTasks;
import tech.bsdb.lookup.PackedSource;
import tech.bsdb.lookup.SignatureCursor;
import tech.bsdb.lookup.SignatureJoin;
import tech.bsdb.write.MergedBins.LongValue;

/**
 * Assembles a database of the layout packed from a base with the same layout and seed, and changes,
 * in one sequential pass over both, without spilling or sorting. The number of bins depends on the
 * number and the length of all records. If {@link MergedSize} cannot tell these, another pass
 * counts before. Not thread-safe.
 */
final class PackedMerge implements Closeable {
  /** Bytes of a long value that are copied at once. */
  private static final int LONG_PART = 1 << 14;

  /** Bytes of small results that may wait to be written. */
  private static final long QUEUED_BYTES = 8 << 20;

  /* The numbers of the sources in references to long values. */
  private static final int BASE = 0;

  private static final int CHANGES = 1;

  /** What was assembled: the files, and what became of base and changes. */
  record Merged(Assembled assembled, MergeCount count) {}

  private final PackedSource base;
  private final PackedSource changes;
  private final BuildOptions options;
  private final @Nullable CollectedKeys keys;
  private final long memoryBytes;
  private final PackedFiles files;

  /* What finished tasks have left: memory that is new is slow. */
  private final Queue<MergedBins> freeBins = new ConcurrentLinkedQueue<>();

  private final Queue<SignatureJoin> freeJoins = new ConcurrentLinkedQueue<>();

  /**
   * Creates the files.
   *
   * @param chunk write buffer of all files. The caller closes it, after the merge
   * @param base the base; the caller closes it, after the merge
   * @param changes records of {@link TaggedChange}, with different keys; closed by the caller, too
   * @param keys collects all keys, or null; closed by the caller, too
   */
  PackedMerge(
      BuildPlace place,
      ChunkBuffer chunk,
      PackedSource base,
      PackedSource changes,
      BuildOptions options,
      @Nullable CollectedKeys keys)
      throws IOException {
    this.base = base;
    this.keys = keys;
    this.memoryBytes = keys == null ? options.memoryBytes() : keys.packBytes();
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
    MergedSize size = MergedSize.of(base, changes, options.threads(), progress);
    progress.ended(Stage.COUNT);
    PackedShape shape = PackedShape.of(size.records(), size.bytes());
    BinIndex.Builder index = new BinIndex.Builder(shape.bins(), shape.spanning());
    MergeCount count = write(shape, index, files.filter(size.records()), progress);
    requireSame(base.facts().records(), count.ofBase(), "records");
    requireSame(size.records(), count.totals().records(), "records after the merge");
    requireSame(size.bytes(), count.totals().recordBytes(), "bytes of records after the merge");
    Assembled assembled = files.finish(size.records(), shape, index.build(), null, Layout.PACKED);
    progress.ended(Stage.INDEX);
    return new Merged(assembled, count);
  }

  /** Fails unless the base holds what its manifest and its index say. */
  private void requireSame(long expected, long found, String what) throws CorruptDatabaseException {
    if (found != expected) {
      throw base.files().get(0).place().corrupt(0, expected + " " + what, found + "");
    }
  }

  /** The records of a range of bins, and what became of the records of base and changes. */
  private record Part(MergedBins bins, MergeCount count) {}

  private MergeCount write(
      PackedShape shape,
      BinIndex.Builder index,
      @Nullable FilterWriter filter,
      AssemblyProgress progress)
      throws IOException {
    List<PageEncoder> data = files.data();
    PackedWriter writer = new PackedWriter(data, shape.spanning(), index::add);
    long perUnit = shape.bins() / shape.units();
    MergeCount all = new MergeCount(progress);
    EarlyForce force = new EarlyForce();
    OrderedTasks.Taker<Part> taker =
        part -> {
          MergedBins merged = part.bins;
          progress.checkNotCancelled();
          writer.enter(merged.fromBin() / perUnit, shape.units());
          put(merged, writer, progress);
          int file = writer.file();
          force.written(files.dataFile(file), data.get(file).position());
          if (filter != null) {
            merged.forEachSignature(filter::add);
          }
          freeBins.add(merged);
          all.add(part.count);
          progress.progress(Stage.INDEX, all.totals().records());
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
          running.submit(() -> merge(shape.bins(), from, to, filter != null, progress));
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
    long most = Math.max(1, Math.min(memoryBytes / 4, 1L << 29));
    long bytes = bytes(allBins, fromBin, toBin);
    return Math.max(1, Math.min(toBin - fromBin, (bytes + most - 1) / most));
  }

  /** Bytes of the pages that hold the records of a range of bins. */
  private long bytes(long allBins, long fromBin, long toBin) {
    return base.pages(allBins, fromBin, toBin) + changes.pages(allBins, fromBin, toBin)
        << Page.SHIFT;
  }

  /**
   * The number of results that may be in memory: enough small ones that all threads have work while
   * a large write holds up the calling thread.
   */
  private int concurrent(PackedShape shape) {
    long perUnit = shape.bins() / shape.units();
    long largest = 1;
    for (int unit = 0; unit < shape.units(); unit++) {
      long from = unit * perUnit;
      long bytes = bytes(shape.bins(), from, from + perUnit);
      largest = Math.max(largest, bytes / parts(shape.bins(), from, from + perUnit));
    }
    long wanted = Math.max(options.threads() + 1L, QUEUED_BYTES / largest);
    return (int) Math.max(1, Math.min(wanted, memoryBytes / (2 * largest)));
  }

  private Part merge(
      long allBins, long fromBin, long toBin, boolean signs, AssemblyProgress progress)
      throws IOException {
    MergedBins merged =
        Objects.requireNonNullElseGet(freeBins.poll(), () -> new MergedBins(allBins, signs));
    SignatureJoin join =
        Objects.requireNonNullElseGet(freeJoins.poll(), () -> new SignatureJoin(base, changes));
    merged.begin(fromBin, toBin, bytes(allBins, fromBin, toBin) + Page.SIZE);
    MergeCount count = new MergeCount(progress);
    join.run(allBins, fromBin, toBin, false, new Merging(merged, count));
    freeJoins.add(join);
    merged.finish();
    if (keys != null) {
      keys.addEach(merged::forEachKey);
    }
    return new Part(merged, count);
  }

  /** Collects and counts what a join passes on. */
  private record Merging(MergedBins merged, MergeCount count) implements SignatureJoin.Receiver {
    @Override
    public void onlyFirst(SignatureCursor first) {
      count.onlyFirst(first);
      RecordScanner record = first.record();
      merged.start(first.high(), first.low(), record.inline());
      merged.put(record.bytes(), record.from(), record.inline());
      if (record.isLong()) {
        merged.putLong(BASE, record.place(), record.valueLength());
      }
    }

    @Override
    public void both(RecordView first, RecordView second, long high, long low) {
      count.both(first, second, high, low);
      put(second, high, low);
    }

    @Override
    public void onlySecond(RecordView second, long high, long low) {
      count.onlySecond(second, high, low);
      put(second, high, low);
    }

    private void put(RecordView change, long high, long low) {
      if (MergeCount.isDeletion(change)) {
        return;
      }
      int length = change.valueLength() - TaggedChange.TAG;
      int inline = change.isLong() ? 0 : length;
      merged.start(high, low, RecordFrame.WIDE + change.keyLength() + inline);
      merged.putHeader(change.keyLength(), length);
      merged.put(change.bytes(), change.keyFrom(), change.keyLength());
      if (change.isLong()) {
        merged.putLong(CHANGES, change.place(), length);
      } else {
        merged.put(change.bytes(), change.valueFrom() + TaggedChange.TAG, length);
      }
    }
  }

  private void put(MergedBins merged, PackedWriter writer, AssemblyProgress progress)
      throws IOException {
    if (merged.longValues() == 0) {
      writer.putBins(merged.bytes(), merged.ends(), merged.filters(), merged.bins());
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
        putLong(value, writer, progress);
      }
      writer.put(merged.bytes(), from, end - from);
    }
  }

  private void putLong(LongValue value, PackedWriter writer, AssemblyProgress progress)
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
      progress.checkNotCancelled();
    }
  }

  /** Closes the files, and deletes those that were not sealed. */
  @Override
  public void close() throws IOException {
    files.close();
  }
}
