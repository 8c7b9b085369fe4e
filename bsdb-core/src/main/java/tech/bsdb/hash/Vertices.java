package tech.bsdb.hash;

/**
 * The three vertices of a key in the hypergraph of its bucket: the signature hashed once more with
 * the bucket's seed, exactly as sux4j's {@code Linear3SystemSolver.signatureToEquation} computes
 * them.
 */
final class Vertices {
  /** Bits per vertex in the packed result. */
  private static final int BITS = 10;

  private static final long MASK = (1L << BITS) - 1;
  private static final int SHIFT = Long.numberOfLeadingZeros(BucketLayout.VERTICES);
  private static final long SHIFT_MASK = (1L << SHIFT) - 1;

  private Vertices() {}

  /**
   * Returns the packed vertices.
   *
   * @param seed the bucket's seed, in the top eight bits
   */
  static long of(long high, long low, long seed) {
    long h0 = seed;
    long h1 = Signature.ARBITRARY + high;
    long h2 = Signature.ARBITRARY + low;
    long h3 = Signature.ARBITRARY;

    h2 = Long.rotateLeft(h2, 50) + h3;
    h0 ^= h2;
    h3 = Long.rotateLeft(h3, 52) + h0;
    h1 ^= h3;
    h0 = Long.rotateLeft(h0, 30) + h1;
    h2 ^= h0;
    h1 = Long.rotateLeft(h1, 41) + h2;
    h3 ^= h1;
    h2 = Long.rotateLeft(h2, 54) + h3;
    h0 ^= h2;
    h3 = Long.rotateLeft(h3, 48) + h0;
    h1 ^= h3;
    h0 = Long.rotateLeft(h0, 38) + h1;
    h2 ^= h0;
    h1 = Long.rotateLeft(h1, 37) + h2;
    h3 ^= h1;
    h2 = Long.rotateLeft(h2, 62) + h3;
    h0 ^= h2;
    h3 = Long.rotateLeft(h3, 34) + h0;
    h1 ^= h3;
    h0 = Long.rotateLeft(h0, 5) + h1;
    h2 ^= h0;
    h1 = Long.rotateLeft(h1, 36) + h2;

    return scale(h0) | scale(h1) << BITS | scale(h2) << 2 * BITS;
  }

  /** Maps a hash to a vertex. */
  private static long scale(long hash) {
    return (hash & SHIFT_MASK) * BucketLayout.VERTICES >>> SHIFT;
  }

  /** Extracts one of the three vertices; {@code which} is 0, 1 or 2. */
  static int get(long packed, int which) {
    return (int) (packed >>> BITS * which & MASK);
  }
}
