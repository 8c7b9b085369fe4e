package tech.bsdb.format;

/**
 * The header of a record (FORMAT.md §4): short for nearly all records, wide for an empty or long
 * key or a long value.
 *
 * <pre>
 *           offset  size  meaning
 * short          0     1  key length, 1 to 255
 *                1     2  value length, 0 to 32,510
 * wide           0     1  0
 *                1     2  0xFFFF
 *                3     2  key length, 0 to 65,535
 *                5     4  value length, 0 to 2^31 - 1
 * padding        0     1  0 (the rest of the page is unused)
 *                1     2  0
 * </pre>
 *
 * The bytes of the key and the value follow.
 */
public final class RecordFrame {
  /** Length of a short header in bytes. */
  public static final int SHORT = 3;

  /** Length of a wide header in bytes. */
  public static final int WIDE = 9;

  /** Maximum key length of a short header. */
  public static final int SHORT_KEY = 255;

  /** Maximum value length of a short header. */
  public static final int SHORT_VALUE = 32_510;

  /** Maximum key length. */
  public static final int MAX_KEY = 65_535;

  /** Maximum value length: the longest array that Java virtual machines allocate. */
  public static final int MAX_VALUE = Integer.MAX_VALUE - 8;

  /** Returned by {@link #decode} if no record follows in the page. */
  public static final long PADDING = -1;

  /** Returned by {@link #decode} if the rest of a wide header follows. */
  public static final long IS_WIDE = -2;

  /** Returned for bytes that are not a header. */
  public static final long INVALID = -3;

  /** Returned by {@link #decode(byte[], int, int)} for a truncated header or record. */
  public static final long CUT = -4;

  /** The second field of a wide header. */
  private static final int WIDE_MARK = 0xFFFF;

  private RecordFrame() {}

  /** Whether a record with these lengths needs a wide header. */
  public static boolean wide(int keyLength, int valueLength) {
    return keyLength == 0 || keyLength > SHORT_KEY || valueLength > SHORT_VALUE;
  }

  /** Length of the header of a record with these key and value lengths. */
  public static int headerLength(int keyLength, int valueLength) {
    return wide(keyLength, valueLength) ? WIDE : SHORT;
  }

  /** Length of the header at {@code offset}. */
  public static int headLengthAt(byte[] bytes, int offset) {
    return bytes[offset] == 0 ? WIDE : SHORT;
  }

  /** Length of a whole record with these key and value lengths. */
  public static long length(int keyLength, int valueLength) {
    return (long) headerLength(keyLength, valueLength) + keyLength + valueLength;
  }

  /*
   * A decoded header packed in a long, so that decoding allocates nothing: the value length in the lower 32 bits, the
   * key length in the next 16, and above them whether the header is wide. The constants for other results are negative.
   */
  private static long decoded(boolean wide, int keyLength, int valueLength) {
    return (wide ? 1L << 48 : 0) | (long) keyLength << 32 | valueLength;
  }

  /** The key length from a decoded header. */
  public static int keyLength(long decoded) {
    return (int) (decoded >>> 32) & 0xFFFF;
  }

  /** The value length from a decoded header. */
  public static int valueLength(long decoded) {
    return (int) decoded;
  }

  /** The length of the header itself, from a decoded header. */
  public static int headerLength(long decoded) {
    return decoded >>> 48 == 0 ? SHORT : WIDE;
  }

  /**
   * Decodes the first {@link #SHORT} bytes of a header.
   *
   * @param keyLength the first byte, 0 to 255
   * @param valueLength the two bytes after it, little-endian
   * @return a decoded header, or {@link #IS_WIDE}, {@link #PADDING} or {@link #INVALID}
   */
  public static long decode(int keyLength, int valueLength) {
    if (keyLength != 0) {
      return decoded(false, keyLength, valueLength);
    }
    return valueLength == WIDE_MARK ? IS_WIDE : valueLength == 0 ? PADDING : INVALID;
  }

  /**
   * Decodes the rest of a wide header.
   *
   * @param keyLength its first two bytes, little-endian
   * @param valueLength the next four bytes, little-endian
   * @return a decoded header, or {@link #INVALID}
   */
  public static long decodeWide(int keyLength, int valueLength) {
    return valueLength < 0 || valueLength > MAX_VALUE
        ? INVALID
        : decoded(true, keyLength, valueLength);
  }

  /**
   * Decodes a header in an array.
   *
   * @param offset where the header starts
   * @param end the end of the bytes that may contain the header and its record
   * @return a decoded header whose record ends by {@code end}; {@link #CUT} if it does not; {@link
   *     #PADDING} or {@link #INVALID}
   */
  public static long decode(byte[] bytes, int offset, int end) {
    if (offset + SHORT > end) {
      return CUT;
    }
    int valueLength = bytes[offset + 1] & 0xFF | (bytes[offset + 2] & 0xFF) << 8;
    long header = decode(bytes[offset] & 0xFF, valueLength);
    if (header == IS_WIDE) {
      if (offset + WIDE > end) {
        return CUT;
      }
      header = decodeWide(little(bytes, offset + 3, 2), little(bytes, offset + 5, 4));
    }
    if (header < 0) {
      return header;
    }
    long length = (long) headerLength(header) + keyLength(header) + valueLength(header);
    return offset + length > end ? CUT : header;
  }

  /**
   * Decodes a whole header in an array, whose record may extend past the array.
   *
   * @return a decoded header, {@link #PADDING} or {@link #INVALID}
   */
  public static long header(byte[] bytes, int offset) {
    long header = decode(bytes[offset] & 0xFF, little(bytes, offset + 1, 2));
    return header == IS_WIDE
        ? decodeWide(little(bytes, offset + 3, 2), little(bytes, offset + 5, 4))
        : header;
  }

  private static int little(byte[] bytes, int at, int length) {
    int value = 0;
    for (int i = 0; i < length; i++) {
      value |= (bytes[at + i] & 0xFF) << (8 * i);
    }
    return value;
  }

  /** Writes a header and returns the offset after it. */
  public static int put(byte[] target, int offset, int keyLength, int valueLength) {
    if (!wide(keyLength, valueLength)) {
      target[offset] = (byte) keyLength;
      target[offset + 1] = (byte) valueLength;
      target[offset + 2] = (byte) (valueLength >>> 8);
      return offset + SHORT;
    }
    target[offset] = 0;
    target[offset + 1] = (byte) WIDE_MARK;
    target[offset + 2] = (byte) (WIDE_MARK >>> 8);
    target[offset + 3] = (byte) keyLength;
    target[offset + 4] = (byte) (keyLength >>> 8);
    for (int i = 0; i < 4; i++) {
      target[offset + 5 + i] = (byte) (valueLength >>> (8 * i));
    }
    return offset + WIDE;
  }
}
