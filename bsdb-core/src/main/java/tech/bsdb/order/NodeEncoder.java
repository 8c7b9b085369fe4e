package tech.bsdb.order;

import java.util.Arrays;
import tech.bsdb.format.Page;

/**
 * Collects the entries of a node in ascending order, and encodes them ({@link OrderNode}). A node
 * takes one page, unless its first entries need more. Not thread-safe.
 */
final class NodeEncoder {
  /** The most bytes of the two lengths of an entry. */
  private static final int MOST_LENGTHS = 7;

  private final int level;
  private final int width;
  private final int least;
  private byte[] first = {};
  private byte[] last = new byte[64];
  private int lastLength;
  private byte[] keys = new byte[2 * Page.PAYLOAD];
  private int used;

  /** Where each block starts in the keys. */
  private int[] starts = new int[64];

  private long[] values = new long[512];
  private int count;
  private int pages;

  /**
   * Creates an encoder.
   *
   * @param level the level of the nodes
   * @param width bits of the value of an entry, 0 to 63
   * @param least the least number of entries of a node, except for the last one of its level
   */
  NodeEncoder(int level, int width, int least) {
    this.level = level;
    this.width = width;
    this.least = least;
  }

  /** The number of entries. */
  int count() {
    return count;
  }

  /** The number of pages of the node. */
  int pages() {
    return pages;
  }

  /** The number of bytes that a key has in common with the last key, also one of another node. */
  int sharedWithLast(byte[] key, int from, int to) {
    return common(last, lastLength, key, from, to);
  }

  /** Compares a key with the last one, with which it has bytes in common. */
  int compareWithLast(byte[] key, int from, int to, int shared) {
    int length = to - from;
    return shared == length || shared == lastLength
        ? length - lastLength
        : (key[from + shared] & 0xFF) - (last[shared] & 0xFF);
  }

  /** Replaces the value of the last entry. */
  void replaceLast(long value) {
    values[count - 1] = value;
  }

  private static int common(byte[] one, int length, byte[] key, int from, int to) {
    int mismatch = Arrays.mismatch(one, 0, length, key, from, to);
    return mismatch < 0 ? length : mismatch;
  }

  /**
   * Adds an entry, unless the node has no room for it.
   *
   * @param sharedWithLast what {@link #sharedWithLast} says of the key
   * @return false if it has no room
   */
  boolean add(byte[] key, int from, int to, int sharedWithLast, long value) {
    boolean startsBlock = count % OrderNode.IN_BLOCK == 0;
    int shared;
    if (count == 0) {
      shared = 0;
    } else if (startsBlock) {
      shared = common(first, first.length, key, from, to);
    } else {
      shared = sharedWithLast;
    }
    int rest = to - from - shared;
    int size = OrderNode.nodeBytes(count + 1, width, used + OrderNode.entryBytes(shared, rest));
    int needed = (size + Page.PAYLOAD - 1) / Page.PAYLOAD;
    if (needed > pages) {
      if (count >= least) {
        return false;
      }
      pages = needed;
    }
    if (keys.length - used < rest + MOST_LENGTHS) {
      keys = Arrays.copyOf(keys, Math.max(used + rest + MOST_LENGTHS, 2 * keys.length));
    }
    if (startsBlock) {
      int block = count / OrderNode.IN_BLOCK;
      if (block == starts.length) {
        starts = Arrays.copyOf(starts, 2 * block);
      }
      starts[block] = used;
    }
    keys[used++] = (byte) (Math.min(shared, OrderNode.LONG) << 4 | Math.min(rest, OrderNode.LONG));
    putExtra(shared);
    putExtra(rest);
    System.arraycopy(key, from + shared, keys, used, rest);
    used += rest;
    if (count == values.length) {
      values = Arrays.copyOf(values, 2 * count);
    }
    values[count++] = value;
    int length = to - from;
    if (last.length < length) {
      last = new byte[Math.max(length, 2 * last.length)];
    }
    System.arraycopy(key, from, last, 0, length);
    lastLength = length;
    if (count == 1) {
      first = Arrays.copyOfRange(key, from, to);
    }
    return true;
  }

  /**
   * Puts all values, one after the other, each with its lowest bit first, into bytes that are still
   * 0.
   */
  private void putValues(byte[] node, int from) {
    for (int i = 0; i < count; i++) {
      long value = values[i] & (1L << width) - 1;
      int at = from + (width * i >>> 3);
      int shift = width * i & 7;
      OrderNode.LONGS.set(node, at, (long) OrderNode.LONGS.get(node, at) | value << shift);
      if (shift + width > Long.SIZE) {
        node[at + Long.BYTES] = (byte) (value >>> Long.SIZE - shift);
      }
    }
  }

  private void putExtra(int length) {
    if (length >= OrderNode.LONG) {
      int left = length - OrderNode.LONG;
      while (left >= 1 << 7) {
        keys[used++] = (byte) (left | 1 << 7);
        left >>>= 7;
      }
      keys[used++] = (byte) left;
    }
  }

  /**
   * Encodes the node and removes its entries; only the last key stays.
   *
   * @param pagesBefore the pages of the node before it in its level, 0 if there is none
   * @param before the records before the node
   * @return the payload of its pages
   */
  byte[] encode(int pagesBefore, long before) {
    byte[] node = new byte[pages * Page.PAYLOAD];
    OrderNode.SHORTS.set(node, 0, (short) count);
    node[2] = (byte) level;
    node[3] = (byte) (pages - 1);
    node[4] = (byte) Math.max(0, pagesBefore - 1);
    OrderNode.LONGS.set(node, 8, before);
    int blocks = OrderNode.blocks(count);
    int keysAt = OrderNode.nodeBytes(count, width, 0);
    for (int i = 0; i < blocks; i++) {
      OrderNode.INTS.set(node, OrderNode.HEADER + OrderNode.START * i, keysAt + starts[i]);
    }
    putValues(node, OrderNode.HEADER + OrderNode.START * blocks);
    System.arraycopy(keys, 0, node, keysAt, used);
    count = 0;
    used = 0;
    pages = 0;
    return node;
  }
}
