package tech.bsdb.tools.rows;

import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.text.JsonEscapes;

/**
 * UUIDs such as {@code 123e4567-e89b-12d3-a456-426614174000}, with digits in either case, stored as
 * 16 bytes or as the unchanged text.
 */
final class UuidText extends ScalarText {
  /** Size of a UUID in bytes. */
  static final int BYTES = 16;

  private static final int LENGTH = 36;

  private final boolean binary;

  UuidText(boolean binary) {
    this.binary = binary;
  }

  @Override
  boolean accepts(Form form, boolean exactly) {
    return form == Form.STRING || form == Form.FIELD;
  }

  @Override
  @Nullable String put(Form form, char[] text, int from, int to, RowBuffer out) {
    if (to - from != LENGTH) {
      return isNot();
    }
    int start = out.length();
    for (int i = 0; i < LENGTH; ) {
      if (i == 8 || i == 13 || i == 18 || i == 23) {
        if (text[from + i++] != '-') {
          return isNot();
        }
      }
      int high = digit(text[from + i++]);
      int low = digit(text[from + i++]);
      if ((high | low) < 0) {
        return isNot();
      }
      out.put(high << 4 | low);
    }
    if (!binary) {
      out.truncate(start);
      out.putText(text, from, to, true);
    }
    return null;
  }

  private static int digit(char c) {
    return c < 0x80 ? JsonEscapes.digit((byte) c) : -1;
  }

  @Override
  String name() {
    return "a UUID";
  }
}
