package tech.bsdb.write;

import tech.bsdb.ChangeCounts;
import tech.bsdb.data.RecordScanner;
import tech.bsdb.data.RecordView;
import tech.bsdb.format.RecordFrame;
import tech.bsdb.lookup.SignatureCursor;
import tech.bsdb.lookup.SignatureJoin;

/**
 * Counts what a merge does with the records of the base and with the changes. As the receiver of a
 * join of both, of which the changes are the second database, it also measures them. Not
 * thread-safe.
 */
final class MergeCount implements SignatureJoin.Receiver {
  /** How many records pass before another look at whether the build was cancelled. */
  private static final int BETWEEN_CHECKS = 1 << 12;

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

  private final AssemblyProgress progress;
  private final RecordTotals totals = new RecordTotals();
  private long baseBytes;
  private long changes;

  /**
   * Creates counts of nothing.
   *
   * @param progress ends a join if the build was cancelled
   */
  MergeCount(AssemblyProgress progress) {
    this.progress = progress;
  }

  /** Whether a record of the changes is a deletion. */
  static boolean isDeletion(RecordView change) {
    return !change.isLong() && TaggedChange.isDeletion(change.bytes()[change.valueFrom()]);
  }

  @Override
  public void onlyFirst(SignatureCursor first) {
    RecordScanner record = first.record();
    totals.add(record.keyLength(), record.valueLength());
    baseBytes += RecordFrame.length(record.keyLength(), record.valueLength());
    kept++;
    if (kept % BETWEEN_CHECKS == 0) {
      progress.checkNotCancelled();
    }
  }

  @Override
  public void both(RecordView first, RecordView second, long high, long low) {
    baseBytes += RecordFrame.length(first.keyLength(), first.valueLength());
    if (isDeletion(second)) {
      deleted++;
    } else {
      replaced++;
      addChanged(second);
    }
    checkChanges();
  }

  @Override
  public void onlySecond(RecordView second, long high, long low) {
    if (isDeletion(second)) {
      deletedAbsent++;
    } else {
      added++;
      addChanged(second);
    }
    checkChanges();
  }

  private void addChanged(RecordView change) {
    totals.add(change.keyLength(), change.valueLength() - TaggedChange.TAG);
  }

  private void checkChanges() {
    changes++;
    if (changes % BETWEEN_CHECKS == 0) {
      progress.checkNotCancelled();
    }
  }

  /** Adds other counts. */
  void add(MergeCount others) {
    kept += others.kept;
    replaced += others.replaced;
    added += others.added;
    deleted += others.deleted;
    deletedAbsent += others.deletedAbsent;
    totals.add(others.totals);
    baseBytes += others.baseBytes;
  }

  /** The number of records of the base. */
  long ofBase() {
    return kept + replaced + deleted;
  }

  /** Bytes of the records of the base that a join has passed on, with their headers. */
  long baseBytes() {
    return baseBytes;
  }

  /** The records of the result that a join has passed on. */
  RecordTotals totals() {
    return totals;
  }

  /**
   * The counts to report.
   *
   * @param superseded changes that another change of the same key made void
   */
  ChangeCounts report(long superseded) {
    return new ChangeCounts(kept, replaced, added, deleted, deletedAbsent, superseded);
  }
}
