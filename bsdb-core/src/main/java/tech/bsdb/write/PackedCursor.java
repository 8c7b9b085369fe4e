package tech.bsdb.write;

import java.io.IOException;
import tech.bsdb.data.RecordScanner;
import tech.bsdb.hash.Signature;
import tech.bsdb.hash.SignatureFunction;
import tech.bsdb.index.BinIndex;
import tech.bsdb.io.Window;

/**
 * The records of a packed database in the order of their signatures, with these. Fails if they are
 * in another order. Not thread-safe.
 */
final class PackedCursor {
  private final RecordScanner stream;
  private final BinIndex index;
  private final SignatureFunction function;
  private final long allBins;
  private final long toBin;
  private final Signature signature = new Signature();
  private boolean there;
  private boolean ended;

  private PackedCursor(PackedSource source, RecordScanner stream, long allBins, long toBin) {
    this.stream = stream;
    this.index = source.index();
    this.function = SignatureFunction.of(source.facts());
    this.allBins = allBins;
    this.toBin = toBin;
  }

  /**
   * A cursor over a range of bins, at its first record.
   *
   * @param allBins the number of bins that the range refers to, not necessarily those of the source
   * @param fromBin the first bin
   * @param toBin the end of the bins
   * @param window shows the pages
   */
  static PackedCursor over(
      PackedSource source, long allBins, long fromBin, long toBin, Window window)
      throws IOException {
    long last = source.page(toBin, allBins);
    RecordScanner stream = RecordScanner.inPlace(source.files(), RecordScanner.AHEAD, last, window);
    stream.seek(source.page(fromBin, allBins), 0);
    PackedCursor cursor = new PackedCursor(source, stream, allBins, toBin);
    do {
      cursor.next();
    } while (cursor.there && BinIndex.bin(cursor.high(), allBins) < fromBin);
    return cursor;
  }

  /**
   * A cursor to {@link #seek} with, at no record.
   *
   * @param ahead pages to read at once
   */
  static PackedCursor anywhere(PackedSource source, int ahead) {
    RecordScanner stream =
        RecordScanner.inPlace(source.files(), ahead, RecordScanner.NO_END, new Window());
    long bins = source.index().bins();
    return new PackedCursor(source, stream, bins, bins);
  }

  /** Advances; afterwards {@link #isThere} tells whether there is another record in the range. */
  void next() throws IOException {
    long lastHigh = signature.high;
    long lastLow = signature.low;
    there = stream.next();
    ended = !there;
    if (ended) {
      return;
    }
    function.sign(stream.bytes(), stream.keyFrom(), stream.keyLength(), signature);
    if (compare(signature.high, signature.low, lastHigh, lastLow) < 0) {
      throw stream.corrupt("records in the order of their signatures", "another order");
    }
    there = BinIndex.bin(signature.high, allBins) < toBin;
  }

  /**
   * Moves to the first record with a signature or a later one, in the bin of the signature or after
   * it. Signatures that are sought must ascend.
   */
  void seek(long high, long low) throws IOException {
    if (ended) {
      return;
    }
    long bin = BinIndex.bin(high, index.bins());
    if (!there || BinIndex.bin(signature.high, index.bins()) < bin) {
      long place = index.placeOf(bin);
      stream.seek(BinIndex.firstPage(place), BinIndex.slot(place));
      next();
    }
    while (there && compare(signature.high, signature.low, high, low) < 0) {
      next();
    }
  }

  /** Whether there is a record, and its signature is in the range. */
  boolean isThere() {
    return there;
  }

  /** Whether there is a record with this signature. */
  boolean isAt(long high, long low) {
    return there && signature.high == high && signature.low == low;
  }

  /** Compares the signatures of two cursors. One without a record comes last. */
  int compareTo(PackedCursor other) {
    if (!there || !other.there) {
      return Boolean.compare(other.there, there);
    }
    return compare(signature.high, signature.low, other.signature.high, other.signature.low);
  }

  private static int compare(long high, long low, long otherHigh, long otherLow) {
    int byHigh = Long.compareUnsigned(high, otherHigh);
    return byHigh != 0 ? byHigh : Long.compareUnsigned(low, otherLow);
  }

  /** The first half of the signature. */
  long high() {
    return signature.high;
  }

  /** The second half of the signature. */
  long low() {
    return signature.low;
  }

  /** The record. */
  RecordScanner record() {
    return stream;
  }
}
