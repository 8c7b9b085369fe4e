package tech.bsdb.tools.rows;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * Reads the parts of a row one after another (Avro's binary encoding). Whatever the bytes are, it
 * reads nothing outside the row, gives no length beyond its end, and comes to an end. Not
 * thread-safe.
 */
final class RowCursor {
  /** The most records, lists and maps within each other: what any thread has the stack for. */
  static final int MAX_DEPTH = 256;

  /** The most values of no bytes in one row; there is no end to how many bytes could claim. */
  static final int MAX_EMPTY = 1 << 20;

  private static final VarHandle INTS =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final byte[] NOTHING = {};

  private byte[] bytes = NOTHING;
  private int at;
  private int end;
  private int depth;
  private int empty;

  /** Begins at the start of a row; the array is read in place. */
  void begin(byte[] array, int from, int length) {
    bytes = array;
    at = from;
    end = from + length;
    depth = 0;
    empty = 0;
  }

  /** Forgets the row's array. */
  void release() {
    bytes = NOTHING;
    at = 0;
    end = 0;
  }

  /** The array that the row is in. */
  byte[] bytes() {
    return bytes;
  }

  /** Fails unless all bytes are read. */
  void finish() throws BadRowException {
    if (at != end) {
      throw new BadRowException((end - at) + " bytes are left behind its last column");
    }
  }

  /** A record, list or map begins. */
  void enter() throws BadRowException {
    if (++depth > MAX_DEPTH) {
      throw new BadRowException("it is nested more than " + MAX_DEPTH + " levels deep");
    }
  }

  /** The record, list or map ends. */
  void leave() {
    depth--;
  }

  /** A value stands there in no bytes. */
  void countEmpty() throws BadRowException {
    if (++empty > MAX_EMPTY) {
      throw new BadRowException("it has more than " + MAX_EMPTY + " values of no bytes");
    }
  }

  /** The place of so many bytes, which are passed over. */
  int take(int count) throws BadRowException {
    if (count > end - at) {
      throw truncated();
    }
    int place = at;
    at += count;
    return place;
  }

  /** The length of bytes or a string that are there whole behind it. */
  int readLength() throws BadRowException {
    long length = readLong();
    if (length < 0) {
      throw new BadRowException("a length is negative");
    }
    if (length > end - at) {
      throw truncated();
    }
    return (int) length;
  }

  /** A number from 0 to one less than {@code count}. */
  int readIndex(int count, String what) throws BadRowException {
    long index = readLong();
    if (index < 0 || index >= count) {
      throw new BadRowException("number " + index + " of " + count + " " + what);
    }
    return (int) index;
  }

  /**
   * How many elements of a list or map the next block has, 0 behind the last block. The length in
   * bytes that some writers give is passed over.
   */
  long readBlock() throws BadRowException {
    long count = readLong();
    if (count >= 0) {
      return count;
    }
    readLength();
    return checkedCount(-count);
  }

  /**
   * As {@link #readBlock}, for one who wants nothing of the elements: where the block has a length
   * in bytes, it is passed over and the next one taken.
   */
  long skipBlocks() throws BadRowException {
    while (true) {
      long count = readLong();
      if (count >= 0) {
        return count;
      }
      take(readLength());
      checkedCount(-count);
    }
  }

  private static long checkedCount(long count) throws BadRowException {
    if (count < 0) {
      throw new BadRowException("the length of a list is negative");
    }
    return count;
  }

  boolean readBoolean() throws BadRowException {
    byte b = bytes[take(1)];
    if ((b & ~1) != 0) {
      throw new BadRowException("byte " + (b & 0xFF) + " is neither false nor true");
    }
    return b != 0;
  }

  int readInt() throws BadRowException {
    long number = readLong();
    if (number != (int) number) {
      throw new BadRowException("a number has more than 32 bits");
    }
    return (int) number;
  }

  /** A number in steps of seven bits, the lowest first, its sign in its lowest bit. */
  long readLong() throws BadRowException {
    if (at < end) {
      long number = bytes[at];
      if (number >= 0) {
        at++;
        return number >>> 1 ^ -(number & 1);
      }
    }
    return readLongBytes();
  }

  private long readLongBytes() throws BadRowException {
    long number = 0;
    for (int shift = 0; shift < Long.SIZE; shift += 7) {
      if (at == end) {
        throw truncated();
      }
      byte b = bytes[at++];
      if (shift == 63 && b > 1) {
        break;
      }
      number |= (b & 0x7FL) << shift;
      if (b >= 0) {
        return number >>> 1 ^ -(number & 1);
      }
    }
    throw new BadRowException("a number has more than 64 bits");
  }

  float readFloat() throws BadRowException {
    return Float.intBitsToFloat((int) INTS.get(bytes, take(Float.BYTES)));
  }

  double readDouble() throws BadRowException {
    return Double.longBitsToDouble((long) LONGS.get(bytes, take(Double.BYTES)));
  }

  private static BadRowException truncated() {
    return new BadRowException("its bytes end too early");
  }
}
