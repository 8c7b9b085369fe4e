package tech.bsdb.order;

import java.io.IOException;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import tech.bsdb.error.CorruptDatabaseException;
import tech.bsdb.io.Window;

/**
 * A position in the order of keys: at a key, before the first or behind the last. Used by one
 * thread at a time.
 */
public final class OrderCursor {
  /*
   * Only the start of a block can be decoded by itself; every other key is decoded from the one before it, in the same
   * array. A search leaves a key there that begins like the one found. For the way back, the keys of a block before the
   * entry are kept when they are decoded.
   */
  private static final int NONE = -1;

  private final OrderIndex index;
  private final Window window = new Window();
  private @Nullable OrderNode leaf;

  /** Memory for leaves of one page. */
  private final byte[] room = new byte[OrderNode.ONE_PAGE];

  private long page;

  /** The number of the entry in the leaf. */
  private int entry;

  private boolean atKey;

  /** The last decoded entry, or {@link #NONE}; its key, with room behind it; where it ends. */
  private int decoded = NONE;

  private byte[] last = new byte[64];
  private int length;
  private int end;

  /** How many keys at the start of the entry's block are kept, one after the other; their ends. */
  private int kept;

  private byte[] before = {};
  private int[] ends = {};

  /** Creates a cursor that is not at a key. */
  public OrderCursor(OrderIndex index) {
    this.index = index;
  }

  /** The tree that it moves in. */
  public OrderIndex index() {
    return index;
  }

  /** Whether the cursor is at a key. */
  public boolean isAtKey() {
    return atKey;
  }

  /**
   * Moves to the first key that is not less than the given one; behind the last if there is none.
   *
   * @return whether it is at a key
   */
  public boolean seekCeiling(byte[] key) throws IOException {
    boolean unused = seek(key);
    return atKey || next();
  }

  /**
   * Moves to the last key that is not greater than the given one; before the first if there is
   * none.
   *
   * @return whether it is at a key
   */
  public boolean seekFloor(byte[] key) throws IOException {
    return seek(key) || previous();
  }

  /**
   * Moves to the last key that is less than the given one; before the first if there is none.
   *
   * @return whether it is at a key
   */
  public boolean seekLower(byte[] key) throws IOException {
    boolean unused = seek(key);
    return previous();
  }

  /** Moves to the first key; returns whether there is one. */
  public boolean seekFirst() throws IOException {
    if (index.records() == 0) {
      return setAtKey(false);
    }
    enter(0);
    entry = 0;
    return setAtKey(true);
  }

  /** Moves to the last key; returns whether there is one. */
  public boolean seekLast() throws IOException {
    if (index.records() == 0) {
      return setAtKey(false);
    }
    enter(index.leafPage(null, window));
    entry = leaf().count() - 1;
    return setAtKey(true);
  }

  /** Moves to the key with so many lesser ones; returns whether there is one. */
  public boolean seekRank(long rank) throws IOException {
    if (rank < 0 || rank >= index.records()) {
      return setAtKey(false);
    }
    enter(index.leafPage(rank, window));
    long inLeaf = rank - leaf().before();
    if (inLeaf < 0 || inLeaf >= leaf().count()) {
      throw unsound(
          "the key of rank " + rank,
          leaf().count() + " keys in the leaf, and " + leaf().before() + " before it");
    }
    entry = (int) inLeaf;
    return setAtKey(true);
  }

  /** Moves to a key; returns the number of keys that are less, or -1 if the key is absent. */
  public long find(byte[] key) throws IOException {
    return seek(key) ? leaf().before() + entry : -1;
  }

  /** Returns the number of keys that are less than the given one; the cursor may move. */
  public long rank(byte[] key) throws IOException {
    if (index.records() == 0) {
      return 0;
    }
    boolean unused = seek(key);
    long rank = leaf().before() + entry;
    if (rank < 0 || rank > index.records()) {
      throw unsound("at most " + index.records() + " keys", rank + "");
    }
    return rank;
  }

  /** Moves to where a key is or would be in its leaf; returns whether it is there. */
  private boolean seek(byte[] wanted) throws IOException {
    atKey = false;
    if (index.records() == 0) {
      return false;
    }
    enter(index.leafPage(wanted, window));
    long ceiling;
    try {
      ceiling = leaf().ceiling(wanted);
    } catch (IndexOutOfBoundsException e) {
      throw unsound(e);
    }
    entry = OrderNode.number(ceiling);
    atKey = isInLeaf();
    if (OrderNode.place(ceiling) != 0) {
      makeRoom(wanted.length);
      System.arraycopy(wanted, 0, last, 0, wanted.length);
      length = wanted.length;
      end = OrderNode.place(ceiling);
      decoded = entry - 1; // as if that were the wanted key
    }
    return OrderNode.isEqual(ceiling);
  }

  private boolean setAtKey(boolean at) {
    atKey = at;
    return at;
  }

  private boolean isInLeaf() {
    return leaf != null && entry < leaf.count();
  }

  /** Moves to the next key; returns whether there is one. */
  public boolean next() throws IOException {
    if (index.records() == 0) {
      return false;
    }
    kept = 0;
    if (atKey) {
      entry++;
    }
    if (!isInLeaf()) {
      long next = page + leaf().pages();
      if (next >= index.leafPages()) {
        return setAtKey(false);
      }
      long end = leaf().before() + leaf().count();
      enter(next);
      requireBefore(end);
      entry = 0;
    }
    return setAtKey(true);
  }

