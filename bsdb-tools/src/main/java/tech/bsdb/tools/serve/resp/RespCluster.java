package tech.bsdb.tools.serve.resp;

import java.util.concurrent.ExecutorService;
import tech.bsdb.tools.serve.cluster.Cluster;

/**
 * A cluster as Redis clients see it.
 *
 * @param cluster the nodes and their slots
 * @param counting runs commands that count the keys of slots, one at a time; it is shut down to end
 *     them
 * @param tls whether the nodes speak TLS
 */
public record RespCluster(Cluster cluster, ExecutorService counting, boolean tls) {}
