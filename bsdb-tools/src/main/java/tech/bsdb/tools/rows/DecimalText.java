package tech.bsdb.tools.rows;

import java.math.BigInteger;
import org.jspecify.annotations.Nullable;

/**
 * Decimal numbers. Strings are accepted too, for programs without numbers that large. A number is
 * stored as the unscaled number in two's complement, big-endian.
 */
abstract class DecimalText extends ScalarText {
  /** As many bytes as the number needs, preceded by their count. */
  static final int ANY_SIZE = -1;

  /** The last number parsed. */
  final NumberText number = new NumberText();

  DecimalText(String name) {
    super(name);
  }

  @Override
  final boolean accepts(Form form, boolean exactly) {
    return switch (form) {
      case INTEGER, FRACTION, FIELD -> true;
      case STRING -> !exactly;
      case BOOLEAN -> false;
    };
  }

  @Override
  final @Nullable String put(Form form, char[] text, int from, int to, RowBuffer out) {
    return number.parse(text, from, to) ? putNumber(out) : isNot();
  }

  /** Writes the number; returns null, or what is wrong with it. */
  abstract @Nullable String putNumber(RowBuffer out);

  /** Numbers with a fixed scale. A number that would have to be rounded does not fit. */
  static final class Scaled extends DecimalText {
    private final String type;
    private final int precision;
    private final int scale;
    private final int size;

    /** Creates a type of exactly {@code size} bytes, or {@link #ANY_SIZE}. */
    Scaled(Shape shape, int size) {
      super("a " + type(shape));
      this.type = type(shape);
      this.precision = shape.precision;
      this.scale = shape.scale;
      this.size = size;
    }

    private static String type(Shape shape) {
      return "decimal(" + shape.precision + "," + shape.scale + ")";
    }

    @Override
    @Nullable String putNumber(RowBuffer out) {
      if (!number.rescale(scale) || number.digitsAt(scale) > precision) {
        return "does not fit " + type;
      }
      if (NumberText.isLong(number.digitsAt(scale))) {
        long unscaled = number.unscaledLong(scale);
        if (size == ANY_SIZE) {
          putCounted(unscaled, out);
        } else {
          out.putBigEndian(unscaled, size);
        }
      } else {
        put(number.unscaled(scale), out);
      }
      return null;
    }

    /** Writes as many bytes as the number needs, preceded by their count. */
    private static void putCounted(long number, RowBuffer out) {
      int bits = Long.SIZE + 1 - Long.numberOfLeadingZeros(number ^ number >> 63);
      int bytes = (bits + 7) / 8;
      out.putLong(bytes);
      out.putBigEndian(number, bytes);
    }

    private void put(BigInteger unscaled, RowBuffer out) {
      byte[] bytes = unscaled.toByteArray();
      if (size == ANY_SIZE) {
        out.putLong(bytes.length);
      } else {
        out.putBigEndian(unscaled.signum() < 0 ? -1 : 0, size - bytes.length);
      }
      out.put(bytes);
    }
  }

  /** Numbers that each keep the scale they are written with (Avro's "big-decimal"). */
  static final class WithScale extends DecimalText {
    private static final int MAX_DIGITS = 10_000; // guards readers against huge expansions

    private final RowBuffer form = new RowBuffer();

    WithScale() {
      super("a decimal number");
    }

    @Override
    @Nullable String putNumber(RowBuffer out) {
      if (number.digits() > MAX_DIGITS || Math.abs(number.scale()) > MAX_DIGITS) {
        return "has more than " + MAX_DIGITS + " digits";
      }
      int scale = (int) number.scale();
      byte[] unscaled = number.unscaled(scale).toByteArray();
      form.reset();
      form.putBytes(unscaled, 0, unscaled.length);
      form.putLong(scale);
      out.putBytes(form.bytes(), 0, form.length());
      return null;
    }
  }
}
