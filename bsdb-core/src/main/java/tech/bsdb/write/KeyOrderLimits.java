package tech.bsdb.write;

import java.util.Arrays;

/**
 * What {@link KeyOrder} takes.
 *
 * @param memoryBytes the memory limit
 * @param threads the number of threads
 */
record KeyOrderLimits(long memoryBytes, int threads) {
  /** Bytes of a chunk of a partition. */
  static final int CHUNK = 1 << 14;

  /** Partitions this small are sorted in the processor's caches. */
  static final long PARTITION_BYTES = 1L << 20;

  /** The most partitions, of which a sample determines half. */
  private static final int MOST_PARTITIONS = 1024;

  private static final int LEAST_PARTITIONS = 8;

  /** The most temporary files. */
  private static final int FILES = 64;

  /** Those of the partitions that a sample determines. */
  static final int FILES_OF_SAMPLED = 8;

  /** The first records are divided when they have this many bytes, at most. */
  private static final long FIRST_BYTES = 4L << 20;

  private static final long LEAST_RUN_BYTES = 1L << 20;
  private static final long MOST_RUN_BYTES = 1L << 30;

  /** The memory of one of the runs, of which each thread has one. */
  long runBytes() {
    return Math.max(LEAST_RUN_BYTES, Math.min(MOST_RUN_BYTES, memoryBytes / (threads + 2)));
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

  /** Bytes of a partition, about, of random keys. */
  private long partitionBytes(long bytes) {
    return isDivided(bytes) ? bytes / sampledPartitions() : bytes;
  }

  /**
   * Bytes of the temporary files at most, without long values.
   *
   * @param bytes bytes of the entries of all records
   */
  long temporaryBytes(long records, long bytes) {
    long chunks = Spill.mostBytes(records, Math.max(1, bytes / Math.max(1, records)), CHUNK);
    boolean again = RecordRun.memory(records, bytes) / sampledPartitions() > runBytes();
    return chunks + (isDivided(bytes) && again ? chunks / sampledPartitions() : 0);
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
    long inPartition = isDivided(bytes) ? records / sampledPartitions() : records;
    long run = RecordRun.memory(inPartition, partitionBytes(bytes));
    return chunks + (isDivided(bytes) ? threads : 1) * Math.min(runBytes(), run);
  }
}
