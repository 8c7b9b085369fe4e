package tech.bsdb.tools.rows;

import com.fasterxml.jackson.core.io.NumberInput;
import org.jspecify.annotations.Nullable;

/**
 * Floating-point numbers: the one nearest to a decimal number, or {@code "NaN"}, {@code
 * "Infinity"}, {@code "-Infinity"}, which JSON can only express as strings.
 */
final class FloatingText extends ScalarText {
  private final boolean isFloat;

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
    if (form == Form.STRING || (form == Form.FIELD && !NumberText.isNumber(text, from, to))) {
      return putWord(text, from, to, out);
    }
    double value =
        isFloat
            ? NumberInput.parseFloat(text, from, to - from, true)
            : NumberInput.parseDouble(text, from, to - from, true);
    if (Double.isInfinite(value)) {
      return isBeyond();
    }
    put(value, out);
    return null;
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
