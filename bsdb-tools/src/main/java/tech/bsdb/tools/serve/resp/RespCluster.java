package tech.bsdb.tools.serve.resp;

import java.util.concurrent.ExecutorService;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.serve.cluster.Cluster;
import tech.bsdb.tools.serve.cluster.ClusterView;

/**
 * A cluster as Redis clients see it.
 *
 * @param cluster the nodes and their slots
 * @param counting runs commands that count the keys of slots, one at a time; it is shut down to end
 *     them
 * @param tls whether the nodes speak TLS
 */
public record RespCluster(Cluster cluster, ExecutorService counting, boolean tls) {
  /** The reply of a command that reads keys when the server ends. */
  static final String ENDING = "ERR the server is shutting down";

  /** Whether the server ends, which commands ask now and then while they read keys. */
  boolean isEnding() {
    return counting.isShutdown();
  }

  /**
   * Requires that this node answers a slot.
   *
   * @param slot the slot, or {@link CommandSpec#NO_SLOT}
   * @param readOnly whether the client accepts the answer of a replica
   * @throws CommandException naming the node that answers it, if another one does
   */
  static void requireHere(ClusterView view, int slot, boolean readOnly) throws CommandException {
    if (slot != CommandSpec.NO_SLOT && !view.answers(slot, readOnly)) {
      throw new CommandException(moved(view, slot));
    }
  }

  private static String moved(ClusterView view, int slot) {
    return "MOVED " + slot + " " + view.topology().group(slot).primary().respAddress();
  }

  /**
   * Returns the error for a key whose slot the data lacks: that it has moved, if another node has
   * the slot, whose keys this one would go on answering for a while.
   *
   * @param view null if this server is alone
   */
  static String withoutData(@Nullable ClusterView view, int slot) {
    return view == null || view.slots().contains(slot)
        ? "CLUSTERDOWN Hash slot not served"
        : moved(view, slot);
  }
}
