package tech.bsdb.write;

import java.io.Closeable;
import java.io.IOException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import tech.bsdb.format.ContentHash;
import tech.bsdb.format.Page;
import tech.bsdb.io.SequentialFile;
import tech.bsdb.io.Uninterrupted;

/**
 * The {@link ContentHash} of a file while it is written. Another thread reads what the system has
 * taken, so that the writing thread does not wait for the hash. Used by the thread that writes.
 */
final class TrailingHash implements Closeable {
  private static final int CHUNK = 64 * Page.SIZE;

  /** Bytes that are worth another thread. */
  private static final long MUCH = 4 << 20;

  /** Files are written in turn, as a rule; more at once are those of several builds. */
  private static final int MOST_THREADS = 4;

  /** Threads that end when there is nothing to hash. */
  private static final ExecutorService THREADS =
      new ThreadPoolExecutor(
          0,
          MOST_THREADS,
          50,
          TimeUnit.MILLISECONDS,
          new SynchronousQueue<>(),
          task -> {
            Thread made = new Thread(task, "bsdb-hash");
            made.setDaemon(true);
            return made;
          });

  private final SequentialFile file;
  private final ContentHash hash = new ContentHash();
  private @Nullable Future<?> running;
  private volatile boolean closed;

  /** The end of what is hashed; touched by one thread at a time. */
  private long next = Page.SIZE;

  /** The end of what will be hashed; a running thread goes on to it. */
  private volatile long ahead = Page.SIZE;

  /** Creates the hash of a file that will begin with a header. */
  TrailingHash(SequentialFile file) {
    this.file = file;
  }

  /**
   * Has what was written hashed, if that is much.
   *
   * @param end where that ends, at the end of a page
   */
  void advance(long end) throws IOException {
    if (end - ahead < MUCH) {
      return;
    }
    ahead = end;
    if (running != null && !running.isDone()) {
      return;
    }
    await();
    try {
      running =
          THREADS.submit(
              () -> {
                read();
                return null;
              });
    } catch (RejectedExecutionException busy) {
      // with other files; it goes on later, or at the end
    }
  }

  private void read() throws IOException {
    byte[] bytes = new byte[(int) Math.min(CHUNK, Math.max(0, ahead - next))];
    while (next < ahead && !closed) {
      int length = (int) Math.min(bytes.length, ahead - next);
      file.read(bytes, 0, length, next);
      for (int at = 0; at < length; at += Page.SIZE) {
        hash.add(bytes, at);
      }
      next += length;
    }
  }

  /**
   * Returns the hash of the whole content.
   *
   * @param end where it ends; all of it was flushed
   */
  String finish(long end) throws IOException {
    ahead = end;
    await();
    read();
    return hash.finish();
  }

  private void await() throws IOException {
    Future<?> last = running;
    running = null;
    if (last != null) {
      Uninterrupted.get(last);
    }
  }

  /** Waits until nothing of the file is read any more. */
  @Override
  public void close() {
    closed = true;
    try {
      await();
    } catch (IOException | RuntimeException | Error unused) {
      // nobody asks for the hash any more
    }
  }
}
