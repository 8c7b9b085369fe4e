package tech.bsdb.build;

import java.util.Arrays;
import java.util.List;

/**
 * Keys that divide all others, by their order, into partitions of about the same size. Immutable.
 */
final class KeySplitters {
  private final byte[][] keys;

  /** What all splitters begin with. */
  private final byte[] common;

  /** The first bytes after that of each, as numbers that compare as the bytes do. */
  private final long[] words;

  /** The words are divided into this many cells of the same width, so that few are searched. */
  private static final int CELLS = 1 << 11;

  private final int shift;

  /** The number of splitters before each cell. */
  private final char[] before = new char[CELLS + 1];

  /**
   * Chooses splitters.
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
      if (at < sorted.length && (count == 0 || !Arrays.equals(chosen[count - 1], sorted[at]))) {
        chosen[count++] = sorted[at];
      }
    }
    this.keys = Arrays.copyOf(chosen, count);
    this.common = count == 0 ? new byte[0] : common(keys[0], keys[count - 1]);
    this.words = new long[count];
    for (int i = 0; i < count; i++) {
      words[i] = word(keys[i], common.length);
    }
    long range = count == 0 ? 0 : words[count - 1] - words[0];
    this.shift =
        Math.max(
            0, Long.SIZE - Long.numberOfLeadingZeros(range) - Integer.numberOfTrailingZeros(CELLS));
    for (long word : words) {
      before[cell(word) + 1]++;
    }
    for (int i = 1; i < before.length; i++) {
      before[i] += before[i - 1];
    }
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
  private static long word(byte[] key, int from) {
    if (key.length - from >= Long.BYTES) {
      return KeyRun.word(key, from, key.length);
    }
    long word = 0;
    for (int i = 0; i < Long.BYTES; i++) {
      word = word << Byte.SIZE | (from + i < key.length ? key[from + i] & 0xFF : 0);
    }
    return word;
  }

  /** The number of partitions. */
  int partitions() {
    return keys.length + 1;
  }

  /** The partition of a key: the number of splitters that are not greater. */
  int partition(byte[] key) {
    int shared = Math.min(common.length, key.length);
    int mismatch = Arrays.mismatch(common, 0, common.length, key, 0, shared);
    if (mismatch >= 0) {
      boolean less = mismatch == key.length || (key[mismatch] & 0xFF) < (common[mismatch] & 0xFF);
      return less ? 0 : keys.length;
    }
    long word = word(key, common.length);
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
      if (compared < 0 || compared == 0 && Arrays.compareUnsigned(keys[middle], key) <= 0) {
        from = middle + 1;
      } else {
        to = middle;
      }
    }
    return from;
  }
}
