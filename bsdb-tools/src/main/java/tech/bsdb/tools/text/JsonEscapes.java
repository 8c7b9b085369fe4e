package tech.bsdb.tools.text;

/** The escapes of JSON strings (RFC 8259, section 7). */
public final class JsonEscapes {
  private JsonEscapes() {}

  /**
   * What a backslash and the character stand for, or 0 if they are not an escape, or if it is
   * {@code u}.
   */
  public static byte simple(byte character) {
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
