package tech.bsdb.store;

import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import tech.bsdb.Database;

/**
 * Keeps one version open until the lease is closed, even if another version becomes current. All
 * lookups through a lease use the same version. A lease may be passed between threads; closing it
 * costs one atomic operation.
 */
public final class Lease implements AutoCloseable {
  private @Nullable OpenVersion served;

  Lease(OpenVersion served) {
    this.served = served;
  }

  private OpenVersion served() {
    OpenVersion found = served;
    if (found == null) {
      throw new IllegalStateException("the lease is closed");
    }
    return found;
  }

  /**
   * The leased database, which the caller must not close.
   *
   * @throws IllegalStateException if the lease is closed
   */
  public Database database() {
    return served().database;
  }

  /** The version's name in its store, or the database id of a plain database. */
  public String version() {
    return served().version;
  }

  /** When this version was opened. */
  public Instant openedAt() {
    return served().openedAt;
  }

  /** How long opening took, including preloading. */
  public Duration openTook() {
    return served().openTook;
  }

  /** Releases the version; a second call does nothing. */
  @Override
  public void close() {
    OpenVersion found = served;
    if (found != null) {
      served = null;
      found.release();
    }
  }
}
