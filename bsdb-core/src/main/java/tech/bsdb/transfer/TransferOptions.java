package tech.bsdb.transfer;

import java.security.PublicKey;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.SortedSet;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Options for fetching a remote database. Immutable; the {@code with} methods return modified
 * copies, and fail with {@link IllegalArgumentException} if a value is out of range.
 *
 * @param shards the numbers of the shards to fetch, one or more from 0; null for all
 * @param threads how many files are fetched in parallel, 1 to 256
 * @param bytesPerSecond the most bytes that arrive in a second, at least 1; {@link Long#MAX_VALUE}
 *     for no limit
 * @param attempts how often an operation that makes no progress is tried, 1 to 100
 * @param pause the pause before the second attempt; it doubles with each further one, up to 30 s
 * @param trusted the public keys of Ed25519 of which one must have signed the database ({@link
 *     tech.bsdb.KeyFiles}); none to require no signature
 * @param foldBytes memory to make a database from an older local one and the changes since, if the
 *     origin has those: at least 1 MiB, or 0 to fetch only whole databases
 * @param listener receives progress
 */
public record TransferOptions(
    @Nullable SortedSet<Integer> shards,
    int threads,
    long bytesPerSecond,
    int attempts,
    Duration pause,
    List<PublicKey> trusted,
    long foldBytes,
    TransferListener listener) {
  /** Copies the set. */
  public TransferOptions(
      @Nullable SortedSet<Integer> shards,
      int threads,
      long bytesPerSecond,
      int attempts,
      Duration pause,
      List<PublicKey> trusted,
      long foldBytes,
      TransferListener listener) {
    this.shards = shards == null ? null : Collections.unmodifiableSortedSet(new TreeSet<>(shards));
    this.threads = threads;
    this.bytesPerSecond = bytesPerSecond;
    this.attempts = attempts;
    this.pause = pause;
    this.trusted = List.copyOf(trusted);
    this.foldBytes = foldBytes;
    this.listener = Objects.requireNonNull(listener, "listener");
    require("threads", threads, 1, 256);
    require("bytesPerSecond", bytesPerSecond, 1, Long.MAX_VALUE);
    require("attempts", attempts, 1, 100);
    if (foldBytes != 0) {
      require("foldBytes", foldBytes, 1 << 20, Long.MAX_VALUE);
    }
    if (pause.isNegative()) {
      throw new IllegalArgumentException("pause is " + pause);
    }
    if (shards != null && (shards.isEmpty() || shards.first() < 0)) {
      throw new IllegalArgumentException("shards " + shards + " are not one or more from 0");
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
    return new TransferOptions(
        null,
        4,
        Long.MAX_VALUE,
        6,
        Duration.ofMillis(500),
        List.of(),
        64 << 20,
        TransferListener.NONE);
  }

  /** These options with other {@link #shards}. */
  public TransferOptions withShards(@Nullable SortedSet<Integer> shards) {
    return new TransferOptions(
        shards, threads, bytesPerSecond, attempts, pause, trusted, foldBytes, listener);
  }

  /** These options with other {@link #threads}. */
  public TransferOptions withThreads(int threads) {
    return new TransferOptions(
        shards, threads, bytesPerSecond, attempts, pause, trusted, foldBytes, listener);
  }

  /** These options with another {@link #bytesPerSecond}. */
  public TransferOptions withBytesPerSecond(long bytesPerSecond) {
    return new TransferOptions(
        shards, threads, bytesPerSecond, attempts, pause, trusted, foldBytes, listener);
  }

  /** These options with other {@link #attempts}, and another {@link #pause}. */
  public TransferOptions withAttempts(int attempts, Duration pause) {
    return new TransferOptions(
        shards, threads, bytesPerSecond, attempts, pause, trusted, foldBytes, listener);
  }

  /** These options with other {@link #trusted} keys. */
  public TransferOptions withTrusted(List<PublicKey> trusted) {
    return new TransferOptions(
        shards, threads, bytesPerSecond, attempts, pause, trusted, foldBytes, listener);
  }

  /** These options with other {@link #foldBytes}. */
  public TransferOptions withFoldBytes(long foldBytes) {
    return new TransferOptions(
        shards, threads, bytesPerSecond, attempts, pause, trusted, foldBytes, listener);
  }

  /** These options with another {@link #listener}. */
  public TransferOptions withListener(TransferListener listener) {
    return new TransferOptions(
        shards, threads, bytesPerSecond, attempts, pause, trusted, foldBytes, listener);
  }
}
