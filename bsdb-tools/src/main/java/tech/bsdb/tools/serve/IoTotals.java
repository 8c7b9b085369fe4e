package tech.bsdb.tools.serve;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tech.bsdb.Database;
import tech.bsdb.IoCounters;
import tech.bsdb.store.Lease;
import tech.bsdb.tools.serve.dataset.DataSet;
import tech.bsdb.tools.serve.dataset.DataSets;

/** Totals the reads of all versions of all data sets served so far. Thread-safe. */
final class IoTotals {
  private final DataSets sets;
  private final Map<DataSet, Tally> tallies = new HashMap<>();
  private long removedReads;
  private long removedBytes;

  /** The reads of one data set. */
  private static final class Tally {
    private @Nullable Database last;
    private long pastReads;
    private long pastBytes;
    private long reads;
    private long bytes;

    void add(Database served) {
      if (served != last) {
        pastReads = reads;
        pastBytes = bytes;
        last = served;
      }
      IoCounters counters = served.ioCounters();
      reads = pastReads + counters.reads();
      bytes = pastBytes + counters.bytes();
    }
  }

  IoTotals(DataSets sets) {
    this.sets = sets;
  }

  /** Adds the reads of the versions being served; called once a second. */
  synchronized void tick() {
    List<DataSet> all = sets.all();
    for (DataSet set : all) {
      try (Lease lease = set.acquire()) {
        tally(set).add(lease.database());
      } catch (IllegalStateException closed) {
        // keep what was counted
      }
    }
    if (tallies.size() > all.size()) {
      tallies
          .entrySet()
          .removeIf(
              each -> {
                boolean gone = !all.contains(each.getKey());
                removedReads += gone ? each.getValue().reads : 0;
                removedBytes += gone ? each.getValue().bytes : 0;
                return gone;
              });
    }
  }

  private Tally tally(DataSet of) {
    return tallies.computeIfAbsent(of, unused -> new Tally());
  }

  synchronized long reads() {
    tick();
    return removedReads + tallies.values().stream().mapToLong(each -> each.reads).sum();
  }

  synchronized long bytes() {
    tick();
    return removedBytes + tallies.values().stream().mapToLong(each -> each.bytes).sum();
  }

  /** Returns the reads of one data set. */
  synchronized long reads(DataSet of) {
    tick();
    return tally(of).reads;
  }

  /** Returns the bytes read of one data set. */
  synchronized long bytes(DataSet of) {
    tick();
    return tally(of).bytes;
  }
}
