package tech.bsdb.store;

import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import tech.bsdb.Database;

/**
 * Keeps one version open until it is closed, whichever version is current meanwhile: all that is
 * asked through one lease is answered by one version. It may be handed from thread to thread;
 * closing it costs one atomic change.
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
   * The database. Do not close it.
   *
   * @throws IllegalStateException if the lease is closed
   */
  public Database database() {
    return served().database;
  }

  /** The version's name in its store; for a plain database, its database id. */
  public String version() {
    return served().version;
  }

  /** When this version was opened. */
  public Instant openedAt() {
    return served().openedAt;
  }

  /** How long opening took, with preloading. */
  public Duration openTook() {
    return served().openTook;
  }

  /** Gives the version back; a second call does nothing. */
  @Override
  public void close() {
    OpenVersion found = served;
    if (found != null) {
      served = null;
      found.release();
    }
  }
}
