package tech.bsdb.tools.serve.cluster;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tech.bsdb.KeyRouting;

/** A set of slots. Immutable. */
public final class SlotSet {
  /** No slots. */
  public static final SlotSet NONE = new SlotSet(new BitSet());

  private static final Pattern RANGE = Pattern.compile("(\\d{1,5})(?:-(\\d{1,5}))?");

  private final BitSet slots;

  /** Neighboring slots, from the first to the last. */
  public record SlotRange(int first, int last) {
    @Override
    public String toString() {
      return first == last ? String.valueOf(first) : first + "-" + last;
    }
  }

  private SlotSet(BitSet slots) {
    this.slots = slots;
  }

  /** Returns the slots of a range. */
  public static SlotSet of(int first, int last) {
    BitSet slots = new BitSet(KeyRouting.SLOTS);
    slots.set(first, last + 1);
    return new SlotSet(slots);
  }

  /** Returns the slots of a shard of a set. */
  public static SlotSet ofShard(int shard, int shards) {
    return of(KeyRouting.firstSlot(shard, shards), KeyRouting.firstSlot(shard + 1, shards) - 1);
  }

  /**
   * Reads numbers and ranges: {@code 0-5460,10923}. An empty text stands for no slots.
   *
   * @throws IllegalArgumentException if the text is anything else, or states a slot twice
   */
  public static SlotSet parse(String text) {
    BitSet slots = new BitSet(KeyRouting.SLOTS);
    if (text.isBlank()) {
      return NONE;
    }
    for (String each : text.split(",", -1)) {
      Matcher range = RANGE.matcher(each.strip());
      if (!range.matches()) {
        throw new IllegalArgumentException(
            "slots are numbers and ranges from 0 to "
                + (KeyRouting.SLOTS - 1)
                + ", such as 0-5460,10923, not \""
                + each.strip()
                + "\"");
      }
      int first = Integer.parseInt(range.group(1));
      int last = range.group(2) == null ? first : Integer.parseInt(range.group(2));
      if (last < first || last >= KeyRouting.SLOTS) {
        throw new IllegalArgumentException(
            "slots "
                + each.strip()
                + ": a range goes up, and ends at "
                + (KeyRouting.SLOTS - 1)
                + " or before");
      }
      if (slots.get(first, last + 1).cardinality() > 0) {
        throw new IllegalArgumentException("slots " + each.strip() + " are stated twice");
      }
      slots.set(first, last + 1);
    }
    return new SlotSet(slots);
  }

  /** Whether a slot is one of these. */
  public boolean contains(int slot) {
    return slots.get(slot);
  }

  /** Whether a key has one of some slots; null stands for all. */
  public static boolean isAmong(@Nullable SlotSet slots, byte[] key) {
    return slots == null || slots.contains(KeyRouting.slot(key));
  }

  /** Returns the number of slots. */
  public int size() {
    return slots.cardinality();
  }

  /** Whether there are none. */
  public boolean isEmpty() {
    return slots.isEmpty();
  }

  /** Returns these slots and others. */
  public SlotSet plus(SlotSet others) {
    return changed(BitSet::or, others);
  }

  /** Returns these slots without others. */
  public SlotSet minus(SlotSet others) {
    return changed(BitSet::andNot, others);
  }

  /** Returns those of these slots that are also in another set. */
  public SlotSet and(SlotSet others) {
    return changed(BitSet::and, others);
  }

  private SlotSet changed(BiConsumer<BitSet, BitSet> change, SlotSet others) {
    BitSet copy = (BitSet) slots.clone();
    change.accept(copy, others.slots);
    return new SlotSet(copy);
  }

  /** Returns the slots as ranges in ascending order, each as long as can be. */
  public List<SlotRange> ranges() {
    List<SlotRange> ranges = new ArrayList<>();
    for (int first = slots.nextSetBit(0); first >= 0; ) {
      int end = slots.nextClearBit(first);
      ranges.add(new SlotRange(first, end - 1));
      first = slots.nextSetBit(end);
    }
    return ranges;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof SlotSet set && slots.equals(set.slots);
  }

  @Override
  public int hashCode() {
    return slots.hashCode();
  }

  /** Returns what {@link #parse} reads. */
  @Override
  public String toString() {
    return ranges().stream().map(SlotRange::toString).collect(Collectors.joining(","));
  }
}
