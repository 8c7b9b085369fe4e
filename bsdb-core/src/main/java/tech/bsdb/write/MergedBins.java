package tech.bsdb.write;

import java.io.IOException;
import java.util.Arrays;
import tech.bsdb.format.PackedPage;
import tech.bsdb.format.RecordFrame;
import tech.bsdb.index.BinIndex;

/**
 * The records of a range of bins, collected in the order of their signatures. Long values stay
 * where they are and are referred to. May be used for one range after another, and keeps its memory
 * for that. Not thread-safe.
 */
final class MergedBins {
  /** The most bytes of a range, without long values: the longest array. */
  private static final int MOST_BYTES = Integer.MAX_VALUE - 8;

  /** The most bytes of a range to have room for before they are there. */
  private static final int MOST_EXPECTED = 1 << 28;

  private final long allBins;
  private final boolean signs;
  private long fromBin;
  private int bins;
  private int[] ends = new int[0];
  private byte[] filters = new byte[0];
  private byte[] bytes = new byte[0];
  private int used;
  private int bin;
  private int records;
  private long[] signatures = new long[0];
  private long[] longs = new long[0];
  private int longCount;

  /**
   * Creates an instance without a range.
   *
   * @param allBins the number of bins of the database
   * @param signs whether to keep the signatures, for a filter
   */
  MergedBins(long allBins, boolean signs) {
    this.allBins = allBins;
    this.signs = signs;
  }

  /**
   * Begins a range, without records.
   *
   * @param inline the bytes to expect, without long values
   */
  void begin(long from, long to, long inline) {
    fromBin = from;
    bins = Math.toIntExact(to - from);
    if (ends.length < bins) {
      ends = new int[bins];
      filters = new byte[bins];
    }
    Arrays.fill(filters, 0, bins, (byte) 0);
    if (bytes.length < inline) {
      bytes = new byte[(int) Math.min(MOST_EXPECTED, inline)];
    }
    used = 0;
    bin = 0;
    records = 0;
    longCount = 0;
  }

  /** The number of the first bin. */
  long fromBin() {
    return fromBin;
  }

  /**
   * Starts the next record.
   *
   * @param inline how many bytes {@link #put} will add, at most
   */
  void start(long high, long low, int inline) {
    int of = (int) (BinIndex.bin(high, allBins) - fromBin);
    while (bin < of) {
      ends[bin++] = used;
    }
    filters[of] |= (byte) PackedPage.filterBit(low);
    if (signs) {
      if (signatures.length < 2 * (records + 1)) {
        signatures = Arrays.copyOf(signatures, 2 * (records + (records >> 1)) + 2048);
      }
      signatures[2 * records] = high;
      signatures[2 * records + 1] = low;
    }
    records++;
    if (bytes.length - used < inline) {
      if (MOST_BYTES - used < inline) {
        throw new IllegalStateException(
            "more than 2 GiB of records in "
                + bins
                + " bins: too many with one key or one signature");
      }
      bytes = Arrays.copyOf(bytes, (int) Math.min(MOST_BYTES, 2L * used + inline));
    }
  }

  /** Adds bytes of the record. */
  void put(byte[] from, int offset, int length) {
    System.arraycopy(from, offset, bytes, used, length);
    used += length;
  }

  /** Adds the header of the record. */
  void putHeader(int keyLength, int valueLength) {
    used = RecordFrame.put(bytes, used, keyLength, valueLength);
  }

  /**
   * Adds a long value to the record.
   *
   * @param source the number of the database where it lies
   * @param place its place there
   * @param length its length there
   */
  void putLong(int source, long place, int length) {
    if (longs.length < LongValue.WORDS * (longCount + 1)) {
      longs = Arrays.copyOf(longs, LongValue.WORDS * (longCount + (longCount >> 1) + 8));
    }
    int at = LongValue.WORDS * longCount++;
    longs[at] = (long) bin << Integer.SIZE | used;
    longs[at + 1] = (long) source << Integer.SIZE | length;
    longs[at + 2] = place;
  }

  /** Ends the range. */
  void finish() {
    while (bin < bins) {
      ends[bin++] = used;
    }
  }

  /** The number of bins. */
  int bins() {
    return bins;
  }

  /** The end of a bin among the bytes; that of the one before the first is 0. */
  int end(int number) {
    return number < 0 ? 0 : ends[number];
  }

  /** The end of each bin among the bytes, and maybe more numbers. */
  int[] ends() {
    return ends;
  }

  /** The filter of a bin. */
  int filter(int number) {
    return filters[number];
  }

  /** The filter of each bin, and maybe more bytes. */
  byte[] filters() {
    return filters;
  }

  /** Holds the records, without long values. */
  byte[] bytes() {
    return bytes;
  }

  /** Passes on the keys of all records, in their order. */
  void forEachKey(KeyEntries.Keys sink) throws IOException {
    int next = 0; // the next long value
    for (int at = 0; at < used; ) {
      long header = RecordFrame.header(bytes, at);
      int from = at + RecordFrame.headerLength(header);
      at = from + RecordFrame.keyLength(header);
      sink.take(bytes, from, at);
      if (next < longCount && (int) longs[LongValue.WORDS * next] == at) {
        next++;
      } else {
        at += RecordFrame.valueLength(header);
      }
    }
  }

  /** Passes on the signatures of all records, in their order, if they were kept. */
  void forEachSignature(SortedBins.SignatureSink sink) throws IOException {
    for (int i = 0; i < 2 * records; i += 2) {
      sink.add(signatures[i], signatures[i + 1]);
    }
  }

  /** The number of long values. */
  int longValues() {
    return longCount;
  }

  /** A long value, in the order of the records. */
  LongValue longValue(int number) {
    int at = LongValue.WORDS * number;
    return new LongValue(
        (int) (longs[at] >>> Integer.SIZE),
        (int) longs[at],
        (int) (longs[at + 1] >>> Integer.SIZE),
        (int) longs[at + 1],
        longs[at + 2]);
  }

  /**
   * A long value.
   *
   * @param bin the number of its bin in the range
   * @param after the bytes of the range that it follows
   * @param source the number of the database where it lies
   * @param length its length there
   * @param place its place there
   */
  record LongValue(int bin, int after, int source, int length, long place) {
    private static final int WORDS = 3;
  }
}
