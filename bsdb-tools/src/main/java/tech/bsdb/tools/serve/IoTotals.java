package tech.bsdb.tools.serve;

import org.jspecify.annotations.Nullable;
import tech.bsdb.Database;
import tech.bsdb.IoCounters;
import tech.bsdb.store.Lease;
import tech.bsdb.store.ReloadingDatabase;

/** Reads of all versions that were served, together. Thread-safe. */
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

  /** Looks at the version that is served; called each second. */
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
      // what was counted stays
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
