package tech.bsdb.write;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tech.bsdb.DuplicatePolicy;
import tech.bsdb.error.DuplicateKeyException;
import tech.bsdb.format.PackedPage;
import tech.bsdb.format.RecordFrame;
import tech.bsdb.hash.Signature;
import tech.bsdb.hash.SignatureFunction;
import tech.bsdb.index.BinIndex;

/**
 * The records of a range of bins, sorted by signature. Two records with the same signature are in
 * the order in which they were added; two with the same key are duplicates. Keeps its memory from
 * one range to the next. Not thread-safe.
 */
final class SortedBins {
  /** Bins of more records, and signatures of more keys, take a general algorithm. */
  private static final int FEW = 24;

  /** The most bytes of the records of a pass: the longest array. */
  private static final int MOST_BYTES = Integer.MAX_VALUE - 8;

  /** Memory to allocate at first, relative to the records that such a range of bins should hold. */
  private static final double SLACK = 1.1;

  private final long bins;
  private final SignatureFunction function;
  private final DuplicatePolicy keep;
  private final Signature signature = new Signature();
  private long fromBin;
  private int binCount;
  private int[] binStarts = new int[0];
  private int[] next = new int[0];
  private byte[] bytes = new byte[0];
  private int used;
  private int count;
  private int[] starts = new int[0];
  private int[] keyStarts = new int[0];
  private long[] highs = new long[0];
  private long[] lows = new long[0];
  private long[] numbers = new long[0];
  private int[] order = new int[0];
  private int kept;
  private boolean grown;
  private @Nullable Refused refused;

  /**
   * A duplicate that is not allowed.
   *
   * @param high the first half of its signature
   * @param low the second half
   * @param first the number of the first record with the key
   * @param second the number of another
   */
  private record Refused(long high, long low, byte[] key, long first, long second) {
    /** Whether it comes before a record, in the order of signatures and then of numbers. */
    boolean precedes(long otherHigh, long otherLow, long otherNumber) {
      int byHigh = Long.compareUnsigned(high, otherHigh);
      int bySignature = byHigh != 0 ? byHigh : Long.compareUnsigned(low, otherLow);
      return bySignature != 0 ? bySignature < 0 : second < otherNumber;
    }
  }

  /**
   * Creates an instance without records.
   *
   * @param bins the number of all bins
   * @param function gives the signatures
   * @param keep which of the records with the same key to keep
   */
  SortedBins(long bins, SignatureFunction function, DuplicatePolicy keep) {
    this.bins = bins;
    this.function = function;
    this.keep = keep;
  }

  /**
   * Reads the records of a range of bins from a range of partitions, in place of those it has.
   *
   * @throws DuplicateKeyException if there are duplicates and they are not allowed; it names the
   *     first one in the order of the records
   */
  void load(RecordSpill spill, int fromPartition, int toPartition, long fromBin, long toBin)
      throws IOException {
    this.fromBin = fromBin;
    this.binCount = Math.toIntExact(toBin - fromBin);
    used = 0;
    count = 0;
    kept = 0;
    grown = false;
    refused = null;
    reserve(spill, fromPartition, toPartition);
    for (int i = fromPartition; i < toPartition; i++) {
      spill.read(i, this::take);
    }
    sort();
    if (refused != null) {
      throw new DuplicateKeyException(refused.key, refused.first, refused.second);
    }
  }

  /** Makes room for the records that such a range of bins should hold. */
  private void reserve(RecordSpill spill, int fromPartition, int toPartition) {
    long records = 0;
    long recordBytes = 0;
    for (int i = fromPartition; i < toPartition; i++) {
      records += spill.count(i);
      recordBytes += spill.bytes(i);
    }
    double allBins = (double) bins * (toPartition - fromPartition) / RecordSpill.PARTITIONS;
    double share = Math.min(1, SLACK * binCount / allBins);
    if (binStarts.length <= binCount) {
      binStarts = new int[binCount + 1];
      next = new int[binCount];
    } else {
      Arrays.fill(binStarts, 0, binCount + 1, 0);
    }
    int room = (int) Math.min(1 << 28, (long) (share * records)) + 1;
    if (highs.length < room) {
      starts = new int[room + 1];
      keyStarts = new int[room];
      highs = new long[room];
      lows = new long[room];
      numbers = new long[room];
      order = new int[room];
    }
    int bytesOfRecords = (int) Math.min(1 << 30, (long) (share * recordBytes)) + 64;
    if (bytes.length < bytesOfRecords) {
      bytes = new byte[bytesOfRecords];
    }
  }

  /** Whether the records took more memory than such a range of bins should. */
  boolean hasGrown() {
    return grown;
  }

