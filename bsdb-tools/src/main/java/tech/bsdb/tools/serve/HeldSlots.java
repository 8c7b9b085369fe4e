package tech.bsdb.tools.serve;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tech.bsdb.KeyRouting;
import tech.bsdb.Statistics;
import tech.bsdb.store.Lease;
import tech.bsdb.tools.serve.cluster.ClusterView;
import tech.bsdb.tools.serve.cluster.SlotSet;
import tech.bsdb.tools.serve.dataset.DataSet;
import tech.bsdb.tools.serve.dataset.DataSet.DataSetRemovedException;
import tech.bsdb.tools.serve.dataset.DataSets;

/** The slots whose keys databases hold: all of them, or those of some shards of a set. */
final class HeldSlots {
  private static final SlotSet ALL = SlotSet.of(0, KeyRouting.SLOTS - 1);

  private HeldSlots() {}

  /** Returns the slots whose keys a database holds. */
  static SlotSet of(Statistics database) {
    if (database.shards() == 1) {
      return ALL;
    }
    SlotSet held = SlotSet.NONE;
    for (int shard : database.heldShards()) {
      int first = KeyRouting.firstSlot(shard, database.shards());
      int next = KeyRouting.firstSlot(shard + 1, database.shards());
      held = held.plus(SlotSet.of(first, next - 1));
    }
    return held;
  }

  /**
   * Returns which slots of a node a database lacks, for people; null if it has all.
   *
   * @param wanted only these
   */
  static @Nullable String lacking(
      ClusterView view, SlotSet wanted, String dataSet, Statistics database) {
    SlotSet lacking = wanted.minus(of(database));
    if (lacking.isEmpty()) {
      return null;
    }
    return "node "
        + view.self().name()
        + " has slots "
        + view.slots()
        + ", but "
        + (dataSet.isEmpty() ? "the data" : "data set " + dataSet)
        + " holds only shards "
        + database.heldShardRanges()
        + " of "
        + database.shards()
        + ": slots "
        + lacking
        + " are not among them";
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
        String reason = lacking(view, wanted, set.name(), lease.database().statistics());
        if (reason != null) {
          reasons.add(reason);
        }
      } catch (DataSetRemovedException gone) {
        // it was here a moment ago
      }
    }
    return reasons.isEmpty() ? null : String.join("; ", reasons);
  }
}
