package tech.bsdb.tools.text;

import java.nio.ByteBuffer;

/** 16-bit floating-point numbers (IEEE 754). */
public final class HalfFloat {
  private static final int EXPONENT_BIAS = 15;
  private static final int FRACTION_BITS = 10;

  private HalfFloat() {}

  /** Reads a number from two bytes, little-endian. */
  public static float of(ByteBuffer bytes) {
    int at = bytes.position();
    return of((bytes.get(at + 1) & 0xFF) << 8 | bytes.get(at) & 0xFF);
  }

  /** Returns the number with these 16 bits. */
  public static float of(int bits) {
    int sign = (bits & 0x8000) << 16;
    int exponent = bits >> FRACTION_BITS & 0x1F;
    int fraction = bits & (1 << FRACTION_BITS) - 1;
    if (exponent == 0x1F) { // infinity or NaN
      return Float.intBitsToFloat(sign | 0x7F80_0000 | fraction << 23 - FRACTION_BITS);
    }
    float size =
        exponent == 0
            ? Math.scalb((float) fraction, 1 - EXPONENT_BIAS - FRACTION_BITS)
            : Math.scalb(
                (float) (fraction | 1 << FRACTION_BITS), exponent - EXPONENT_BIAS - FRACTION_BITS);
    return sign == 0 ? size : -size;
  }
}
