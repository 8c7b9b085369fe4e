package tech.bsdb.tools.serve.resp;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tech.bsdb.KeyRouting;
import tech.bsdb.Statistics;
import tech.bsdb.store.Lease;
import tech.bsdb.tools.serve.cluster.ClusterView;
import tech.bsdb.tools.serve.cluster.SlotSet;
import tech.bsdb.tools.serve.cluster.Topology.ClusterNode;
import tech.bsdb.tools.serve.cluster.Topology.ReplicaGroup;
import tech.bsdb.tools.serve.dataset.DataSet;
import tech.bsdb.tools.serve.dataset.ServedVersion;

/** Commands about the cluster: its nodes and slots, as Redis Cluster describes its own. */
final class ClusterCommands {
  /** The reply of a command that reads keys when the server ends. */
  static final String ENDING = "ERR the server is shutting down";

  private ClusterCommands() {}

  /** Returns the topology of the cluster; commands about it are for its nodes alone. */
  private static ClusterView cluster(RespService service) throws CommandException {
    ClusterView view = service.clusterView();
    if (view == null) {
      throw new CommandException("ERR This instance has cluster support disabled");
    }
    return view;
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

  /** Answers a command that only the nodes of a cluster know, and that has no arguments. */
  interface OfCluster {
    void answer(RespService service, ClusterView view, ReplyWriter out);
  }

  static Handler.Alone of(OfCluster command) {
    return (session, arguments, out) ->
        command.answer(session.service, cluster(session.service), out);
  }

  /** The slots of a node that follow each other. */
  private record OwnedRange(SlotSet.SlotRange slots, ReplicaGroup group) {}

  private static List<OwnedRange> ranges(ClusterView view) {
    List<OwnedRange> all = new ArrayList<>();
    for (ReplicaGroup group : view.topology().groups()) {
      group.slots().ranges().forEach(slots -> all.add(new OwnedRange(slots, group)));
    }
    all.sort(Comparator.comparingInt(each -> each.slots.first()));
    return all;
  }

  static void slots(RespService service, ClusterView view, ReplyWriter out) {
    List<OwnedRange> ranges = ranges(view);
    out.array(ranges.size());
    for (OwnedRange range : ranges) {
      List<ClusterNode> nodes = range.group.nodes();
      out.array(2 + nodes.size());
      out.integer(range.slots.first());
      out.integer(range.slots.last());
      for (ClusterNode node : nodes) {
        Map<?, ?> otherNames = Map.of();
        out.value(List.of(node.host(), node.respPort(), node.id(), otherNames));
      }
    }
  }

  static void shards(RespService service, ClusterView view, ReplyWriter out) {
    List<ReplicaGroup> groups = view.topology().groups();
    out.array(groups.size());
    for (ReplicaGroup group : groups) {
      List<SlotSet.SlotRange> ranges = group.slots().ranges();
      List<ClusterNode> nodes = group.nodes();
      out.map(2);
      out.bulk("slots");
      out.array(2L * ranges.size());
      for (SlotSet.SlotRange range : ranges) {
        out.integer(range.first());
        out.integer(range.last());
      }
      out.bulk("nodes");
      out.array(nodes.size());
      for (ClusterNode node : nodes) {
        out.map(7);
        out.entry("id", node.id());
        out.entry(service.credentials.tls() != null ? "tls-port" : "port", node.respPort());
        out.entry("ip", node.host());
        out.entry("endpoint", node.host());
        out.entry("role", node.equals(group.primary()) ? "master" : "replica");
        out.entry("replication-offset", 1); // as complete as it will ever be
        out.entry("health", "online");
      }
    }
  }

  static void nodes(RespService service, ClusterView view, ReplyWriter out) {
    StringBuilder text = new StringBuilder();
    int epoch = 0;
    for (ReplicaGroup group : view.topology().groups()) {
      epoch++;
      for (ClusterNode node : group.nodes()) {
        appendNode(node, group, epoch, node.equals(view.self()), text);
      }
    }
    out.verbatim(text.toString());
  }

  /** Appends a line; nodes do not speak with each other, so there are no times and no bus port. */
  private static void appendNode(
      ClusterNode node, ReplicaGroup group, int epoch, boolean self, StringBuilder text) {
    boolean primary = node.equals(group.primary());
    text.append(node.id())
        .append(' ')
        .append(node.respAddress())
        .append("@0 ")
        .append(self ? "myself," : "")
        .append(primary ? "master - 0 0 " : "slave " + group.primary().id() + " 0 0 ")
        .append(epoch)
        .append(" connected");
    if (primary && !group.slots().isEmpty()) {
      text.append(' ').append(group.slots().toString().replace(',', ' '));
    }
    text.append('\n');
  }

  static void info(RespService service, ClusterView view, ReplyWriter out) {
    List<ReplicaGroup> groups = view.topology().groups();
    long withSlots = groups.stream().filter(group -> !group.slots().isEmpty()).count();
    out.verbatim(
        String.join(
            "\r\n",
            "cluster_state:ok",
            "cluster_slots_assigned:" + KeyRouting.SLOTS,
            "cluster_slots_ok:" + KeyRouting.SLOTS,
            "cluster_slots_pfail:0",
            "cluster_slots_fail:0",
            "cluster_known_nodes:" + view.topology().nodes().size(),
            "cluster_size:" + withSlots,
            "cluster_current_epoch:" + groups.size(),
            "cluster_my_epoch:" + (groups.indexOf(view.group()) + 1),
            "cluster_stats_messages_sent:0",
            "cluster_stats_messages_received:0",
            "total_cluster_links_buffer_limit_exceeded:0",
            ""));
  }

  static void keySlot(Session session, List<byte[]> arguments, ReplyWriter out)
      throws CommandException {
    ClusterView unused = cluster(session.service); // or an error
    out.integer(KeyRouting.slot(arguments.get(2)));
  }

  /** Returns what answers READONLY and READWRITE. */
  static Handler.Alone acceptReplica(boolean accept) {
    return (session, arguments, out) -> {
      ClusterView unused = cluster(session.service); // or an error
      session.replicaAccepted = accept;
      out.ok();
    };
  }

  /** Counts the keys in a slot, which are none if it is not this node's. */
  static void countKeysInSlot(Session session, List<byte[]> arguments, ReplyWriter out)
      throws CommandException, IOException {
    ClusterView view = cluster(session.service);
    long slot = Arguments.integer(arguments.get(2));
    if (slot < 0 || slot >= KeyRouting.SLOTS) {
      throw new CommandException("ERR Invalid slot");
    }
    SlotSet wanted = SlotSet.of((int) slot, (int) slot);
    out.integer(keysIn(session, view.slots().and(wanted)));
  }

  /** Counts the keys of this node. */
  static void dbSize(Session session, List<byte[]> arguments, ReplyWriter out)
      throws CommandException, IOException {
    DataSet selected = session.selected();
    ClusterView view = session.service.clusterView();
    if (view == null) {
      try (Lease lease = selected.acquire()) {
        out.integer(selected.version(lease).statistics.records());
      }
    } else {
      out.integer(keysIn(session, view.slots()));
    }
  }

  /**
   * Counts the keys in slots of this node. What the numbers of shards tell is known at once; for
   * the rest, all keys are read when it is asked for first.
   *
   * @throws CommandException if keys must be read, and the version stores none
   */
  private static long keysIn(Session session, SlotSet slots) throws CommandException, IOException {
    DataSet selected = session.selected();
    try (Lease lease = selected.acquire()) {
      ServedVersion version = selected.version(lease);
      long known = knownFromShards(version.statistics, slots);
      if (known >= 0) {
        return known;
      }
      ScanCommands.requireKeys(version);
      long[] counts = version.slotCounts(session.service::isEnding);
      if (counts == null) {
        throw new CommandException(ENDING);
      }
      long sum = 0;
      for (SlotSet.SlotRange range : slots.ranges()) {
        for (int slot = range.first(); slot <= range.last(); slot++) {
          sum += counts[slot];
        }
      }
      return sum;
    }
  }

  /** Returns the number of keys if each shard has all of its slots among some, or none; else -1. */
  private static long knownFromShards(Statistics statistics, SlotSet slots) {
    List<Integer> shards = statistics.shards() == 1 ? List.of(0) : statistics.heldShards();
    long sum = 0;
    for (int i = 0; i < shards.size(); i++) {
      SlotSet held = SlotSet.ofShard(shards.get(i), statistics.shards());
      int among = held.and(slots).size();
      if (among == held.size()) {
        sum += statistics.shardRecords().get(i);
      } else if (among > 0) {
        return -1;
      }
    }
    return sum;
  }
}
