package tech.bsdb.write;

import java.io.IOException;
import java.util.concurrent.CancellationException;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import tech.bsdb.data.RecordScanner;
import tech.bsdb.format.Facts;
import tech.bsdb.format.RecordFrame;
import tech.bsdb.hash.Signature;
import tech.bsdb.hash.SignatureFunction;
import tech.bsdb.lookup.PackedSource;
import tech.bsdb.lookup.SignatureCursor;
import tech.bsdb.write.PackedJoin.Change;

/**
 * The size of the records of a merge.
 *
 * @param records their number
 * @param bytes their bytes, with their headers
 */
record MergedSize(long records, long bytes) {
  /** Pages of the base for each change up to which many are read at once. */
  private static final int CLOSE = 8;

  private static final int AHEAD = 64;
  private static final int BETWEEN_CHECKS = 1 << 12;

  /**
   * Computes the size from the manifest of the base and a look at the bin of each change. Few
   * changes take less time so than a pass over the base.
   *
   * @param cancelled polled; true ends it with a {@link CancellationException}
   * @return null if the manifest does not determine the bytes of the base's record headers
   */
  static @Nullable MergedSize of(PackedSource base, PackedSource changes, BooleanSupplier cancelled)
      throws IOException {
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
    Replaced replaced = new Replaced(cancelled);
    long apart = base.index().pages() / Math.max(1, changes.facts().records());
    PackedJoin.seeking(base, changes, apart < CLOSE ? AHEAD : 1, replaced).run();
    return new MergedSize(records + replaced.records, bytes + replaced.bytes);
  }

  private static boolean holdsEmptyKey(PackedSource base) throws IOException {
    Signature signature = new Signature();
    SignatureFunction.of(base.facts()).sign(new byte[0], 0, 0, signature);
    SignatureCursor cursor = SignatureCursor.anywhere(base, 1);
    cursor.seek(signature.high, signature.low);
    while (cursor.isAt(signature.high, signature.low)) {
      if (cursor.record().keyLength() == 0) {
        return true;
      }
      cursor.next();
    }
    return false;
  }

  /** Adds up by how much changes enlarge a base. */
  private static final class Replaced implements PackedJoin.Receiver {
    private final BooleanSupplier cancelled;
    private long changes;
    private long records;
    private long bytes;

    Replaced(BooleanSupplier cancelled) {
      this.cancelled = cancelled;
    }

    @Override
    public void keep(RecordScanner record, long high, long low) {
      // counts in the base already
    }

    @Override
    public void replace(RecordScanner old, Change record, long high, long low) {
      delete(old);
      add(record, high, low);
    }

    @Override
    public void add(Change record, long high, long low) {
      records++;
      bytes += RecordFrame.length(record.keyLength(), record.valueLength());
      countChange();
    }

    @Override
    public void delete(RecordScanner old) {
      records--;
      bytes -= RecordFrame.length(old.keyLength(), old.valueLength());
      countChange();
    }

    @Override
    public void deleteAbsent() {
      countChange();
    }

    private void countChange() {
      changes++;
      if (changes % BETWEEN_CHECKS == 0 && cancelled.getAsBoolean()) {
        throw new CancellationException("the build was cancelled");
      }
    }
  }
}
