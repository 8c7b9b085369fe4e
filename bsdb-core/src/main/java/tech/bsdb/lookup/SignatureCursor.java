package tech.bsdb.lookup;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import tech.bsdb.data.RecordScanner;
import tech.bsdb.format.Facts;
import tech.bsdb.hash.Signature;
import tech.bsdb.hash.SignatureFunction;
import tech.bsdb.index.BinIndex;
import tech.bsdb.io.Window;

/**
 * The records of a packed database in the order of their signatures, with these. Fails if they are
 * in another order, or, if asked to, if a key comes twice. Not thread-safe.
 */
public final class SignatureCursor {
  private static final int NONE = -1;

  private final RecordScanner stream;
  private final BinIndex index;
  private final SignatureFunction function;
  private final long allBins;
  private final long toBin;
  private final boolean distinct;
  private final Signature signature = new Signature();

  /** The last key, and those before it that have the same signature, if no key may come twice. */
  private byte[] lastKey = new byte[64];

  private int lastLength = NONE;
  private final Set<ByteBuffer> sameSignature = new HashSet<>();

  private boolean there;
  private boolean ended;

  private SignatureCursor(
      RecordScanner stream,
      BinIndex index,
      Facts facts,
      long allBins,
      long toBin,
      boolean distinct) {
    this.stream = stream;
    this.index = index;
    this.function = SignatureFunction.of(facts);
    this.allBins = allBins;
    this.toBin = toBin;
    this.distinct = distinct;
  }

  /**
   * A cursor over a range of bins, at its first record.
   *
   * @param allBins the number of bins that the range refers to, not necessarily those of the source
   * @param fromBin the first bin
   * @param toBin the end of the bins
   * @param window shows the pages
   * @param distinct whether to fail if a key comes twice
   */
  public static SignatureCursor over(
      PackedSource source, long allBins, long fromBin, long toBin, Window window, boolean distinct)
      throws IOException {
    long last = source.page(toBin, allBins);
    RecordScanner stream = RecordScanner.inPlace(source.files(), RecordScanner.AHEAD, last, window);
    stream.seek(source.page(fromBin, allBins), 0);
    SignatureCursor cursor =
        new SignatureCursor(stream, source.index(), source.facts(), allBins, toBin, distinct);
    do {
      cursor.next();
    } while (cursor.there && BinIndex.bin(cursor.high(), allBins) < fromBin);
    return cursor;
  }

  /**
   * A cursor to {@link #seek} with, at no record.
   *
   * @param ahead pages to read at once
   * @param window shows the pages
   */
  public static SignatureCursor anywhere(PackedSource source, int ahead, Window window) {
    RecordScanner stream =
        RecordScanner.inPlace(source.files(), ahead, RecordScanner.NO_END, window);
    long bins = source.index().bins();
    return new SignatureCursor(stream, source.index(), source.facts(), bins, bins, false);
  }

  /**
   * A cursor over all records, which the caller takes from bin to bin; fails if a key comes twice.
   *
   * @param stream the records, before the first bin
   */
  public static SignatureCursor inBins(RecordScanner stream, BinIndex index, Facts facts) {
    return new SignatureCursor(stream, index, facts, index.bins(), index.bins(), true);
  }

  /** Advances; afterwards {@link #isThere} tells whether there is another record in the range. */
  public void next() throws IOException {
    there = stream.next();
    ended = !there;
    if (there) {
      sign();
      there = BinIndex.bin(signature.high, allBins) < toBin;
    }
  }

  /** Advances to the next record of the bin; false at its end. */
  public boolean nextInBin() throws IOException {
    there = stream.nextInBin();
    if (there) {
      sign();
    }
    return there;
  }

  /** Signs the record, and checks that it follows the last one. */
  private void sign() throws IOException {
    long lastHigh = signature.high;
    long lastLow = signature.low;
    function.sign(stream.bytes(), stream.keyFrom(), stream.keyLength(), signature);
    int order = compare(signature.high, signature.low, lastHigh, lastLow);
    if (order < 0) {
      throw stream.corrupt("records in the order of their signatures", "another order");
    }
    if (distinct) {
      if (order == 0 && lastLength != NONE) {
        requireNewKey();
      } else if (!sameSignature.isEmpty()) {
        sameSignature.clear();
      }
      keepKey();
    }
  }

  private void requireNewKey() throws IOException {
    sameSignature.add(ByteBuffer.wrap(Arrays.copyOf(lastKey, lastLength)));
    if (sameSignature.contains(ByteBuffer.wrap(stream.key()))) {
      throw stream.corrupt("records with different keys", "two with the same key");
    }
  }

  private void keepKey() {
    lastLength = stream.keyLength();
    if (lastKey.length < lastLength) {
      lastKey = new byte[2 * lastLength];
    }
    System.arraycopy(stream.bytes(), stream.keyFrom(), lastKey, 0, lastLength);
  }

  /**
   * Moves to the first record with a signature or a later one, in the bin of the signature or after
   * it. Signatures that are sought must ascend.
   */
  public void seek(long high, long low) throws IOException {
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
  public boolean isThere() {
    return there;
  }

  /** Whether there is a record with this signature. */
  public boolean isAt(long high, long low) {
    return there && signature.high == high && signature.low == low;
  }

  /** Compares the signatures of two cursors. One without a record comes last. */
  public int compareSignature(SignatureCursor other) {
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
  public long high() {
    return signature.high;
  }

  /** The second half of the signature. */
  public long low() {
    return signature.low;
  }

  /** The record. */
  public RecordScanner record() {
    return stream;
  }
}
