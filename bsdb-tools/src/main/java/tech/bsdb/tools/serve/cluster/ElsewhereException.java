package tech.bsdb.tools.serve.cluster;

/** A key belongs to another node of the cluster. */
public final class ElsewhereException extends Exception {
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
