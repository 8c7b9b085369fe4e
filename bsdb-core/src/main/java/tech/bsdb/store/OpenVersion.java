package tech.bsdb.store;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.time.Instant;
import tech.bsdb.Database;

/**
 * An open version and its lease count. Thread-safe and lock-free: taking or releasing a lease is
 * one atomic operation.
 */
final class OpenVersion {
  /** Set when no more leases are granted; the lower bits count open leases. */
  private static final int RETIRED = Integer.MIN_VALUE;

  private static final VarHandle STATE;

  static {
    try {
      STATE = MethodHandles.lookup().findVarHandle(OpenVersion.class, "state", int.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  final Database database;
  final String version;
  final String id;
  final Instant openedAt;
  final Duration openTook;
  private final Runnable idle;
  private volatile int state;

  /**
   * Starts serving a database.
   *
   * @param idle called when the last lease of a retired version is released; must return quickly
   */
  OpenVersion(
      Database database,
      String version,
      String id,
      Instant openedAt,
      Duration openTook,
      Runnable idle) {
    this.database = database;
    this.version = version;
    this.id = id;
    this.openedAt = openedAt;
    this.openTook = openTook;
    this.idle = idle;
  }

  /** Takes a lease; false if another version has replaced this one. */
  boolean tryAcquire() {
    while (true) {
      int found = state;
      if (found < 0) {
        return false;
      }
      if (STATE.compareAndSet(this, found, found + 1)) {
        return true;
      }
    }
  }

  /** Releases a lease. */
  void release() {
    if ((int) STATE.getAndAdd(this, -1) == RETIRED + 1) {
      idle.run();
    }
  }

  /** Stops granting leases. */
  void retire() {
    STATE.getAndBitwiseOr(this, RETIRED);
  }

  /** Whether this is retired and all leases are released; once true, stays true. */
  boolean isIdle() {
    return state == RETIRED;
  }
}
