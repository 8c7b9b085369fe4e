package tech.bsdb.order;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;
import tech.bsdb.format.Page;

/**
 * A node of the tree of keys (FORMAT.md §16), decoded where it lies. Immutable and thread-safe.
 *
 * <pre>
 *   offset       size        content
 *   0            2           n, the number of entries
 *   2            1           level, 0 for a leaf
 *   3            1           pages of the node, minus one
 *   4            1           pages of the node before it in its level, minus one; 0 if there is none
 *   5            3           0
 *   8            8           records before the node
 *   16           4 * blocks  where each block of 64 entries starts
 *                n * width   bits: the value of each entry, an address or the number of a child's page
 *                            the keys of the entries, front-coded
 * </pre>
 */
final class OrderNode {
  /** Bytes before the starts of the blocks. */
  static final int HEADER = 16;

  /** Entries of a block. */
  static final int IN_BLOCK = 64;

  /** Bytes of the start of a block. */
  static final int START = Integer.BYTES;

  /** Bits of the value of an entry above the leaves. */
  static final int CHILD = 40;

  /** Bytes of the array of a node behind its pages, so that a value can be read at once. */
  static final int SLACK = Long.BYTES;

  /** Bytes of the array of a node of one page. */
  static final int ONE_PAGE = Page.PAYLOAD + SLACK;

  /** A length that does not fit in four bits has this instead, and what is more follows. */
  static final int LONG = 15;

