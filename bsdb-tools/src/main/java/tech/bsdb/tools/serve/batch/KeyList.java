package tech.bsdb.tools.serve.batch;

import java.util.Arrays;
import java.util.Objects;

/**
 * The keys of a request, one behind the other in one array. Not thread-safe, but for readers once
 * it is whole.
 */
public final class KeyList {
  private static final int LARGEST = Integer.MAX_VALUE - 8;
  private static final byte[] NOTHING = {};

  private final int limit;
  private byte[] bytes = NOTHING;
  private int length;
  private int[] ends = new int[16];
  private int size;

  /**
   * An empty list.
   *
   * @param limit the most keys, 0 or more
   */
  public KeyList(int limit) {
    if (limit < 0) {
      throw new IllegalArgumentException("limit " + limit + ", not 0 or more");
    }
    this.limit = limit;
  }

  /** How many keys there are. */
  public int size() {
    return size;
  }

  /** The array in which the keys stand, until one is added. */
  public byte[] bytes() {
    return bytes;
  }

  /** Where in {@link #bytes} a key begins. */
  public int offset(int number) {
    Objects.checkIndex(number, size);
    return number == 0 ? 0 : ends[number - 1];
  }

  /** Bytes of a key. */
  public int length(int number) {
    return ends[number] - offset(number);
  }

  /** A copy of a key. */
  public byte[] key(int number) {
    int offset = offset(number);
    return Arrays.copyOfRange(bytes, offset, ends[number]);
  }

  /**
   * Adds a key.
   *
   * @throws BadRequestException with status 413 beyond the limit
   */
  public void add(byte[] key) throws BadRequestException {
    append(key, 0, key.length);
    end(KeyEncoding.TEXT);
  }

  /** Appends bytes to the key that is next in the list once it is at its {@link #end}. */
  void append(byte[] source, int from, int to) throws BadRequestException {
    reserve(to - from);
    System.arraycopy(source, from, bytes, length, to - from);
    length += to - from;
  }

  /** Makes room for so many bytes behind {@link #length}. */
  private void reserve(int more) throws BadRequestException {
    if (more > bytes.length - length) {
      long needed = (long) length + more;
      if (needed > LARGEST) {
        throw new BadRequestException(413, "the keys take more than " + LARGEST + " bytes");
      }
      long capacity = Math.max(256, Math.max(needed, bytes.length * 2L));
      bytes = Arrays.copyOf(bytes, (int) Math.min(LARGEST, capacity));
    }
  }

  /** Where in {@link #bytes} the key begins that is not at its end. */
  int openOffset() {
    return size == 0 ? 0 : ends[size - 1];
  }

  /** Bytes of the key that is not at its end. */
  int openLength() {
    return length - openOffset();
  }

  /** Takes back the last byte of the key that is not at its end. */
  void dropLast() {
    length--;
  }

  /**
   * Ends a key.
   *
   * @return false if what was appended is not in that encoding; the list is then of no more use
   */
  boolean end(KeyEncoding encoding) throws BadRequestException {
    if (size == limit) {
      length = openOffset();
      throw new BadRequestException(413, "there are more than " + limit + " keys in one request");
    }
    if (encoding != KeyEncoding.TEXT) {
      int from = openOffset();
      length = encoding.decode(bytes, from, length, bytes, from);
      if (length < 0) {
        return false;
      }
    }
    if (size == ends.length) {
      ends = Arrays.copyOf(ends, (int) Math.min(LARGEST, 2L * size));
    }
    ends[size++] = length;
    return true;
  }
}
