package tech.bsdb.remote;

import java.nio.file.Path;
import java.security.PublicKey;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Options for reading a database in place. Immutable; the {@code with} methods return modified
 * copies, and fail with {@link IllegalArgumentException} if a value is out of range.
 *
 * @param cache the directory for copies of small files, which processes share; null for that of the
 *     user: the environment variable {@code BSDB_CACHE}, else {@code bsdb} in {@code
 *     XDG_CACHE_HOME} or {@code ~/.cache}
 * @param cacheBytes the most bytes that the directory keeps once databases are opened, 0 or more;
 *     files of databases that are open are kept in any case
 * @param pageBytes the most bytes of a file of pages in that directory, which all databases and
 *     processes share: at least 1 MiB and at most 256 GiB, or 0 to keep no pages on disk
 * @param memoryBytes the most bytes of pages that are kept in memory, 0 or more
 * @param requests the most requests in flight, 1 to 4096
 * @param deadline how long a read may take with all its attempts
 * @param attempts how often a read is tried, 1 to 100
 * @param hedged whether a read that takes longer than 95 of 100 is requested a second time
 * @param trusted the public keys of Ed25519 of which one must have signed the database ({@link
 *     tech.bsdb.KeyFiles}); none to require no signature
 */
public record RemoteOptions(
    @Nullable Path cache,
    long cacheBytes,
    long pageBytes,
    long memoryBytes,
    int requests,
    Duration deadline,
    int attempts,
    boolean hedged,
    List<PublicKey> trusted) {
  /** Checks the values. */
  public RemoteOptions {
    Objects.requireNonNull(deadline, "deadline");
    require("cacheBytes", cacheBytes, 0, Long.MAX_VALUE);
    if (pageBytes != 0) {
      require("pageBytes", pageBytes, 1L << 20, 1L << 38);
    }
    require("memoryBytes", memoryBytes, 0, Long.MAX_VALUE);
    require("requests", requests, 1, 4096);
    require("attempts", attempts, 1, 100);
    trusted = List.copyOf(trusted);
    if (deadline.isNegative() || deadline.isZero()) {
      throw new IllegalArgumentException("deadline is " + deadline);
    }
  }

  private static void require(String name, long value, long least, long most) {
    if (value < least || value > most) {
      throw new IllegalArgumentException(
          name + " is " + value + ", not in " + least + " to " + most);
    }
  }

  /**
   * The defaults: 1 GiB of the user's cache directory, no pages on disk, 64 MiB of memory, 256
   * requests, six attempts within 30 s, not hedged.
   */
  public static RemoteOptions defaults() {
    return new RemoteOptions(
        null, 1L << 30, 0, 64L << 20, 256, Duration.ofSeconds(30), 6, false, List.of());
  }

  /** These options with another {@link #cache}. */
  public RemoteOptions withCache(Path cache) {
    return new RemoteOptions(
        cache, cacheBytes, pageBytes, memoryBytes, requests, deadline, attempts, hedged, trusted);
  }

  /** These options with other {@link #cacheBytes}. */
  public RemoteOptions withCacheBytes(long cacheBytes) {
    return new RemoteOptions(
        cache, cacheBytes, pageBytes, memoryBytes, requests, deadline, attempts, hedged, trusted);
  }

  /** These options with other {@link #pageBytes}. */
  public RemoteOptions withPageBytes(long pageBytes) {
    return new RemoteOptions(
        cache, cacheBytes, pageBytes, memoryBytes, requests, deadline, attempts, hedged, trusted);
  }

  /** These options with other {@link #memoryBytes}. */
  public RemoteOptions withMemoryBytes(long memoryBytes) {
    return new RemoteOptions(
        cache, cacheBytes, pageBytes, memoryBytes, requests, deadline, attempts, hedged, trusted);
  }

  /** These options with other {@link #requests}. */
  public RemoteOptions withRequests(int requests) {
    return new RemoteOptions(
        cache, cacheBytes, pageBytes, memoryBytes, requests, deadline, attempts, hedged, trusted);
  }

  /** These options with another {@link #deadline}. */
  public RemoteOptions withDeadline(Duration deadline) {
    return new RemoteOptions(
        cache, cacheBytes, pageBytes, memoryBytes, requests, deadline, attempts, hedged, trusted);
  }

  /** These options with other {@link #attempts}. */
  public RemoteOptions withAttempts(int attempts) {
    return new RemoteOptions(
        cache, cacheBytes, pageBytes, memoryBytes, requests, deadline, attempts, hedged, trusted);
  }

  /** These options, hedged or not. */
  public RemoteOptions withHedged(boolean hedged) {
    return new RemoteOptions(
        cache, cacheBytes, pageBytes, memoryBytes, requests, deadline, attempts, hedged, trusted);
  }

  /** These options with other {@link #trusted} keys. */
  public RemoteOptions withTrusted(List<PublicKey> trusted) {
    return new RemoteOptions(
        cache, cacheBytes, pageBytes, memoryBytes, requests, deadline, attempts, hedged, trusted);
  }
}
