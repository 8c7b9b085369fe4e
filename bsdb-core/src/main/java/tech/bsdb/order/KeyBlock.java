package tech.bsdb.order;

import java.util.Arrays;

/** The decoded keys of a block of a node. Not thread-safe. */
final class KeyBlock {
  private byte[] bytes = new byte[OrderNode.IN_BLOCK * 32];
  private final int[] ends = new int[OrderNode.IN_BLOCK + 1];
  private int count;

  /** Removes all keys. */
  void clear() {
    count = 0;
  }

  /** Adds a key that consists of two parts of an array. */
  void add(byte[] from, int prefixAt, int prefixLength, int restAt, int restLength) {
    int start = reserve(prefixLength + restLength);
    System.arraycopy(from, prefixAt, bytes, start, prefixLength);
    System.arraycopy(from, restAt, bytes, start + prefixLength, restLength);
  }

  /** Adds a key that starts like the one added last. */
  void addLikeLast(int shared, byte[] from, int restAt, int restLength) {
    int last = ends[count - 1];
    if (shared > ends[count] - last) {
      throw new IndexOutOfBoundsException("a key shares more than there is");
    }
    int start = reserve(shared + restLength);
    System.arraycopy(bytes, last, bytes, start, shared);
    System.arraycopy(from, restAt, bytes, start + shared, restLength);
  }

  /** Makes room for a key and returns where it starts. */
  private int reserve(int length) {
    int start = ends[count];
    if (bytes.length - start < length) {
      bytes = Arrays.copyOf(bytes, Math.max(start + length, 2 * bytes.length));
    }
    count++;
    ends[count] = start + length;
    return start;
  }

  /** Returns a copy of a key. */
  byte[] key(int number) {
    return Arrays.copyOfRange(bytes, ends[number], ends[number + 1]);
  }
}