  private void take(long number, byte[] from, int at, int keyAt, int keyLength, int length)
      throws IOException {
    function.sign(from, keyAt, keyLength, signature);
    long bin = BinIndex.bin(signature.high, bins) - fromBin;
    if (bin < 0 || bin >= binCount) {
      return;
    }
    if (refused != null && refused.precedes(signature.high, signature.low, number)) {
      return;
    }
    if (count == highs.length || bytes.length - used < length) {
      makeRoom(length);
    }
    System.arraycopy(from, at, bytes, used, length);
    binStarts[(int) bin + 1]++;
    starts[count] = used;
    keyStarts[count] = used + keyAt - at;
    highs[count] = signature.high;
    lows[count] = signature.low;
    numbers[count] = number;
    count++;
    used += length;
    starts[count] = used;
  }

  /**
   * Makes room for a record. Drops duplicates, of which there may be more than fit into memory, and
   * grows unless that freed half of it. Where they are not allowed, the first one does not end the
   * pass, because which one is named must not depend on the memory, and a record that was not read
   * yet may be one before it. But records behind it are no longer collected.
   */
  private void makeRoom(int length) throws IOException {
    sort();
    boolean drops = keep != DuplicatePolicy.ERROR || refused != null;
    if (drops) {
      dropDuplicates();
    }
    countBins();
    if (count == highs.length || drops && count > highs.length / 2) {
      int more = count + (count >> 1) + 1024;
      starts = Arrays.copyOf(starts, more + 1);
      keyStarts = Arrays.copyOf(keyStarts, more);
      highs = Arrays.copyOf(highs, more);
      lows = Arrays.copyOf(lows, more);
      numbers = Arrays.copyOf(numbers, more);
      grown = true;
    }
    if (bytes.length - used < length || drops && used > bytes.length / 2) {
      if (MOST_BYTES - used < length) {
        throw new IOException(
            "more than 2 GiB of records in bins "
                + fromBin
                + " to "
                + (fromBin + binCount - 1)
                + " of "
                + bins
                + ": too many with one key or one signature");
      }
      bytes = Arrays.copyOf(bytes, (int) Math.min(MOST_BYTES, 2L * used + length));
      grown = true;
    }
  }

  /** Turns where bins start among the sorted records into their sizes again, for the next sort. */
  private void countBins() {
    for (int bin = binCount; bin > 0; bin--) {
      binStarts[bin] -= binStarts[bin - 1];
    }
  }

  /**
   * Drops duplicates among the sorted records. The others stay in the order of {@link #distinct},
   * so that the result is the same as if nothing was dropped before the end.
   */
  private void dropDuplicates() {
    byte[] keptBytes = new byte[bytes.length];
    int[] keptStarts = new int[starts.length];
    int[] keptKeyStarts = new int[keyStarts.length];
    long[] keptHighs = new long[highs.length];
    long[] keptLows = new long[lows.length];
    long[] keptNumbers = new long[numbers.length];
    int to = 0;
    for (int i = 0; i < kept; i++) {
      int record = order[i];
      int length = starts[record + 1] - starts[record];
      System.arraycopy(bytes, starts[record], keptBytes, to, length);
      keptStarts[i] = to;
      keptKeyStarts[i] = to + keyStarts[record] - starts[record];
      keptHighs[i] = highs[record];
      keptLows[i] = lows[record];
      keptNumbers[i] = numbers[record];
      to += length;
      keptStarts[i + 1] = to;
    }
    bytes = keptBytes;
    starts = keptStarts;
    keyStarts = keptKeyStarts;
    highs = keptHighs;
    lows = keptLows;
    numbers = keptNumbers;
    count = kept;
    used = to;
  }

  private void sort() {
    for (int i = 1; i <= binCount; i++) {
      binStarts[i] += binStarts[i - 1];
    }
    if (order.length < count) {
      order = new int[highs.length];
    }
    System.arraycopy(binStarts, 0, next, 0, binCount);
    for (int i = 0; i < count; i++) {
      order[next[(int) (BinIndex.bin(highs[i], bins) - fromBin)]++] = i;
    }
    int to = 0;
    for (int bin = 0; bin < binCount; bin++) {
      int from = binStarts[bin];
      int end = binStarts[bin + 1];
      sort(from, end);
      binStarts[bin] = to;
      to = distinct(from, end, to);
    }
    binStarts[binCount] = to;
    kept = to;
  }

  /** Sorts a bin. Its records are in the order of their numbers, and equal ones must stay so. */
  private void sort(int from, int end) {
    if (end - from > FEW) {
      Integer[] boxed = new Integer[end - from];
      for (int i = from; i < end; i++) {
        boxed[i - from] = order[i];
      }
      Comparator<Integer> bySignature = this::compare;
      Arrays.sort(boxed, bySignature);
      for (int i = from; i < end; i++) {
        order[i] = boxed[i - from];
      }
      return;
    }
    for (int i = from + 1; i < end; i++) {
      int moving = order[i];
      int at = i;
      while (at > from && compare(order[at - 1], moving) > 0) {
        order[at] = order[at - 1];
        at--;
      }
      order[at] = moving;
    }
  }

  private int compare(int a, int b) {
    int byHigh = Long.compareUnsigned(highs[a], highs[b]);
    return byHigh != 0 ? byHigh : Long.compareUnsigned(lows[a], lows[b]);
  }

