package tech.bsdb.tools.text;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.util.HexFormat;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;

/** A growable byte array for writing JSON in UTF-8. */
public final class JsonBuffer extends GrowableBytes {
  /** The longest form of a byte, such as {@code \}{@code u0000}. */
  private static final int ESCAPE = 6;

  private static final long LOW_BITS = 0x0101_0101_0101_0101L;
  private static final long HIGH_BITS = 0x8080_8080_8080_8080L;
  private static final long BLANKS = ' ' * LOW_BITS;
  private static final long QUOTES = '"' * LOW_BITS;
  private static final long BACKSLASHES = '\\' * LOW_BITS;

  private static final HexFormat HEX = HexFormat.of().withUpperCase();
  private static final byte[] BASE64 =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".getBytes(US_ASCII);
  private static final byte[] BASE64_START = "{\"base64\":\"".getBytes(US_ASCII);
  private static final byte[] BASE64_END = "\"}".getBytes(US_ASCII);

  private @Nullable LongPredicate budget;

  /** Creates an empty buffer. */
  public JsonBuffer() {
    super("an answer", 1 << 13);
  }

  /**
   * Sets a budget to consult before the buffer grows; null for none.
   *
   * @param asked whether the buffer may take that many more bytes; if not, writing throws {@link
   *     NoRoomException}
   */
  public void use(@Nullable LongPredicate asked) {
    budget = asked;
  }

  @Override
  protected void checkRoom(int larger) {
    if (budget != null && !budget.test(larger - bytes.length)) {
      throw new NoRoomException(larger);
    }
  }

  /** Writes bytes as a string if they are UTF-8, otherwise as {@code {"base64":"..."}}. */
  public void putText(byte[] source, int offset, int count) {
    if (!putString(source, offset, count)) {
      put(BASE64_START);
      putBase64(source, offset, count);
      put(BASE64_END);
    }
  }

  /**
   * Writes UTF-8 as a string: quotes, backslashes and control characters are escaped, everything
   * else is unchanged.
   *
   * @return false, with nothing written, if it is not UTF-8
   */
  public boolean putString(byte[] source, int offset, int count) {
    int start = length;
    int end = offset + count;
    int unwritten = offset;
    put('"');
    int at = plainEnd(source, offset, end);
    while (at < end) {
      byte b = source[at];
      if (b >= 0) {
        put(source, unwritten, at - unwritten);
        putEscape(b);
        unwritten = ++at;
      } else {
        int sequence = Utf8.sequence(source, at, end);
        if (sequence == 0) {
          length = start;
          return false;
        }
        at += sequence;
      }
      at = plainEnd(source, at, end);
    }
    put(source, unwritten, end - unwritten);
    put('"');
    return true;
  }

  /**
   * Whether a byte in a string is not plain: a control character, a quote, a backslash, or not
   * ASCII.
   */
  static boolean isSpecial(byte b) {
    return b < ' ' || b == '"' || b == '\\';
  }

  /**
   * The index of the first special byte of a range, or the range's end.
   *
   * @see #isSpecial
   */
  static int plainEnd(byte[] source, int from, int to) {
    int at = from;
    while (at <= to - Long.BYTES) {
      long special = special((long) LONGS.get(source, at));
      if (special != 0) {
        return at + (Long.numberOfTrailingZeros(special) >>> 3);
      }
      at += Long.BYTES;
    }
    while (at < to && !isSpecial(source[at])) {
      at++;
    }
    return at;
  }

  /**
   * Tests eight bytes at a time: 0 if none is special, otherwise the lowest set bit belongs to the
   * first special byte. If no byte has its high bit set, a subtraction sets the high bit of the
   * lowest byte that is smaller; the bytes above it may be wrong.
   */
  private static long special(long word) {
    return (word
            | (word - BLANKS)
            | ((word ^ QUOTES) - LOW_BITS)
            | ((word ^ BACKSLASHES) - LOW_BITS))
        & HIGH_BITS;
  }

  private void putEscape(byte b) {
    reserve(ESCAPE);
    bytes[length++] = '\\';
    switch (b) {
      case '"', '\\' -> bytes[length++] = b;
      case '\b' -> bytes[length++] = 'b';
      case '\f' -> bytes[length++] = 'f';
      case '\n' -> bytes[length++] = 'n';
      case '\r' -> bytes[length++] = 'r';
      case '\t' -> bytes[length++] = 't';
      default -> {
        bytes[length++] = 'u';
        bytes[length++] = '0';
        bytes[length++] = '0';
        bytes[length++] = (byte) HEX.toHighHexDigit(b);
        bytes[length++] = (byte) HEX.toLowHexDigit(b);
      }
    }
  }

  /** Writes bytes as a string in base64. */
  public void putBase64String(byte[] source, int offset, int count) {
    put('"');
    putBase64(source, offset, count);
    put('"');
  }

  // Values of lookups pass through here; java.util.Base64 would allocate the digits of each.
  private void putBase64(byte[] source, int offset, int count) {
    reserve((count + 2L) / 3 * 4);
    int end = offset + count;
    int at = offset;
    for (; at <= end - 3; at += 3) {
      putBase64(
          (source[at] & 0xFF) << 16 | (source[at + 1] & 0xFF) << 8 | source[at + 2] & 0xFF, 4);
    }
    if (at == end - 1) {
      putBase64((source[at] & 0xFF) << 16, 2);
      put('=');
      put('=');
    } else if (at == end - 2) {
      putBase64((source[at] & 0xFF) << 16 | (source[at + 1] & 0xFF) << 8, 3);
      put('=');
    }
  }

  /** Writes the first {@code digits} digits of a group of 24 bits. */
  private void putBase64(int group, int digits) {
    for (int shift = 18; shift > 18 - 6 * digits; shift -= 6) {
      bytes[length++] = BASE64[group >> shift & 63];
    }
  }
}
