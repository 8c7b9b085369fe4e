package tech.bsdb.tools.rows;

import java.nio.charset.StandardCharsets;
import org.apache.avro.LogicalType;
import org.apache.avro.LogicalTypes;
import org.apache.avro.Schema;
import org.jspecify.annotations.Nullable;

/**
 * Converts the text of a scalar type to the bytes of a row (the forms: OPERATIONS.md "Typed rows
 * from text"). Not thread-safe.
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

  private char[] wide = new char[64];

  /**
   * Creates the converter for a type, or returns null if the type is not scalar or is {@code null}.
   */
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
    // not one of Avro's own types, so it may be present only as a property
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
   * Whether the type may have values in a form.
   *
   * @param exactly whether to accept only JSON that a database returns, so that it identifies the
   *     branch of a union
   */
  abstract boolean accepts(Form form, boolean exactly);

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
  abstract String name();

  /** Returns the problem with a text that is not a value of the type. */
  final String isNot() {
    return "is not " + name();
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
}