  /** Moves to the previous key; returns whether there is one. */
  public boolean previous() throws IOException {
    if (index.records() == 0) {
      return false;
    }
    decoded = NONE;
    if (entry == 0) {
      if (page == 0) {
        return setAtKey(false);
      }
      long end = leaf().before();
      enter(page - leaf().pagesBefore());
      entry = leaf().count();
      requireBefore(end - entry);
    }
    entry--;
    return setAtKey(true);
  }

  /**
   * Takes keys that follow the current one in its leaf, and moves to the last of them.
   *
   * @param to a key before which to end, or null
   * @param keys receives the keys
   * @param addresses receives the short forms of the addresses of their records, or null
   * @param from where the first of them goes
   * @param most how many, at most
   * @return how many were taken. If fewer than {@code most}, the next one is in another leaf or not
   *     less than {@code to}
   */
  public int takeFollowing(
      byte @Nullable [] to, byte[][] keys, long @Nullable [] addresses, int from, int most)
      throws CorruptDatabaseException {
    OrderNode node = leaf();
    int count = Math.min(most, node.count() - entry - 1);
    int taken = 0;
    try {
      decode(node);
      kept = 0;
      int common = to == null ? NONE : commonBytes(to);
      for (; taken < count; taken++) {
        int shared = step(node, entry + 1);
        if (to != null && shared <= common) { // otherwise less, like the last
          common = commonBytes(to);
          if (!isLess(to, common)) {
            break;
          }
        }
        entry++;
        keys[from + taken] = Arrays.copyOf(last, length);
        if (addresses != null) {
          addresses[from + taken] = node.value(entry);
        }
      }
    } catch (IndexOutOfBoundsException | NegativeArraySizeException e) {
      throw unsound(e);
    }
    return taken;
  }

  /** The number of bytes that the decoded key has in common with another one. */
  private int commonBytes(byte[] other) {
    int mismatch = Arrays.mismatch(last, 0, length, other, 0, other.length);
    return mismatch < 0 ? length : mismatch;
  }

  /** Whether the decoded key is less than another one, with which it has bytes in common. */
  private boolean isLess(byte[] other, int common) {
    return common < other.length
        && (common == length || (last[common] & 0xFF) < (other[common] & 0xFF));
  }

  /** Returns the key; the caller owns the array. */
  public byte[] key() throws CorruptDatabaseException {
    int inBlock = entry % OrderNode.IN_BLOCK;
    if (inBlock < kept) {
      return Arrays.copyOfRange(before, inBlock == 0 ? 0 : ends[inBlock - 1], ends[inBlock]);
    }
    try {
      decode(leaf());
      return Arrays.copyOf(last, length);
    } catch (IndexOutOfBoundsException | NegativeArraySizeException e) {
      throw unsound(e);
    }
  }

  /** Decodes the key of the entry, and those of its block before it unless one is decoded. */
  private void decode(OrderNode node) {
    if (decoded == entry) {
      return;
    }
    int inBlock = entry % OrderNode.IN_BLOCK;
    if (inBlock > 0 && decoded != entry - 1) {
      if (ends.length == 0) {
        ends = new int[OrderNode.IN_BLOCK];
        before = new byte[32 * OrderNode.IN_BLOCK];
      }
      int from = 0;
      for (kept = 0; kept < inBlock; kept++) {
        int unused = step(node, entry - inBlock + kept);
        if (before.length - from < length) {
          before = Arrays.copyOf(before, 2 * (from + length));
        }
        System.arraycopy(last, 0, before, from, length);
        from += length;
        ends[kept] = from;
      }
    }
    int unused = step(node, entry);
  }

  /**
   * Decodes the key of an entry, given that of the one before it unless the entry begins a block.
   *
   * @return the number of bytes that both keys have in common, 0 if it begins a block
   */
  private int step(OrderNode node, int number) {
    boolean first = number % OrderNode.IN_BLOCK == 0;
    long next = node.entry(first ? node.start(number / OrderNode.IN_BLOCK) : end);
    makeRoom(OrderNode.keyLength(next));
    if (first) {
      length = node.copyShared(last, next);
    }
    node.change(last, length, next);
    length = OrderNode.keyLength(next);
    end = OrderNode.end(next);
    decoded = number;
    return first ? 0 : OrderNode.shared(next);
  }

  private void makeRoom(int keyLength) {
    int needed = keyLength + OrderNode.SLACK;
    if (needed > last.length) {
      last = Arrays.copyOf(last, 2 * needed);
    }
  }

  private void enter(long leafPage) throws IOException {
    decoded = NONE;
    kept = 0;
    if (leaf == null || leafPage != page) {
      leaf = null; // if the read fails, the cursor is nowhere
      leaf = index.leaf(leafPage, window, room);
      page = leafPage;
    }
  }

  private void requireBefore(long expected) throws CorruptDatabaseException {
    if (leaf().before() != expected) {
      throw unsound(expected + " keys before the leaf", leaf().before() + "");
    }
  }

  private CorruptDatabaseException unsound(RuntimeException cause) {
    decoded = NONE;
    kept = 0;
    return unsound("a sound node", cause.toString());
  }

  private CorruptDatabaseException unsound(String expected, String found) {
    return index.unsound(1 + page, expected, found);
  }

  private OrderNode leaf() {
    OrderNode current = leaf;
    if (current == null) {
      throw new IllegalStateException("the cursor is not in a leaf");
    }
    return current;
  }

  /** The short form of the address of the key's record. */
  public long address() {
    return leaf().value(entry);
  }
}
