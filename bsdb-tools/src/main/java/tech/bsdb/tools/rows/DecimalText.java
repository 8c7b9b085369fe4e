package tech.bsdb.tools.rows;

import java.math.BigInteger;
import org.apache.avro.LogicalTypes;
import org.jspecify.annotations.Nullable;

/**
 * Decimal numbers with a fixed scale, stored as the unscaled number in two's complement,
 * big-endian. A number that would have to be rounded does not fit. Strings are accepted too, for
 * programs without numbers that large.
 */
final class DecimalText extends ScalarText {
  /** As many bytes as the number needs, preceded by their count. */
  static final int ANY_SIZE = -1;

  private final int precision;
  private final int scale;
  private final int size;
  private final NumberText number = new NumberText();

  /** Creates a type of exactly {@code size} bytes, or {@link #ANY_SIZE}. */
  DecimalText(LogicalTypes.Decimal type, int size) {
    this.precision = type.getPrecision();
    this.scale = type.getScale();
    this.size = size;
  }

  @Override
  boolean accepts(Form form, boolean exactly) {
    return switch (form) {
      case INTEGER, FRACTION, FIELD -> true;
      case STRING -> !exactly;
      case BOOLEAN -> false;
    };
  }

  @Override
  @Nullable String put(Form form, char[] text, int from, int to, RowBuffer out) {
    if (!number.parse(text, from, to)) {
      return isNot();
    }
    if (!number.rescale(scale) || number.digitsAt(scale) > precision) {
      return "does not fit " + type();
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

  @Override
  String name() {
    return "a " + type();
  }

  private String type() {
    return "decimal(" + precision + "," + scale + ")";
  }
}
