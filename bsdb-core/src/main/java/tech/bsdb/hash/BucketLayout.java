package tech.bsdb.hash;

/**
 * How the hash function lies in its file (FORMAT.md §5): one block of words for each bucket, all of
 * one length, so that a bucket's number is its place, and all that a lookup needs of it lies in a
 * few neighbouring cache lines.
 *
 * <pre>
 * word               meaning
 * 0                  first slot of the bucket in the lower 56 bits, its seed in the upper 8
 * 1                  ranks: keys before vertex 128, 256, 384, 512, ten bits each, lowest first
 * 2..21              vertices, 2 bits each, lowest first
 * 22..21+9*bits      checksum bits of the slots, lowest first
 * </pre>
 *
 * @param buckets number of buckets, at least 1
 * @param checksumBits checksum bits per slot, 0 to 32
 */
record BucketLayout(long buckets, int checksumBits) {
  /** Words of vertices. */
  static final int VERTEX_WORDS = 20;

  /** Vertices of a bucket. */
  static final int VERTICES = 32 * VERTEX_WORDS;

  /**
   * The most keys of a bucket: at 1.11 vertices a key a system of equations can still be solved.
   */
  static final int MAX_KEYS = 575;

  /** Where the vertices start. */
  static final int VERTEX_START = 2;

  /** Where the checksum bits start. */
  static final int CHECKSUM_START = VERTEX_START + VERTEX_WORDS;

  /** Words of vertices between two ranks. */
  static final int RANK_WORDS = 4;

  /** Bits of a rank. */
  static final int RANK_BITS = 10;

  /** Ranks of a bucket. */
  static final int RANKS = VERTEX_WORDS / RANK_WORDS - 1;

  /** Lower bits of a block's first word: the first slot. */
  static final long SLOT_MASK = (1L << 56) - 1;

  /** Words of checksum bits for each checksum bit of a slot. */
  private static final int WORDS_PER_CHECKSUM_BIT = (MAX_KEYS + 64) / 64;

  /*
   * 432 keys a bucket on average leave 1.48 vertices a key, so that nearly every bucket can be peeled (1.23 is the
   * threshold) and is solved in linear time; and the largest bucket has 575 keys, which is 6.9 standard deviations
   * away. Measured with sux4j's solver at the usual 1.10 vertices a key and 1,500 keys a bucket: six times as long
   * (docs/decisions/0002).
   */
  private static final int AVERAGE_KEYS = 432;

  /** By how much a further attempt lowers the average, after a bucket had more keys than fit. */
  private static final int FEWER_KEYS = 48;

  /** Attempts that {@link #bucketsFor} knows. */
  static final int ATTEMPTS = 8;

  /**
   * The number of buckets for that many keys; a multiple of {@code partitions} where there are
   * many.
   *
   * @param attempt 0, then one more each time that a bucket had more keys than fit
   */
  static long bucketsFor(long keys, int partitions, int attempt) {
    int average = AVERAGE_KEYS - FEWER_KEYS * attempt;
    long wanted = Math.max(1, (keys + average - 1) / average);
    return wanted < partitions ? wanted : (wanted + partitions - 1) / partitions * partitions;
  }

  /** The bucket of a signature. */
  static long bucket(long high, long buckets) {
    return Math.multiplyHigh(high >>> 1, buckets << 1);
  }

  /** Words of a block. */
  int blockWords() {
    return CHECKSUM_START + WORDS_PER_CHECKSUM_BIT * checksumBits;
  }

  /** Words of all blocks. */
  long words() {
    return buckets * blockWords();
  }
}
