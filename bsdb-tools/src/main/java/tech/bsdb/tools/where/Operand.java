package tech.bsdb.tools.where;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.nio.ByteOrder;
import java.util.Arrays;
import tech.bsdb.tools.rows.RowBuffer;

/** A constant in the form in which values of one type are compared with it. Immutable. */
public sealed interface Operand extends Comparable<Operand> {
  /** Compares a value in Avro's encoding of the type with the constant: below, at, or above 0. */
  int compare(RowBuffer value);

  /**
   * A whole number, or one between two whole numbers, as which integers, booleans, dates and times
   * are encoded.
   *
   * @param floor the largest whole number that is not above the constant
   * @param ifFloor how the floor compares to the constant: 0, or -1 if it is below. If the constant
   *     is below all numbers, the floor is the smallest one, and this is 1
   */
  record Whole(long floor, int ifFloor) implements Operand {
    /** Returns the operand for a number in the unit of the values. */
    static Whole of(BigDecimal number) {
      BigInteger floor = floor(number);
      if (floor.bitLength() >= Long.SIZE) {
        return floor.signum() < 0 ? new Whole(Long.MIN_VALUE, 1) : new Whole(Long.MAX_VALUE, -1);
      }
      return new Whole(floor.longValueExact(), new BigDecimal(floor).compareTo(number));
    }

    /** Returns the largest whole number that is not above a number. */
    public static BigInteger floor(BigDecimal number) {
      return number.setScale(0, RoundingMode.FLOOR).unscaledValue();
    }

    int compare(long value) {
      return value < floor ? -1 : value > floor ? 1 : ifFloor;
    }

    @Override
    public int compare(RowBuffer value) {
      return compare(Encoded.number(value));
    }

    @Override
    public int compareTo(Operand other) {
      Whole that = (Whole) other;
      int order = Long.compare(floor, that.floor);
      return order == 0 ? Integer.compare(that.ifFloor, ifFloor) : order;
    }
  }

  /** TRUE or FALSE. */
  record Bit(boolean bit) implements Operand {
    @Override
    public int compare(RowBuffer value) {
      return Boolean.compare(value.bytes()[0] != 0, bit);
    }

    @Override
    public int compareTo(Operand other) {
      return Boolean.compare(bit, ((Bit) other).bit);
    }
  }

  /**
   * A number in units of the last digit of decimals.
   *
   * @param number the constant, exactly
   * @param small the constant for values of at most eight bytes
   */
  record Unscaled(BigDecimal number, Whole small) implements Operand {
    /** Returns the operand for a number in the unit of the values. */
    static Unscaled of(BigDecimal number) {
      return new Unscaled(number, Whole.of(number));
    }

    @Override
    public int compare(RowBuffer value) {
      byte[] bytes = value.bytes();
      int from = Encoded.start(value);
      int count = value.length() - from;
      if (count > Long.BYTES) {
        return new BigDecimal(new BigInteger(bytes, from, count)).compareTo(number);
      }
      long unscaled = count == 0 ? 0 : bytes[from];
      for (int i = from + 1; i < value.length(); i++) {
        unscaled = unscaled << 8 | bytes[i] & 0xFF;
      }
      return small.compare(unscaled);
    }

    @Override
    public int compareTo(Operand other) {
      return number.compareTo(((Unscaled) other).number);
    }
  }

  /**
   * A floating-point number. NaN is equal to NaN and above all others; both zeros are equal.
   *
   * @param single whether values have four bytes
   */
  record Real(double number, boolean single) implements Operand {
    private static final VarHandle INTS =
        MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle LONGS =
        MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    private static int compare(double a, double b) {
      return a < b
          ? -1
          : a > b ? 1 : a == b ? 0 : Boolean.compare(Double.isNaN(a), Double.isNaN(b));
    }

    @Override
    public int compare(RowBuffer value) {
      byte[] bytes = value.bytes();
      return compare(
          single
              ? Float.intBitsToFloat((int) INTS.get(bytes, 0))
              : Double.longBitsToDouble((long) LONGS.get(bytes, 0)),
          number);
    }

    @Override
    public int compareTo(Operand other) {
      return compare(number, ((Real) other).number);
    }
  }

  /**
   * Bytes, or text in UTF-8: compared byte by byte, without signs.
   *
   * @param counted whether the encoding begins with a length
   */
  @SuppressWarnings("ArrayRecordComponent")
  record Octets(byte[] bytes, boolean counted) implements Operand {
    @Override
    public int compare(RowBuffer value) {
      int from = counted ? Encoded.start(value) : 0;
      return Arrays.compareUnsigned(value.bytes(), from, value.length(), bytes, 0, bytes.length);
    }

    @Override
    public int compareTo(Operand other) {
      return Arrays.compareUnsigned(bytes, ((Octets) other).bytes);
    }
  }

  /** Reads Avro's encoding of a single value. */
  final class Encoded {
    private Encoded() {}

    /** Returns the number that the value begins with. */
    static long number(RowBuffer value) {
      byte[] bytes = value.bytes();
      long number = bytes[0] & 0x7F;
      for (int i = 1; bytes[i - 1] < 0; i++) {
        number |= (bytes[i] & 0x7FL) << 7 * i;
      }
      return number >>> 1 ^ -(number & 1);
    }

    /** Returns where bytes or text begin, after their length. */
    static int start(RowBuffer value) {
      byte[] bytes = value.bytes();
      int at = 0;
      while (bytes[at++] < 0) {
        // a part of the length
      }
      return at;
    }
  }
}
