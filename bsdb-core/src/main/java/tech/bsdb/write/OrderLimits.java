package tech.bsdb.write;

/**
 * What the stage that puts keys in order takes, computed from the number and the bytes of the keys.
 *
 * @param memoryBytes the memory limit
 * @param threads the number of threads
 */
record OrderLimits(long memoryBytes, int threads) {
  /** The memory of a partition or a run: few for most databases, but small and sorted fast. */
  private static final long MOST_RUN_BYTES = 32L << 20;

  /** The least memory of a run, whatever the limit. */
  private static final long LEAST_RUN_BYTES = 1L << 20;

  /** Partitions this small are sorted in the processor's caches. */
  private static final long PARTITION_BYTES = 1L << 22;

  private static final int MOST_PARTITIONS = 1024;

  /** Memory of the chunks that collect the keys of all partitions, at least. */
  private static final long CHUNKS = 8L << 20;

  private static final int LEAST_CHUNK = 1 << 12;
  private static final int MOST_CHUNK = 1 << 16;

  /** Memory of the keys that splitters are chosen from, at most. */
  private static final long SAMPLE = 4L << 20;

  /** The memory that all keys need at once. */
  static long need(long keys, long keyBytes) {
    return keyBytes + (KeyRun.OVERHEAD + KeyEntries.HEAD) * keys;
  }

  /** The memory of one of the runs, of which each thread has one. */
  long runBytes() {
    return Math.max(LEAST_RUN_BYTES, Math.min(MOST_RUN_BYTES, memoryBytes / (threads + 4)));
  }

  /**
   * Whether keys are divided, rather than sorted in memory all at once.
   *
   * @param need the memory that all keys need
   */
  boolean divides(long need) {
    return need > runBytes();
  }

  /** The memory of keys that are collected before they are divided. */
  long sampleBytes() {
    return Math.min(runBytes(), SAMPLE);
  }

  /**
   * The memory that remains for packing records while keys are collected; half of it at least.
   *
   * @param need the memory that all keys need
   */
  long packBytes(long need) {
    return Math.max(memoryBytes - collectedBytes(need), memoryBytes / 2);
  }

  /** Memory of the keys that are collected, or of the sample and the chunks. */
  long collectedBytes(long need) {
    return divides(need) ? Math.max(sampleBytes(), chunksBytes(need)) : need;
  }

  private long chunksBytes(long need) {
    int partitions = partitions(need);
    return (long) partitions * threads * chunkBytes(need, partitions);
  }

  /**
   * How many partitions there should be: small ones, which fit in runs, if their chunks have room.
   *
   * @param need the memory that all keys need
   */
  int partitions(long need) {
    long wanted = Math.max(need / PARTITION_BYTES, 2 * need / runBytes()) + 1;
    long most = Math.min(MOST_PARTITIONS, memoryBytes / 4 / threads / LEAST_CHUNK);
    return (int) Math.max(2, Math.min(wanted, most));
  }

  /** Bytes of a chunk. Large databases have larger ones, so that there are not too many. */
  int chunkBytes(long need, int partitions) {
    long all = Math.min(memoryBytes / 4, Math.max(CHUNKS, need / 512));
    long each = all / threads / partitions;
    return (int) Math.max(LEAST_CHUNK, Math.min(MOST_CHUNK, Long.highestOneBit(each)));
  }

  /** Bytes of the temporary files, with keys of equal length. */
  long temporaryBytes(long keys, int keyLength) {
    long need = need(keys, keys * keyLength);
    if (!divides(need)) {
      return 0;
    }
    long entry = (long) KeyEntries.HEAD + keyLength;
    int partitions = partitions(need);
    long full = keys / Math.max(1, (chunkBytes(need, partitions) - Spill.HEAD) / entry);
    long chunks = Math.min(keys, full + (long) partitions * threads);
    long bytes = keys * entry + chunks * Spill.HEAD;
    boolean again =
        2 * need / partitions > runBytes(); // a partition is divided, in a file of its own
    return again ? bytes + 2 * bytes / partitions : bytes;
  }

  /** Memory of chunks and runs, about, with keys that fill their partitions evenly. */
  long sortBytes(long need) {
    if (!divides(need)) {
      return need;
    }
    long runs = (threads + 2) * Math.min(runBytes(), 2 * need / partitions(need));
    return Math.max(chunksBytes(need), runs);
  }
}
