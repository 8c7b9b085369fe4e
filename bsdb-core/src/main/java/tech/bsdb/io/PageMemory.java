package tech.bsdb.io;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Verified pages of many files, kept in memory up to a limit. Replaces the pages that were not read
 * for longest, nearly: those not read since their last turn. Thread-safe; reading takes no lock.
 */
final class PageMemory {
  private final ConcurrentHashMap<Long, Kept> kept = new ConcurrentHashMap<>();
  private final int most;

  /* The pages in the order of their turns, and whose turn is next. Guarded by this. */
  private final List<Kept> turns = new ArrayList<>();
  private int next;

  private static final class Kept {
    private final Long key;
    private final byte[] bytes;

    /** Whether it was read since its last turn. Needs no order with anything. */
    private boolean read;

    Kept(Long key, byte[] bytes) {
      this.key = key;
      this.bytes = bytes;
    }
  }

  /**
   * Creates an empty memory.
   *
   * @param bytes the most bytes of pages to keep
   */
  PageMemory(long bytes) {
    most = (int) Math.min(bytes / PageSource.PAGE, Integer.MAX_VALUE - 8);
  }

  /** Returns the bytes of a page, which nobody may change; null if they are not kept. */
  byte @Nullable [] get(long key) {
    if (most == 0) {
      return null;
    }
    Kept found = kept.get(key);
    if (found == null) {
      return null;
    }
    if (!found.read) { // not written at every read, so that threads share the cache line
      found.read = true;
    }
    return found.bytes;
  }

  /** Keeps a page, in place of others if need be; the array must not change afterwards. */
  void put(long key, byte[] bytes) {
    if (most == 0 || kept.containsKey(key)) {
      return;
    }
    Kept added = new Kept(key, bytes);
    synchronized (this) {
      if (kept.containsKey(key)) {
        return;
      }
      if (turns.size() < most) {
        turns.add(added);
      } else {
        while (turns.get(next).read) {
          turns.get(next).read = false;
          next = (next + 1) % most;
        }
        kept.remove(turns.set(next, added).key);
        next = (next + 1) % most;
      }
      kept.put(added.key, added);
    }
  }

  /** The number of pages kept. */
  int pages() {
    return kept.size();
  }
}
