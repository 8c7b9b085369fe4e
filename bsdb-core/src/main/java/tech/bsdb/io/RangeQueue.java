package tech.bsdb.io;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import tech.bsdb.io.RemotePages.Gap;

/**
 * A queue of reads of files that lie elsewhere: those submitted together share requests where their
 * pages are close. No thread waits for a request.
 */
final class RangeQueue extends HandoverQueue<RangeQueue.RangeRead> {
  /** Pages between two reads that are worth fetching to save a request. */
  private static final int CLOSE = 8;

  private static final Comparator<RangeRead> BY_PLACE =
      Comparator.<RangeRead>comparingInt(read -> read.pages.number())
          .thenComparingLong(read -> read.gap().first());

  RangeQueue(int depth) {
    super(depth);
  }

  /** A read: the missing pages once it was submitted, and what brings them. */
  static final class RangeRead extends HandoverQueue.Read {
    private final RemotePages pages;
    private @Nullable Gap gap;
    private List<PageFetch> parts = List.of();
    private @Nullable Throwable refused;

    private RangeRead(RemotePages pages, long first, int count, Window window, int tag) {
      super(first, count, window, tag);
      this.pages = pages;
    }

    private Gap gap() {
      return gap == null ? new Gap(first, count) : gap;
    }

    private long end() {
      return gap().first() + gap().count();
    }

    private boolean isKept() {
      return count <= RemotePages.MOST_KEPT;
    }

    /**
     * Whether one request brings this read's pages, others up to {@code end}, and a later read's.
     */
    private boolean sharesWith(RangeRead later, long end) {
      return later.pages.number() == pages.number()
          && later.gap().first() - end <= CLOSE
          && later.end() - gap().first() <= PageSource.MAX_RUN
          && isKept()
          && later.isKept();
    }

    @Override
    @Nullable IOException show() {
      try {
        if (refused != null) {
          return pages.failure(first, refused);
        }
        if (gap != null) {
          pages.copy(parts, gap, first, window);
        }
        return null;
      } catch (IOException e) {
        return e;
      }
    }
  }

  @Override
  RangeRead read(PageSource source, long first, int count, Window window, int tag) {
    if (!(source instanceof RemotePages pages)) {
      throw new IllegalArgumentException("not opened by this queue's engine: " + source);
    }
    return new RangeRead(pages, first, count, window, tag);
  }

  @Override
  void send(List<RangeRead> reads) {
    List<RangeRead> shown = new ArrayList<>();
    List<RangeRead> missing = new ArrayList<>();
    for (RangeRead read : reads) {
      read.gap = read.pages.show(read.first, read.count, read.window);
      (read.gap == null ? shown : missing).add(read);
    }
    missing.sort(BY_PLACE);
    reads.clear();
    if (!shown.isEmpty() && begin()) {
      end(shown);
    }
    for (int from = 0, to; from < missing.size(); from = to) {
      RangeRead head = missing.get(from);
      long end = head.end();
      for (to = from + 1; to < missing.size() && head.sharesWith(missing.get(to), end); to++) {
        end = Math.max(end, missing.get(to).end());
      }
      request(List.copyOf(missing.subList(from, to)), end);
    }
  }

  /** Requests the pages of reads in ascending order up to {@code end}. */
  private void request(List<RangeRead> reads, long end) {
    begin(); // the owner has not closed it
    RangeRead head = reads.get(0);
    try {
      long first = head.gap().first();
      List<PageFetch> parts = head.pages.fetch(first, (int) (end - first), head.isKept());
      reads.forEach(read -> read.parts = parts);
      CompletableFuture<Void> unused =
          CompletableFuture.allOf(
                  parts.stream().map(PageFetch::arrived).toArray(CompletableFuture<?>[]::new))
              .whenComplete((all, failure) -> end(reads));
    } catch (RuntimeException | Error e) { // the thread that awaits the reads must see it
      reads.forEach(read -> read.refused = e);
      end(reads);
    }
  }
}
