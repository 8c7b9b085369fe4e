package tech.bsdb.write;

import java.util.Arrays;

/**
 * What a build takes to put its keys in order: of records, which are divided while they are added,
 * and of packed databases, of whose keys the number and the bytes are known before they are
 * divided. The plan of a build and the build itself compute it here.
 *
 * @param memoryBytes the memory limit
 * @param threads the number of threads
 */
record SortLimits(long memoryBytes, int threads) {
  /** Bytes of a chunk of a partition of records. */
  static final int CHUNK = 1 << 14;

  /** Partitions of records this small are sorted in the processor's caches. */
  static final long PARTITION_BYTES = 1L << 20;

  /** Keys of a sample for each partition, at most. */
  static final int SAMPLES = 32;

  /** Those of the files of records whose partitions a sample determines. */
  static final int FILES_OF_SAMPLED = 8;

  /** Memory of a partition of keys that is sorted in the processor's caches. */
  private static final long KEY_PARTITION_BYTES = 1L << 22;

  /** The most partitions; of those of records, a sample determines half. */
  private static final int MOST_PARTITIONS = 1024;

  private static final int LEAST_PARTITIONS = 8;

  /** The most temporary files of records. */
  private static final int FILES = 64;

  /** The first records or keys are divided when they have this many bytes, at most. */
  private static final long FIRST_BYTES = 4L << 20;

  private static final long LEAST_RUN_BYTES = 1L << 20;
  private static final long MOST_RUN_BYTES = 1L << 30;

  /** Memory of the chunks that collect the keys of all partitions, at least. */
  private static final long KEY_CHUNKS = 8L << 20;

  private static final int LEAST_KEY_CHUNK = 1 << 12;
  private static final int MOST_KEY_CHUNK = 1 << 16;

  /** One in so many, as a power of e, is the chance that a partition is larger than planned. */
  private static final int RARE = 3;

  /** The memory of a run at most, of which each thread has one. */
  long runBytes() {
    return Math.max(LEAST_RUN_BYTES, Math.min(MOST_RUN_BYTES, memoryBytes / (threads + 2)));
  }

  /**
   * The size of the largest partition, given the mean: a partition with k keys of the sample has a
   * size of the gamma distribution with the shape k.
   *
   * @param samples the number of keys of the sample
   */
  private static long largest(long mean, int partitions, long samples) {
    double deviations = Math.log(partitions) + RARE;
    double each = Math.max(1.0, Math.min(SAMPLES, (double) samples / partitions));
    return (long) (mean * (1 + Math.sqrt(2 * deviations / each) + deviations / (3 * each)));
  }

  /** Bytes of the first records, from which a sample is taken. */
  long firstBytes() {
    return Math.min(FIRST_BYTES, runBytes() / 4);
  }

  /** The most partitions. */
  int partitions() {
    return (int) Math.max(LEAST_PARTITIONS, Math.min(MOST_PARTITIONS, memoryBytes / 4 / CHUNK));
  }

  /** The partitions that a sample determines. */
  int sampledPartitions() {
    return partitions() / 2;
  }

  /**
   * The part of all bytes that a partition has before the next one begins, if keys ascend: so that
   * there are enough partitions for 100 TB, or for less if memory is small.
   */
  int share() {
    return Math.max(2, Math.min(32, (partitions() - sampledPartitions()) / 16));
  }

  private boolean isDivided(long bytes) {
    return bytes >= firstBytes();
  }

  /** Memory of the largest run of random keys, if all are divided. */
  private long largestRun(long records, long bytes) {
    int partitions = sampledPartitions();
    long mean = RecordRun.memory(records, bytes) / partitions;
    return largest(mean, partitions, firstBytes() * records / Math.max(1, bytes));
  }

  /**
   * Bytes of the temporary files at most, without long values.
   *
   * @param bytes bytes of the entries of all records
   */
  long temporaryBytes(long records, long bytes) {
    long chunks = Spill.mostBytes(records, Math.max(1, bytes / Math.max(1, records)), CHUNK);
    boolean again = isDivided(bytes) && largestRun(records, bytes) > runBytes();
    return again ? chunks + 2 * chunks / sampledPartitions() : chunks;
  }

  /**
   * Whether all records are divided again if their keys descend: they are in one partition then.
   */
  boolean dividesAgain(long records, long bytes) {
    return isDivided(bytes) && RecordRun.memory(records, bytes) > runBytes();
  }

