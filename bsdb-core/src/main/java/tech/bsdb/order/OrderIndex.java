package tech.bsdb.order;

import java.io.Closeable;
import java.io.IOException;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;
import tech.bsdb.error.CorruptDatabaseException;
import tech.bsdb.format.Facts;
import tech.bsdb.format.Page;
import tech.bsdb.format.PageCheck;
import tech.bsdb.io.CheckedPages;
import tech.bsdb.io.PageSource;
import tech.bsdb.io.Window;

/**
 * The tree of keys of a database (FORMAT.md §16). Reads nothing when it is opened. Nodes above the
 * leaves stay in memory once they are read, which the first use does for all of them unless they
 * are many: 0.02 to 0.03 bytes for each short key. Leaves are read anew each time. Thread-safe;
 * each thread passes its own window.
 */
public final class OrderIndex implements Closeable {
  /** The most pages above the leaves that the first use reads; others are read when needed. */
  private static final long MOST_READ = 1 << 14;

  private final CheckedPages pages;
  private final PageCheck check;
  private final Facts.Order facts;
  private final long records;

  /** The first page of each level, and of the footer. */
  private final long[] starts;

  /** The nodes above the leaves, by page, relative to the first of these pages. */
  private final AtomicReferenceArray<@Nullable OrderNode> nodes;

  private volatile boolean read;

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
    requirePages(check, pages.pages(), facts, records);
    this.nodes =
        new AtomicReferenceArray<>(levels == 0 ? 0 : Math.toIntExact(starts[levels] - starts[1]));
  }

  /** Fails unless a file has as many pages as the tree takes. */
  public static void requirePages(PageCheck check, long pages, Facts.Order facts, long records)
      throws CorruptDatabaseException {
    if (pages != facts.pages() + 2 || facts.levels().isEmpty() != (records == 0)) {
      throw check.corrupt(
          0,
          "a tree of " + (facts.pages() + 2) + " pages for " + records + " keys",
          pages + " pages");
    }
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

  /** The leaf that would hold a key: the last one that does not begin after it. */
  long leafPage(byte[] key, Window window) throws IOException {
    readInner(window);
    long page = 0;
    for (int level = levels() - 1; level > 0; level--) {
      OrderNode node = inner(level, page, window);
      try {
        long ceiling = node.ceiling(key);
        int entry = OrderNode.number(ceiling);
        page = node.value(OrderNode.isEqual(ceiling) ? entry : Math.max(0, entry - 1));
      } catch (IndexOutOfBoundsException e) {
        throw unsound(starts[level] + page, "a sound node", e.toString());
      }
    }
    return page;
  }

  /** The leaf that holds the key with so many lesser ones. */
  long leafPage(long rank, Window window) throws IOException {
    readInner(window);
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

  /** The last leaf. */
  long lastLeafPage(Window window) throws IOException {
    readInner(window);
    long page = 0;
    for (int level = levels() - 1; level > 0; level--) {
      OrderNode node = inner(level, page, window);
      page = node.value(node.count() - 1);
    }
    return page;
  }

  /** Reads all nodes above the leaves, in long reads, unless they are many. */
  private void readInner(Window window) throws IOException {
    int count = nodes.length();
    if (read || count > MOST_READ) {
      return;
    }
    byte[] all = new byte[count * Page.PAYLOAD];
    for (int from = 0; from < count; from += PageSource.MAX_RUN) {
      gather(starts[1] + from, Math.min(PageSource.MAX_RUN, count - from), window, all, from);
    }
    for (int level = 1; level < levels(); level++) {
      int from = Math.toIntExact(starts[level] - starts[1]);
      int to = Math.toIntExact(starts[level + 1] - starts[1]);
      while (from < to) {
        int start = from * Page.PAYLOAD;
        int of = requireWithin(level, starts[1] + from, OrderNode.pages(all, start));
        int end = start + of * Page.PAYLOAD + OrderNode.SLACK;
        byte[] bytes = Arrays.copyOfRange(all, start, end);
        nodes.set(from, node(bytes, OrderNode.CHILD, level, starts[1] + from));
        from += of;
      }
    }
    read = true;
  }

  private OrderNode inner(int level, long page, Window window) throws IOException {
    if (page >= starts[level + 1] - starts[level]) {
      throw noSuchNode(level, page);
    }
    int place = Math.toIntExact(starts[level] - starts[1] + page);
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
    long first = starts[level] + page;
    if (page < 0 || first >= starts[level + 1]) {
      throw noSuchNode(level, page);
    }
    gather(first, 1, window, room, 0);
    int count = requireWithin(level, first, OrderNode.pages(room, 0));
    byte[] bytes = room;
    if (count > 1) {
      bytes = new byte[count * Page.PAYLOAD + OrderNode.SLACK];
      gather(first, count, window, bytes, 0);
    }
    return node(bytes, width, level, first);
  }

  /** Reads pages and puts their payloads one after the other, from the place of a page on. */
  private void gather(long first, int count, Window window, byte[] bytes, int to)
      throws IOException {
    pages.read(first, count, window);
    for (int i = 0; i < count; i++) {
      int from = window.offset() + i * Page.SIZE;
      window.buffer().get(from, bytes, (to + i) * Page.PAYLOAD, Page.PAYLOAD);
    }
  }

  /** Returns the number of pages of a node, all of which must be in its level. */
  private int requireWithin(int level, long first, int count) throws CorruptDatabaseException {
    if (first + count > starts[level + 1]) {
      throw unsound(first, "a node within its level", count + " pages");
    }
    return count;
  }

  /** The node in some bytes, which must be one of a level. */
  private OrderNode node(byte[] bytes, int width, int level, long first)
      throws CorruptDatabaseException {
    OrderNode node = new OrderNode(bytes, width);
    if (node.level() != level || node.count() == 0) {
      throw unsound(
          first,
          "a node of level " + level,
          "one of level " + node.level() + " with " + node.count() + " entries");
    }
    return node;
  }

  private CorruptDatabaseException noSuchNode(int level, long page) {
    return check.corrupt(0, "a node of level " + level, "page " + page + " of that level");
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
