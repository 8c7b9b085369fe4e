package tech.bsdb.tools.serve;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
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
  private final Tally removed = new Tally();

  /** The reads of one data set. */
  private static final class Tally {
    private @Nullable Database last;
    private IoCounters counted = new IoCounters(0, 0);
    private long reads;
    private long bytes;

    void add(Database served) {
      if (served != last) {
        counted = new IoCounters(0, 0);
        last = served;
      }
      IoCounters now = served.ioCounters();
      reads += now.reads() - counted.reads();
      bytes += now.bytes() - counted.bytes();
      counted = now;
    }

    void add(Tally other) {
      reads += other.reads;
      bytes += other.bytes;
    }

    Map<String, Long> figures() {
      Map<String, Long> figures = new LinkedHashMap<>();
      figures.put("reads", reads);
      figures.put("bytes", bytes);
      return figures;
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
        tallies.computeIfAbsent(set, unused -> new Tally()).add(lease.database());
      } catch (IllegalStateException closed) {
        // keep what was counted
      }
    }
    if (tallies.size() > all.size()) {
      Map<DataSet, Tally> gone = new HashMap<>(tallies);
      gone.keySet().removeAll(Set.copyOf(all));
      gone.values().forEach(removed::add);
      tallies.keySet().removeAll(gone.keySet());
    }
  }

  /** Returns the {@code reads} and {@code bytes} of all data sets, with those that were removed. */
  synchronized Map<String, Long> all() {
    tick();
    Tally all = new Tally();
    all.add(removed);
    tallies.values().forEach(all::add);
    return all.figures();
  }

  /** Returns the {@code reads} and {@code bytes} of one data set. */
  synchronized Map<String, Long> of(DataSet set) {
    tick();
    return tallies.getOrDefault(set, new Tally()).figures();
  }
}
