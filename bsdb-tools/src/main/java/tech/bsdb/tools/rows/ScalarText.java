package tech.bsdb.tools.rows;

import java.nio.charset.StandardCharsets;
import org.apache.avro.LogicalType;
import org.apache.avro.LogicalTypes;
import org.apache.avro.Schema;
import org.jspecify.annotations.Nullable;

/**
 * The text of a type of single values, and how it becomes the bytes of a row (the forms:
 * OPERATIONS.md "Typed rows from text"). For one thread.
 */
abstract class ScalarText {
  /** How a text is written. */
  enum Form {
    /** A field of CSV: nothing says what it is. */
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

  private char[] wide = new char[64];

  /** The type's text, or null if it is not one of single values or is {@code null} itself. */
  static @Nullable ScalarText of(Schema schema) {
    LogicalType logical = schema.getLogicalType();
    return switch (schema.getType()) {
      case BOOLEAN -> new BooleanText();
      case INT -> {
        if (logical instanceof LogicalTypes.Date) {
          yield new DateText();
        }
        yield logical instanceof LogicalTypes.TimeMillis
            ? new TimeText(3)
            : new IntegerText("an int", Integer.MIN_VALUE, Integer.MAX_VALUE);
      }
      case LONG -> ofLong(schema, logical);
      case FLOAT -> new FloatingText(true);
      case DOUBLE -> new FloatingText(false);
      case STRING -> logical instanceof LogicalTypes.Uuid ? new UuidText(false) : new StringText();
      case ENUM -> new EnumText(schema);
      case BYTES -> {
        if (logical instanceof LogicalTypes.BigDecimal) {
          yield new BigDecimalText();
        }
        yield logical instanceof LogicalTypes.Decimal decimal
            ? new DecimalText(decimal, DecimalText.ANY_SIZE)
            : new BinaryText(BinaryText.ANY_SIZE);
      }
      case FIXED -> ofFixed(schema, logical);
      case NULL, RECORD, ARRAY, MAP, UNION -> null;
    };
  }

  private static ScalarText ofLong(Schema schema, @Nullable LogicalType logical) {
    // not a type of Avro's own, so that it may be there as a property alone
    String name =
        logical == null ? schema.getProp(LogicalType.LOGICAL_TYPE_PROP) : logical.getName();
    if (logical == null && !TimeText.NANOS.equals(name)) {
      name = null;
    }
    return switch (name == null ? "" : name) {
      case "time-micros" -> new TimeText(6);
      case TimeText.NANOS -> new TimeText(9);
      case "timestamp-millis" -> new TimestampText(3, true);
      case "timestamp-micros" -> new TimestampText(6, true);
      case "timestamp-nanos" -> new TimestampText(9, true);
      case "local-timestamp-millis" -> new TimestampText(3, false);
      case "local-timestamp-micros" -> new TimestampText(6, false);
      case "local-timestamp-nanos" -> new TimestampText(9, false);
      default -> new IntegerText("a long", Long.MIN_VALUE, Long.MAX_VALUE);
    };
  }

  private static ScalarText ofFixed(Schema schema, @Nullable LogicalType logical) {
    int size = schema.getFixedSize();
    if (logical instanceof LogicalTypes.Decimal decimal && size > 0) {
      return new DecimalText(decimal, size);
    }
    if (logical instanceof LogicalTypes.Uuid && size == UuidText.BYTES) {
      return new UuidText(true);
    }
    return logical instanceof LogicalTypes.Duration && size == DurationText.BYTES
        ? new DurationText()
        : new BinaryText(size);
  }

  /**
   * Whether the type may have values that are written so.
   *
   * @param exactly whether only as JSON that comes out of a database, so that the branch of a union
   *     can be told by it
   */
  abstract boolean takes(Form form, boolean exactly);

  /**
   * Writes the value that a text stands for.
   *
   * @param form one that the type takes
   * @return null, or, with any bytes written, what is wrong: it reads on from the text
   */
  abstract @Nullable String put(Form form, char[] text, int from, int to, RowBuffer out);

  /** As the other, for a field of CSV in UTF-8. */
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

  /** What a value is that fits, as in "is not an int". */
  abstract String name();

  /** What is wrong with a text that is nothing of the kind. */
  final String isNot() {
    return "is not " + name();
  }

  /** Whether a range of a text is that word. */
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
}
