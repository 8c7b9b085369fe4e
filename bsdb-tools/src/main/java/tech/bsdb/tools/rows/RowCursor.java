package tech.bsdb.tools.rows;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * Reads or skips the parts of a row in sequence (Avro's binary encoding). For any bytes, it reads
 * nothing outside the row, returns no length beyond its end, and terminates. Not thread-safe.
 */
final class RowCursor {
  /** The maximum nesting of records, lists and maps, for which every thread has enough stack. */
  static final int MAX_DEPTH = 256;

  /**
   * The maximum number of zero-length values in one row; a few bytes could claim any number of
   * them.
   */
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

  /** Starts a row; the array is read in place. */
  void begin(byte[] array, int from, int length) {
    bytes = array;
    at = from;
    end = from + length;
    depth = 0;
    empty = 0;
  }

  /** Releases the row's array. */
  void release() {
    bytes = NOTHING;
    at = 0;
    end = 0;
  }

  /** Returns the array that holds the row. */
  byte[] bytes() {
    return bytes;
  }

  /** Fails unless all bytes are read. */
  void finish() throws BadRowException {
    if (at != end) {
      throw new BadRowException((end - at) + " bytes follow its last column");
    }
  }

  /** Enters a record, list or map. */
  void enter() throws BadRowException {
    if (++depth > MAX_DEPTH) {
      throw new BadRowException("it is nested more than " + MAX_DEPTH + " levels deep");
    }
  }

  /** Leaves a record, list or map. */
  void leave() {
    depth--;
  }

  /** Counts a zero-length value. */
  void countEmpty() throws BadRowException {
    if (++empty > MAX_EMPTY) {
      throw new BadRowException("it has more than " + MAX_EMPTY + " zero-length values");
    }
  }

  /** Skips bytes and returns where they begin. */
  int take(int count) throws BadRowException {
    if (count > end - at) {
      throw truncated();
    }
    int place = at;
    at += count;
    return place;
  }

  /** Reads the length of bytes or a string and checks that all of them are present. */
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

  /** Reads a number from 0 to {@code count - 1}. */
  int readIndex(int count, String what) throws BadRowException {
    long index = readLong();
    if (index < 0 || index >= count) {
      throw new BadRowException("number " + index + " of " + count + " " + what);
    }
    return (int) index;
  }

  /**
   * Reads the number of elements in the next block of a list or map, 0 after the last block. The
   * optional length in bytes is skipped.
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
   * Like {@link #readBlock}, for callers that skip the elements: a block with a length in bytes is
   * skipped and the next one read.
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

  /** Reads a zigzag varint: groups of seven bits, lowest first, with the sign in the lowest bit. */
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

  /** Reads a time of day. */
  long readTime(int digits) throws BadRowException {
    long units = readLong();
    if (units < 0 || units > 86_400L * IsoText.units(digits)) {
      throw new BadRowException("a time of day is " + units + ", which is out of range");
    }
    return units;
  }

  /** Reads the length of a decimal that has as many bytes as it needs. */
  int readDecimalLength(Shape shape) throws BadRowException {
    int length = readLength();
    if (length == 0 || length > shape.size) {
      throw new BadRowException("a decimal has " + length + " bytes");
    }
    return length;
  }

  /** Returns the unsigned number of four bytes at a place that was {@linkplain #take taken}. */
  long unsignedAt(int place) {
    return Integer.toUnsignedLong((int) INTS.get(bytes, place));
  }

  /** Skips a value of fixed size and returns where it begins. */
  int takeFixed(Shape shape) throws BadRowException {
    if (shape.size == 0) {
      countEmpty();
    }
    return take(shape.size);
  }

  /** Reads which branch of a union follows. */
  Shape readBranch(Shape union) throws BadRowException {
    return union.parts[readIndex(union.parts.length, "branches of a union")];
  }

  /** Skips a value, reading only what is needed to find its end. */
  void skip(Shape shape) throws BadRowException {
    switch (shape.kind) {
      case RECORD -> skipRecord(shape);
      case ARRAY, MAP -> skipElements(shape);
      case UNION -> skipBranch(shape);
      default -> skipLeaf(shape);
    }
  }

  private void skipLeaf(Shape shape) throws BadRowException {
    switch (shape.kind) {
      case NULL -> countEmpty();
      case BOOLEAN -> readBoolean();
      case INT, DATE -> readInt();
      case LONG, TIME, TIMESTAMP, LOCAL_TIMESTAMP -> readLong();
      case FLOAT -> take(Float.BYTES);
      case DOUBLE -> take(Double.BYTES);
      case STRING, BYTES, DECIMAL, BIG_DECIMAL -> take(readLength());
      case FIXED, FIXED_DECIMAL, UUID, DURATION -> takeFixed(shape);
      case ENUM -> readIndex(shape.names.length, "symbols");
      case RECORD, ARRAY, MAP, UNION -> throw new AssertionError(shape.kind);
    }
  }

  private void skipRecord(Shape shape) throws BadRowException {
    enter();
    for (Shape part : shape.parts) {
      skip(part);
    }
    if (shape.parts.length == 0) {
      countEmpty();
    }
    leave();
  }

  private void skipBranch(Shape union) throws BadRowException {
    Shape branch = readBranch(union);
    if (branch.kind != Shape.Kind.NULL) {
      skip(branch);
    }
  }

  private void skipElements(Shape shape) throws BadRowException {
    enter();
    for (long left = skipBlocks(); left > 0; left = skipBlocks()) {
      for (; left > 0; left--) {
        if (shape.kind == Shape.Kind.MAP) {
          int keyLength = readLength();
          take(keyLength);
        }
        skip(shape.parts[0]);
      }
    }
    leave();
  }

  private static BadRowException truncated() {
    return new BadRowException("its bytes end too early");
  }
}
