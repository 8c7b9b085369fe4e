package tech.bsdb.tools.serve;

import org.jspecify.annotations.Nullable;
import tech.bsdb.error.WrongShardException;
import tech.bsdb.tools.serve.cluster.Cluster;
import tech.bsdb.tools.serve.cluster.Cluster.ElsewhereException;
import tech.bsdb.tools.serve.cluster.SlotSet;
import tech.bsdb.tools.serve.cluster.Topology.ClusterNode;

/**
 * Where the keys of a data set are answered: all of them here, or each by the node of a cluster to
 * which its slot belongs. Thread-safe.
 *
 * @param cluster null if this server is alone
 * @param scheme the scheme of the nodes' URLs
 * @param keyPrefix what the paths of the data set's keys begin with
 */
record Placement(@Nullable Cluster cluster, String scheme, String keyPrefix) {
  /**
   * Requires that this server answers a key.
   *
   * @throws ElsewhereException if another node does
   */
  void requireHere(byte[] key) throws ElsewhereException {
    if (cluster != null) {
      cluster.requireHere(key, 0, key.length);
    }
  }

  /** Returns the slots whose keys are this node's in a cluster; null if all keys are. */
  @Nullable SlotSet ownSlots() {
    return cluster == null ? null : cluster.view().slots();
  }

  /** Returns the answer for a key of a shard that is not here. */
  Reply misdirected(WrongShardException e) {
    ElsewhereException moved = cluster == null ? null : cluster.elsewhere(e.slot());
    return moved == null ? Reply.misdirected(e) : misdirected(moved);
  }

  /** Returns the answer for a key that another node answers. */
  Reply misdirected(ElsewhereException e) {
    ClusterNode owner = e.owner();
    boolean http = owner.httpPort() != ClusterNode.NO_PORT;
    return Reply.misdirected(e, http ? scheme + "://" + owner.httpAuthority() + keyPrefix : "");
  }
}
