package tech.bsdb.tools.serve;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tech.bsdb.Statistics;
import tech.bsdb.store.Lease;
import tech.bsdb.tools.serve.cluster.ClusterView;
import tech.bsdb.tools.serve.cluster.SlotSet;
import tech.bsdb.tools.serve.dataset.DataSet;
import tech.bsdb.tools.serve.dataset.DataSet.DataSetRemovedException;
import tech.bsdb.tools.serve.dataset.DataSets;

/** The slots whose keys databases hold: all of them, or those of some shards of a set. */
final class HeldSlots {
  private HeldSlots() {}

  /** Returns the slots whose keys a database holds. */
  private static SlotSet of(Statistics database) {
    SlotSet held = database.shards() == 1 ? SlotSet.ofShard(0, 1) : SlotSet.NONE;
    for (int shard : database.heldShards()) {
      held = held.plus(SlotSet.ofShard(shard, database.shards()));
    }
    return held;
  }

  /**
   * Returns which slots of a node the served versions lack, for people; null if they have all.
   *
   * @param wanted only these
   */
  static @Nullable String lacking(ClusterView view, SlotSet wanted, DataSets sets) {
    List<String> reasons = new ArrayList<>();
    for (DataSet set : sets.all()) {
      try (Lease lease = set.acquire()) {
        Statistics held = lease.database().statistics();
        SlotSet lacking = wanted.minus(of(held));
        if (!lacking.isEmpty()) {
          reasons.add(
              (set.name().isEmpty() ? "the data" : "data set " + set.name())
                  + " holds only shards "
                  + held.heldShardRanges()
                  + " of "
                  + held.shards()
                  + ": slots "
                  + lacking
                  + " are not among them");
        }
      } catch (DataSetRemovedException gone) {
        // it was here a moment ago
      }
    }
    return reasons.isEmpty()
        ? null
        : "node "
            + view.self().name()
            + " has slots "
            + view.slots()
            + ", but "
            + String.join("; ", reasons);
  }
}
