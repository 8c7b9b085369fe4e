package tech.bsdb.tools.serve.batch;

import java.util.Arrays;
import java.util.Objects;

/**
 * The keys of a request, one after another in one array. Not thread-safe until complete; then safe
 * for concurrent readers.
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
   * Creates an empty list.
   *
   * @param limit the maximum number of keys, 0 or more
   */
  public KeyList(int limit) {
    if (limit < 0) {
      throw new IllegalArgumentException("limit " + limit + ", not 0 or more");
    }
    this.limit = limit;
  }

  /** Returns the number of keys. */
  public int size() {
    return size;
  }

  /** Returns the array that holds the keys; valid until a key is added. */
  public byte[] bytes() {
    return bytes;
  }

  /** Returns where a key begins in {@link #bytes}. */
  public int offset(int number) {
    Objects.checkIndex(number, size);
    return number == 0 ? 0 : ends[number - 1];
  }

  /** Returns the length of a key in bytes. */
  public int length(int number) {
    return ends[number] - offset(number);
  }

  /** Returns a copy of a key. */
  public byte[] key(int number) {
    int offset = offset(number);
    return Arrays.copyOfRange(bytes, offset, ends[number]);
  }

  /** Appends bytes to the open key, which joins the list at its {@link #end}. */
  void append(byte[] source, int from, int to) throws RequestRefusedException {
    reserve(to - from);
    System.arraycopy(source, from, bytes, length, to - from);
    length += to - from;
  }

  /** Makes room for this many bytes after {@link #length}. */
  private void reserve(int more) throws RequestRefusedException {
    if (more > bytes.length - length) {
      long needed = (long) length + more;
      if (needed > LARGEST) {
        throw new RequestRefusedException(413, "the keys take more than " + LARGEST + " bytes");
      }
      long capacity = Math.max(256, Math.max(needed, bytes.length * 2L));
      bytes = Arrays.copyOf(bytes, (int) Math.min(LARGEST, capacity));
    }
  }

  /** Returns where the open key begins in {@link #bytes}. */
  int openOffset() {
    return size == 0 ? 0 : ends[size - 1];
  }

  /** Returns the length of the open key in bytes. */
  int openLength() {
    return length - openOffset();
  }

  /** Shortens the open key. */
  void shorten(int newLength) {
    length = openOffset() + newLength;
  }

  /**
   * Ends the open key.
   *
   * @return false if the appended bytes are not in that encoding; the list is then unusable
   */
  boolean end(KeyEncoding encoding) throws RequestRefusedException {
    if (size == limit) {
      length = openOffset();
      throw new RequestRefusedException(
          413, "there are more than " + limit + " keys in one request");
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
