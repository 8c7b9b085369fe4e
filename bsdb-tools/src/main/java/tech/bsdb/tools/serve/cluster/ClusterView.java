package tech.bsdb.tools.serve.cluster;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import tech.bsdb.tools.serve.cluster.Topology.ClusterNode;
import tech.bsdb.tools.serve.cluster.Topology.ReplicaGroup;

/**
 * A topology as one of its nodes sees it, and which slots this node answers. Immutable.
 *
 * <p>Besides the slots that the topology gives it, a node goes on answering those that it has just
 * lost: the nodes read a new topology one after another, and until all have, two of them could send
 * a client to each other.
 */
public final class ClusterView {
  private final Topology topology;
  private final ReplicaGroup group;
  private final ClusterNode self;
  private final List<Handover> handovers;
  private final SlotSet always;
  private final SlotSet whenReadOnly;

  /**
   * Slots that the node had and may have lost, which it answers as before.
   *
   * @param always for every client
   * @param whenReadOnly for clients that a replica may answer
   * @param untilNanos until when, as System.nanoTime
   */
  record Handover(SlotSet always, SlotSet whenReadOnly, long untilNanos) {}

  /** Sees a topology as the node with a name, which must be in it. */
  ClusterView(Topology topology, String name, List<Handover> handovers) {
    this.topology = topology;
    this.group = Objects.requireNonNull(topology.groupOf(name));
    this.self =
        group.nodes().stream().filter(node -> node.name().equals(name)).findFirst().orElseThrow();
    this.handovers = List.copyOf(handovers);
    SlotSet all = own();
    SlotSet read = group.slots();
    for (Handover lost : handovers) {
      all = all.plus(lost.always);
      read = read.plus(lost.whenReadOnly);
    }
    this.always = all;
    this.whenReadOnly = read.plus(all);
  }

  /** Returns all nodes and their slots. */
  public Topology topology() {
    return topology;
  }

  /** Returns this node. */
  public ClusterNode self() {
    return self;
  }

  /** Returns this node and those with which it shares its slots. */
  public ReplicaGroup group() {
    return group;
  }

  /** Whether this node is a replica of another one. */
  public boolean isReplica() {
    return !group.primary().equals(self);
  }

  /** Returns the slots of this node, or of its primary. */
  public SlotSet slots() {
    return group.slots();
  }

  /**
   * Whether this node answers a slot.
   *
   * @param readOnly whether the client accepts the answer of a replica
   */
  public boolean answers(int slot, boolean readOnly) {
    return (readOnly ? whenReadOnly : always).contains(slot);
  }

  /** Returns the slots that this node answers beyond what the topology gives it. */
  public SlotSet handedOver() {
    return whenReadOnly.minus(group.slots()).plus(always.minus(own()));
  }

  /** Returns the view of the next topology, in which slots that this one has are handed over. */
  ClusterView next(Topology next, long nowNanos, long untilNanos) {
    List<Handover> kept = new ArrayList<>(handovers);
    kept.add(new Handover(own(), group.slots(), untilNanos));
    return new ClusterView(next, self.name(), kept).at(nowNanos);
  }

  /** Returns this view without handovers that have ended. */
  ClusterView at(long nowNanos) {
    List<Handover> kept =
        handovers.stream().filter(each -> each.untilNanos - nowNanos > 0).toList();
    return kept.size() == handovers.size() ? this : new ClusterView(topology, self.name(), kept);
  }

  /** Returns the slots that the topology lets this node answer for every client. */
  private SlotSet own() {
    return isReplica() ? SlotSet.NONE : group.slots();
  }
}
