package tech.bsdb.write;

import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.LongBinaryOperator;
import org.jspecify.annotations.Nullable;
import tech.bsdb.hash.HashConstruction;

/**
 * The entries of one pass, grouped by bucket and sorted by signature within each bucket. Keeps its
 * memory from one pass to the next. Not thread-safe.
 */
final class PassEntries {
  private static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  /** Entries per bin on average, at least; few, so that sorting a bin takes little. */
  private static final int PER_BIN = 2;

  /** Larger bins, of many copies of a key, are sorted in another way. */
  private static final int LARGE_BIN = 64;

  private final int payloadBytes;
  private final RawEntries raw;
  private int buckets;
  private int[] starts = new int[0];
  private int[] sizes = new int[0];
  private int[] next = new int[0];
  private long[] high = new long[0];
  private long[] low = new long[0];
  private byte[] payload = new byte[0];

  /**
   * Creates an instance without entries.
   *
   * @param entryBytes bytes of an entry in the spill
   */
  PassEntries(int entryBytes) {
    this.payloadBytes = entryBytes - 16;
    this.raw = new RawEntries(entryBytes);
  }

  /** Reads and sorts the entries of a range of buckets, in place of those it has. */
  void load(
      SignatureSpill spill,
      int fromPartition,
      int toPartition,
      HashConstruction hash,
      long fromBucket,
      long toBucket)
      throws IOException {
    int entryBytes = spill.entryBytes();
    long most = 0;
    for (int partition = fromPartition; partition < toPartition; partition++) {
      most += spill.count(partition);
    }
    raw.clear(most);
    boolean whole =
        HashConstruction.bucket(SignatureSpill.firstHigh(fromPartition), hash.buckets())
                >= fromBucket
            && HashConstruction.bucket(SignatureSpill.firstHigh(toPartition) - 1, hash.buckets())
                < toBucket;
    for (int partition = fromPartition; partition < toPartition; partition++) {
      spill.read(
          partition,
          (chunk, from, to) -> {
            if (whole) {
              raw.add(chunk, from, to - from);
              return;
            }
            for (int at = from; at < to; at += entryBytes) {
              long bucket = HashConstruction.bucket((long) LONGS.get(chunk, at), hash.buckets());
              if (bucket >= fromBucket && bucket < toBucket) {
                raw.add(chunk, at, entryBytes);
              }
            }
          });
    }
    buckets = Math.toIntExact(toBucket - fromBucket);
    if (sizes.length < buckets) {
      starts = new int[buckets];
      sizes = new int[buckets];
    }
    int count = raw.count();
    if (high.length < count) {
      high = new long[count];
      low = new long[count];
      payload = new byte[Math.multiplyExact(count, payloadBytes)];
    }
    sort(fromBucket, hash.buckets());
  }

  /*
   * Each bucket is divided into bins of a few entries. As the bin is the first half of the signature scaled, like the
   * bucket, bins are in the order of the signatures, and only the entries within a bin remain to be sorted.
   */
  private void sort(long fromBucket, long allBuckets) {
    int perBucket = Integer.highestOneBit(Math.max(1, raw.count() / buckets / PER_BIN));
    long bins = allBuckets * perBucket;
    long firstBin = fromBucket * perBucket;
    int ends = Math.addExact(Math.multiplyExact(buckets, perBucket), 1);
    if (next.length < ends) {
      next = new int[ends];
    } else {
      Arrays.fill(next, 0, ends, 0);
    }
    raw.forEach(
        (bytes, at) -> {
          long bin = HashConstruction.bucket((long) LONGS.get(bytes, at), bins) - firstBin;
          next[(int) bin + 1]++;
        });
    for (int i = 1; i < ends; i++) {
      next[i] += next[i - 1];
    }
    for (int bucket = 0; bucket < buckets; bucket++) {
      starts[bucket] = next[bucket * perBucket];
      sizes[bucket] = next[(bucket + 1) * perBucket] - starts[bucket];
    }
    raw.forEach(
        (bytes, at) -> {
          long first = (long) LONGS.get(bytes, at);
          int to = next[(int) (HashConstruction.bucket(first, bins) - firstBin)]++;
          high[to] = first;
          low[to] = (long) LONGS.get(bytes, at + 8);
          System.arraycopy(bytes, at + 16, payload, to * payloadBytes, payloadBytes);
        });
    byte[] moving = new byte[payloadBytes];
    int start = 0;
    for (int bin = 0; bin + 1 < ends; bin++) {
      if (next[bin] - start > LARGE_BIN) {
        sortLarge(start, next[bin]);
      } else {
        sortSmall(start, next[bin], moving);
      }
      start = next[bin];
    }
  }

  /** Sorts a range of entries by insertion. */
  private void sortSmall(int start, int end, byte[] moving) {
    for (int i = start + 1; i < end; i++) {
      int to = i;
      while (to > start && compare(to - 1, i) > 0) {
        to--;
      }
      if (to < i) {
        long movingHigh = high[i];
        long movingLow = low[i];
        System.arraycopy(payload, i * payloadBytes, moving, 0, payloadBytes);
        System.arraycopy(high, to, high, to + 1, i - to);
        System.arraycopy(low, to, low, to + 1, i - to);
        System.arraycopy(
            payload, to * payloadBytes, payload, (to + 1) * payloadBytes, (i - to) * payloadBytes);
        high[to] = movingHigh;
        low[to] = movingLow;
        System.arraycopy(moving, 0, payload, to * payloadBytes, payloadBytes);
      }
    }
  }

