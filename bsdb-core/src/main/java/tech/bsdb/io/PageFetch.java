package tech.bsdb.io;

import java.io.IOException;
import java.util.BitSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * A run of pages of a file that lies elsewhere: on its way, or arrived. Thread-safe.
 *
 * <p>Pages are verified as they arrive. Damaged ones are requested once more, without the others;
 * those damaged again are passed on as they are, for the reader to report, but never kept.
 */
final class PageFetch {
  private final RemotePages pages;
  private final long first;
  private final int count;
  private final boolean kept;
  private final AtomicBoolean started = new AtomicBoolean();
  private final CompletableFuture<byte[]> arrived = new CompletableFuture<>();

  /** When a reader last wanted it, if it is a piece read ahead; used by {@link Fetches} alone. */
  long wanted;

  /**
   * Creates a fetch that nobody has started.
   *
   * @param kept whether to keep the pages in memory
   */
  PageFetch(RemotePages pages, long first, int count, boolean kept) {
    this.pages = pages;
    this.first = first;
    this.count = count;
    this.kept = kept;
  }

  /** Creates a fetch of a page that is in memory. */
  static PageFetch of(RemotePages pages, long page, byte[] bytes) {
    PageFetch fetch = new PageFetch(pages, page, 1, false);
    fetch.started.setPlain(true);
    fetch.arrived.complete(bytes);
    return fetch;
  }

  /** The pages of the file. */
  RemotePages pages() {
    return pages;
  }

  /** The first page. */
  long first() {
    return first;
  }

  /** The page after the last. */
  long end() {
    return first + count;
  }

  /** Requests the pages, unless that was done before. Does not wait. */
  void start() {
    if (started.compareAndSet(false, true)) {
      CompletableFuture<byte[]> unused =
          pages.range(first, count).thenCompose(this::verified).whenComplete(this::end);
    }
  }

  private void end(byte @Nullable [] bytes, @Nullable Throwable failure) {
    pages.ended(this, failure == null);
    if (failure == null) {
      arrived.complete(bytes);
    } else {
      arrived.completeExceptionally(failure);
    }
  }

  private CompletableFuture<byte[]> verified(byte[] bytes) {
    BitSet bad = pages.bad(first, bytes);
    if (bad.isEmpty()) {
      keep(bytes, bad);
      return CompletableFuture.completedFuture(bytes);
    }
    int from = bad.nextSetBit(0);
    return pages
        .range(first + from, bad.length() - from)
        .thenApply(
            again -> {
              BitSet still = pages.bad(first + from, again);
              for (int i = from; i >= 0; i = bad.nextSetBit(i + 1)) {
                System.arraycopy(
                    again,
                    (i - from) * PageSource.PAGE,
                    bytes,
                    i * PageSource.PAGE,
                    PageSource.PAGE);
                bad.set(i, still.get(i - from));
              }
              keep(bytes, bad);
              return bytes;
            });
  }

  private void keep(byte[] bytes, BitSet bad) {
    for (int i = 0; i < count && kept; i++) {
      if (!bad.get(i)) {
        pages.keep(first + i, bytes, i * PageSource.PAGE);
      }
    }
  }

  /** Completes when the pages have arrived, or failed to. */
  CompletableFuture<byte[]> arrived() {
    return arrived;
  }

  /**
   * Waits for the pages, whatever interrupts the thread; its interrupt status is preserved.
   *
   * @return their bytes, which nobody may change
   */
  byte[] await() throws IOException {
    try {
      return arrived.join();
    } catch (CompletionException e) {
      throw pages.failure(first, e);
    }
  }
}
