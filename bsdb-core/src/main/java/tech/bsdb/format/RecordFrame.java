package tech.bsdb.format;

/**
 * The header of a record (FORMAT.md §4): short for nearly all, wide for an empty or long key or a
 * long value.
 *
 * <pre>
 *           offset  size  meaning
 * short          0     1  key length, 1 to 255
 *                1     2  value length, 0 to 32,510
 * wide           0     1  0
 *                1     2  0xFFFF
 *                3     2  key length, 0 to 65,535
 *                5     4  value length, 0 to 2^31 - 1
 * no more        0     1  0 (the rest of the page is padding)
 *                1     2  0
 * </pre>
 *
 * The key's bytes and the value's follow.
 */
public final class RecordFrame {
  /** Bytes of a short header. */
  public static final int SHORT = 3;

  /** Bytes of a wide header. */
  public static final int WIDE = 9;

  /** The longest key that a short header takes. */
  public static final int SHORT_KEY = 255;

  /** The longest value that a short header takes. */
  public static final int SHORT_VALUE = 32_510;

  /** The longest key. */
  public static final int MAX_KEY = 65_535;

  /** The longest value: the longest array that Java virtual machines give. */
  public static final int MAX_VALUE = Integer.MAX_VALUE - 8;

  /** What the second field of a wide header holds. */
  public static final int WIDE_MARK = 0xFFFF;

  private RecordFrame() {}

  /** Whether a record with these lengths has a wide header. */
  public static boolean wide(int keyLength, int valueLength) {
    return keyLength == 0 || keyLength > SHORT_KEY || valueLength > SHORT_VALUE;
  }

  /** Bytes of the header of a record with these lengths. */
  public static int headerLength(int keyLength, int valueLength) {
    return wide(keyLength, valueLength) ? WIDE : SHORT;
  }

  /** Bytes of the header that stands at {@code offset}. */
  public static int headLengthAt(byte[] bytes, int offset) {
    return bytes[offset] == 0 ? WIDE : SHORT;
  }

  /** Bytes of a whole record with these lengths. */
  public static long length(int keyLength, int valueLength) {
    return (long) headerLength(keyLength, valueLength) + keyLength + valueLength;
  }

  /** Writes a header and returns the offset behind it. */
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
