package tech.bsdb.write;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Keys that divide all others, by their order, into partitions of about the same size. Immutable.
 */
final class KeySplitters {
  /** Bytes of a sample, about. */
  private static final long SAMPLE_BYTES = 4L << 20;

  private final byte[][] keys;

  /** What all splitters begin with. */
  private final byte[] common;

  /** The first bytes after that of each, as numbers that compare as the bytes do. */
  private final long[] words;

  /** The words are divided into this many cells of the same width, so that few are searched. */
  private static final int CELLS = 1 << 16;

  private final int shift;

  /** The number of splitters before each cell. */
  private final char[] before;

  /**
   * Chooses splitters. A key that much of the sample consists of gets a partition of its own.
   *
   * @param sample some of the keys, from anywhere
   * @param partitions how many partitions there should be; there are fewer if the sample is small
   */
  KeySplitters(List<byte[]> sample, int partitions) {
    byte[][] sorted = sample.toArray(byte[][]::new);
    Arrays.sort(sorted, Arrays::compareUnsigned);
    byte[][] chosen = new byte[partitions][];
    int count = 0;
    for (int i = 1; i < partitions; i++) {
      int at = (int) ((long) sorted.length * i / partitions);
      if (at < sorted.length) {
        byte[] splitter = sorted[at];
        if (count > 0 && Arrays.equals(chosen[count - 1], splitter)) {
          splitter = successor(splitter);
        }
        if (count == 0 || Arrays.compareUnsigned(chosen[count - 1], splitter) < 0) {
          chosen[count++] = splitter;
        }
      }
    }
    this.keys = Arrays.copyOf(chosen, count);
    this.common = count == 0 ? new byte[0] : common(keys[0], keys[count - 1]);
    this.words = new long[count];
    for (int i = 0; i < count; i++) {
      words[i] = word(keys[i], common.length, keys[i].length);
    }
    long range = count == 0 ? 0 : words[count - 1] - words[0];
    this.shift =
        Math.max(
            0, Long.SIZE - Long.numberOfLeadingZeros(range) - Integer.numberOfTrailingZeros(CELLS));
    this.before = new char[count == 0 ? 0 : CELLS + 1];
    for (long word : words) {
      before[cell(word) + 1]++;
    }
    for (int i = 1; i < before.length; i++) {
      before[i] += before[i - 1];
    }
  }

  /**
   * Chooses splitters by some keys, from everywhere. They are chosen at random, so that there is no
   * input for which they are always a bad choice.
   *
   * @param count the number of keys
   * @param bytes their bytes, with what lies between them
   */
  static KeySplitters of(KeyEntries.Source keys, long count, long bytes, int partitions)
      throws IOException {
    long fitting = Math.max(2, SAMPLE_BYTES * count / Math.max(1, bytes));
    long step = Math.max(1, count / Math.min(fitting, (long) partitions * SortLimits.SAMPLES));
    SplittableRandom random = new SplittableRandom();
    List<byte[]> sample = new ArrayList<>();
    long[] at = {0};
    long[] next = {random.nextLong(step)};
    long[] room = {2 * SAMPLE_BYTES};
    keys.each(
        (from, start, end) -> {
          if (at[0] == next[0] && room[0] >= end - start) {
            sample.add(Arrays.copyOfRange(from, start, end));
            room[0] -= end - start;
          }
          if (++at[0] % step == 0) {
            next[0] = at[0] + random.nextLong(step);
          }
        });
    return new KeySplitters(sample, partitions);
  }

  /** The cell of a word from the first to the last. */
  private int cell(long word) {
    return (int) (word - words[0] >>> shift);
  }

  private static byte[] common(byte[] first, byte[] last) {
    int mismatch = Arrays.mismatch(first, last);
    return mismatch < 0 ? first : Arrays.copyOf(first, mismatch);
  }

  /** Eight bytes as an unsigned number; zeros follow a short key. */
  private static long word(byte[] bytes, int from, int to) {
    if (to - from >= Long.BYTES) {
      return KeyRun.word(bytes, from, to);
    }
    long word = 0;
    for (int i = 0; i < Long.BYTES; i++) {
      word = word << Byte.SIZE | (from + i < to ? bytes[from + i] & 0xFF : 0);
    }
    return word;
  }

  /** The least of the greater keys. */
  private static byte[] successor(byte[] key) {
    return Arrays.copyOf(key, key.length + 1);
  }

  /** Whether a partition can only hold one key. */
  boolean isOfOneKey(int partition) {
    return partition > 0
        && partition < keys.length
        && Arrays.equals(keys[partition], successor(keys[partition - 1]));
  }

  /** The number of partitions. */
  int partitions() {
    return keys.length + 1;
  }

  /** The partition of a key, which is part of an array: the number of splitters not greater. */
  int partition(byte[] bytes, int start, int end) {
    int shared = start + Math.min(common.length, end - start);
    int mismatch = Arrays.mismatch(common, 0, common.length, bytes, start, shared);
    if (mismatch >= 0) {
      boolean less =
          start + mismatch == end || (bytes[start + mismatch] & 0xFF) < (common[mismatch] & 0xFF);
      return less ? 0 : keys.length;
    }
    long word = word(bytes, start + common.length, end);
    if (words.length == 0 || Long.compareUnsigned(word, words[0]) < 0) {
      return 0;
    }
    if (Long.compareUnsigned(word, words[words.length - 1]) > 0) {
      return keys.length;
    }
    int cell = cell(word);
    int from = before[cell];
    int to = before[cell + 1];
    while (from < to) {
      int middle = (from + to) >>> 1;
      int compared = Long.compareUnsigned(words[middle], word);
      if (compared < 0 || compared == 0 && !isLess(bytes, start, end, keys[middle])) {
        from = middle + 1;
      } else {
        to = middle;
      }
    }
    return from;
  }

  private static boolean isLess(byte[] bytes, int start, int end, byte[] splitter) {
    return Arrays.compareUnsigned(bytes, start, end, splitter, 0, splitter.length) < 0;
  }
}
