package tech.bsdb.store;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.time.Instant;
import tech.bsdb.Database;

/**
 * An open version and the count of its leases. Thread-safe and without locks: one atomic change
 * takes a lease, one gives it back.
 */
final class OpenVersion {
  /** No more leases are given; below this bit is the number of those not yet given back. */
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
   * Begins to serve a database.
   *
   * @param idle hears that the last lease of a retired version was given back; must be quick
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

  /** Takes a lease; false if there are no more, because another version has taken its place. */
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

  /** Gives a lease back. */
  void release() {
    if ((int) STATE.getAndAdd(this, -1) == RETIRED + 1) {
      idle.run();
    }
  }

  /** Gives no more leases. */
  void retire() {
    STATE.getAndBitwiseOr(this, RETIRED);
  }

  /** Whether it is retired and all leases were given back, so that it stays so. */
  boolean isIdle() {
    return state == RETIRED;
  }
}
