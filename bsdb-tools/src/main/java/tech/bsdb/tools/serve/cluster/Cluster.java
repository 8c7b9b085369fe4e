package tech.bsdb.tools.serve.cluster;

import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import tech.bsdb.KeyRouting;
import tech.bsdb.tools.cli.Diagnosis;
import tech.bsdb.tools.cli.SmallFile;
import tech.bsdb.tools.serve.cluster.Topology.ClusterNode;

/**
 * The cluster of which this server is a node. Its topology is a file, at which {@link #look} looks
 * again. A file that is wrong in any way is refused as a whole, and the topology before it stays.
 * Thread-safe.
 */
public final class Cluster {
  private final ClusterOptions options;
  private final Requirement requirement;
  private final Consumer<String> said;
  private byte[] bytes;
  private byte @Nullable [] suspect;
  private volatile ClusterView view;
  private volatile @Nullable RefusedFile refused;
  private volatile Instant changedAt = Instant.now();
  private volatile long changes;

  /**
   * Options of a node of a cluster.
   *
   * @param file the topology
   * @param node the name of this node
   * @param handover how long slots that were lost are still answered
   */
  public record ClusterOptions(Path file, String node, Duration handover) {}

  /** What a topology must have besides being right in itself. */
  @FunctionalInterface
  public interface Requirement {
    /**
     * Returns why this server cannot serve in a topology; null if it can.
     *
     * @param gained the slots that this node would have and has not had before
     */
    @Nullable String lacking(ClusterView next, SlotSet gained);
  }

  /** Why the file is not used as it is, and since when. */
  public record RefusedFile(String reason, Instant at) {}

  /** A key belongs to another node of the cluster. */
  public static final class ElsewhereException extends Exception {
    private static final long serialVersionUID = 1;

    private final int slot;
    private final transient ClusterNode owner;

    ElsewhereException(int slot, ClusterNode owner) {
      super("slot " + slot + " belongs to node " + owner.name(), null, false, false);
      this.slot = slot;
      this.owner = owner;
    }

    /** Returns the slot of the key. */
    public int slot() {
      return slot;
    }

    /** Returns the node to which the slot belongs. */
    public ClusterNode owner() {
      return owner;
    }
  }

  /**
   * Reads the topology.
   *
   * @param said receives messages for the operator
   * @throws IOException if it is wrong or this node is not in it, with the file and the reason
   */
  public Cluster(ClusterOptions options, Requirement requirement, Consumer<String> said)
      throws IOException {
    this.options = options;
    this.requirement = requirement;
    this.said = said;
    this.bytes = read(options.file());
    ClusterView first = new ClusterView(parsed(options, bytes), options.node(), List.of());
    require(first, first.slots());
    this.view = first;
  }

  /**
   * Requires that there is a topology with this node, before anything else is done.
   *
   * @throws IOException if not, with the file and the reason
   */
  public static void check(ClusterOptions options) throws IOException {
    Topology unused = parsed(options, read(options.file()));
  }

  private static byte[] read(Path file) throws IOException {
    if (Files.exists(file) && !Files.isRegularFile(file)) { // opening a pipe could wait forever
      throw wrong(file, "is no regular file");
    }
    return SmallFile.read(file, "a topology");
  }

  private static FileSystemException wrong(Path file, String reason) {
    return new FileSystemException(file.toString(), null, reason);
  }

  private static Topology parsed(ClusterOptions options, byte[] json) throws IOException {
    Topology topology;
    try {
      topology = TopologyReader.read(json);
    } catch (IllegalArgumentException e) {
      throw wrong(options.file(), String.valueOf(e.getMessage()));
    }
    if (topology.groupOf(options.node()) == null) {
      throw wrong(
          options.file(),
          "no node has the name "
              + options.node()
              + "; the nodes are "
              + topology.names()
              + ", and --node says which of them this is");
    }
    return topology;
  }

  private void require(ClusterView next, SlotSet gained) throws IOException {
    String lacking = requirement.lacking(next, gained);
    if (lacking != null) {
      throw wrong(options.file(), lacking);
    }
  }

  /** Returns the topology in use, as this node sees it. */
  public ClusterView view() {
    return view;
  }

  /** Returns the file of the topology. */
  public Path file() {
    return options.file();
  }

  /** Returns why the file is not used as it is; null if it is. */
  public @Nullable RefusedFile refused() {
    return refused;
  }

  /** Returns how often the topology has changed since the start. */
  public long changes() {
    return changes;
  }

  /** Returns when the topology in use was read. */
  public Instant changedAt() {
    return changedAt;
  }

  /**
   * Requires that this node answers a key for a client that accepts the answer of a replica.
   *
   * @throws ElsewhereException if another node does
   */
  public void requireHere(byte[] bytes, int offset, int length) throws ElsewhereException {
    ClusterView now = view;
    int slot = KeyRouting.slot(bytes, offset, length);
    if (!now.answers(slot, true)) {
      throw new ElsewhereException(slot, now.topology().group(slot).primary());
    }
  }

  /** Returns the other node to which a slot belongs; null if it is this node's. */
  public @Nullable ElsewhereException elsewhere(int slot) {
    ClusterView now = view;
    return now.slots().contains(slot)
        ? null
        : new ElsewhereException(slot, now.topology().group(slot).primary());
  }

  /**
   * Reads the file again.
   *
   * @return whether the topology is another one now
   * @throws IOException if the file is refused; the topology stays as it is
   */
  public synchronized boolean refresh() throws IOException {
    return refresh(false);
  }

  /**
   * Reads the file again.
   *
   * @param later whether a file that is wrong gets a second look before it is refused, because it
   *     may be being written
   */
  synchronized boolean refresh(boolean later) throws IOException {
    byte[] found = {};
    try {
      found = read(options.file());
      if (Arrays.equals(found, bytes)) {
        suspect = null;
        refused = null;
        return false;
      }
      Topology topology = parsed(options, found);
      long now = System.nanoTime();
      ClusterView next = view.next(topology, now, now + options.handover().toNanos());
      require(next, next.slots().minus(view.slots()));
      String change = describe(view, next);
      view = next;
      bytes = found;
      suspect = null;
      refused = null;
      changedAt = Instant.now();
      changes++;
      said.accept(change);
      return true;
    } catch (IOException e) {
      if (!later || Arrays.equals(found, suspect)) {
        refuse(Diagnosis.of(e).words());
      }
      suspect = found;
      throw e;
    }
  }

  private static String describe(ClusterView before, ClusterView after) {
    SlotSet gained = after.slots().minus(before.slots());
    SlotSet lost = before.slots().minus(after.slots());
    String role =
        after.isReplica() ? "a replica of " + after.group().primary().name() : "a primary";
    return "the cluster has a new topology; this node, "
        + after.self().name()
        + ", is "
        + role
        + " with "
        + (after.slots().isEmpty() ? "no slots" : "slots " + after.slots())
        + (gained.isEmpty() ? "" : "; new: " + gained)
        + (lost.isEmpty() ? "" : "; moved away: " + lost)
        + (after.handedOver().isEmpty() ? "" : "; still answered: " + after.handedOver());
  }

  private synchronized void refuse(String reason) {
    RefusedFile before = refused;
    if (before == null || !before.reason.equals(reason)) {
      refused = new RefusedFile(reason, Instant.now());
      said.accept("the cluster's topology stays as it is: " + reason);
    }
  }

  /** Ends handovers, and looks for another topology; called regularly. */
  public synchronized void look() {
    view = view.at(System.nanoTime());
    try {
      boolean unused = refresh(true);
    } catch (IOException e) {
      // refused, which was said, and tried again
    }
  }
}
