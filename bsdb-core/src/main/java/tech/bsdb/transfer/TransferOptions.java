package tech.bsdb.transfer;

import java.time.Duration;
import java.util.Collections;
import java.util.Objects;
import java.util.SortedSet;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Options for bringing a database from elsewhere. Immutable; the {@code with} methods return
 * modified copies, and fail with {@link IllegalArgumentException} if a value is out of range.
 */
public final class TransferOptions {
  private static final TransferOptions DEFAULTS =
      new TransferOptions(
          null, 4, Long.MAX_VALUE, 6, Duration.ofMillis(500), TransferListener.NONE);

  private final @Nullable SortedSet<Integer> shards;
  private final int threads;
  private final long bytesPerSecond;
  private final int attempts;
  private final Duration pause;
  private final TransferListener listener;

  private TransferOptions(
      @Nullable SortedSet<Integer> shards,
      int threads,
      long bytesPerSecond,
      int attempts,
      Duration pause,
      TransferListener listener) {
    this.shards = shards;
    this.threads = threads;
    this.bytesPerSecond = bytesPerSecond;
    this.attempts = attempts;
    this.pause = pause;
    this.listener = Objects.requireNonNull(listener, "listener");
    require("threads", threads, 1, 256);
    require("bytesPerSecond", bytesPerSecond, 1, Long.MAX_VALUE);
    require("attempts", attempts, 1, 100);
    if (pause.isNegative()) {
      throw new IllegalArgumentException("pause is " + pause);
    }
  }

  private static void require(String name, long value, long least, long most) {
    if (value < least || value > most) {
      throw new IllegalArgumentException(
          name + " is " + value + ", not in " + least + " to " + most);
    }
  }

  /** The defaults: all shards, four files at once, no limit, six attempts within 15 s. */
  public static TransferOptions defaults() {
    return DEFAULTS;
  }

  /** The numbers of the shards to bring; null for all. */
  public @Nullable SortedSet<Integer> shards() {
    return shards;
  }

  /** How many files arrive at once. */
  public int threads() {
    return threads;
  }

  /** The most bytes that arrive in a second; {@link Long#MAX_VALUE} for no limit. */
  public long bytesPerSecond() {
    return bytesPerSecond;
  }

  /** How often an operation that makes no progress is tried. */
  public int attempts() {
    return attempts;
  }

  /** The pause before the second attempt; it doubles with each further one, up to 30 s. */
  public Duration pause() {
    return pause;
  }

  /** The listener that receives progress. */
  public TransferListener listener() {
    return listener;
  }

  /**
   * These options with other {@link #shards}.
   *
   * @param shards one or more numbers from 0; null for all shards
   */
  public TransferOptions withShards(@Nullable SortedSet<Integer> shards) {
    SortedSet<Integer> copy =
        shards == null ? null : Collections.unmodifiableSortedSet(new TreeSet<>(shards));
    if (copy != null && (copy.isEmpty() || copy.first() < 0)) {
      throw new IllegalArgumentException("shards " + shards + " are not one or more from 0");
    }
    return new TransferOptions(copy, threads, bytesPerSecond, attempts, pause, listener);
  }

  /** These options with other {@link #threads}, 1 to 256. */
  public TransferOptions withThreads(int threads) {
    return new TransferOptions(shards, threads, bytesPerSecond, attempts, pause, listener);
  }

  /** These options with another {@link #bytesPerSecond}, at least 1. */
  public TransferOptions withBytesPerSecond(long bytesPerSecond) {
    return new TransferOptions(shards, threads, bytesPerSecond, attempts, pause, listener);
  }

  /** These options with other {@link #attempts}, 1 to 100, and another {@link #pause}. */
  public TransferOptions withAttempts(int attempts, Duration pause) {
    return new TransferOptions(shards, threads, bytesPerSecond, attempts, pause, listener);
  }

  /** These options with another {@link #listener}. */
  public TransferOptions withListener(TransferListener listener) {
    return new TransferOptions(shards, threads, bytesPerSecond, attempts, pause, listener);
  }
}
