package tech.bsdb.hash;

/**
 * The layout of a function of the kind "ptr" in its file (FORMAT.md §13): one block per part, back
 * to back, then from a page boundary on a table of one word per part. All sizes follow from the
 * number of keys of each part.
 *
 * <pre>
 * block    pilots of the buckets, one byte each
 *          remapped slots, increased by one, two bytes each, at an even offset
 *          checksum bits of the slots, lowest first
 *          zeros up to a multiple of eight bytes
 * word     first slot of the part in the lower 56 bits, its seed in the upper 8
 * </pre>
 *
 * @param parts number of parts, a power of two
 * @param checksumBits checksum bits per slot, 0 to 32
 */
record PtrLayout(long parts, int checksumBits) {
  /** Mask of the first slot in a word of the table. */
  static final long SLOT_MASK = (1L << 56) - 1;

  /** The position of the seed in a word of the table. */
  static final int SEED_SHIFT = 56;

  /** The largest number of parts, which keeps eight times their number an int. */
  static final long MAX_PARTS = 1 << 27;

  /** Parts have up to 49,152 keys on average, 74 standard deviations less than they may have. */
  private static final int AVERAGE_KEYS = 49_152;

  /** The number of attempts that {@link #partsFor} supports; each doubles the number of parts. */
  static final int ATTEMPTS = 6;

  /** The number of parts for {@code keys} keys, a power of two. */
  static long partsFor(long keys, int attempt) {
    long least = Math.max(1, (keys + AVERAGE_KEYS - 1) / AVERAGE_KEYS);
    return Math.min(MAX_PARTS, Long.highestOneBit(2 * least - 1) << attempt);
  }

  /** Where the remapped slots start in the block of a part. */
  static int remapStart(int keys) {
    return Pilots.buckets(keys) + 1 & ~1;
  }

  /** Where the checksum bits start in the block of a part. */
  static int checksumStart(int keys) {
    return remapStart(keys) + (Pilots.slots(keys) - keys) * Short.BYTES;
  }

  /** Bytes of the block of a part. */
  int blockBytes(int keys) {
    long bits = (long) keys * checksumBits;
    return checksumStart(keys) + (int) (bits + 7 >>> 3) + 7 & ~7;
  }

  /** Bytes of the table. */
  long tableBytes() {
    return parts * Long.BYTES;
  }
}
