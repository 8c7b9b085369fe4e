package tech.bsdb.hash;

/**
 * The layout of the hash function in its file (FORMAT.md §5): one block of words per bucket, all of
 * equal length. A bucket's number thus gives its position, and a lookup touches only a few adjacent
 * cache lines.
 *
 * <pre>
 * word               meaning
 * 0                  first slot of the bucket in the lower 56 bits, its seed in the upper 8
 * 1                  ranks: keys before vertices 128, 256, 384, 512, ten bits each, lowest first
 * 2..21              vertices, 2 bits each, lowest first
 * 22..21+9*bits      checksum bits of the slots, lowest first
 * </pre>
 *
 * @param buckets number of buckets, at least 1
 * @param checksumBits checksum bits per slot, 0 to 32
 */
record BucketLayout(long buckets, int checksumBits) {
  /** Words of vertices per bucket. */
  static final int VERTEX_WORDS = 20;

  /** Vertices per bucket. */
  static final int VERTICES = 32 * VERTEX_WORDS;

  /**
   * Maximum keys per bucket: at 1.11 vertices per key, the system of equations is still solvable.
   */
  static final int MAX_KEYS = 575;

  /** The first word of the vertices. */
  static final int VERTEX_START = 2;

  /** The first word of the checksum bits. */
  static final int CHECKSUM_START = VERTEX_START + VERTEX_WORDS;

  /** Words of vertices between two ranks. */
  static final int RANK_WORDS = 4;

  /** Bits per rank. */
  static final int RANK_BITS = 10;

  /** Ranks per bucket. */
  static final int RANKS = VERTEX_WORDS / RANK_WORDS - 1;

  /** Mask of the first slot in a block's first word. */
  static final long SLOT_MASK = (1L << 56) - 1;

  /** Words of a block per checksum bit of a slot. */
  private static final int WORDS_PER_CHECKSUM_BIT = (MAX_KEYS + 64) / 64;

  /*
   * An average of 432 keys per bucket leaves 1.48 vertices per key, so nearly every bucket can be peeled (the threshold
   * is 1.23) and is solved in linear time. The maximum of 575 keys is 6.9 standard deviations above the average. With
   * the usual 1.10 vertices per key and 1,500 keys per bucket, sux4j's solver took six times as long
   * (docs/decisions/0002).
   */
  private static final int AVERAGE_KEYS = 432;

  /** How much each further attempt lowers the average, after a bucket overflowed. */
  private static final int FEWER_KEYS = 48;

  /** The number of attempts {@link #bucketsFor} supports. */
  static final int ATTEMPTS = 8;

  /**
   * The number of buckets for {@code keys} keys; if at least {@code partitions}, rounded up to a
   * multiple of it.
   *
   * @param attempt 0, increased by one each time a bucket overflowed
   */
  static long bucketsFor(long keys, int partitions, int attempt) {
    int average = AVERAGE_KEYS - FEWER_KEYS * attempt;
    long wanted = Math.max(1, (keys + average - 1) / average);
    return wanted < partitions ? wanted : (wanted + partitions - 1) / partitions * partitions;
  }

  /** Words per block. */
  int blockWords() {
    return CHECKSUM_START + WORDS_PER_CHECKSUM_BIT * checksumBits;
  }

  /** Total words of all blocks. */
  long words() {
    return buckets * blockWords();
  }
}