  /** Moves the records to keep of a sorted bin to {@code to}, and returns the end of them. */
  private int distinct(int from, int end, int to) {
    int first = to; // the first kept record with the signature of the current one
    int target = to;
    @Nullable Map<ByteBuffer, Integer> many = null;
    for (int i = from; i < end; i++) {
      int record = order[i];
      if (target > first && compare(order[first], record) != 0) {
        first = target;
        many = null;
      }
      int same;
      if (target - first < FEW) {
        same = target - 1;
        while (same >= first && !sameKey(order[same], record)) {
          same--;
        }
      } else { // keys that were made to have one signature
        if (many == null) {
          many = new HashMap<>();
          for (int j = first; j < target; j++) {
            many.put(keyBuffer(order[j]), j);
          }
        }
        Integer found = many.putIfAbsent(keyBuffer(record), target);
        same = found == null ? first - 1 : found;
      }
      if (same >= first) {
        if (keep == DuplicatePolicy.ERROR) {
          refuse(order[same], record);
        }
        if (keep == DuplicatePolicy.LAST) {
          order[same] = record;
        }
      } else {
        order[target++] = record;
      }
    }
    return target;
  }

  /** Keeps in mind the first duplicate that is not allowed. */
  private void refuse(int first, int second) {
    long high = highs[second];
    long low = lows[second];
    if (refused == null || !refused.precedes(high, low, numbers[second])) {
      refused = new Refused(high, low, key(second), numbers[first], numbers[second]);
    }
  }

  private boolean sameKey(int a, int b) {
    return Arrays.equals(bytes, keyStarts[a], keyEndOf(a), bytes, keyStarts[b], keyEndOf(b));
  }

  private int keyEndOf(int record) {
    return keyStarts[record] + RecordFrame.keyLength(RecordFrame.header(bytes, starts[record]));
  }

  private ByteBuffer keyBuffer(int record) {
    return ByteBuffer.wrap(bytes, keyStarts[record], keyEndOf(record) - keyStarts[record]);
  }

  private byte[] key(int record) {
    return Arrays.copyOfRange(bytes, keyStarts[record], keyEndOf(record));
  }

  /**
   * The length of the value of the record that starts at {@code from}, if it is long and therefore
   * elsewhere; otherwise 0. A reference of {@link RecordSpill#REFERENCE} bytes replaces it.
   */
  static int elsewhere(byte[] bytes, int from) {
    int valueLength =
        bytes[from] != 0 // a short header
            ? (bytes[from + 1] & 0xFF) | (bytes[from + 2] & 0xFF) << 8
            : RecordFrame.valueLength(RecordFrame.header(bytes, from));
    return valueLength > RecordSpill.LONG_VALUE ? valueLength : 0;
  }

  /** The part of its bin in which the record at a position of the order lies. */
  int part(int position) {
    return BinIndex.part(highs[order[position]], bins);
  }

  /** The length of the record at a position of the order, including a long value. */
  long length(int position) {
    int from = recordStart(position);
    int here = recordEnd(position) - from;
    int elsewhere = elsewhere(bytes, from);
    return elsewhere == 0 ? here : here - RecordSpill.REFERENCE + (long) elsewhere;
  }

  /** The number of bins. */
  int bins() {
    return binCount;
  }

  /** The number of records, without dropped ones. */
  int records() {
    return kept;
  }

  /** The position in the order of a bin's first record; for the number of bins, of the end. */
  int start(int bin) {
    return binStarts[bin];
  }

  /** Holds the framed records. */
  byte[] bytes() {
    return bytes;
  }

  /** The filter of a bin: the bits of its records. */
  int filter(int bin) {
    int filter = 0;
    for (int i = start(bin); i < start(bin + 1); i++) {
      filter |= PackedPage.filterBit(lows[order[i]]);
    }
    return filter;
  }

  /** Receives signatures. */
  @FunctionalInterface
  interface SignatureSink {
    /** Receives the two halves of a signature. */
    void add(long high, long low) throws IOException;
  }

  /** Passes on the signatures of all records, in their order. */
  void forEachSignature(SignatureSink sink) throws IOException {
    for (int i = 0; i < kept; i++) {
      sink.add(highs[order[i]], lows[order[i]]);
    }
  }

  /** The first half of the signature of the record at a position of the order. */
  long high(int position) {
    return highs[order[position]];
  }

  /** The second half of the signature of the record at a position of the order. */
  long low(int position) {
    return lows[order[position]];
  }

  /** Where the record at a position of the order starts. */
  int recordStart(int position) {
    return starts[order[position]];
  }

  /** The end of the record at a position of the order. */
  int recordEnd(int position) {
    return starts[order[position] + 1];
  }

  /** Where the key of the record at a position of the order starts. */
  int keyStart(int position) {
    return keyStarts[order[position]];
  }

  /** The end of the key of the record at a position of the order. */
  int keyEnd(int position) {
    return keyEndOf(order[position]);
  }
}
