package tech.bsdb.write;

import java.io.IOException;
import java.util.Arrays;
import java.util.Comparator;
import org.jspecify.annotations.Nullable;
import tech.bsdb.DuplicatePolicy;
import tech.bsdb.index.BinIndex;

/**
 * The entries of a range of bins, sorted by signature. Entries with the same signature are in the
 * order in which they were added; of duplicates one is kept. Keeps its memory from one range to the
 * next. Not thread-safe.
 */
class SignatureRun {
  /** More entries that the bins leave together, or with one signature, take a general algorithm. */
  static final int FEW = 24;

  /** The most bytes of the entries of a pass: the longest array. */
  private static final int MOST_BYTES = Integer.MAX_VALUE - 8;

  /** Memory to allocate at first, relative to the entries that such a range of bins should hold. */
  private static final double SLACK = 1.1;

  /** Larger bins are divided into parts of so many entries on average, at least. */
  private static final int PER_PART = 2;

  private final DuplicatePolicy keep;
  private long bins;
  private long fromBin;
  private int binCount;
  private int count;
  private byte[] bytes = new byte[0];
  private int[] starts = new int[1];
  private long[] highs = new long[0];
  private long[] lows = new long[0];

  /** The sorted entries: so many are kept, and each bin has those from its start on. */
  private int[] order = new int[0];

  private int[] binStarts = new int[0];
  private int[] ends = new int[0];
  private int kept;

  private boolean grown;
  private @Nullable Refused refused;

  /**
   * Two entries that are duplicates, which are not allowed.
   *
   * @param high the first half of their signature
   * @param low the second half
   */
  record Refused(long high, long low, byte[] first, byte[] second) {
    /** Whether their signature is not behind another. */
    boolean precedes(long otherHigh, long otherLow) {
      return SignatureRun.compare(high, low, otherHigh, otherLow) <= 0;
    }
  }

  /**
   * Creates an instance without entries.
   *
   * @param keep which of several duplicates to keep
   */
  SignatureRun(DuplicatePolicy keep) {
    this.keep = keep;
  }

  /**
   * Begins a range of bins, without the entries of the last one.
   *
   * @param bins the number of all bins
   * @param range the bins, and the partitions that hold them
   * @param entries the number of entries in these partitions
   * @param entryBytes their bytes
   */
  final void begin(long bins, Passes.Range range, long entries, long entryBytes) {
    this.bins = bins;
    this.fromBin = range.fromBin();
    this.binCount = Math.toIntExact(range.toBin() - fromBin);
    count = 0;
    kept = 0;
    grown = false;
    refused = null;
    double share = Math.min(1, SLACK * range.share(bins));
    // Partitions differ by chance: memory that is enough for one should be for all.
    double most = 1 + 4 / Math.sqrt(1.0 + entries);
    if (binStarts.length <= binCount) {
      binStarts = new int[binCount + 1];
    }
    double wanted = Math.min(1 << 28, share * entries);
    if (highs.length <= wanted) {
      int room = (int) (most * wanted) + 1;
      starts = new int[room + 1];
      highs = new long[room];
      lows = new long[room];
      order = new int[room];
    }
    double wantedBytes = Math.min(1 << 30, share * entryBytes);
    if (bytes.length < wantedBytes) {
      bytes = new byte[(int) (most * wantedBytes) + 64];
    }
  }

  /** Whether the entries took more memory than such a range of bins should. */
  final boolean hasGrown() {
    return grown;
  }

  /** Adds an entry, if it is in the range. Those behind duplicates that are refused may go. */
  final void add(long high, long low, byte[] from, int at, int length) throws IOException {
    long bin = BinIndex.bin(high, bins) - fromBin;
    if (bin < 0 || bin >= binCount || refused != null && refused.precedes(high, low)) {
      return;
    }
    int start = starts[count];
    if (count == highs.length || bytes.length - start < length) {
      makeRoom(length);
      start = starts[count];
    }
    System.arraycopy(from, at, bytes, start, length);
    highs[count] = high;
    lows[count] = low;
    starts[++count] = start + length;
  }

