package tech.bsdb.tools.serve.resp;

import java.util.concurrent.ExecutorService;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.serve.cluster.Cluster;

/**
 * A cluster as Redis clients see it.
 *
 * @param cluster the nodes and their slots
 * @param counting runs commands that count the keys of slots, one at a time; it is shut down to end
 *     them
 * @param tls whether the nodes speak TLS
 */
public record RespCluster(Cluster cluster, ExecutorService counting, boolean tls) {
  /**
   * Requires that the server does not end, now and then while a command reads keys.
   *
   * @param of null if the server is no node of a cluster, and reads few keys
   * @throws CommandException if it ends
   */
  static void requireGoingOn(@Nullable RespCluster of) throws CommandException {
    if (of != null && of.counting.isShutdown()) {
      throw new CommandException("ERR the server is shutting down");
    }
  }
}
