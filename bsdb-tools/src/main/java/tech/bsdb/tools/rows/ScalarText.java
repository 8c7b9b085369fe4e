package tech.bsdb.tools.rows;

import com.fasterxml.jackson.core.io.NumberInput;
import com.fasterxml.jackson.core.io.NumberOutput;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.avro.LogicalTypes;
import org.apache.avro.Schema;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.text.JsonEscapes;

/**
 * Converts the text of a scalar type to the bytes of a row (the forms: docs/guides/rows.md). Not
 * thread-safe.
 */
abstract class ScalarText {
  /** How a text is written. */
  enum Form {
    /** A CSV field, which does not tell its type. */
    FIELD,
    /** A JSON string. */
    STRING,
    /** A JSON number of digits alone. */
    INTEGER,
    /** A JSON number with a point or an exponent. */
    FRACTION,
    /** A JSON {@code true} or {@code false}. */
    BOOLEAN
  }

  private final String name;
  private char[] wide = new char[64];

  /**
   * Creates a converter.
   *
   * @param name what a fitting value is called, as in "is not an int"
   */
  ScalarText(String name) {
    this.name = name;
  }

  /**
   * Creates the converter for a type, or returns null if the type is not scalar or is {@code null}.
   */
  static @Nullable ScalarText of(Schema schema) {
    Shape shape = Shape.of(schema);
    return switch (shape.kind) {
      case BOOLEAN -> new BooleanText();
      case INT -> new IntegerText("an int", Integer.MIN_VALUE, Integer.MAX_VALUE);
      case LONG -> new IntegerText("a long", Long.MIN_VALUE, Long.MAX_VALUE);
      case FLOAT -> new FloatingText(true);
      case DOUBLE -> new FloatingText(false);
      case STRING ->
          schema.getLogicalType() instanceof LogicalTypes.Uuid
              ? new UuidText(false)
              : new StringText();
      case BYTES -> new BinaryText(BinaryText.ANY_SIZE);
      case FIXED -> new BinaryText(shape.size);
      case ENUM -> new EnumText(schema);
      case DATE -> new TimeText.OfDate();
      case TIME -> new TimeText.OfDay(shape.digits);
      case TIMESTAMP -> new TimeText.Timestamp(shape.digits, true);
      case LOCAL_TIMESTAMP -> new TimeText.Timestamp(shape.digits, false);
      case DECIMAL -> new DecimalText.Scaled(shape, DecimalText.ANY_SIZE);
      case FIXED_DECIMAL -> new DecimalText.Scaled(shape, shape.size);
      case BIG_DECIMAL -> new DecimalText.WithScale();
      case UUID -> new UuidText(true);
      case DURATION -> new TimeText.Duration();
      case NULL, RECORD, ARRAY, MAP, UNION -> null;
    };
  }

  /**
   * Whether the type may have values in a form; by default, those of a string.
   *
   * @param exactly whether to accept only JSON that a database returns, so that it identifies the
   *     branch of a union
   */
  boolean accepts(Form form, boolean exactly) {
    return form == Form.STRING || form == Form.FIELD;
  }

  /**
   * Writes the value of a text.
   *
   * @param form a form that the type accepts
   * @return null, or what is wrong, as a continuation of the text, with any bytes written
   */
  abstract @Nullable String put(Form form, char[] text, int from, int to, RowBuffer out);

  /** Writes the value of a CSV field in UTF-8, like the other {@code put}. */
  @Nullable String put(byte[] utf8, int from, int length, RowBuffer out) {
    if (wide.length < length) {
      wide = new char[Math.max(length, 2 * wide.length)];
    }
    for (int i = 0; i < length; i++) {
      byte b = utf8[from + i];
      if (b < 0) {
        char[] text = new String(utf8, from, length, StandardCharsets.UTF_8).toCharArray();
        return put(Form.FIELD, text, 0, text.length, out);
      }
      wide[i] = (char) b;
    }
    return put(Form.FIELD, wide, 0, length, out);
  }

  /** Returns what a fitting value is called, as in "is not an int". */
  final String name() {
    return name;
  }

  /** Returns the problem with a text that is not a value of the type. */
  final String isNot() {
    return "is not " + name;
  }

  /** Returns the problem with a number that the type cannot hold. */
  final String isBeyond() {
    return "is beyond the range of " + name;
  }

  /** Whether a range of text is a given word. */
  static boolean isWord(String word, char[] text, int from, int to) {
    if (to - from != word.length()) {
      return false;
    }
    for (int i = 0; i < word.length(); i++) {
      if (text[from + i] != word.charAt(i)) {
        return false;
      }
    }
    return true;
  }

  /** {@code true} or {@code false}. */
  private static final class BooleanText extends ScalarText {
    BooleanText() {
      super("true or false");
    }

    @Override
    boolean accepts(Form form, boolean exactly) {
      return form == Form.BOOLEAN || form == Form.FIELD;
    }

