package tech.bsdb.hash;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import tech.bsdb.format.PageEncoder;

/**
 * The construction of one hash function. Every signature belongs to a bucket; each bucket is solved
 * on its own, for the slots that follow those of the bucket before it. Thread-safe.
 */
public interface HashConstruction {
  /**
   * The number of buckets, at least 1. If it is not less than the number of partitions, it is a
   * multiple of it.
   */
  long buckets();

  /**
   * The number of pages of the function's file, including header and footer; an estimate where it
   * depends on the keys.
   */
  long filePages();

  /** Bytes of heap that an open function takes, besides a bit per page. */
  long heapBytes();

  /**
   * The bucket of a signature: its first half, as an unsigned number, scaled to the number of
   * buckets.
   *
   * @param high the first half of the signature
   * @param buckets less than 2^62
   */
  static long bucket(long high, long buckets) {
    return Math.multiplyHigh(high >>> 1, buckets << 1);
  }

  /**
   * Solves one bucket. The same bucket always gives the same solution.
   *
   * @param high first halves of the signatures of its keys; signatures are distinct and ascending
   * @param low second halves
   * @param from the index of its first signature in both arrays
   * @param size the number of its signatures, which may be 0
   * @param first the first slot of the bucket
   * @throws BucketOverflowException if it cannot be solved, so that the function must be
   *     constructed anew with the next attempt
   */
  Solution solve(long[] high, long[] low, int from, int size, long first)
      throws BucketOverflowException;

  /**
   * Returns a writer for the function's file.
   *
   * @param pages the encoder of the file's pages, still at its start
   * @param keys the exact number of keys
   */
  HashWriter writer(PageEncoder pages, long keys);

  /**
   * A solved bucket.
   *
   * @param block its bytes, as stored in the file
   * @param slots the slot of each signature relative to the bucket's first slot, in input order;
   *     each number from 0 to size - 1 once
   */
  record Solution(byte[] block, int[] slots) {
    private static final VarHandle LONGS =
        MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    /** The bucket's first slot: the lower 56 bits of the first word of the block. */
    long first() {
      return (long) LONGS.get(block, 0) << Byte.SIZE >>> Byte.SIZE;
    }
  }
}
