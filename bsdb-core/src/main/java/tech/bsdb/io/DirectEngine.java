package tech.bsdb.io;

import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Reads from the device, bypassing the page cache (O_DIRECT). The reads of a queue overlap because
 * a pool of threads performs them: by {@code pread} on Java 22 and newer, where native access is
 * allowed; otherwise by channels.
 */
public final class DirectEngine implements Engine {
  /**
   * The system property for the maximum number of reader threads, shared by all queues of an
   * engine.
   */
  public static final String THREADS = "bsdb.reader.kv.submit.threads";

  /** The message for file systems without direct I/O. */
  static final String REFUSED =
      "the file system does not offer direct I/O (O_DIRECT) in pages of " + PageSource.PAGE;

  private static final int DEFAULT_THREADS = 64;

  /** How long a thread waits for the next read before it ends. */
  private static final long IDLE_MILLIS = 100;

  private final @Nullable SystemCalls calls;
  private final ThreadPoolExecutor threads;

  /** Limits the threads to the system property {@value #THREADS}; 64 if unset. */
  public DirectEngine() {
    this(Integer.getInteger(THREADS, DEFAULT_THREADS));
  }

  /**
   * Creates the engine with a limit on its threads.
   *
   * @param threads the maximum for all queues; 1 or more
   */
  public DirectEngine(int threads) {
    this(LinuxCalls.instance(), threads);
  }

  /** Creates the engine with other system calls, or without any. */
  DirectEngine(@Nullable SystemCalls calls, int threads) {
    if (threads < 1) {
      throw new IllegalArgumentException(THREADS + " is " + threads + ", not 1 or more");
    }
    this.calls = calls;
    this.threads = pool(threads);
  }

  /** A pool that starts threads when there are reads, and needs no closing: idle ones end. */
  private static ThreadPoolExecutor pool(int most) {
    AtomicInteger started = new AtomicInteger();
    ThreadPoolExecutor pool =
        new ThreadPoolExecutor(
            most,
            most,
            IDLE_MILLIS,
            TimeUnit.MILLISECONDS,
            new LinkedBlockingQueue<>(),
            work -> {
              String name = "bsdb-read-" + started.getAndIncrement();
              Thread thread = new Thread(null, work, name, 0, false);
              thread.setDaemon(true);
              return thread;
            });
    pool.allowCoreThreadTimeOut(true);
    return pool;
  }

  @Override
  public String name() {
    return "direct";
  }

  @Override
  public boolean verifiesEveryRead() {
    return true;
  }

  @Override
  public PageSource open(Path file, long length) throws IOException {
    return calls == null ? DirectChannel.open(file) : NativeFile.open(calls, file, true);
  }

  @Override
  public ReadQueue queue(int depth, boolean oneThread) {
    return new PooledQueue(depth, threads);
  }

  /**
   * Says why a file cannot be read by direct I/O, or returns null if it can.
   *
   * @throws IOException if the file cannot be read at all
   */
  public @Nullable String unavailable(Path file) throws IOException {
    try (PageSource source = open(file, PageSource.PAGE)) {
      source.read(0, 1, new Window());
      return null;
    } catch (java.io.EOFException e) {
      return null; // smaller than a page, but readable
    } catch (IOException e) {
      String message = String.valueOf(e.getMessage());
      if (message.contains(REFUSED) || message.contains(Errno.text(Errno.EINVAL))) {
        return REFUSED;
      }
      throw e;
    }
  }
}
