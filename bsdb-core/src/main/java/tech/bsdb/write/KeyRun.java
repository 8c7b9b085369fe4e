package tech.bsdb.write;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * Keys in memory, which are sorted there. Keys that are equal stay in the order in which they were
 * added. Not thread-safe.
 */
final class KeyRun {
  /** Bytes of memory of a key besides its entry. */
  static final int OVERHEAD = 2 * Long.BYTES + 3 * Integer.BYTES;

  private static final VarHandle WORDS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

  /** So few keys are sorted by insertion. */
  private static final int FEW = 12;

  /** So often keys are split by their words; what is equal then is compared. */
  private static final int MOST_SPLITS = 64;

  /** Sorted by so many bits more than would tell the keys apart if they were all equally likely. */
  private static final int SPARE_BITS = 16;

  /** The entries, one after the other. */
  private byte[] bytes;

  /** Where each entry starts, and where the last one ends. */
  private int[] starts;

  private int count;
  private int[] order = new int[0];

  /** For sorting all keys, kept for the next time. */
  private long[] words = new long[0];

  /** Bytes that all keys have in common, which the words follow. */
  private int common;

  /** The bits of the words by which all keys were sorted; 0 if there are no words. */
  private long told;

  private long[] otherWords = new long[0];
  private int[] otherOrder = new int[0];

  /**
   * Creates an empty run.
   *
   * @param keys the number of keys to expect
   * @param entryBytes bytes of their entries
   */
  KeyRun(int keys, long entryBytes) {
    this.bytes = new byte[(int) Math.min(1 << 30, entryBytes) + Long.BYTES];
    this.starts = new int[keys + 1];
  }

  /** Adds a key, which is part of an array. */
  void add(byte[] from, int start, int end) {
    int length = end - start;
    byte[] into = room(KeyEntries.HEAD + length);
    addStart(KeyEntries.put(into, starts[count], from, start, length));
  }

  /** Adds the entries in a part of an array, which lie one after the other. */
  void addEntries(byte[] from, int start, int end) {
    int at = starts[count];
    int last = at + end - start;
    System.arraycopy(from, start, room(end - start), at, end - start);
    while (at < last) {
      at += KeyEntries.HEAD + KeyEntries.length(bytes, at);
      addStart(at);
    }
  }

  /** The array of the entries, with room for so many bytes behind the last one. */
  private byte[] room(int length) {
    long needed = starts[count] + (long) length + Long.BYTES;
    if (bytes.length < needed) {
      bytes = Arrays.copyOf(bytes, larger(bytes.length, needed));
    }
    return bytes;
  }

  /** Where the last entry ends in the array of the entries. */
  int end() {
    return starts[count];
  }

  private void addStart(int next) {
    if (count + 1 == starts.length) {
      starts = Arrays.copyOf(starts, larger(starts.length, count + 2L));
    }
    starts[++count] = next;
  }

  private static int larger(int length, long needed) {
    return Math.toIntExact(Math.max(needed, Math.min(Integer.MAX_VALUE - 8L, length * 3L / 2)));
  }

  /** The number of keys. */
  int count() {
    return count;
  }

  /** Bytes of memory that the keys take. */
  long memory() {
    return starts[count] + (long) OVERHEAD * count;
  }

  /**
   * Removes all keys.
   *
   * @param keys the number of keys to expect then
   * @param entryBytes bytes of their entries
   */
  void clear(int keys, long entryBytes) {
    count = 0;
    if (bytes.length < entryBytes + Long.BYTES) {
      bytes = new byte[0]; // so that only one of both is in memory
      bytes = new byte[(int) Math.min(1 << 30, entryBytes) + Long.BYTES];
    }
    if (starts.length <= keys) {
      starts = new int[keys + 1];
      order = new int[0];
    }
  }

  /** Sorts the keys. */
  void sort() {
    if (order.length < count) {
      int room = starts.length;
      order = new int[room];
      words = new long[room];
      otherWords = new long[room];
      otherOrder = new int[room];
    }
    for (int i = 0; i < count; i++) {
      order[i] = i;
    }
    told = 0;
    sort(0, count, MOST_SPLITS);
  }

  /*
   * Sorts by the eight bytes after those that all keys have in common, as numbers, then what is equal in them. A key
   * that ends before is followed by zeros there; where that makes it equal to others, keys are compared. So they are
   * after many splits: keys that part one by one, each far behind the last, would split as often as there are keys.
   */
  private void sort(int from, int to, int splits) {
    if (to - from <= FEW) {
      sortFew(from, to);
      return;
    }
    int size = to - from;
    boolean all = size == count;
    long[] sorted = all ? words : new long[size];
    int common = common(from, to);
    boolean ended = false;
    for (int i = 0; i < size; i++) {
      int key = order[from + i];
      sorted[i] = word(bytes, starts[key] + KeyEntries.HEAD + common, starts[key + 1]);
      ended |= length(key) < common + Long.BYTES;
    }
    long differing =
        sort(
            sorted,
            all ? otherWords : new long[size],
            from,
            all ? otherOrder : new int[size],
            size);
    if (all) {
      this.common = common;
      told = differing;
    }
    int start = 0;
    for (int i = 1; i <= size; i++) {
      if (i == size || ((sorted[i] ^ sorted[start]) & differing) != 0) {
        if (i - start > FEW && (ended || splits == 1 || i - start == size)) {
          sortByComparison(from + start, from + i);
        } else if (i - start > 1) {
          sort(from + start, from + i, splits - 1);
        }
        start = i;
      }
    }
  }

