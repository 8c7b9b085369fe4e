package tech.bsdb.check;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tech.bsdb.data.DataFile;
import tech.bsdb.data.PageCursor;
import tech.bsdb.data.RecordScanner;
import tech.bsdb.hash.Signature;
import tech.bsdb.hash.SignatureFunction;
import tech.bsdb.index.BinIndex;
import tech.bsdb.io.Window;

/**
 * The records of one packed database in a range of signatures, in order. Checks that order, and
 * that no key comes twice. Not thread-safe.
 */
final class JoinedRecords implements Tally.Side {
  private final List<DataFile> files;
  private final RecordScanner stream;
  private final SignatureFunction function;
  private final Range range;
  private final Signature signature = new Signature();

  /** The keys before the current one that have the same signature. */
  private final Set<ByteBuffer> sameSignature = new HashSet<>();

  private byte[] lastKey = new byte[64];
  private int lastLength;
  private boolean started;
  private boolean present;

  /**
   * A range of signatures, by their first halves, unsigned.
   *
   * @param from the least
   * @param to after the greatest; 0 for no end
   */
  record Range(long from, long to) {
    boolean isBefore(long high) {
      return to != 0 && Long.compareUnsigned(high, to) >= 0;
    }

    boolean isAfter(long high) {
      return Long.compareUnsigned(high, from) < 0;
    }
  }

  /**
   * Moves to the first record of the range.
   *
   * @param files the data files; the caller closes them
   */
  JoinedRecords(List<DataFile> files, BinIndex index, SignatureFunction function, Range range)
      throws IOException {
    this.files = files;
    this.stream =
        RecordScanner.inPlace(files, RecordScanner.AHEAD, RecordScanner.NO_END, new Window());
    this.function = function;
    this.range = range;
    if (range.from != 0) {
      long bin = BinIndex.bin(range.from, index.bins());
      stream.seek(BinIndex.firstPage(index.placeOf(bin)), 0);
    }
    do {
      advance();
    } while (present && range.isAfter(signature.high));
    endAtRange();
  }

  /** Whether there is a current record. */
  boolean isPresent() {
    return present;
  }

  /** Moves to the next record of the range. */
  void next() throws IOException {
    advance();
    endAtRange();
  }

  private void endAtRange() {
    present &= !range.isBefore(signature.high);
  }

  private void advance() throws IOException {
    if (started) {
      lastLength = stream.keyLength();
      if (lastKey.length < lastLength) {
        lastKey = new byte[2 * lastLength];
      }
      System.arraycopy(stream.bytes(), stream.keyFrom(), lastKey, 0, lastLength);
    }
    present = stream.next();
    if (!present) {
      return;
    }
    long lastHigh = signature.high;
    long lastLow = signature.low;
    function.sign(stream.bytes(), stream.keyFrom(), stream.keyLength(), signature);
    if (started) {
      int order = compare(lastHigh, lastLow, signature.high, signature.low);
      if (order > 0) {
        throw stream.corrupt("records in the order of their signatures", "another order");
      }
      if (order == 0) {
        requireNewKey();
      } else if (!sameSignature.isEmpty()) {
        sameSignature.clear();
      }
    }
    started = true;
  }

  private void requireNewKey() throws IOException {
    sameSignature.add(ByteBuffer.wrap(Arrays.copyOf(lastKey, lastLength)));
    if (sameSignature.contains(ByteBuffer.wrap(key()))) {
      throw stream.corrupt("records with different keys", "two with the same key");
    }
  }

  private static int compare(long high, long low, long otherHigh, long otherLow) {
    int byHigh = Long.compareUnsigned(high, otherHigh);
    return byHigh != 0 ? byHigh : Long.compareUnsigned(low, otherLow);
  }

  /** Compares the signatures of the current records. */
  int compareSignature(JoinedRecords other) {
    return compare(signature.high, signature.low, other.signature.high, other.signature.low);
  }

  /** Whether the current record has this signature. */
  boolean hasSignature(long high, long low) {
    return present && signature.high == high && signature.low == low;
  }

  /** The first half of the current record's signature. */
  long high() {
    return signature.high;
  }

  /** The second half of the current record's signature. */
  long low() {
    return signature.low;
  }

  /** A copy of the current record's key. */
  @Override
  public byte[] key() {
    return Arrays.copyOfRange(
        stream.bytes(), stream.keyFrom(), stream.keyFrom() + stream.keyLength());
  }

  /** Whether the current records have the same key. */
  boolean hasSameKey(JoinedRecords other) {
    return Arrays.equals(
        stream.bytes(),
        stream.keyFrom(),
        stream.keyFrom() + stream.keyLength(),
        other.stream.bytes(),
        other.stream.keyFrom(),
        other.stream.keyFrom() + other.stream.keyLength());
  }

  private int valueFrom() {
    return stream.keyFrom() + stream.keyLength();
  }

  /** Whether the current records have the same value. */
  boolean hasSameValue(JoinedRecords other) throws IOException {
    int length = stream.valueLength();
    if (length != other.stream.valueLength()) {
      return false;
    }
    if (stream.isLong()) {
      return value().isEqualTo(other.value());
    }
    return Arrays.equals(
        stream.bytes(),
        valueFrom(),
        valueFrom() + length,
        other.stream.bytes(),
        other.valueFrom(),
        other.valueFrom() + length);
  }

  /** The current record's value. */
  @Override
  public Value value() {
    int length = stream.valueLength();
    return stream.isLong()
        ? new Value(null, files, stream.place(), length)
        : Value.of(Arrays.copyOfRange(stream.bytes(), valueFrom(), valueFrom() + length));
  }

  /**
   * A value. Long ones stay in the files.
   *
   * @param bytes the value, or null if it is long
   * @param place the place of a long value in the files
   */
  record Value(byte @Nullable [] bytes, List<DataFile> files, long place, int length) {
    /** Bytes of long values that are compared at once. */
    private static final int PART = 1 << 14;

    /** A value that is in memory. */
    static Value of(byte[] bytes) {
      return new Value(bytes, List.of(), 0, bytes.length);
    }

    /** Whether the bytes are the same; of long values, it reads parts of both. */
    boolean isEqualTo(Value other) throws IOException {
      if (length != other.length) {
        return false;
      }
      if (bytes != null) {
        return Arrays.equals(bytes, other.bytes);
      }
      PageCursor one = PageCursor.ofValue(files, place, length);
      PageCursor two = PageCursor.ofValue(other.files, other.place, length);
      byte[] partOfOne = new byte[PART];
      byte[] partOfTwo = new byte[PART];
      for (int left = length; left > 0; left -= PART) {
        int part = Math.min(left, PART);
        one.read(partOfOne, 0, part);
        two.read(partOfTwo, 0, part);
        if (!Arrays.equals(partOfOne, 0, part, partOfTwo, 0, part)) {
          return false;
        }
      }
      return true;
    }

    /** Loads the value. */
    byte[] load() throws IOException {
      if (bytes != null) {
        return bytes;
      }
      byte[] all = new byte[length];
      PageCursor.ofValue(files, place, length).read(all, 0, length);
      return all;
    }
  }
}
