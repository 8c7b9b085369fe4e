package tech.bsdb.tools.serve.cluster;

import java.util.ArrayList;
import java.util.List;
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
   * Slots that were lost and are still answered.
   *
   * @param always for every client
   * @param whenReadOnly for clients that a replica may answer
   * @param untilNanos until when, as System.nanoTime
   */
  record Handover(SlotSet always, SlotSet whenReadOnly, long untilNanos) {}

  ClusterView(Topology topology, ReplicaGroup group, String name, List<Handover> handovers) {
    this.topology = topology;
    this.group = group;
    this.self =
        group.nodes().stream().filter(node -> node.name().equals(name)).findFirst().orElseThrow();
    this.handovers = List.copyOf(handovers);
    SlotSet all = isReplica() ? SlotSet.NONE : group.slots();
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
    SlotSet own = isReplica() ? SlotSet.NONE : group.slots();
    return whenReadOnly.minus(group.slots()).plus(always.minus(own));
  }

  /** Returns the view of the next topology, in which slots that this one has are handed over. */
  ClusterView next(Topology next, ReplicaGroup nextGroup, long nowNanos, long untilNanos) {
    ClusterView plain = new ClusterView(next, nextGroup, self.name(), List.of());
    SlotSet mine = isReplica() ? SlotSet.NONE : group.slots();
    Handover lost =
        new Handover(mine.minus(plain.always), group.slots().minus(plain.whenReadOnly), untilNanos);
    List<Handover> kept = new ArrayList<>(current(nowNanos));
    boolean any = !lost.always.isEmpty() || !lost.whenReadOnly.isEmpty();
    if (any && untilNanos - nowNanos > 0) {
      kept.add(lost);
    }
    return new ClusterView(next, nextGroup, self.name(), kept);
  }

  /** Returns this view without handovers that have ended. */
  ClusterView at(long nowNanos) {
    List<Handover> kept = current(nowNanos);
    return kept.size() == handovers.size()
        ? this
        : new ClusterView(topology, group, self.name(), kept);
  }

  private List<Handover> current(long nowNanos) {
    return handovers.stream().filter(each -> each.untilNanos - nowNanos > 0).toList();
  }
}
