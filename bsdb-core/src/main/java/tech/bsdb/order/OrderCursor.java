package tech.bsdb.order;

import java.io.IOException;
import org.jspecify.annotations.Nullable;
import tech.bsdb.error.CorruptDatabaseException;
import tech.bsdb.io.Window;

/**
 * A position in the order of keys: at a key, before the first or behind the last. Used by one
 * thread at a time.
 */
public final class OrderCursor {
  private final OrderIndex index;
  private final Window window = new Window();
  private final KeyBlock keys = new KeyBlock();
  private @Nullable OrderNode leaf;
  private long page;

  /** The number of the entry in the leaf. */
  private int entry;

  /** The block whose first keys are decoded, and how many. */
  private int block;

  private int decoded;

  /** The key of the entry, and where the entry ends, once it was asked for. */
  private byte @Nullable [] key;

  private int end;

  private boolean atKey;

  /** Creates a cursor that is not at a key. */
  public OrderCursor(OrderIndex index) {
    this.index = index;
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
    if (seek(key) || isInLeaf()) {
      return atKey;
    }
    return next();
  }

  /**
   * Moves to the last key that is not greater than the given one; before the first if there is
   * none.
   *
   * @return whether it is at a key
   */
  public boolean seekFloor(byte[] key) throws IOException {
    return seek(key) ? atKey : previous();
  }

  /**
   * Moves to the last key that is less than the given one; before the first if there is none.
   *
   * @return whether it is at a key
   */
  public boolean seekLower(byte[] key) throws IOException {
    seek(key);
    return previous();
  }

  /** Moves to the first key; returns whether there is one. */
  public boolean seekFirst() throws IOException {
    if (index.records() == 0) {
      return setAtKey(false);
    }
    enter(0);
    key = null;
    entry = 0;
    return setAtKey(true);
  }

  /** Moves to the last key; returns whether there is one. */
  public boolean seekLast() throws IOException {
    if (index.records() == 0) {
      return setAtKey(false);
    }
    enter(index.lastLeafPage(window));
    key = null;
    entry = leaf().count() - 1;
    return setAtKey(true);
  }

  /** Moves to the key with so many lesser ones; returns whether there is one. */
  public boolean seekRank(long rank) throws IOException {
    if (rank < 0 || rank >= index.records()) {
      return setAtKey(false);
    }
    enter(index.leafPage(rank, window));
    key = null;
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
    seek(key);
    long rank = leaf().before() + entry;
    if (rank < 0 || rank > index.records()) {
      throw unsound("at most " + index.records() + " keys", rank + "");
    }
    return rank;
  }

  /** Moves to where a key is or would be; returns whether it is there. */
  private boolean seek(byte[] wanted) throws IOException {
    atKey = false;
    key = null;
    if (index.records() == 0) {
      return false;
    }
    enter(index.leafPage(wanted, window));
    int found;
    try {
      found = leaf().search(wanted);
    } catch (IndexOutOfBoundsException e) {
      throw unsound(e);
    }
    entry = found >= 0 ? found : ~found;
    atKey = isInLeaf();
    return found >= 0;
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
    byte[] previous = key;
    key = null;
    if (atKey) {
      entry++;
    }
    if (isInLeaf()) {
      if (previous != null) {
        follow(previous);
      }
    } else {
      long next = page + leaf().pages();
      if (next >= index.leafPages()) {
        return setAtKey(false);
      }
      long before = leaf().before() + leaf().count();
      enter(next);
      requireBefore(before);
      entry = 0;
      if (previous != null) {
        follow(previous);
      }
    }
    return setAtKey(true);
  }

  /** Decodes the key of the entry, which comes after one whose key is known. */
  private void follow(byte[] previous) throws CorruptDatabaseException {
    OrderNode node = leaf();
    try {
      long decodedEntry;
      if (entry % OrderNode.IN_BLOCK == 0) {
        decodedEntry = node.entry(node.start(entry / OrderNode.IN_BLOCK));
        key = node.keyOfBlock(decodedEntry);
      } else {
        decodedEntry = node.entry(end);
        key = node.key(decodedEntry, previous);
      }
      end = OrderNode.end(decodedEntry);
    } catch (IndexOutOfBoundsException | NegativeArraySizeException e) {
      throw unsound(e);
    }
  }

  /** Moves to the previous key; returns whether there is one. */
  public boolean previous() throws IOException {
    if (index.records() == 0) {
      return false;
    }
    key = null;
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

  private void enter(long leafPage) throws IOException {
    if (leaf == null || leafPage != page) {
      leaf = null; // if the read fails, the cursor is nowhere
      decoded = 0;
      leaf = index.leaf(leafPage, window);
      page = leafPage;
    }
  }

  private void requireBefore(long expected) throws CorruptDatabaseException {
    if (leaf().before() != expected) {
      throw unsound(expected + " keys before the leaf", leaf().before() + "");
    }
  }

  private CorruptDatabaseException unsound(RuntimeException cause) {
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

  /** Returns the key; the caller owns the array, but must not change it before the next move. */
  public byte[] key() throws CorruptDatabaseException {
    byte[] known = key;
    if (known != null) {
      return known;
    }
    int wanted = entry / OrderNode.IN_BLOCK;
    int number = entry % OrderNode.IN_BLOCK;
    if (wanted != block || number >= decoded) {
      decoded = 0;
      try {
        end = leaf().decode(wanted, number + 1, keys);
      } catch (IndexOutOfBoundsException e) {
        throw unsound(e);
      }
      block = wanted;
      decoded = number + 1;
    } else {
      end = -1; // unknown; only a key that was decoded last can be followed
    }
    byte[] copy = keys.key(number);
    if (end >= 0) {
      key = copy;
    }
    return copy;
  }

  /** The short form of the address of the key's record. */
  public long address() {
    return leaf().value(entry);
  }
}
