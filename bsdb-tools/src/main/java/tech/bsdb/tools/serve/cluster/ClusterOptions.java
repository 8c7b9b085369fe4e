package tech.bsdb.tools.serve.cluster;

import java.nio.file.Path;
import java.time.Duration;

/**
 * Options of a node of a cluster.
 *
 * @param file the topology
 * @param node the name of this node
 * @param handover how long slots that were lost are still answered
 */
public record ClusterOptions(Path file, String node, Duration handover) {}
