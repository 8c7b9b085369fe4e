package tech.bsdb.order;

import java.io.Closeable;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;
import tech.bsdb.error.CorruptDatabaseException;
import tech.bsdb.format.Facts;
import tech.bsdb.format.Page;
import tech.bsdb.format.PageCheck;
import tech.bsdb.io.CheckedPages;
import tech.bsdb.io.Window;

/**
 * The tree of keys of a database (FORMAT.md §16). Reads nothing when it is opened. Nodes above the
 * leaves stay in memory once they are read: 0.02 to 0.03 bytes for each short key. Leaves are read
 * anew each time. Thread-safe; each thread passes its own window.
 */
public final class OrderIndex implements Closeable {
  private final CheckedPages pages;
  private final PageCheck check;
  private final Facts.Order facts;
  private final long records;

  /** The first page of each level, and of the footer. */
  private final long[] starts;

  /** The nodes above the leaves, by page, relative to the first of these pages. */
  private final AtomicReferenceArray<@Nullable OrderNode> nodes;

  /**
   * Takes over a file.
   *
   * @param pages its pages; closed with this
   * @param check names the file in messages
   * @param records the number of keys
   * @throws CorruptDatabaseException if it cannot be the file of such a tree
   */
  public OrderIndex(CheckedPages pages, PageCheck check, Facts.Order facts, long records)
      throws CorruptDatabaseException {
    this.pages = pages;
    this.check = check;
    this.facts = facts;
    this.records = records;
    int levels = facts.levels().size();
    this.starts = new long[levels + 1];
    starts[0] = 1;
    for (int i = 0; i < levels; i++) {
      starts[i + 1] = starts[i] + facts.levels().get(i);
    }
    if (pages.pages() != facts.pages() + 2 || (levels == 0) != (records == 0)) {
      throw check.corrupt(
          0,
          "a tree of " + (facts.pages() + 2) + " pages for " + records + " keys",
          pages.pages() + " pages");
    }
    this.nodes =
        new AtomicReferenceArray<>(levels == 0 ? 0 : Math.toIntExact(starts[levels] - starts[1]));
  }

  /** The number of keys. */
  public long records() {
    return records;
  }

  /** The number of levels; 0 if there are no keys. */
  int levels() {
    return starts.length - 1;
  }

  /** The number of pages of the leaves. */
  long leafPages() {
    return facts.levels().get(0);
  }

  /**
   * The leaf that would hold a key: the last one that does not begin after it.
   *
   * @param key the key, or null for the last leaf
   */
  long leafPage(byte @Nullable [] key, Window window) throws IOException {
    long page = 0;
    for (int level = levels() - 1; level > 0; level--) {
      OrderNode node = inner(level, page, window);
      try {
        page = node.value(child(node, key));
      } catch (IndexOutOfBoundsException e) {
        throw unsound(starts[level] + page, "a sound node", e.toString());
      }
    }
    return page;
  }

  private static int child(OrderNode node, byte @Nullable [] key) {
    if (key == null) {
      return node.count() - 1;
    }
    long ceiling = node.ceiling(key);
    int entry = OrderNode.number(ceiling);
    return OrderNode.isEqual(ceiling) ? entry : Math.max(0, entry - 1);
  }

  /** The leaf that holds the key with so many lesser ones. */
  long leafPage(long rank, Window window) throws IOException {
    long page = 0;
    for (int level = levels() - 1; level > 0; level--) {
      OrderNode node = inner(level, page, window);
      int low = 0;
      int high = node.count() - 1;
      while (low < high) {
        int middle = (low + high + 1) >>> 1;
        if (before(level - 1, node.value(middle), window) <= rank) {
          low = middle;
        } else {
          high = middle - 1;
        }
      }
      page = node.value(low);
    }
    return page;
  }

  private long before(int level, long page, Window window) throws IOException {
    return (level == 0 ? leaf(page, window, onePage()) : inner(level, page, window)).before();
  }

  private OrderNode inner(int level, long page, Window window) throws IOException {
    int place = Math.toIntExact(first(level, page) - starts[1]);
    OrderNode node = nodes.get(place);
    if (node == null) {
      node = read(level, page, OrderNode.CHILD, window, onePage());
      nodes.set(place, node);
    }
    return node;
  }

  /**
   * Reads a leaf.
   *
   * @param page its first page, relative to the first leaf
   * @param room {@link OrderNode#ONE_PAGE} bytes that the leaf takes over if it has one page
   */
  OrderNode leaf(long page, Window window, byte[] room) throws IOException {
    return read(0, page, facts.place().all(), window, room);
  }

  private static byte[] onePage() {
    return new byte[OrderNode.ONE_PAGE];
  }

  private OrderNode read(int level, long page, int width, Window window, byte[] room)
      throws IOException {
    long first = first(level, page);
    gather(first, 1, window, room);
    int count = OrderNode.pages(room);
    if (first + count > starts[level + 1]) {
      throw unsound(first, "a node within its level", count + " pages");
    }
    byte[] bytes = room;
    if (count > 1) {
      bytes = new byte[count * Page.PAYLOAD + OrderNode.SLACK];
      gather(first, count, window, bytes);
    }
    OrderNode node = new OrderNode(bytes, width);
    if (node.level() != level || node.count() == 0) {
      throw unsound(
          first,
          "a node of level " + level,
          "one of level " + node.level() + " with " + node.count() + " entries");
    }
    return node;
  }

  /** Reads pages and puts their payloads one after the other. */
  private void gather(long first, int count, Window window, byte[] bytes) throws IOException {
    pages.read(first, count, window);
    for (int i = 0; i < count; i++) {
      int from = window.offset() + i * Page.SIZE;
      window.buffer().get(from, bytes, i * Page.PAYLOAD, Page.PAYLOAD);
    }
  }

  /** The page of the file that is a page of a level. */
  private long first(int level, long page) throws CorruptDatabaseException {
    long first = starts[level] + page;
    if (page < 0 || first >= starts[level + 1]) {
      throw check.corrupt(0, "a node of level " + level, "page " + page + " of that level");
    }
    return first;
  }

  /** Reports a node that cannot be right although its checksum is. */
  CorruptDatabaseException unsound(long page, String expected, String found) {
    return check.corrupt(page << Page.SHIFT, expected, found);
  }

  @Override
  public void close() throws IOException {
    pages.close();
  }
}
