package tech.bsdb.tools.rows;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Bytes as base64 (RFC 4648, section 4). Padding is optional; unused bits must be zero. */
final class BinaryText extends ScalarText {
  /** Any number of bytes, preceded by their count. */
  static final int ANY_SIZE = -1;

  // Every value of a parsed line passes through here; java.util.Base64 reads bytes, not characters,
  // allocates its result, and accepts bits that stand for nothing and are not zero.
  private static final byte[] VALUES = new byte[128];

  static {
    Arrays.fill(VALUES, (byte) -1);
    String digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (int i = 0; i < digits.length(); i++) {
      VALUES[digits.charAt(i)] = (byte) i;
    }
  }

  private final int size;

  /** Creates a type of {@code size} bytes, or {@link #ANY_SIZE}. */
  BinaryText(int size) {
    super(size == ANY_SIZE ? "base64" : "base64 of " + size + " bytes");
    this.size = size;
  }

  @Override
  @Nullable String put(Form form, char[] text, int from, int to, RowBuffer out) {
    int end = digitsEnd(text, from, to);
    int digits = end - from;
    if (digits % 4 == 1) {
      return isNot();
    }
    int bytes = (int) (digits * 3L / 4);
    if (size == ANY_SIZE) {
      out.putLong(bytes);
    } else if (bytes != size) {
      return "is base64 of " + bytes + " bytes, not of " + size;
    }
    int bits = 0;
    int pending = 0;
    for (int at = from; at < end; at++) {
      int value = text[at] < VALUES.length ? VALUES[text[at]] : -1;
      if (value < 0) {
        return isNot();
      }
      bits = bits << 6 | value;
      pending += 6;
      if (pending >= 8) {
        pending -= 8;
        out.put(bits >> pending);
        bits &= (1 << pending) - 1;
      }
    }
    return bits == 0 ? null : isNot();
  }

  /**
   * Returns where complete padding begins, or {@code to}; incomplete padding then fails as a
   * non-digit.
   */
  private static int digitsEnd(char[] text, int from, int to) {
    if (to == from || (to - from) % 4 != 0 || text[to - 1] != '=') {
      return to;
    }
    return text[to - 2] == '=' ? to - 2 : to - 1;
  }
}
