package tech.bsdb.write;

import static java.util.Objects.requireNonNullElseGet;

import java.io.IOException;
import java.util.Queue;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;
import tech.bsdb.BuildListener.Stage;
import tech.bsdb.format.Facts;
import tech.bsdb.format.RecordFrame;
import tech.bsdb.hash.Signature;
import tech.bsdb.hash.SignatureFunction;
import tech.bsdb.io.OrderedTasks;
import tech.bsdb.io.Window;
import tech.bsdb.lookup.PackedSource;
import tech.bsdb.lookup.SignatureCursor;
import tech.bsdb.lookup.SignatureJoin;

/**
 * The size of the records of a merge.
 *
 * @param records their number
 * @param bytes their bytes, with their headers
 */
record MergedSize(long records, long bytes) {
  /** Records of the base for each change from which they are few. */
  private static final int FEW = 8;

  /** Ranges of bins that are counted separately, at most. */
  private static final int RANGES = 256;

  /** Pages of the base for each range, at least. */
  private static final int PAGES_PER_RANGE = 256;

  /** Pages of the base for each change up to which many are read at once. */
  private static final int CLOSE = 8;

  private static final int AHEAD = 64;

  /**
   * Computes the size. If the changes are few, and the manifest of the base determines the bytes of
   * its records, from these and a look at the bin of each change; otherwise by a pass over both.
   *
   * @throws CancellationException if the build was cancelled
   */
  static MergedSize of(
      PackedSource base, PackedSource changes, int threads, AssemblyProgress progress)
      throws IOException {
    boolean few = changes.facts().records() <= base.facts().records() / FEW;
    MergedSize whole = few ? ofBase(base) : null;
    if (whole == null) {
      RecordTotals all = count(base, changes, false, threads, progress).totals();
      return new MergedSize(all.records(), all.recordBytes());
    }
    MergeCount near = count(base, changes, true, threads, progress);
    return new MergedSize(
        whole.records - near.ofBase() + near.totals().records(),
        whole.bytes - near.baseBytes() + near.totals().recordBytes());
  }

  /** The size of a base, or null if its manifest does not determine the bytes of the headers. */
  private static @Nullable MergedSize ofBase(PackedSource base) throws IOException {
    Facts facts = base.facts();
    if (facts.duplicatesDropped() > 0
        || facts.longestKey() > RecordFrame.SHORT_KEY
        || facts.longestValue() > RecordFrame.SHORT_VALUE) {
      return null;
    }
    long records = facts.records();
    long bytes = facts.keyBytes() + facts.valueBytes() + RecordFrame.SHORT * records;
    if (holdsEmptyKey(base)) { // the only short record with a wide header
      bytes += RecordFrame.WIDE - RecordFrame.SHORT;
    }
    return new MergedSize(records, bytes);
  }

  private static boolean holdsEmptyKey(PackedSource base) throws IOException {
    Signature signature = new Signature();
    SignatureFunction.of(base.facts()).sign(new byte[0], 0, 0, signature);
    SignatureCursor cursor = SignatureCursor.anywhere(base, 1, new Window());
    cursor.seek(signature.high, signature.low);
    while (cursor.isAt(signature.high, signature.low)) {
      if (cursor.record().keyLength() == 0) {
        return true;
      }
      cursor.next();
    }
    return false;
  }

  /**
   * Counts base and changes.
   *
   * @param seeks whether to leave out records of the base that are not near a change
   */
  private static MergeCount count(
      PackedSource base,
      PackedSource changes,
      boolean seeks,
      int threads,
      AssemblyProgress progress)
      throws IOException {
    long pages = base.index().pages();
    long changed = changes.index().pages();
    long wanted = Math.min(RANGES, pages / PAGES_PER_RANGE);
    long ranges = Math.max(1, seeks ? Math.min(wanted, changed) : wanted);
    int ahead = pages / Math.max(1, changes.facts().records()) < CLOSE ? AHEAD : 1;
    MergeCount all = new MergeCount(progress);
    Queue<SignatureJoin> free = new ConcurrentLinkedQueue<>();
    OrderedTasks.Taker<MergeCount> taker =
        counted -> {
          all.add(counted);
          if (!seeks) {
            progress.progress(Stage.COUNT, all.ofBase());
          }
        };
    try (OrderedTasks<MergeCount> running =
        new OrderedTasks<>("bsdb-merge-count", threads, threads + 1, taker)) {
      for (long i = 0; i < ranges; i++) {
        long range = i;
        running.submit(
            () -> {
              MergeCount counted = new MergeCount(progress);
              SignatureJoin join =
                  requireNonNullElseGet(free.poll(), () -> new SignatureJoin(base, changes));
              if (seeks) {
                join.seek(ranges, range, range + 1, ahead, counted);
              } else {
                join.run(ranges, range, range + 1, false, counted);
              }
              free.add(join);
              return counted;
            });
      }
      running.drain();
    } catch (ExecutionException e) {
      throw OrderedTasks.failure(e);
    }
    return all;
  }
}
