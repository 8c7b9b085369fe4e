package tech.bsdb.tools.serve.cluster;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tech.bsdb.KeyRouting;

/** The nodes of a cluster and their slots: each slot belongs to one primary. Immutable. */
public final class Topology {
  private final List<ReplicaGroup> groups;
  private final short[] groupOfSlot = new short[KeyRouting.SLOTS];

  /**
   * A server of a cluster.
   *
   * @param name what the topology calls it
   * @param host the host name or address at which clients reach it
   * @param respPort the port for Redis clients, -1 for none
   * @param httpPort the port for HTTP, -1 for none
   */
  public record ClusterNode(String name, String host, int respPort, int httpPort) {
    /** Stands for a port that a node does not have. */
    public static final int NO_PORT = -1;

    /**
     * Returns the 40 hexadecimal digits by which Redis clients know it; they depend on its name.
     */
    public String id() {
      try {
        byte[] digest = MessageDigest.getInstance("SHA-1").digest(name.getBytes(UTF_8));
        return HexFormat.of().formatHex(digest);
      } catch (NoSuchAlgorithmException e) {
        throw new IllegalStateException("every Java has SHA-1", e);
      }
    }

    /**
     * Returns host and port for Redis clients, which take the last colon for the end of the host.
     */
    public String respAddress() {
      return host + ":" + respPort;
    }

    /** Returns host and port as they stand in a URL; the node must have a port for HTTP. */
    public String httpAuthority() {
      return (host.indexOf(':') < 0 ? host : "[" + host + "]") + ":" + httpPort;
    }
  }

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

  private Topology(List<ReplicaGroup> groups) {
    this.groups = List.copyOf(groups);
    for (int i = 0; i < groups.size(); i++) {
      for (SlotSet.SlotRange range : groups.get(i).slots().ranges()) {
        for (int slot = range.first(); slot <= range.last(); slot++) {
          groupOfSlot[slot] = (short) i;
        }
      }
    }
  }

  /**
   * Checks a topology as a whole.
   *
   * @throws IllegalArgumentException if a slot belongs to no node or to several, if nodes have the
   *     same name or address, or if there are more nodes than slots
   */
  public static Topology of(List<ReplicaGroup> groups) {
    requireDistinctNodes(groups);
    if (groups.size() > KeyRouting.SLOTS) {
      throw new IllegalArgumentException(groups.size() + " nodes are more than there are slots");
    }
    SlotSet taken = SlotSet.NONE;
    for (ReplicaGroup group : groups) {
      SlotSet twice = taken.and(group.slots());
      if (!twice.isEmpty()) {
        String other =
            groups.stream()
                .filter(each -> !each.slots().and(twice).isEmpty())
                .map(each -> each.primary().name())
                .findFirst()
                .orElseThrow();
        throw new IllegalArgumentException(
            shown(twice) + " to " + other + " and to " + group.primary().name());
      }
      taken = taken.plus(group.slots());
    }
    SlotSet free = SlotSet.of(0, KeyRouting.SLOTS - 1).minus(taken);
    if (!free.isEmpty()) {
      throw new IllegalArgumentException(shown(free) + " to no node");
    }
    return new Topology(groups);
  }

  private static String shown(SlotSet slots) {
    return slots.size() == 1 ? "slot " + slots + " belongs" : "slots " + slots + " belong";
  }

  private static void requireDistinctNodes(List<ReplicaGroup> groups) {
    Map<String, ClusterNode> names = new HashMap<>();
    Map<String, ClusterNode> addresses = new HashMap<>();
    for (ReplicaGroup group : groups) {
      for (ClusterNode node : group.nodes()) {
        if (names.put(node.name(), node) != null) {
          throw new IllegalArgumentException("two nodes have the name " + node.name());
        }
        for (int port : new int[] {node.respPort(), node.httpPort()}) {
          String address = node.host().toLowerCase(Locale.ROOT) + ":" + port;
          ClusterNode same = port < 0 ? null : addresses.put(address, node);
          if (same != null) {
            throw new IllegalArgumentException(
                same.equals(node)
                    ? node.name() + " has the same port twice"
                    : same.name() + " and " + node.name() + " have the same address, " + address);
          }
        }
      }
    }
  }

  /** Returns the primaries with their slots and replicas, in the order of the file. */
  public List<ReplicaGroup> groups() {
    return groups;
  }

  /** Returns the nodes to which a slot belongs. */
  public ReplicaGroup group(int slot) {
    return groups.get(groupOfSlot[slot]);
  }

  /** Returns the nodes with which a node shares its slots; null if there is no such node. */
  public @Nullable ReplicaGroup groupOf(String name) {
    for (ReplicaGroup group : groups) {
      for (ClusterNode node : group.nodes()) {
        if (node.name().equals(name)) {
          return group;
        }
      }
    }
    return null;
  }

  /** Returns all nodes: each primary, followed by its replicas. */
  public List<ClusterNode> nodes() {
    return groups.stream().flatMap(group -> group.nodes().stream()).toList();
  }

  /** Returns the names of all nodes, for people. */
  String names() {
    return nodes().stream().map(ClusterNode::name).collect(Collectors.joining(", "));
  }
}