  /**
   * Makes room for an entry. Drops duplicates, of which there may be more than fit into memory, and
   * grows unless that freed half of it. Where they are not allowed, the first one does not end the
   * pass, because which one is named must not depend on the memory, and an entry that was not read
   * yet may be one before it. But entries behind it are no longer collected.
   */
  private void makeRoom(int length) throws IOException {
    sort();
    boolean drops = keep != DuplicatePolicy.ERROR || refused != null;
    if (drops) {
      dropDuplicates();
    }
    if (count == highs.length || drops && count > highs.length / 2) {
      int more = count + (count >> 1) + 1024;
      starts = Arrays.copyOf(starts, more + 1);
      highs = Arrays.copyOf(highs, more);
      lows = Arrays.copyOf(lows, more);
      grown = true;
    }
    int used = starts[count];
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

  /**
   * Drops duplicates among the sorted entries. The others stay in the order of {@link #keep(int,
   * int)}, so that the result is the same as if nothing was dropped before the end.
   */
  private void dropDuplicates() {
    byte[] keptBytes = new byte[bytes.length];
    int[] keptStarts = new int[starts.length];
    long[] keptHighs = new long[highs.length];
    long[] keptLows = new long[lows.length];
    int to = 0;
    for (int i = 0; i < kept; i++) {
      int entry = order[i];
      int length = starts[entry + 1] - starts[entry];
      System.arraycopy(bytes, starts[entry], keptBytes, to, length);
      keptHighs[i] = highs[entry];
      keptLows[i] = lows[entry];
      to += length;
      keptStarts[i + 1] = to;
    }
    bytes = keptBytes;
    starts = keptStarts;
    highs = keptHighs;
    lows = keptLows;
    count = kept;
  }

  /** Sorts the entries, and keeps one of several duplicates. */
  final void sort() {
    // Bins of many entries are divided into parts of a few. A part is the first half of the
    // signature scaled, like a bin, so parts are in the order of the signatures, and only the
    // entries within a part remain to be sorted.
    int perBin = Integer.highestOneBit(Math.max(1, count / binCount / PER_PART));
    int parts = Math.multiplyExact(binCount, perBin);
    long allParts = bins * perBin;
    long firstPart = fromBin * perBin;
    if (ends.length <= parts) {
      ends = new int[parts + 1];
    } else {
      Arrays.fill(ends, 0, parts + 1, 0);
    }
    if (order.length < count) {
      order = new int[highs.length];
    }
    for (int i = 0; i < count; i++) {
      ends[(int) (BinIndex.bin(highs[i], allParts) - firstPart) + 1]++;
    }
    for (int i = 1; i <= parts; i++) {
      ends[i] += ends[i - 1];
    }
    for (int i = 0; i < count; i++) {
      order[ends[(int) (BinIndex.bin(highs[i], allParts) - firstPart)]++] = i;
    }
    kept = 0;
    int from = 0;
    for (int part = 0; part < parts; part++) {
      if (part % perBin == 0) {
        binStarts[part / perBin] = kept;
      }
      sort(from, ends[part]);
      keep(from, ends[part]);
      from = ends[part];
    }
    binStarts[binCount] = kept;
  }

  /** Sorts a part. Its entries are in the order of adding, and equal ones must stay so. */
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
    return compare(highs[a], lows[a], highs[b], lows[b]);
  }

  private static int compare(long high, long low, long otherHigh, long otherLow) {
    int byHigh = Long.compareUnsigned(high, otherHigh);
    return byHigh != 0 ? byHigh : Long.compareUnsigned(low, otherLow);
  }

  /** Keeps the entries of a sorted part, but only one of several duplicates. */
  private void keep(int from, int end) {
    int first = kept; // the first kept entry with the signature of the current one
    for (int i = from; i < end; i++) {
      int entry = order[i];
      if (kept == first || compare(order[first], entry) != 0) {
        first = kept;
        order[kept++] = entry;
        continue;
      }
      int same = duplicate(first, kept, entry);
      if (same < 0) {
        order[kept++] = entry;
      } else if (keep == DuplicatePolicy.ERROR) {
        refuse(order[same], entry);
      } else if (keep == DuplicatePolicy.LAST) {
        order[same] = entry;
      }
    }
  }

  /**
   * Finds an entry of which another one with the same signature is a duplicate: here, any.
   *
   * @param first the position of the first entry with this signature
   * @param end the end of these, all different; also the position of the other one if it is, too
   * @param entry the other one
   * @return the position, or -1
   */
  int duplicate(int first, int end, int entry) {
    return first;
  }

  /** Keeps in mind the first duplicates that are not allowed. */
  private void refuse(int first, int second) {
    if (refused == null || !refused.precedes(highs[second], lows[second])) {
      refused = new Refused(highs[second], lows[second], copy(first), copy(second));
    }
  }

  private byte[] copy(int entry) {
    return Arrays.copyOfRange(bytes, starts[entry], starts[entry + 1]);
  }

  /** The first duplicates in the order of signatures, and then of adding; null if allowed. */
  final @Nullable Refused refused() {
    return refused;
  }

  /** The number of bins. */
  final int bins() {
    return binCount;
  }

  /** The number of entries kept. */
  final int records() {
    return kept;
  }

  /** The position in the order of a bin's first entry; for the number of bins, of the end. */
  final int start(int bin) {
    return binStarts[bin];
  }

  /** Holds the entries. */
  final byte[] bytes() {
    return bytes;
  }

  /** The entry at a position of the order, by the number of those in memory before it. */
  final int entry(int position) {
    return order[position];
  }

  /** The first half of the signature of the entry at a position of the order. */
  final long high(int position) {
    return highs[order[position]];
  }

  /** The second half of the signature of the entry at a position of the order. */
  final long low(int position) {
    return lows[order[position]];
  }

  /** Where the entry at a position of the order starts. */
  final int recordStart(int position) {
    return starts[order[position]];
  }

  /** The end of the entry at a position of the order. */
  final int recordEnd(int position) {
    return starts[order[position] + 1];
  }

  /** Where an entry in memory starts. */
  final int startOf(int entry) {
    return starts[entry];
  }
}