  /**
   * Bytes of the temporary files that are left when nearly all records are written, at most.
   *
   * @param bytes bytes of the entries of all records
   * @param temporary bytes of the temporary files at most
   */
  long leftBytes(long bytes, long temporary) {
    return isDivided(bytes) ? temporary / Math.min(4, share()) : temporary;
  }

  /**
   * The numbers of the files of all partitions. The first one has its own, since it takes all keys
   * that descend, and is then divided again; the others of the sample are spread evenly. Of the
   * rest nobody knows how many there will be: the first files have few, and each has at most so
   * many that their records are a quarter of those before, since these partitions grow.
   */
  int[] filesOfPartitions() {
    int all = partitions();
    int sampled = sampledPartitions();
    int[] files = new int[all];
    int number = 1 + Math.min(FILES_OF_SAMPLED, sampled - 1);
    for (int i = 1; i < sampled; i++) {
      files[i] = 1 + (i - 1) * (number - 1) / (sampled - 1);
    }
    int inFile = 1;
    int most = Math.max(1, share() / 3);
    for (int i = sampled; i < all; number++) {
      int end = number == FILES - 1 ? all : Math.min(all, i + inFile);
      Arrays.fill(files, i, end, number);
      i = end;
      inFile = Math.min(inFile * 5 / 4 + 1, most);
    }
    return files;
  }

  /**
   * Memory of chunks and runs, about, with random keys.
   *
   * @param bytes bytes of the entries of all records
   */
  long sortBytes(long records, long bytes) {
    long chunks = Math.min(bytes, (long) partitions() * CHUNK);
    return chunks
        + (isDivided(bytes)
            ? threads * Math.min(runBytes(), largestRun(records, bytes))
            : Math.min(runBytes(), RecordRun.memory(records, bytes)));
  }

  /** The memory that all keys of a packed database need at once. */
  static long keyNeed(long keys, long keyBytes) {
    return keyBytes + (KeyRun.OVERHEAD + KeyEntries.HEAD) * keys;
  }

  /** The memory of keys that are collected before they are divided. */
  long sampleBytes() {
    return Math.min(runBytes(), FIRST_BYTES);
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
    return need > sampleBytes() ? Math.max(sampleBytes(), keyChunksBytes(need)) : need;
  }

  private long keyChunksBytes(long need) {
    int partitions = keyPartitions(need);
    return (long) partitions * threads * keyChunkBytes(need, partitions);
  }

  /**
   * How many partitions of keys there should be: small ones, which fit in runs, if their chunks
   * have room.
   *
   * @param need the memory that all keys need
   */
  int keyPartitions(long need) {
    long wanted = Math.max(need / KEY_PARTITION_BYTES, 2 * need / runBytes()) + 1;
    long most = Math.min(MOST_PARTITIONS, memoryBytes / 4 / threads / LEAST_KEY_CHUNK);
    return (int) Math.max(2, Math.min(wanted, most));
  }

  /** Bytes of a chunk of keys. Large databases have larger ones, so that there are not too many. */
  int keyChunkBytes(long need, int partitions) {
    long all = Math.min(memoryBytes / 4, Math.max(KEY_CHUNKS, need / 512));
    long each = all / threads / partitions;
    return (int) Math.max(LEAST_KEY_CHUNK, Math.min(MOST_KEY_CHUNK, Long.highestOneBit(each)));
  }

  /** Memory of the largest run of keys, if all are divided. */
  private long largestKeyRun(long keys, long need) {
    int partitions = keyPartitions(need);
    return largest(need / partitions, partitions, sampleBytes() * keys / need);
  }

  /** Bytes of the temporary files of keys of equal length. */
  long keyTemporaryBytes(long keys, int keyLength) {
    long need = keyNeed(keys, keys * keyLength);
    if (need <= sampleBytes()) {
      return 0;
    }
    long entry = (long) KeyEntries.HEAD + keyLength;
    int partitions = keyPartitions(need);
    long full = keys / Math.max(1, (keyChunkBytes(need, partitions) - Spill.HEAD) / entry);
    long chunks = Math.min(keys, full + (long) partitions * threads);
    long bytes = keys * entry + chunks * Spill.HEAD;
    boolean again = largestKeyRun(keys, need) > runBytes(); // in a file of its own
    return again ? bytes + 2 * bytes / partitions : bytes;
  }

  /**
   * Memory of chunks and runs, about, with random keys.
   *
   * @param need the memory that all keys need
   */
  long keySortBytes(long keys, long need) {
    return need > sampleBytes()
        ? Math.max(keyChunksBytes(need), threads * Math.min(runBytes(), largestKeyRun(keys, need)))
        : need;
  }
}