  /**
   * Sorts numbers by their first bytes, as many as should tell most of them apart, and with them a
   * range of the order; what is equal in these stays in its order.
   *
   * @return the bits of these bytes
   */
  private long sort(long[] numbers, long[] others, int from, int[] otherPlaces, int size) {
    long differing = 0;
    for (int i = 1; i < size; i++) {
      differing |= numbers[i] ^ numbers[0];
    }
    int least = Long.SIZE;
    for (int bits = Integer.SIZE - Integer.numberOfLeadingZeros(size) + SPARE_BITS;
        least > 0 && bits > 0; ) {
      least -= Byte.SIZE;
      bits -= Long.bitCount(differing >>> least & 0xFF);
    }
    int[] ends = new int[1 << Byte.SIZE];
    boolean moved = false;
    for (int shift = least; shift < Long.SIZE; shift += Byte.SIZE) {
      if ((differing >>> shift & 0xFF) != 0) {
        if (moved) {
          pass(others, otherPlaces, 0, numbers, order, from, size, shift, ends);
        } else {
          pass(numbers, order, from, others, otherPlaces, 0, size, shift, ends);
        }
        moved = !moved;
      }
    }
    if (moved) {
      System.arraycopy(others, 0, numbers, 0, size);
      System.arraycopy(otherPlaces, 0, order, from, size);
    }
    return -1L << least;
  }

  /** Sorts by one byte of the numbers. */
  private static void pass(
      long[] numbers,
      int[] places,
      int from,
      long[] toNumbers,
      int[] toPlaces,
      int to,
      int size,
      int shift,
      int[] counts) {
    Arrays.fill(counts, 0);
    for (int i = 0; i < size; i++) {
      counts[(int) (numbers[i] >>> shift) & 0xFF]++;
    }
    int start = 0;
    for (int i = 0; i < counts.length; i++) {
      int count = counts[i];
      counts[i] = start;
      start += count;
    }
    for (int i = 0; i < size; i++) {
      int target = counts[(int) (numbers[i] >>> shift) & 0xFF]++;
      toNumbers[target] = numbers[i];
      toPlaces[to + target] = places[from + i];
    }
  }

  private void sortByComparison(int from, int to) {
    Integer[] sorted = new Integer[to - from];
    for (int i = from; i < to; i++) {
      sorted[i - from] = order[i];
    }
    Arrays.sort(sorted, this::compare);
    for (int i = from; i < to; i++) {
      order[i] = sorted[i - from];
    }
  }

  private void sortFew(int from, int to) {
    for (int i = from + 1; i < to; i++) {
      int key = order[i];
      int at = i;
      while (at > from && compare(order[at - 1], key) > 0) {
        order[at] = order[at - 1];
        at--;
      }
      order[at] = key;
    }
  }

  /** Bytes that all keys of a range have in common. */
  private int common(int from, int to) {
    int first = order[from];
    int start = starts[first] + KeyEntries.HEAD;
    int end = starts[first + 1];
    for (int i = from + 1; i < to; i++) {
      int key = order[i];
      int mismatch =
          Arrays.mismatch(bytes, start, end, bytes, starts[key] + KeyEntries.HEAD, starts[key + 1]);
      if (mismatch >= 0) {
        end = start + mismatch;
      }
    }
    return end - start;
  }

  /** The length of a key, by the number of those before it. */
  private int length(int key) {
    return starts[key + 1] - starts[key] - KeyEntries.HEAD;
  }

  /**
   * The first eight bytes of a range as a number in big-endian order; zeros follow a shorter one.
   *
   * @param bytes has eight bytes more than the range
   */
  static long word(byte[] bytes, int from, int to) {
    int length = to - from;
    if (length >= Long.BYTES) {
      return (long) WORDS.get(bytes, from);
    }
    return length <= 0 ? 0 : (long) WORDS.get(bytes, from) & -1L << Long.SIZE - Byte.SIZE * length;
  }

  private int compare(int one, int other) {
    int byKey =
        Arrays.compareUnsigned(
            bytes,
            starts[one] + KeyEntries.HEAD,
            starts[one + 1],
            bytes,
            starts[other] + KeyEntries.HEAD,
            starts[other + 1]);
    return byKey != 0 ? byKey : Integer.compare(one, other);
  }

  /** The bytes that the key at a position of the order, not the first, shares with that before. */
  int sharedWithLast(int position) {
    int key = order[position];
    int last = order[position - 1];
    int shorter = Math.min(length(last), length(key));
    long differing = (words[position] ^ words[position - 1]) & told;
    if (differing != 0) {
      return Math.min(shorter, common + Long.numberOfLeadingZeros(differing) / Byte.SIZE);
    }
    int start = starts[key] + KeyEntries.HEAD;
    int lastStart = starts[last] + KeyEntries.HEAD;
    int mismatch =
        Arrays.mismatch(bytes, lastStart, lastStart + shorter, bytes, start, start + shorter);
    return mismatch < 0 ? shorter : mismatch;
  }

  /**
   * The bytes that each key shares with that before it in the order, except for the first.
   *
   * @param into is used if it is large enough
   */
  char[] sharedWithLast(char[] into) {
    char[] shared = into.length >= count ? into : new char[count + count / 8];
    for (int i = 1; i < count; i++) {
      shared[i] = (char) sharedWithLast(i);
    }
    return shared;
  }

  /** Holds the keys. */
  byte[] bytes() {
    return bytes;
  }

  /** How many keys were added before the one at a position of the order. */
  int number(int position) {
    return order[position];
  }

  /** Where the key at a position of the order starts. */
  int start(int position) {
    return starts[order[position]] + KeyEntries.HEAD;
  }

  /** Where the key at a position of the order ends. */
  int end(int position) {
    return starts[order[position] + 1];
  }
}