    @Override
    @Nullable String put(Form form, char[] text, int from, int to, RowBuffer out) {
      boolean isTrue = isWord("true", text, from, to);
      if (!isTrue && !isWord("false", text, from, to)) {
        return isNot();
      }
      out.put(isTrue ? 1 : 0);
      return null;
    }
  }

  /** Plain text. */
  private static final class StringText extends ScalarText {
    StringText() {
      super("a string");
    }

    @Override
    @Nullable String put(Form form, char[] text, int from, int to, RowBuffer out) {
      return out.putText(text, from, to, true) ? null : "has a lone surrogate";
    }

    @Override
    @Nullable String put(byte[] utf8, int from, int length, RowBuffer out) {
      out.putBytes(utf8, from, length);
      return null;
    }
  }

  /** A symbol of an enumeration. */
  private static final class EnumText extends ScalarText {
    private static final int SHOWN = 10;

    private final Map<String, Integer> numbers = new HashMap<>();

    EnumText(Schema schema) {
      super(name(schema.getEnumSymbols(), schema.getName()));
      schema.getEnumSymbols().forEach(symbol -> numbers.put(symbol, numbers.size()));
    }

    private static String name(List<String> symbols, String type) {
      return symbols.size() > SHOWN
          ? "one of the " + symbols.size() + " symbols of " + type
          : "one of " + String.join(", ", symbols);
    }

    @Override
    @Nullable String put(Form form, char[] text, int from, int to, RowBuffer out) {
      Integer number = numbers.get(new String(text, from, to - from));
      if (number == null) {
        return isNot();
      }
      out.putLong(number);
      return null;
    }
  }

  /**
   * UUIDs such as {@code 123e4567-e89b-12d3-a456-426614174000}, with digits in either case, stored
   * as 16 bytes or as the unchanged text.
   */
  private static final class UuidText extends ScalarText {
    private static final int LENGTH = 36;

    private final boolean binary;

    UuidText(boolean binary) {
      super("a UUID");
      this.binary = binary;
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
  }

  /**
   * Floating-point numbers: the one nearest to a decimal number, or {@code "NaN"}, {@code
   * "Infinity"}, {@code "-Infinity"}, which JSON can only express as strings. Of digits alone, it
   * must be the same number, or have them as its shortest text, as JavaScript writes it.
   */
  private static final class FloatingText extends ScalarText {
    /** So many digits are always exact. */
    private static final int FLOAT_DIGITS = 7;

    private static final int DOUBLE_DIGITS = 15;

    private final boolean isFloat;
    private final NumberText number = new NumberText();

    FloatingText(boolean isFloat) {
      super(isFloat ? "a float" : "a double");
      this.isFloat = isFloat;
    }

    @Override
    boolean accepts(Form form, boolean exactly) {
      return form != Form.BOOLEAN;
    }

    @Override
    @Nullable String put(Form form, char[] text, int from, int to, RowBuffer out) {
      if (form == Form.STRING || (form == Form.FIELD && !number.isNumber(text, from, to))) {
        return putWord(text, from, to, out);
      }
      double value =
          isFloat
              ? NumberInput.parseFloat(text, from, to - from, true)
              : NumberInput.parseDouble(text, from, to - from, true);
      if (Double.isInfinite(value)) {
        return isBeyond();
      }
      if (to - from > (isFloat ? FLOAT_DIGITS : DOUBLE_DIGITS)
          && isRounded(text, from, to, value)) {
        return "does not fit exactly in " + name();
      }
      put(value, out);
      return null;
    }

    /** Whether a number is digits alone, and not those of the value. */
    private boolean isRounded(char[] text, int from, int to, double value) {
      for (int i = from + 1; i < to; i++) { // the first may be a minus sign
        if (text[i] < '0' || text[i] > '9') {
          return false;
        }
      }
      BigDecimal digits = new BigDecimal(text, from, to - from);
      String shortest =
          isFloat ? NumberOutput.toString((float) value, true) : NumberOutput.toString(value, true);
      return digits.compareTo(new BigDecimal(value)) != 0
          && digits.compareTo(new BigDecimal(shortest)) != 0;
    }

    private @Nullable String putWord(char[] text, int from, int to, RowBuffer out) {
      double value;
      if (isWord("NaN", text, from, to)) {
        value = Double.NaN;
      } else if (isWord("Infinity", text, from, to)) {
        value = Double.POSITIVE_INFINITY;
      } else if (isWord("-Infinity", text, from, to)) {
        value = Double.NEGATIVE_INFINITY;
      } else {
        return isNot();
      }
      put(value, out);
      return null;
    }

    private void put(double value, RowBuffer out) {
      if (isFloat) {
        out.putFloat((float) value);
      } else {
        out.putDouble(value);
      }
    }
  }

  /** Bytes as base64 (RFC 4648, section 4). Padding is optional; unused bits must be zero. */
  private static final class BinaryText extends ScalarText {
    /** Any number of bytes, preceded by their count. */
    static final int ANY_SIZE = -1;

    // Every value of a parsed line passes through here; java.util.Base64 reads bytes, not
    // characters, allocates its result, and accepts bits that stand for nothing and are not zero.
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
}
