package tech.bsdb.lake.arrow;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.table.TableFile.BadValueException;

/** The values of a field in a batch, as {@link tech.bsdb.tools.table.TableFile.Rows} has them. */
abstract class ArrowVector {
  /** How many values there are. */
  final int length;

  private final @Nullable ByteBuffer validity;

  /**
   * Creates a vector.
   *
   * @param validity a bit for each value, 1 if it is not null; or null if all are not
   */
  ArrowVector(int length, @Nullable ByteBuffer validity) {
    this.length = length;
    this.validity = validity;
  }

  /** Returns a value that is not null by the validity of the vector. */
  abstract @Nullable Object get(int i) throws BadValueException;

  /** Returns a value, or null. */
  final @Nullable Object value(int i) throws BadValueException {
    if (i < 0 || i >= length) {
      throw new IllegalStateException("a vector of " + length + " values has no value " + i);
    }
    return validity == null || bit(validity, i) ? get(i) : null;
  }

  /** Returns a bit of a bitmap. */
  static boolean bit(ByteBuffer bits, int i) {
    return (bits.get(i >> 3) >> (i & 7) & 1) != 0;
  }

  /** Reads a value from a buffer. */
  @FunctionalInterface
  interface Getter {
    /** Returns the value of an index. */
    @Nullable Object get(ByteBuffer data, int i) throws BadValueException;
  }

  /** Returns the position of an index in a buffer, checked. */
  static int at(int i, int width) {
    return Math.multiplyExact(i, width);
  }
}
