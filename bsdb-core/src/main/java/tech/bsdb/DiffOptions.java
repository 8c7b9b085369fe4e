package tech.bsdb;

import java.util.Objects;

/**
 * Options for comparing two databases. Immutable; the {@code with} methods return modified copies.
 *
 * @param detail what is reported for each differing record
 * @param threads how many threads read and compare, 1 to 256. Only databases whose records are in
 *     the same order are compared on several threads; see {@link Database#haveSameOrder}
 */
public record DiffOptions(Detail detail, int threads) {
  private static final int MOST_THREADS = 256;

  /** What a comparison reports for each differing record. */
  public enum Detail {
    /** Their number. */
    COUNTS,
    /** Also each key. */
    KEYS,
    /** Also each key and its values. */
    VALUES
  }

  /** Fails with {@link IllegalArgumentException} if the number of threads is out of range. */
  public DiffOptions {
    Objects.requireNonNull(detail, "detail");
    BuildOptions.ranged("threads", threads, 1, MOST_THREADS);
  }

  /** The defaults: counts, on as many threads as there are processors. */
  public static DiffOptions defaults() {
    int processors = Runtime.getRuntime().availableProcessors();
    return new DiffOptions(Detail.COUNTS, Math.min(MOST_THREADS, processors));
  }

  /** These options with another {@link #detail}. */
  public DiffOptions withDetail(Detail detail) {
    return new DiffOptions(detail, threads);
  }

  /** These options with another number of {@link #threads}. */
  public DiffOptions withThreads(int threads) {
    return new DiffOptions(detail, threads);
  }
}
