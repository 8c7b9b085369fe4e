package tech.bsdb.order;

import java.io.IOException;
import java.util.Arrays;
import tech.bsdb.error.CorruptDatabaseException;
import tech.bsdb.io.Window;

/** Verifies that the nodes above the leaves lead to every leaf (FORMAT.md §16). */
public final class OrderCheck {
  private OrderCheck() {}

  /**
   * Verifies the tree: every leaf is the child of the entry whose separator is greater than all
   * keys before it and not greater than its own, and the nodes number their records without gaps.
   *
   * @throws CorruptDatabaseException if it is not so
   */
  public static void requireSound(OrderIndex index) throws IOException {
    if (index.records() == 0) {
      return;
    }
    Window window = new Window();
    long before = 0;
    long page = 0;
    byte[] last = new byte[0];
    KeyBlock keys = new KeyBlock();
    while (page < index.leafPages()) {
      OrderNode leaf = index.leaf(page, window);
      byte[] first = key(leaf, 0, keys);
      require(index, page, before == leaf.before(), "a leaf after " + before + " records");
      require(
          index, page, index.leafPage(first, window) == page, "a leaf that its first key leads to");
      if (page > 0) {
        require(
            index,
            page,
            Arrays.compareUnsigned(last, first) < 0,
            "a leaf whose keys follow those of the leaf before");
      }
      last = key(leaf, leaf.count() - 1, keys);
      require(
          index, page, index.leafPage(last, window) == page, "a leaf that its last key leads to");
      before += leaf.count();
      page += leaf.pages();
    }
    if (before != index.records()) {
      throw index.unsound(0, index.records() + " keys", before + "");
    }
  }

  private static byte[] key(OrderNode leaf, int entry, KeyBlock keys) {
    int unused = leaf.decode(entry / OrderNode.IN_BLOCK, 1 + entry % OrderNode.IN_BLOCK, keys);
    return keys.key(entry % OrderNode.IN_BLOCK);
  }

  private static void require(OrderIndex index, long page, boolean sound, String expected)
      throws CorruptDatabaseException {
    if (!sound) {
      throw index.unsound(1 + page, expected, "another");
    }
  }
}
