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
  /** Bytes of an array for keys, at first. */
  private static final int ROOM = 64;

  private final OrderIndex index;
  private final Window window = new Window();
  private @Nullable KeyBlock keys;
  private @Nullable OrderNode leaf;

  /** Memory for leaves of one page. */
  private final byte[] room = new byte[OrderNode.ONE_PAGE];

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
    long ceiling = seek(key);
    if (!isInLeaf()) {
      return next();
    }
    decode(ceiling, key);
    return atKey;
  }

  /**
   * Moves to the last key that is not greater than the given one; before the first if there is
   * none.
   *
   * @return whether it is at a key
   */
  public boolean seekFloor(byte[] key) throws IOException {
    return OrderNode.isEqual(seek(key)) ? atKey : previous();
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
    return OrderNode.isEqual(seek(key)) ? leaf().before() + entry : -1;
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

  /** Moves to where a key is or would be; returns what the search in the leaf found. */
  private long seek(byte[] wanted) throws IOException {
    atKey = false;
    key = null;
    if (index.records() == 0) {
      return 0;
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
    return ceiling;
  }

  /** Decodes the key of the entry that a search for a key found. */
  private void decode(long ceiling, byte[] wanted) throws CorruptDatabaseException {
    OrderNode node = leaf();
    int place = OrderNode.place(ceiling);
    try {
      if (place == 0) {
        decodeFirstOfBlock(node);
      } else {
        long found = node.entry(place);
        key = node.key(found, wanted);
        end = OrderNode.end(found);
      }
    } catch (IndexOutOfBoundsException | NegativeArraySizeException e) {
      throw unsound(e);
    }
  }

  private void decodeFirstOfBlock(OrderNode node) {
    long first = node.entry(node.start(entry / OrderNode.IN_BLOCK));
    key = node.keyOfBlock(first);
    end = OrderNode.end(first);
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
    byte[] before = key();
    if (end < 0) {
      return 0;
    }
    OrderNode node = leaf();
    int first = entry + 1;
    int count = Math.min(most, node.count() - first);
    int at = end;
    int length = before.length;
    byte[] last = Arrays.copyOf(before, Math.max(ROOM, length + OrderNode.SLACK));
    int common = to == null ? 0 : commonBytes(last, length, to);
    int taken = 0;
    try {
      for (; taken < count; taken++) {
        int number = first + taken;
        long next;
        if (number % OrderNode.IN_BLOCK == 0) {
          next = node.entry(node.start(number / OrderNode.IN_BLOCK));
          last = withRoom(last, next);
          length = node.copyShared(last, next);
          common = length; // so that it is compared
        } else {
          next = node.entry(at);
          last = withRoom(last, next);
        }
        node.change(last, length, next);
        length = OrderNode.keyLength(next);
        byte[] decoded = Arrays.copyOf(last, length);
        if (to != null && OrderNode.shared(next) <= common) { // otherwise less, like the last
          if (Arrays.compareUnsigned(decoded, to) >= 0) {
            break;
          }
          common = commonBytes(last, length, to);
        }
        keys[from + taken] = decoded;
        if (addresses != null) {
          addresses[from + taken] = node.value(number);
        }
        at = OrderNode.end(next);
      }
    } catch (IndexOutOfBoundsException | NegativeArraySizeException e) {
      throw unsound(e);
    }
    if (taken > 0) {
      key = keys[from + taken - 1];
      end = at;
      entry += taken;
    }
    return taken;
  }

  private static int commonBytes(byte[] one, int length, byte[] other) {
    int mismatch = Arrays.mismatch(one, 0, length, other, 0, other.length);
    return mismatch < 0 ? length : mismatch;
  }

  /** The array with room for the key of an entry. */
  private static byte[] withRoom(byte[] last, long entry) {
    int room = OrderNode.keyLength(entry) + OrderNode.SLACK;
    return room <= last.length ? last : Arrays.copyOf(last, 2 * room);
  }

  /** Decodes the key of the entry, which comes after one whose key is known. */
  private void follow(byte[] previous) throws CorruptDatabaseException {
    OrderNode node = leaf();
    try {
      if (entry % OrderNode.IN_BLOCK == 0) {
        decodeFirstOfBlock(node);
      } else {
        long next = node.entry(end);
        key = node.key(next, previous);
        end = OrderNode.end(next);
      }
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

  private KeyBlock block() {
    KeyBlock made = keys;
    if (made == null) {
      made = new KeyBlock();
      keys = made;
    }
    return made;
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
        end = leaf().decode(wanted, number + 1, block());
      } catch (IndexOutOfBoundsException e) {
        throw unsound(e);
      }
      block = wanted;
      decoded = number + 1;
    } else {
      end = -1; // unknown; only a key that was decoded last can be followed
    }
    byte[] copy = block().key(number);
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
