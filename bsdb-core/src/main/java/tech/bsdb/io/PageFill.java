package tech.bsdb.io;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/**
 * Brings files that lie elsewhere to a page file, front to back, on a thread of its own. Few
 * requests are in flight at a time, so that lookups go on beside it, and pages that they read
 * meanwhile stay.
 */
public final class PageFill implements Closeable {
  private static final int PAGE = PageSource.PAGE;

  /** Pages of a request: 1 MiB. */
  private static final int PIECE = PageSource.MAX_RUN;

  private static final int IN_FLIGHT = 2;

  /**
   * A file.
   *
   * @param length its length in bytes
   * @param check verifies its pages
   * @param identity its {@link PageFile#identity}
   */
  public record Part(Path file, long length, CheckedPages.Check check, long identity) {
    long pages() {
      return length / PAGE;
    }
  }

  /** Is told how far it is. */
  @FunctionalInterface
  public interface Progress {
    /** So many bytes of those that are to be brought have been, or were there before. */
    void filled(long bytes, long all);
  }

  /** Pages that are on their way. */
  private record Piece(Part part, long first, CompletableFuture<byte[]> bytes) {}

  private final PageFile disk;
  private final Ranges ranges;
  private final List<Part> parts;
  private final Progress progress;
  private final long all;
  private final int begun = PageFile.now();
  private final CompletableFuture<Long> result = new CompletableFuture<>();
  private final Thread thread = new Thread(this::run, "bsdb-fill");
  private final Window window = new Window();
  private final Queue<Piece> flying = new ArrayDeque<>(); // guards itself and what follows
  private boolean closed;

  /**
   * Starts to bring files.
   *
   * @param disk where to; closed after this
   * @param progress is told at the beginning, after each piece, and at the end
   */
  public PageFill(PageFile disk, Ranges ranges, List<Part> parts, Progress progress) {
    this.disk = disk;
    this.ranges = ranges;
    this.parts = List.copyOf(parts);
    this.progress = progress;
    this.all = Math.min(disk.pages(), parts.stream().mapToLong(Part::pages).sum());
    thread.setDaemon(true);
    thread.start();
  }

  /**
   * Completes with the bytes that were brought or were there before: all, or as many as the page
   * file holds; or with the failure of a read. Is cancelled if this is closed before.
   */
  public CompletableFuture<Long> result() {
    return result;
  }

  private void run() {
    try {
      long done = 0;
      progress.filled(0, all * PAGE);
      for (Part part : parts) {
        for (long first = 0; first < part.pages() && done < all; first += PIECE) {
          int count = (int) Math.min(Math.min(PIECE, part.pages() - first), all - done);
          ask(part, first, count);
          done += count;
          if (done < all) {
            progress.filled(done * PAGE, all * PAGE);
          }
        }
      }
      land(0);
      progress.filled(all * PAGE, all * PAGE);
      result.complete(all * PAGE);
    } catch (CancellationException e) {
      result.cancel(false);
    } catch (IOException | RuntimeException | Error e) {
      result.completeExceptionally(e);
    } finally {
      close(false);
    }
  }

  /** Asks for those of a run of pages that are not there. */
  private void ask(Part part, long from, int count) throws IOException {
    long first = from;
    long end = from + count;
    while (first < end && disk.holds(part.identity, first)) {
      first++;
    }
    while (first < end && disk.holds(part.identity, end - 1)) {
      end--;
    }
    if (first < end) {
      land(IN_FLIGHT - 1);
      disk.requireWritable();
      int length = (int) (end - first) * PAGE;
      CompletableFuture<byte[]> bytes = ranges.read(part.file, part.length, first * PAGE, length);
      boolean isLate;
      synchronized (flying) {
        flying.add(new Piece(part, first, bytes));
        isLate = closed;
      }
      if (isLate) {
        bytes.cancel(true);
        throw new CancellationException();
      }
    }
  }

  /** Waits for pieces and writes them, until there are no more than so many. */
  private void land(int left) throws IOException {
    while (true) {
      Piece piece;
      synchronized (flying) {
        if (closed) {
          throw new CancellationException();
        }
        if (flying.size() <= left) {
          return;
        }
        piece = Objects.requireNonNull(flying.peek());
      }
      byte[] bytes = bytes(piece);
      synchronized (flying) {
        boolean unused = flying.remove(piece);
      }
      write(piece, bytes);
    }
  }

  private static byte[] bytes(Piece piece) throws IOException {
    try {
      return piece.bytes.join();
    } catch (CompletionException e) {
      throw e.getCause() instanceof IOException known ? known : new IOException(e.getCause());
    }
  }

  private void write(Piece piece, byte[] bytes) {
    window.adopt(bytes);
    for (int at = 0; at < bytes.length; at += PAGE) {
      long page = piece.first + at / PAGE;
      try {
        piece.part.check.check(window, at, page);
      } catch (IOException damaged) {
        continue; // the lookup that reads it reports it
      }
      disk.put(piece.part.identity, page, bytes, at, begun);
    }
  }

  /** Gives up what is in flight, and waits for the thread unless that calls this. */
  @Override
  public void close() {
    close(Thread.currentThread() != thread);
  }

  private void close(boolean waits) {
    List<Piece> left;
    synchronized (flying) {
      closed = true;
      left = List.copyOf(flying);
    }
    left.forEach(piece -> piece.bytes.cancel(true));
    if (waits) {
      Uninterrupted.join(thread);
    }
  }
}
