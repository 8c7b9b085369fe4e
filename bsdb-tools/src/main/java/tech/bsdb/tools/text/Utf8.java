package tech.bsdb.tools.text;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/** Validates UTF-8 (Unicode standard, table 3-7) without creating strings. */
public final class Utf8 {
  private static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final long HIGH_BITS = 0x8080_8080_8080_8080L;

  private Utf8() {}

  /**
   * Whether the range is well-formed: no stray, missing or overlong bytes, no surrogates, nothing
   * above U+10FFFF.
   */
  public static boolean isValid(byte[] bytes, int from, int to) {
    int at = from;
    while (at < to) {
      if (bytes[at] >= 0) {
        at = Math.max(at + 1, asciiEnd(bytes, at, to));
        continue;
      }
      int length = sequence(bytes, at, to);
      if (length == 0) {
        return false;
      }
      at += length;
    }
    return true;
  }

  /**
   * The length of the one-character sequence at the start of the range: 1 to 4 bytes, or 0 if it is
   * malformed.
   */
  static int sequence(byte[] bytes, int from, int to) {
    int lead = bytes[from] & 0xFF;
    if (lead < 0x80) {
      return 1;
    }
    int length = lengthAfter(lead);
    if (length == 0 || length > to - from || !secondFits(lead, bytes[from + 1] & 0xFF)) {
      return 0;
    }
    for (int i = 2; i < length; i++) {
      if ((bytes[from + i] & 0xC0) != 0x80) {
        return 0;
      }
    }
    return length;
  }

  /**
   * A lower bound for the end of the ASCII at the start of the range, less than eight bytes short
   * of it.
   */
  private static int asciiEnd(byte[] bytes, int from, int to) {
    int at = from;
    while (at <= to - 8 && ((long) LONGS.get(bytes, at) & HIGH_BITS) == 0) {
      at += 8;
    }
    return at;
  }

  private static int lengthAfter(int lead) {
    if (lead < 0xC2 || lead > 0xF4) {
      return 0;
    }
    return lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  }

  private static boolean secondFits(int lead, int second) {
    return switch (lead) {
      case 0xE0 -> second >= 0xA0 && second <= 0xBF; // else overlong
      case 0xED -> second >= 0x80 && second <= 0x9F; // else a surrogate
      case 0xF0 -> second >= 0x90 && second <= 0xBF; // else overlong
      case 0xF4 -> second >= 0x80 && second <= 0x8F; // else above U+10FFFF
      default -> second >= 0x80 && second <= 0xBF;
    };
  }
}
