package tech.bsdb.tools.serve.resp;

import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tech.bsdb.Database;
import tech.bsdb.Database.RecordCursor;
import tech.bsdb.KeyRouting;
import tech.bsdb.ScanOptions;
import tech.bsdb.Statistics;
import tech.bsdb.tools.serve.cluster.SlotSet;

/**
 * The number of keys in the slots of a version. What the numbers of shards tell is known at once;
 * for the rest, all keys are read when it is asked for first. Thread-safe.
 */
final class SlotCounts {
  /** So many keys are read before it is checked whether the service ends. */
  private static final int STEP = 4096;

  private final Database database;
  private long @Nullable [] counted;

  SlotCounts(Database database) {
    this.database = database;
  }

  /**
   * Returns the number of keys in slots, of those that the version holds.
   *
   * @throws CommandException if keys must be read, and the version stores none
   */
  long in(SlotSet slots, RespCluster cluster) throws IOException, CommandException {
    long known = knownFromShards(slots);
    if (known >= 0) {
      return known;
    }
    long[] counts = counted(cluster);
    long sum = 0;
    for (SlotSet.SlotRange range : slots.ranges()) {
      for (int slot = range.first(); slot <= range.last(); slot++) {
        sum += counts[slot];
      }
    }
    return sum;
  }

  /** Returns the number of keys if each shard has all of its slots among some, or none; else -1. */
  private long knownFromShards(SlotSet slots) {
    Statistics statistics = database.statistics();
    List<Integer> shards = statistics.shards() == 1 ? List.of(0) : statistics.heldShards();
    long sum = 0;
    for (int i = 0; i < shards.size(); i++) {
      int first = KeyRouting.firstSlot(shards.get(i), statistics.shards());
      int next = KeyRouting.firstSlot(shards.get(i) + 1, statistics.shards());
      int among = SlotSet.of(first, next - 1).and(slots).size();
      if (among == next - first) {
        sum += statistics.shardRecords().get(i);
      } else if (among > 0) {
        return -1;
      }
    }
    return sum;
  }

  private synchronized long[] counted(RespCluster cluster) throws IOException, CommandException {
    long[] known = counted;
    if (known != null) {
      return known;
    }
    if (database.statistics().approximateWidth() > 0) {
      throw new CommandException(ScanCommands.NO_KEYS);
    }
    long[] counts = new long[KeyRouting.SLOTS];
    try (RecordCursor records = database.scan(ScanOptions.defaults().withValues(false))) {
      for (long i = 0; records.next(); i++) {
        if (i % STEP == 0) {
          RespCluster.requireGoingOn(cluster);
        }
        counts[KeyRouting.slot(records.key())]++;
      }
    }
    counted = counts;
    return counts;
  }
}
