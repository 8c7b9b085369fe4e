package tech.bsdb.hash;

import it.unimi.dsi.sux4j.mph.solve.Linear3SystemSolver;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Iterator;
import tech.bsdb.format.ChecksumTable;
import tech.bsdb.format.PageEncoder;

/**
 * Solves buckets: finds the seed and the 2-bit values that map each key of a bucket to a unique
 * slot, using sux4j's solver (Genuzio, Ottaviano, Vigna, "Fast Scalable Construction of (Minimal
 * Perfect Hash) Functions", SEA 2016). Stateless; the same bucket always gives the same solution.
 */
final class BucketSolver implements HashConstruction {
  private static final long SEED_STEP = 1L << 56;

  private final BucketLayout layout;

  /** Creates a solver for a function with the given number of checksum bits. */
  BucketSolver(long buckets, int checksumBits) {
    this.layout = new BucketLayout(buckets, checksumBits);
  }

  @Override
  public long buckets() {
    return layout.buckets();
  }

  @Override
  public long filePages() {
    return ChecksumTable.filePages(HashBody.pages(layout.words() * Long.BYTES));
  }

  @Override
  public long heapBytes() {
    return 0;
  }

  @Override
  public HashWriter writer(PageEncoder pages, long keys) {
    return new HashWriter(pages, 0, layout.buckets(), keys);
  }

  /**
   * {@inheritDoc}
   *
   * @throws BucketOverflowException if it has too many keys, or none of the 256 seeds solves it
   */
  @Override
  public Solution solve(long[] high, long[] low, int from, int size, long first)
      throws BucketOverflowException {
    if (size > BucketLayout.MAX_KEYS) {
      throw new BucketOverflowException(size, BucketLayout.MAX_KEYS);
    }
    long[] block = new long[layout.blockWords()];
    int[] slots = new int[size];
    long seed = 0;
    if (size > 0) {
      Linear3SystemSolver solver = new Linear3SystemSolver(BucketLayout.VERTICES, size);
      Iterable<long[]> signatures = () -> new Pairs(high, low, from, size);
      while (!solver.generateAndSolve(signatures, seed, null)) {
        seed += SEED_STEP;
        if (seed == 0) {
          throw new BucketOverflowException(size);
        }
      }
      for (int vertex = 0; vertex < BucketLayout.VERTICES; vertex++) {
        block[BucketLayout.VERTEX_START + (vertex >>> 5)] |=
            solver.solution[vertex] << (vertex << 1);
      }
    }
    int[] before = keysBefore(block);
    block[0] = first | seed;
    block[1] = ranks(before);
    for (int i = 0; i < size; i++) {
      slots[i] = rank(block, before, high[from + i], low[from + i], seed);
      if (layout.checksumBits() > 0) {
        long checksum = low[from + i] & (1L << layout.checksumBits()) - 1;
        putBits(block, (long) slots[i] * layout.checksumBits(), checksum);
      }
    }
    ByteBuffer bytes =
        ByteBuffer.allocate(block.length * Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    bytes.asLongBuffer().put(block);
    return new Solution(bytes.array(), slots);
  }

  /** The number of keys before each word of vertices. */
  private static int[] keysBefore(long[] block) {
    int[] before = new int[BucketLayout.VERTEX_WORDS];
    for (int i = 1; i < before.length; i++) {
      before[i] = before[i - 1] + BucketHash.nonZeroPairs(block[BucketLayout.VERTEX_START + i - 1]);
    }
    return before;
  }

  private static long ranks(int[] before) {
    long ranks = 0;
    for (int i = 0; i < BucketLayout.RANKS; i++) {
      ranks |= (long) before[(i + 1) * BucketLayout.RANK_WORDS] << BucketLayout.RANK_BITS * i;
    }
    return ranks;
  }

  private static int rank(long[] block, int[] before, long high, long low, long seed) {
    long packed = Vertices.of(high, low, seed);
    int sum = 0;
    for (int which = 0; which < 3; which++) {
      int vertex = Vertices.get(packed, which);
      sum += (int) (block[BucketLayout.VERTEX_START + (vertex >>> 5)] >>> (vertex << 1)) & 3;
    }
    int chosen = Vertices.get(packed, sum % 3);
    long lower = block[BucketLayout.VERTEX_START + (chosen >>> 5)] & (1L << (chosen << 1)) - 1;
    return before[chosen >>> 5] + BucketHash.nonZeroPairs(lower);
  }

  private static void putBits(long[] block, long bit, long value) {
    int word = BucketLayout.CHECKSUM_START + (int) (bit >>> 6);
    int shift = (int) bit & 63;
    block[word] |= value << shift;
    long rest = value >>> 1 >>> 63 - shift;
    if (rest != 0) {
      block[word + 1] |= rest;
    }
  }

  private static final class Pairs implements Iterator<long[]> {
    private final long[] pair = new long[2];
    private final long[] high;
    private final long[] low;
    private final int end;
    private int next;

    Pairs(long[] high, long[] low, int from, int size) {
      this.high = high;
      this.low = low;
      this.next = from;
      this.end = from + size;
    }

    @Override
    public boolean hasNext() {
      return next < end;
    }

    @Override
    public long[] next() {
      pair[0] = high[next];
      pair[1] = low[next++];
      return pair;
    }
  }
}
