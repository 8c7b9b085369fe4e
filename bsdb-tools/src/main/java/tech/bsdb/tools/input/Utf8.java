package tech.bsdb.tools.input;

/**
 * Tells well-formed UTF-8 (Unicode standard, table 3-7) from other bytes without making strings of
 * it.
 */
final class Utf8 {
  private Utf8() {}

  /**
   * Whether the range is well-formed: no stray, missing or overlong bytes, no surrogates, nothing
   * above U+10FFFF.
   */
  static boolean isValid(byte[] bytes, int from, int to) {
    int at = from;
    while (at < to) {
      int lead = bytes[at];
      if (lead >= 0) {
        at += Math.max(1, ByteSearch.asciiPrefix(bytes, at, to));
        continue;
      }
      int length = lengthAfter(lead & 0xFF);
      if (length == 0 || length > to - at || !secondFits(lead & 0xFF, bytes[at + 1] & 0xFF)) {
        return false;
      }
      for (int i = 2; i < length; i++) {
        if ((bytes[at + i] & 0xC0) != 0x80) {
          return false;
        }
      }
      at += length;
    }
    return true;
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
