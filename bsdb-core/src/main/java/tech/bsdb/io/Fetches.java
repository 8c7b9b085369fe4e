package tech.bsdb.io;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The fetches of all files of an engine that are under way, so that nothing is requested twice, and
 * pieces read ahead of their readers. Thread-safe.
 */
final class Fetches {
  /** Pages of a piece that is read ahead: 1 MiB. */
  private static final int PIECE = PageSource.MAX_RUN;

  /** How many pieces a reader can have ahead of it. */
  private static final int AHEAD = 8;

  /** How many pieces there can be, of all readers. */
  static final int MOST = 32;

  /** A piece that no reader wanted during so many calls makes room for others. */
  private static final int FORGOTTEN = 64;

  /** Fetches that do not overlap, by the key of their first page. */
  private final TreeMap<Long, PageFetch> fetches = new TreeMap<>();

  private final List<PageFetch> pieces = new ArrayList<>();
  private long calls;

  /**
   * Returns fetches that together bring a run of pages, in its order: those under way, and others
   * that the caller must {@link PageFetch#start}.
   *
   * @param kept whether to keep in memory what is not under way yet
   */
  synchronized List<PageFetch> of(RemotePages pages, long first, int count, boolean kept) {
    List<PageFetch> parts = new ArrayList<>(1);
    long end = first + count;
    for (long at = first; at < end; at = parts.get(parts.size() - 1).end()) {
      PageFetch part = at(pages, at);
      byte[] bytes = part == null ? pages.kept(at) : null; // may have arrived meanwhile
      if (bytes != null) {
        part = PageFetch.of(pages, at, bytes);
      } else if (part == null) {
        part = new PageFetch(pages, at, (int) (gapEnd(pages, at, end) - at), kept);
        fetches.put(pages.key(at), part);
      }
      parts.add(part);
    }
    return parts;
  }

  /**
   * Returns pieces that the caller must {@link PageFetch#start}, of pages that will be wanted soon,
   * the first ones first. Where many readers want pieces, each gets fewer.
   */
  synchronized List<PageFetch> ahead(RemotePages pages, long first, long end) {
    calls++;
    List<PageFetch> added = new ArrayList<>();
    long at = first;
    while (at < end && at - first < AHEAD * PIECE) {
      PageFetch known = at(pages, at);
      if (known != null) {
        known.wanted = calls;
        at = known.end();
      } else if (pages.kept(at) != null) {
        at++;
      } else {
        long pieceEnd = gapEnd(pages, at, Math.min(end, at + PIECE));
        boolean early = at - first >= PIECE && pieceEnd == end && pieceEnd - at < PIECE;
        if (early || !hasRoom((int) (at - first) / PIECE)) {
          break;
        }
        PageFetch piece = new PageFetch(pages, at, (int) (pieceEnd - at), false);
        piece.wanted = calls;
        pieces.add(piece);
        fetches.put(pages.key(at), piece);
        added.add(piece);
        at = pieceEnd;
      }
    }
    return added;
  }

  /** Whether there is room for a piece at a distance from its reader, made if need be. */
  private boolean hasRoom(int distance) {
    if (isFree(distance)) {
      return true;
    }
    pieces.stream()
        .filter(piece -> piece.wanted < calls - FORGOTTEN)
        .toList()
        .forEach(this::forget);
    return isFree(distance);
  }

  private boolean isFree(int distance) {
    return 2 * distance < MOST - pieces.size();
  }

  /** The fetch that brings a page, or null. */
  private @Nullable PageFetch at(RemotePages pages, long page) {
    Map.Entry<Long, PageFetch> before = fetches.floorEntry(pages.key(page));
    return before != null
            && pages.key(page) < pages.key(before.getValue().end())
            && before.getValue().pages().number() == pages.number()
        ? before.getValue()
        : null;
  }

  /** Where the pages that no fetch brings end, at most {@code end}. */
  private long gapEnd(RemotePages pages, long page, long end) {
    Long next = fetches.higherKey(pages.key(page));
    return next == null ? end : Math.min(end, page + next - pages.key(page));
  }

  /** Takes note that a fetch has ended; a piece that arrived waits for its reader. */
  synchronized void ended(PageFetch fetch, boolean arrived) {
    if (!arrived || !pieces.contains(fetch)) {
      forget(fetch);
    }
  }

  /** Takes note that a run of pages up to {@code end} has been read out of a fetch. */
  void read(PageFetch fetch, long end) {
    if (end == fetch.end()) { // pieces are read in order
      forget(fetch);
    }
  }

  private synchronized void forget(PageFetch fetch) {
    fetches.remove(fetch.pages().key(fetch.first()), fetch);
    pieces.remove(fetch);
  }

  /** Forgets the pieces of a file. */
  synchronized void close(RemotePages pages) {
    pieces.stream().filter(piece -> piece.pages() == pages).toList().forEach(this::forget);
  }

  /** The number of fetches under way, and of pieces. */
  synchronized int size() {
    return fetches.size();
  }
}
