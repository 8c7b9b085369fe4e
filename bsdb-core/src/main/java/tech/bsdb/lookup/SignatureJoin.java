package tech.bsdb.lookup;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import tech.bsdb.data.RecordScanner;
import tech.bsdb.data.RecordView;
import tech.bsdb.io.Window;

/**
 * Joins the records of two packed databases with the same signature function by their keys, range
 * by range: both are in the order of their signatures. May be run for any number of ranges; keeps
 * the memory that shows the pages. Not thread-safe.
 *
 * <p>Records of different keys with the same signature are passed on in the order of the first
 * database, followed by those that only the second one has.
 */
public final class SignatureJoin {
  /** Receives the records, in the order of their signatures. */
  public interface Receiver {
    /** Receives a record, the current one of a cursor, whose key only the first database has. */
    void onlyFirst(SignatureCursor first) throws IOException;

    /**
     * Receives the records of a key that both databases have, valid until this method returns.
     *
     * @param high the first half of their signature
     * @param low the second half
     */
    void both(RecordView first, RecordView second, long high, long low) throws IOException;

    /**
     * Receives a record whose key only the second database has.
     *
     * @param second valid until this method returns
     * @param high the first half of its signature
     * @param low the second half
     */
    void onlySecond(RecordView second, long high, long low) throws IOException;
  }

  private final PackedSource first;
  private final PackedSource second;
  private final Window firstPages = new Window();
  private final Window secondPages = new Window();

  /** Creates a join; the caller closes the databases. */
  public SignatureJoin(PackedSource first, PackedSource second) {
    this.first = first;
    this.second = second;
  }

  /**
   * Passes on all records of a range of bins.
   *
   * @param allBins the number of bins that the range refers to
   * @param fromBin the first bin
   * @param toBin the end of the bins
   * @param distinct whether to fail if a key comes twice in a database. Otherwise, this is noticed
   *     only if both databases have the key
   */
  public void run(long allBins, long fromBin, long toBin, boolean distinct, Receiver receiver)
      throws IOException {
    SignatureCursor one =
        SignatureCursor.over(first, allBins, fromBin, toBin, firstPages, distinct);
    SignatureCursor two =
        SignatureCursor.over(second, allBins, fromBin, toBin, secondPages, distinct);
    while (one.isThere() || two.isThere()) {
      step(one, two, receiver);
    }
  }

  /** Apart from the loop, so that the compiler has it early, and compiles it only once. */
  private static void step(SignatureCursor one, SignatureCursor two, Receiver receiver)
      throws IOException {
    int order = one.compareSignature(two);
    if (order < 0) {
      receiver.onlyFirst(one);
      one.next();
    } else if (order > 0) {
      onlySecond(two, receiver);
    } else {
      sameSignature(one, two, receiver);
    }
  }

  /**
   * Passes on all records of the second database in a range of bins, and those of the first one
   * with their signatures. Looks only at the bins of the first database where they belong.
   *
   * @param ahead pages of the first database to read at once
   */
  public void seek(long allBins, long fromBin, long toBin, int ahead, Receiver receiver)
      throws IOException {
    SignatureCursor one = SignatureCursor.anywhere(first, ahead, firstPages);
    SignatureCursor two = SignatureCursor.over(second, allBins, fromBin, toBin, secondPages, false);
    while (two.isThere()) {
      one.seek(two.high(), two.low());
      if (one.isAt(two.high(), two.low())) {
        sameSignature(one, two, receiver);
      } else {
        onlySecond(two, receiver);
      }
    }
  }

  private static void onlySecond(SignatureCursor two, Receiver receiver) throws IOException {
    receiver.onlySecond(two.record(), two.high(), two.low());
    two.next();
  }

  /** Passes on records of both databases with the same signature. */
  private static void sameSignature(SignatureCursor one, SignatureCursor two, Receiver receiver)
      throws IOException {
    long high = one.high();
    long low = one.low();
    boolean sameKey = two.record().hasKeyOf(one.record());
    if (sameKey) {
      receiver.both(one.record(), two.record(), high, low);
      one.next();
      if (!one.isAt(high, low)) {
        two.next();
        return;
      }
    }
    severalKeys(one, two, sameKey, receiver);
  }

  /**
   * Passes on records of several keys with the same signature.
   *
   * @param joined whether the current record of the second database was passed on, and the first
   *     one has advanced
   */
  private static void severalKeys(
      SignatureCursor one, SignatureCursor two, boolean joined, Receiver receiver)
      throws IOException {
    long high = two.high();
    long low = two.low();
    Map<ByteBuffer, Copy> left = new LinkedHashMap<>();
    Set<ByteBuffer> found = new HashSet<>();
    do {
      Copy copy = Copy.of(two.record());
      left.put(copy.keyBuffer(), copy);
      two.next();
    } while (two.isAt(high, low));
    if (joined) {
      ByteBuffer first = left.keySet().iterator().next();
      left.remove(first);
      found.add(first);
    }
    for (; one.isAt(high, low); one.next()) {
      ByteBuffer key = one.record().keyBuffer();
      Copy copy = left.remove(key);
      if (copy != null) {
        found.add(copy.keyBuffer());
        receiver.both(one.record(), copy, high, low);
      } else if (found.contains(key)) {
        throw one.record().corrupt("records with different keys", "two with the same key");
      } else {
        receiver.onlyFirst(one);
      }
    }
    for (Copy copy : left.values()) {
      receiver.onlySecond(copy, high, low);
    }
  }

  /** A copy of a record without its header. */
  private record Copy(byte[] bytes, int keyLength, int valueLength, long place)
      implements RecordView {
    static Copy of(RecordScanner record) {
      int end = record.isLong() ? record.valueFrom() : record.valueFrom() + record.valueLength();
      return new Copy(
          Arrays.copyOfRange(record.bytes(), record.keyFrom(), end),
          record.keyLength(),
          record.valueLength(),
          record.place());
    }

    @Override
    public int keyFrom() {
      return 0;
    }
  }
}
