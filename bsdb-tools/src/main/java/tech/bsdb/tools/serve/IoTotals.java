package tech.bsdb.tools.serve;

import org.jspecify.annotations.Nullable;
import tech.bsdb.Database;
import tech.bsdb.IoCounters;
import tech.bsdb.store.Lease;
import tech.bsdb.store.ReloadingDatabase;

/** Totals the reads of all versions served so far. Thread-safe. */
final class IoTotals {
  private final ReloadingDatabase database;
  private @Nullable Database last;
  private long pastReads;
  private long pastBytes;
  private long reads;
  private long bytes;

  IoTotals(ReloadingDatabase database) {
    this.database = database;
  }

  /** Adds the reads of the version being served; called once a second. */
  synchronized void tick() {
    try (Lease lease = database.acquire()) {
      if (lease.database() != last) {
        pastReads = reads;
        pastBytes = bytes;
        last = lease.database();
      }
      IoCounters counters = lease.database().ioCounters();
      reads = pastReads + counters.reads();
      bytes = pastBytes + counters.bytes();
    } catch (IllegalStateException closed) {
      // keep what was counted
    }
  }

  synchronized long reads() {
    tick();
    return reads;
  }

  synchronized long bytes() {
    tick();
    return bytes;
  }
}
