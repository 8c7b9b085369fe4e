package tech.bsdb.io;

import java.io.IOException;
import java.nio.file.Path;
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

  /** The message for macOS, where the channels that interrupts leave open ignore the option. */
  static final String NOT_HERE = "Java offers no direct I/O on macOS that interrupts leave open";

  private static final int DEFAULT_THREADS = 64;

  private final @Nullable SystemCalls calls;
  private final ReadThreads threads;

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
    AtomicInteger started = new AtomicInteger();
    this.threads =
        new ReadThreads(
            threads,
            work -> {
              String name = "bsdb-read-" + started.getAndIncrement();
              Thread thread = new Thread(null, work, name, 0, false);
              thread.setDaemon(true);
              return thread;
            });
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
  public boolean hasRings() {
    return false;
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
      if (message.contains(NOT_HERE)) {
        return NOT_HERE;
      }
      if (message.contains(REFUSED) || message.contains(Errno.text(Errno.EINVAL))) {
        return REFUSED;
      }
      throw e;
    }
  }
}
