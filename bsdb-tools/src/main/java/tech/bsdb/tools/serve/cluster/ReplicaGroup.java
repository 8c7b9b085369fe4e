package tech.bsdb.tools.serve.cluster;

import java.util.ArrayList;
import java.util.List;

/**
 * The nodes that answer the same slots. Redis calls this a shard of the cluster.
 *
 * @param primary the node to which clients are sent
 * @param slots the slots, which may be none
 * @param replicas the other nodes, which answer Redis clients after READONLY
 */
public record ReplicaGroup(ClusterNode primary, SlotSet slots, List<ClusterNode> replicas) {
  /** Copies the list. */
  public ReplicaGroup {
    replicas = List.copyOf(replicas);
  }

  /** Returns the primary and its replicas. */
  public List<ClusterNode> nodes() {
    List<ClusterNode> nodes = new ArrayList<>(replicas);
    nodes.add(0, primary);
    return nodes;
  }
}