  static final VarHandle SHORTS =
      MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.LITTLE_ENDIAN);
  static final VarHandle INTS =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
  static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  /* A decoded entry in one number, so that none is allocated: shared bytes, length of the rest, where the rest is. */
  private static final int AT_BITS = 24;
  private static final int LENGTH_BITS = 17;

  private final byte[] bytes;
  private final int count;
  private final int width;

  /**
   * Takes over the bytes of a node.
   *
   * @param bytes the payload of all its pages, and {@link #SLACK} more
   * @param width bits of the value of an entry
   */
  OrderNode(byte[] bytes, int width) {
    this.bytes = bytes;
    this.count = (short) SHORTS.get(bytes, 0) & 0xFFFF;
    this.width = width;
  }

  /** The number of entries. */
  int count() {
    return count;
  }

  /** The level, 0 for a leaf. */
  int level() {
    return bytes[2];
  }

  /** The number of its pages. */
  int pages() {
    return pages(bytes);
  }

  /** The number of pages of the node that some bytes begin. */
  static int pages(byte[] bytes) {
    return (bytes[3] & 0xFF) + 1;
  }

  /** The number of pages of the node before it in its level, if there is one. */
  int pagesBefore() {
    return (bytes[4] & 0xFF) + 1;
  }

  /** The number of records whose keys are less than all of this node and below it. */
  long before() {
    return (long) LONGS.get(bytes, 8);
  }

  /** The number of blocks of so many entries. */
  static int blocks(int count) {
    return (count + IN_BLOCK - 1) / IN_BLOCK;
  }

  /** The value of an entry. */
  long value(int entry) {
    int bit = width * entry;
    int at = HEADER + START * blocks(count) + (bit >>> 3);
    int shift = bit & 7;
    long value = (long) LONGS.get(bytes, at) >>> shift;
    if (shift + width > Long.SIZE) {
      value |= (long) bytes[at + Long.BYTES] << Long.SIZE - shift;
    }
    return value & (1L << width) - 1;
  }

  /** Where a block starts. */
  int start(int block) {
    return (int) INTS.get(bytes, HEADER + START * block);
  }

  /** The entry at a place, decoded. */
  long entry(int at) {
    int lengths = bytes[at] & 0xFF;
    int shared = lengths >>> 4;
    int length = lengths & LONG;
    int from = at + 1;
    if (shared == LONG) {
      shared += more(from);
      from += extra(shared);
    }
    if (length == LONG) {
      length += more(from);
      from += extra(length);
    }
    return entry(shared, length, from);
  }

  /** What a length is beyond its four bits. */
  private int more(int at) {
    int more = 0;
    int shift = 0;
    int part;
    int from = at;
    do {
      part = bytes[from++];
      more += (part & 0x7F) << shift;
      shift += 7;
    } while (part < 0);
    return more;
  }

  /** Bytes of a length beyond its four bits. */
  private static int extra(int length) {
    int more = length - LONG;
    return more < 0 ? 0 : more < 1 << 7 ? 1 : more < 1 << 14 ? 2 : 3;
  }

  /** Bytes of an entry, besides its value. */
  static int entryBytes(int shared, int rest) {
    return 1 + extra(shared) + extra(rest) + rest;
  }

  /**
   * Bytes of a node of so many entries.
   *
   * @param width bits of the value of an entry
   * @param keyBytes bytes of all entries, besides their values
   */
  static int nodeBytes(int count, int width, int keyBytes) {
    return HEADER + START * blocks(count) + (width * count + 7) / 8 + keyBytes;
  }

  private static long entry(int shared, int length, int at) {
    return (long) shared << LENGTH_BITS + AT_BITS | (long) length << AT_BITS | at;
  }

  /** The bytes that the key of an entry shares with that of another one. */
  static int shared(long entry) {
    return (int) (entry >>> LENGTH_BITS + AT_BITS);
  }

  private static int length(long entry) {
    return (int) (entry >>> AT_BITS) & (1 << LENGTH_BITS) - 1;
  }

  private static int at(long entry) {
    return (int) entry & (1 << AT_BITS) - 1;
  }

  /** Where an entry ends, which is where the next one of its block starts. */
  static int end(long entry) {
    return at(entry) + length(entry);
  }

  /**
   * Finds the first entry that is not less than a key.
   *
   * @return the {@link #number} of the entry, where it {@link #place lies} unless it is the first
   *     of a block or there is none, and whether its key {@link #isEqual equals} the given one
   */
  long ceiling(byte[] key) {
    /*
     * No entry is decoded. What an entry shares with the one before it, or the first of a block with the first of the
     * node, compared with what that one shares with the key, tells which is less, unless both share the same.
     */
    long first = entry(start(0));
    int common = Arrays.mismatch(bytes, at(first), end(first), key, 0, key.length);
    if (common < 0) {
      return found(0, 0);
    }
    if (isLess(key, common, first, common)) {
      return before(0, 0);
    }
    int low = 0;
    int lowCommon = common;
    int high = blocks(count) - 1;
    while (low < high) {
      int middle = (low + high + 1) >>> 1;
      long entry = entry(start(middle));
      int shared = shared(entry);
      if (shared < common) {
        high = middle - 1;
      } else if (shared > common) {
        low = middle;
        lowCommon = common;
      } else {
        int more = mismatch(entry, key, common);
        if (more < 0) {
          return found(middle * IN_BLOCK, 0);
        }
        if (isLess(key, common + more, entry, more)) {
          high = middle - 1;
        } else {
          low = middle;
          lowCommon = common + more;
        }
      }
    }
    return ceilingInBlock(low, key, lowCommon);
  }

  /**
   * Searches the block whose first entry is less than the key, with which it has bytes in common.
   */
  private long ceilingInBlock(int block, byte[] key, int inCommon) {
    int common = inCommon;
    int number = block * IN_BLOCK + 1;
    int end = Math.min(count, block * IN_BLOCK + IN_BLOCK);
    int next = end(entry(start(block)));
    for (; number < end; number++) {
      int at = next;
      long entry = entry(at);
      next = end(entry);
      int shared = shared(entry);
      if (shared < common) {
        return before(number, at);
      }
      if (shared == common) {
        int more = mismatch(entry, key, common);
        if (more < 0) {
          return found(number, at);
        }
        if (isLess(key, common + more, entry, more)) {
          return before(number, at);
        }
        common += more;
      }
    }
    return before(number, 0);
  }

  /* The result of a search in one number, so that none is allocated: number, whether the key is there, where it is. */
  private static final int EQUAL_BIT = AT_BITS;

  private static final int NUMBER_SHIFT = EQUAL_BIT + 1;

  private static long found(int number, int at) {
    return before(number, at) | 1L << EQUAL_BIT;
  }

  private static long before(int number, int at) {
    return (long) number << NUMBER_SHIFT | at;
  }

  /** The number of the entry that a search found; that behind the last if all are less. */
  static int number(long ceiling) {
    return (int) (ceiling >>> NUMBER_SHIFT);
  }

  /** Whether the entry that a search found has the key. */
  static boolean isEqual(long ceiling) {
    return (ceiling >>> EQUAL_BIT & 1) != 0;
  }

  /** Where the entry that a search found lies; 0 if it is the first of a block or there is none. */
  static int place(long ceiling) {
    return at(ceiling);
  }

  private int mismatch(long entry, byte[] key, int from) {
    return Arrays.mismatch(
        bytes, at(entry), end(entry), key, Math.min(from, key.length), key.length);
  }

  /** Whether a key is less than an entry, from which it differs there and there. */
  private boolean isLess(byte[] key, int inKey, long entry, int inRest) {
    if (inKey >= key.length) {
      return true;
    }
    return inRest < length(entry) && (key[inKey] & 0xFF) < (bytes[at(entry) + inRest] & 0xFF);
  }

  /** The length of the key of an entry. */
  static int keyLength(long entry) {
    return shared(entry) + length(entry);
  }

  /**
   * Turns the key at the start of an array into that of an entry.
   *
   * @param key starts with a key that begins like that of the entry, and has room for {@link
   *     #SLACK} bytes behind both
   * @param length the length of that key
   */
  void change(byte[] key, int length, long entry) {
    int shared = shared(entry);
    if (shared > length) {
      throw new IndexOutOfBoundsException("a key shares more than there is");
    }
    int rest = length(entry);
    if (rest <= Long.BYTES) {
      LONGS.set(key, shared, (long) LONGS.get(bytes, at(entry)));
    } else {
      System.arraycopy(bytes, at(entry), key, shared, rest);
    }
  }

  /** Puts what the first entry of a block shares with the first one of the node into an array. */
  int copyShared(byte[] key, long entry) {
    int shared = shared(entry);
    System.arraycopy(bytes, at(entry(start(0))), key, 0, shared);
    return shared;
  }
}
