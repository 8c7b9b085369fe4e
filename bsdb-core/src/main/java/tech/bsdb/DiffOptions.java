package tech.bsdb;

import java.util.Objects;

/**
 * Options for comparing two databases. Immutable; the {@code with} methods return modified copies.
 */
public final class DiffOptions {
  private static final int MOST_THREADS = 256;
  private static final DiffOptions DEFAULTS = new DiffOptions(Detail.COUNTS, 0);

  /** What a comparison tells of records that differ. */
  public enum Detail {
    /** Their number. */
    COUNTS,
    /** Also each key. */
    KEYS,
    /** Also each key and its values. */
    VALUES
  }

  private final Detail detail;
  private final int threads;

  private DiffOptions(Detail detail, int threads) {
    this.detail = detail;
    this.threads = threads;
  }

  /** The defaults: counts, on as many threads as there are processors. */
  public static DiffOptions defaults() {
    return DEFAULTS;
  }

  /** What is told of records that differ. */
  public Detail detail() {
    return detail;
  }

  /** How many threads read and compare. */
  public int threads() {
    return threads > 0
        ? threads
        : Math.min(MOST_THREADS, Runtime.getRuntime().availableProcessors());
  }

  /** These options with another {@link #detail}. */
  public DiffOptions withDetail(Detail detail) {
    return new DiffOptions(Objects.requireNonNull(detail, "detail"), threads);
  }

  /**
   * These options with another number of {@link #threads}. Only databases whose records lie in the
   * same order are compared on several threads; see {@link Database#haveSameOrder}.
   *
   * @param threads 1 to 256
   * @throws IllegalArgumentException if it is not in that range
   */
  public DiffOptions withThreads(int threads) {
    if (threads < 1 || threads > MOST_THREADS) {
      throw new IllegalArgumentException("threads is " + threads + ", not in 1 to " + MOST_THREADS);
    }
    return new DiffOptions(detail, threads);
  }
}
