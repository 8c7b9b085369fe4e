package tech.bsdb.io;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/**
 * The pages of a file that lies elsewhere: out of the memory, if they are kept there, else by a
 * request for those that are missing.
 */
final class RemotePages implements PageSource {
  /**
   * The longest run that is kept in memory; longer ones are long values, or files that are read
   * from end to end, and would displace the pages of many lookups.
   */
  static final int MOST_KEPT = 64;

  private final Ranges ranges;
  private final PageStock stock;
  private final Fetches fetches;
  private final Path file;
  private final long length;
  private final CheckedPages.@Nullable Check check;

  /**
   * Opens a file.
   *
   * @param stock its pages that are here
   * @param check verifies its pages; null to trust all
   */
  RemotePages(
      Ranges ranges,
      PageStock stock,
      Fetches fetches,
      Path file,
      long length,
      CheckedPages.@Nullable Check check) {
    this.ranges = ranges;
    this.stock = stock;
    this.fetches = fetches;
    this.file = file;
    this.length = length;
    this.check = check;
  }

  /** A run of pages to fetch. */
  record Gap(long first, int count) {}

  @Override
  public void read(long first, int count, Window window) throws IOException {
    Gap gap = show(first, count, window);
    if (gap != null) {
      copy(fetch(gap.first, gap.count, count <= MOST_KEPT), gap, first, window);
    }
  }

  /**
   * Copies into a window those pages of a run that are in memory.
   *
   * @return from the first of the others to the last of them, or null if there are none
   */
  @Nullable Gap show(long first, int count, Window window) {
    byte[] target = window.prepare(count * PAGE);
    int from = -1;
    int to = 0;
    for (int i = 0; i < count; i++) {
      byte[] page = stock.inMemory(first + i);
      if (page != null) {
        System.arraycopy(page, 0, target, i * PAGE, PAGE);
      } else if (!showFromDisk(first + i, target, i * PAGE, window, count <= MOST_KEPT)) {
        from = from < 0 ? i : from;
        to = i + 1;
      }
    }
    return from < 0 ? null : new Gap(first + from, to - from);
  }

  /** Copies a page from the disk into the array of a window, if it is there and sound. */
  private boolean showFromDisk(
      long page, byte[] target, int at, Window window, boolean remembered) {
    if (!stock.fromDisk(page, target, at)) {
      return false;
    }
    if (check != null) {
      try {
        check.check(window, at, page);
      } catch (IOException e) {
        return false; // of no consequence: it comes again from where the file lies
      }
    }
    if (remembered) {
      stock.remember(page, Arrays.copyOfRange(target, at, at + PAGE), 0);
    }
    return true;
  }

  /**
   * Starts to fetch a run of pages and does not wait.
   *
   * @param kept whether to keep them in memory
   * @return fetches that together bring the pages, in their order
   */
  List<PageFetch> fetch(long first, int count, boolean kept) {
    List<PageFetch> parts = fetches.of(this, first, count, kept);
    parts.forEach(PageFetch::start);
    return parts;
  }

  /**
   * Waits for fetches that together bring at least the pages of a gap, and copies these to their
   * places in a window.
   *
   * @param first the first page that the window shows
   */
  void copy(List<PageFetch> parts, Gap gap, long first, Window window) throws IOException {
    byte[] target = window.prepare((int) (gap.first + gap.count - first) * PAGE);
    long end = gap.first + gap.count;
    for (PageFetch part : parts) {
      long from = Math.max(gap.first, part.first());
      long to = Math.min(end, part.end());
      if (from < to) {
        byte[] bytes = part.await();
        System.arraycopy(
            bytes,
            (int) (from - part.first()) * PAGE,
            target,
            (int) (from - first) * PAGE,
            (int) (to - from) * PAGE);
        fetches.read(part, to);
      }
    }
  }

  @Override
  public void soon(long first, long count) {
    long end = first + Math.min(count, length / PAGE - first);
    fetches.ahead(this, first, end).forEach(PageFetch::start);
  }

  /** The number of the file. */
  int number() {
    return stock.number();
  }

  /** The key of a page in the memory and among the fetches. */
  long key(long page) {
    return stock.key(page);
  }

  /** Returns the bytes of a page if it is in memory, or null. */
  byte @Nullable [] kept(long page) {
    return stock.inMemory(page);
  }

  /** Keeps a verified page. */
  void keep(long page, byte[] bytes, int at) {
    stock.keep(page, bytes, at);
  }

  /** Requests a run of pages. */
  CompletableFuture<byte[]> range(long first, int count) {
    try {
      return ranges.read(file, length, first * PAGE, count * PAGE);
    } catch (RuntimeException | Error e) { // whoever waits must see it
      return CompletableFuture.failedFuture(e);
    }
  }

  /** Returns which of the pages that have arrived are damaged, counted from the first. */
  BitSet bad(long first, byte[] bytes) {
    BitSet bad = new BitSet();
    if (check != null) {
      Window window = new Window();
      window.adopt(bytes);
      for (int i = 0; i < bytes.length / PAGE; i++) {
        try {
          check.check(window, i * PAGE, first + i);
        } catch (IOException e) {
          bad.set(i);
        }
      }
    }
    return bad;
  }

  /** Takes note that a fetch has ended. */
  void ended(PageFetch fetch, boolean arrived) {
    fetches.ended(fetch, arrived);
  }

  /** Returns why a fetch failed, as an exception to throw. */
  IOException failure(long page, Throwable failure) {
    Throwable cause = failure;
    while (cause instanceof CompletionException && cause.getCause() != null) {
      cause = cause.getCause();
    }
    return cause instanceof IOException known
        ? known
        : new IOException(file + ": cannot be read at byte " + page * PAGE + ": " + cause, cause);
  }

  @Override
  public void close() {
    fetches.close(this);
  }
}
