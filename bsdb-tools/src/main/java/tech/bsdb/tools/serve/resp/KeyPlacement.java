package tech.bsdb.tools.serve.resp;

import org.jspecify.annotations.Nullable;
import tech.bsdb.KeyRouting;
import tech.bsdb.tools.serve.cluster.ClusterView;

/** The slot of a command's keys, and whether this node of a cluster answers it. */
final class KeyPlacement {
  /** There are no keys. */
  static final int NO_SLOT = -1;

  private KeyPlacement() {}

  /**
   * Returns the slot of all keys of a command.
   *
   * @param before the slot of keys that must have the same, or {@link #NO_SLOT}
   * @throws CommandException if keys have different slots
   */
  static int slot(CommandSpec spec, Arguments command, int before) throws CommandException {
    if (spec.firstKey() == 0) {
      return before;
    }
    int last = spec.lastKey() < 0 ? command.count() + spec.lastKey() : spec.lastKey();
    int slot = before;
    for (int i = spec.firstKey(); i <= last; i += spec.keyStep()) {
      int next = KeyRouting.slot(command.argument(i));
      if (slot != NO_SLOT && slot != next) {
        throw new CommandException("CROSSSLOT Keys in request don't hash to the same slot");
      }
      slot = next;
    }
    return slot;
  }

  /**
   * Requires that this node answers a slot.
   *
   * @param slot the slot, or {@link #NO_SLOT}
   * @param readOnly whether the client accepts the answer of a replica
   * @throws CommandException naming the node that answers it, if another one does
   */
  static void require(ClusterView view, int slot, boolean readOnly) throws CommandException {
    if (slot != NO_SLOT && !view.answers(slot, readOnly)) {
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
