package tech.bsdb.tools.text;

/** The escapes of JSON strings (RFC 8259, section 7). */
public final class JsonEscapes {
  private JsonEscapes() {}

  /**
   * What a backslash and the character stand for, or 0 if they are not an escape, or if it is
   * {@code u}.
   */
  static byte simple(byte character) {
    return switch (character) {
      case '"', '\\', '/' -> character;
      case 'b' -> '\b';
      case 'f' -> '\f';
      case 'n' -> '\n';
      case 'r' -> '\r';
      case 't' -> '\t';
      default -> 0;
    };
  }

  /** The value of a hexadecimal digit of either case, or -1. */
  public static int digit(byte character) {
    return Character.digit(character, 16);
  }

  /** The value of four hexadecimal digits, or negative if they are not. */
  static int fourDigits(byte[] bytes, int from) {
    int number = 0;
    for (int at = from; at < from + 4; at++) {
      number = number << 4 | digit(bytes[at]) | number >> 31;
    }
    return number;
  }

  /**
   * Writes a string in UTF-8 without its escapes, into another array or over itself. A lone
   * surrogate becomes three bytes that are not valid UTF-8.
   *
   * @return where it ends, or the complement of where the first backslash is that begins no escape;
   *     the string behind that is unchanged
   */
  public static int unescape(byte[] bytes, int from, int to, byte[] target, int offset) {
    int end = offset;
    int at = from;
    while (at < to) {
      byte b = bytes[at++];
      if (b != '\\') {
        target[end++] = b;
        continue;
      }
      int character = escaped(bytes, at, to);
      if (character < 0) {
        return ~(at - 1);
      }
      at += bytes[at] == 'u' ? 5 : 1;
      if (Character.isHighSurrogate((char) character) && at < to && bytes[at] == '\\') {
        int low = escaped(bytes, at + 1, to);
        if (low >= 0 && Character.isLowSurrogate((char) low)) {
          character = Character.toCodePoint((char) character, (char) low);
          at += 6;
        }
      }
      end = encode(character, target, end);
    }
    return end;
  }

  /** The character of an escape whose backslash precedes it, or negative if it is wrong. */
  private static int escaped(byte[] bytes, int at, int to) {
    if (at < to && bytes[at] == 'u') {
      return to - at < 5 ? -1 : fourDigits(bytes, at + 1);
    }
    byte character = at < to ? simple(bytes[at]) : 0;
    return character == 0 ? -1 : character;
  }

  /**
   * Writes a character in UTF-8; a lone surrogate becomes three bytes that are not valid UTF-8.
   *
   * @return where it ends, 1 to 4 bytes after {@code offset}
   */
  public static int encode(int character, byte[] target, int offset) {
    int at = offset;
    if (character < 0x80) {
      target[at++] = (byte) character;
      return at;
    }
    if (character < 0x800) {
      target[at++] = (byte) (0xC0 | character >> 6);
    } else {
      if (character < 0x10000) {
        target[at++] = (byte) (0xE0 | character >> 12);
      } else {
        target[at++] = (byte) (0xF0 | character >> 18);
        target[at++] = (byte) (0x80 | character >> 12 & 0x3F);
      }
      target[at++] = (byte) (0x80 | character >> 6 & 0x3F);
    }
    target[at++] = (byte) (0x80 | character & 0x3F);
    return at;
  }
}
