package tech.bsdb.build;

import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.function.LongBinaryOperator;
import org.jspecify.annotations.Nullable;
import tech.bsdb.hash.HashConstruction;

/**
 * The entries of one pass, grouped by bucket and sorted by signature within each bucket. Not
 * thread-safe.
 */
final class PassEntries {
  private static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private final int payloadBytes;
  private final int[] starts;
  private final int[] sizes;
  private long[] high;
  private long[] low;
  private byte[] payload;

  private PassEntries(int payloadBytes, int[] starts, long[] high, long[] low, byte[] payload) {
    this.payloadBytes = payloadBytes;
    this.starts = starts;
    this.high = high;
    this.low = low;
    this.payload = payload;
    this.sizes = new int[starts.length - 1];
    for (int i = 0; i < sizes.length; i++) {
      sizes[i] = starts[i + 1] - starts[i];
    }
  }

  /** Reads and sorts the entries of a range of buckets. */
  static PassEntries load(
      SignatureSpill spill,
      int fromPartition,
      int toPartition,
      HashConstruction hash,
      long fromBucket,
      long toBucket)
      throws IOException {
    int entryBytes = spill.entryBytes();
    int payloadBytes = entryBytes - 16;
    int[] starts = new int[Math.toIntExact(toBucket - fromBucket) + 1];
    for (int partition = fromPartition; partition < toPartition; partition++) {
      spill.read(
          partition,
          (chunk, entries) -> {
            for (int i = 0; i < entries; i++) {
              long bucket = hash.bucket((long) LONGS.get(chunk, i * entryBytes)) - fromBucket;
              if (bucket >= 0 && bucket < starts.length - 1) {
                starts[(int) bucket + 1]++;
              }
            }
          });
    }
    for (int i = 1; i < starts.length; i++) {
      starts[i] = Math.addExact(starts[i], starts[i - 1]);
    }
    int count = starts[starts.length - 1];
    long[] high = new long[count];
    long[] low = new long[count];
    byte[] payload = new byte[Math.multiplyExact(count, payloadBytes)];
    int[] next = starts.clone();
    for (int partition = fromPartition; partition < toPartition; partition++) {
      spill.read(
          partition,
          (chunk, entries) -> {
            for (int i = 0; i < entries; i++) {
              int at = i * entryBytes;
              long first = (long) LONGS.get(chunk, at);
              long bucket = hash.bucket(first) - fromBucket;
              if (bucket >= 0 && bucket < starts.length - 1) {
                int to = next[(int) bucket]++;
                high[to] = first;
                low[to] = (long) LONGS.get(chunk, at + 8);
                System.arraycopy(chunk, at + 16, payload, to * payloadBytes, payloadBytes);
              }
            }
          });
    }
    PassEntries entries = new PassEntries(payloadBytes, starts, high, low, payload);
    entries.sort();
    return entries;
  }

  /*
   * Each bucket is sorted by the upper bits of the first half, with the entry's number in the lower bits, so that
   * primitive longs are sorted. The few entries that share those upper bits are put in order afterwards.
   */
  private void sort() {
    long[] sortedHigh = new long[high.length];
    long[] sortedLow = new long[low.length];
    byte[] sortedPayload = new byte[payload.length];
    long[] order = new long[0];
    for (int bucket = 0; bucket < sizes.length; bucket++) {
      int start = starts[bucket];
      int size = sizes[bucket];
      if (order.length < size) {
        order = new long[Math.max(size, 1024)];
      }
      long numbers = size < 2 ? 1 : (Long.highestOneBit(size - 1L) << 1) - 1;
      for (int i = 0; i < size; i++) {
        order[i] = (high[start + i] ^ Long.MIN_VALUE) & ~numbers | i;
      }
      Arrays.sort(order, 0, size);
      for (int i = 1; i < size; i++) {
        if ((order[i] ^ order[i - 1]) <= numbers && (order[i] ^ order[i - 1]) >= 0) {
          settle(order, i, numbers, start);
        }
      }
      for (int i = 0; i < size; i++) {
        int from = start + (int) (order[i] & numbers);
        sortedHigh[start + i] = high[from];
        sortedLow[start + i] = low[from];
        System.arraycopy(
            payload, from * payloadBytes, sortedPayload, (start + i) * payloadBytes, payloadBytes);
      }
    }
    high = sortedHigh;
    low = sortedLow;
    payload = sortedPayload;
  }

  /** Moves the entry at {@code at} to its sorted position among the preceding entries. */
  private void settle(long[] order, int at, long numbers, int start) {
    long moving = order[at];
    int entry = start + (int) (moving & numbers);
    int i = at;
    while (i > 0 && compare(start + (int) (order[i - 1] & numbers), entry) > 0) {
      order[i] = order[i - 1];
      i--;
    }
    order[i] = moving;
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
    for (int bucket = 0; bucket < sizes.length; bucket++) {
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
    return high.length;
  }

  /** The number of buckets in the pass. */
  int buckets() {
    return sizes.length;
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
}
