package tech.bsdb.tools.rows;

import java.math.BigInteger;
import org.apache.avro.LogicalTypes;
import org.jspecify.annotations.Nullable;

/**
 * Decimal numbers of a fixed number of digits behind the point: in the row the number without its
 * point, in two's complement, the highest byte first. A number that would have to be rounded does
 * not fit. Also in a string, for readers that have none so large.
 */
final class DecimalText extends ScalarText {
  /** As many bytes as the number takes, counted before it. */
  static final int ANY_SIZE = -1;

  private final int precision;
  private final int scale;
  private final int size;
  private final NumberText number = new NumberText();

  /** {@code size} bytes, all of them, or {@link #ANY_SIZE}. */
  DecimalText(LogicalTypes.Decimal type, int size) {
    this.precision = type.getPrecision();
    this.scale = type.getScale();
    this.size = size;
  }

  @Override
  boolean takes(Form form, boolean exactly) {
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

  /** Writes as many bytes as the number takes, and before them how many. */
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
    out.putFixed(bytes, 0, bytes.length);
  }

  @Override
  String name() {
    return "a " + type();
  }

  private String type() {
    return "decimal(" + precision + "," + scale + ")";
  }
}
