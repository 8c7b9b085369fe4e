package tech.bsdb.bench.compare;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/**
 * What a lap makes of each value of at least eight bytes: its length plus its first eight bytes, so
 * that no lookup can be optimized away. The sum over many keys shows whether the answers are right.
 */
final class ValueSum {
  /** Stands for an absent key. */
  static final long ABSENT = 0x5bd1_e995_5bd1_e995L;

  private static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

  private ValueSum() {}

  static long of(byte @Nullable [] value) {
    return value == null ? ABSENT : of(value, 0, value.length);
  }

  static long of(byte[] array, int offset, int length) {
    return of(length, (long) LONGS.get(array, offset));
  }

  /**
   * Returns what a value adds to the sum.
   *
   * @param first the first eight bytes, big-endian
   */
  static long of(int length, long first) {
    return length + first;
  }
}