  /** Sorts a range of many entries. */
  private void sortLarge(int start, int end) {
    Integer[] order = new Integer[end - start];
    Arrays.setAll(order, i -> start + i);
    Arrays.sort(order, this::compare);
    long[] sortedHigh = new long[order.length];
    long[] sortedLow = new long[order.length];
    byte[] sortedPayload = new byte[order.length * payloadBytes];
    for (int i = 0; i < order.length; i++) {
      sortedHigh[i] = high[order[i]];
      sortedLow[i] = low[order[i]];
      System.arraycopy(
          payload, order[i] * payloadBytes, sortedPayload, i * payloadBytes, payloadBytes);
    }
    System.arraycopy(sortedHigh, 0, high, start, order.length);
    System.arraycopy(sortedLow, 0, low, start, order.length);
    System.arraycopy(sortedPayload, 0, payload, start * payloadBytes, sortedPayload.length);
  }

  private int compare(int a, int b) {
    int byHigh = Long.compareUnsigned(high[a], high[b]);
    return byHigh != 0 ? byHigh : Long.compareUnsigned(low[a], low[b]);
  }

  /**
   * Drops all but one of the entries with the same signature and returns the number of entries
   * kept.
   *
   * @param kept chooses which of two addresses to keep; null to fail on duplicates
   */
  int distinct(@Nullable LongBinaryOperator kept) throws DuplicateSignatureException {
    int total = 0;
    for (int bucket = 0; bucket < buckets; bucket++) {
      int start = starts[bucket];
      int to = start;
      for (int i = start; i < start + sizes[bucket]; i++) {
        if (to > start && high[to - 1] == high[i] && low[to - 1] == low[i]) {
          if (kept == null) {
            throw new DuplicateSignatureException(address(to - 1), address(i));
          }
          if (kept.applyAsLong(address(to - 1), address(i)) == address(i)) {
            move(i, to - 1);
          }
        } else {
          move(i, to++);
        }
      }
      sizes[bucket] = to - start;
      total += sizes[bucket];
    }
    return total;
  }

  private void move(int from, int to) {
    if (from != to) {
      high[to] = high[from];
      low[to] = low[from];
      System.arraycopy(payload, from * payloadBytes, payload, to * payloadBytes, payloadBytes);
    }
  }

  private long address(int entry) {
    return (long) LONGS.get(payload, entry * payloadBytes);
  }

  /** The total number of entries. */
  int size() {
    return raw.count();
  }

  /** The number of buckets in the pass. */
  int buckets() {
    return buckets;
  }

  /** The index of a bucket's first entry in the arrays. */
  int start(int bucket) {
    return starts[bucket];
  }

  /** The number of entries kept in a bucket. */
  int size(int bucket) {
    return sizes[bucket];
  }

  /** First halves of the signatures. */
  long[] high() {
    return high;
  }

  /** Second halves of the signatures. */
  long[] low() {
    return low;
  }

  /** Copies the last {@code length} bytes of an entry's payload. */
  void copyTail(int entry, byte[] target, int offset, int length) {
    System.arraycopy(payload, (entry + 1) * payloadBytes - length, target, offset, length);
  }

  /** Entries as they are in the spill, in pieces, so that their number need not be known. */
  private static final class RawEntries {
    private static final int PIECE_TARGET = 1 << 20;

    private final int entryBytes;
    private final List<byte[]> pieces = new ArrayList<>();
    private int pieceBytes;
    private int used;
    private int inLast;

    RawEntries(int entryBytes) {
      this.entryBytes = entryBytes;
    }

    /** Drops the entries, of which there will be so many at most. */
    void clear(long most) {
      int wanted = entryBytes * (int) Math.max(1, Math.min(PIECE_TARGET / entryBytes, most));
      if (pieceBytes < wanted) {
        pieces.clear();
        pieceBytes = wanted;
      }
      used = 0;
      inLast = pieceBytes;
    }

    /** Receives the bytes of an entry, which start at {@code at}. */
    @FunctionalInterface
    interface Taker {
      void take(byte[] bytes, int at);
    }

    /** Appends entries that have {@code length} bytes together. */
    void add(byte[] chunk, int from, int length) {
      int done = 0;
      while (done < length) {
        if (inLast == pieceBytes) {
          if (used == pieces.size()) {
            pieces.add(new byte[pieceBytes]);
          }
          used++;
          inLast = 0;
        }
        int part = Math.min(length - done, pieceBytes - inLast);
        System.arraycopy(chunk, from + done, pieces.get(used - 1), inLast, part);
        done += part;
        inLast += part;
      }
    }

    int count() {
      return used == 0
          ? 0
          : Math.toIntExact(((long) (used - 1) * pieceBytes + inLast) / entryBytes);
    }

    void forEach(Taker taker) {
      for (int i = 0; i < used; i++) {
        byte[] piece = pieces.get(i);
        int end = i == used - 1 ? inLast : pieceBytes;
        for (int at = 0; at < end; at += entryBytes) {
          taker.take(piece, at);
        }
      }
    }
  }
}
