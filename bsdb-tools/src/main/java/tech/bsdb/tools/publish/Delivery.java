package tech.bsdb.tools.publish;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.nio.file.NoSuchFileException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorCompletionService;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.input.InputException;
import tech.bsdb.tools.source.DistantDirectory;
import tech.bsdb.transfer.Consignment.Part;

/**
 * Sends the files of databases to a distant directory, several at once. One thread sends; any
 * thread may {@link #cancel}.
 */
public final class Delivery implements AutoCloseable {
  private static final int CHUNK = 1 << 18;

  private final DistantDirectory store;
  private final Attempts attempts;
  private final LongConsumer follower;
  private final ExecutorService pool;
  private final AtomicLong done = new AtomicLong();
  private final AtomicLong sent = new AtomicLong();
  private final AtomicInteger kept = new AtomicInteger();
  private final Queue<String> sentFiles = new ConcurrentLinkedQueue<>();

  /**
   * Creates a delivery, with threads.
   *
   * @param threads how many files are sent at once
   * @param follower receives how many bytes have arrived, from any thread
   */
  public Delivery(DistantDirectory store, Attempts attempts, int threads, LongConsumer follower) {
    this.store = store;
    this.attempts = attempts;
    this.follower = follower;
    this.pool =
        Executors.newFixedThreadPool(
            threads,
            task -> {
              Thread thread = new Thread(task, "delivery");
              thread.setDaemon(true);
              return thread;
            });
  }

  /** The number of bytes sent, those of failed attempts included. */
  public long sentBytes() {
    return sent.get();
  }

  /** The paths of the files sent, below the directories they were sent to. */
  public List<String> sentFiles() {
    return List.copyOf(sentFiles);
  }

  /** The number of files that were there already. */
  public int keptFiles() {
    return kept.get();
  }

  /**
   * Sends files, except those that are there already; the first failure stops all.
   *
   * @param directory where to, as a path below the distant directory
   * @param there the lengths of the files that are there, by their paths below that directory; a
   *     file of the right length is there already
   * @param verify whether that takes the right bytes, too
   * @throws Attempts.SourceException if a file here is damaged, or could not be read
   * @throws IOException if the destination fails; the message names the file and is meant for users
   */
  public void send(List<Part> parts, String directory, Map<String, Long> there, boolean verify)
      throws IOException {
    ExecutorCompletionService<Boolean> tasks = new ExecutorCompletionService<>(pool);
    for (Part part : parts) {
      tasks.submit(
          () -> {
            String file = directory + "/" + part.name();
            boolean complete =
                there.getOrDefault(part.name(), -1L) == part.length()
                    && attempts.ask(file, () -> store.isComplete(file));
            if (complete && (!verify || isSame(part, file))) {
              kept.incrementAndGet();
              follower.accept(done.addAndGet(part.length()));
            } else {
              send(part, file);
              sentFiles.add(part.name());
            }
            return true;
          });
    }
    Throwable failure = null;
    for (int i = 0; i < parts.size(); i++) {
      try {
        boolean unused = tasks.take().get();
      } catch (ExecutionException e) {
        attempts.stop();
        failure = failure == null ? e.getCause() : failure;
      } catch (InterruptedException e) {
        attempts.stop();
        Thread.currentThread().interrupt();
        throw new InterruptedIOException("interrupted while files were sent");
      }
    }
    if (failure instanceof IOException e) {
      throw e;
    }
    if (failure != null) {
      throw new IllegalStateException("a file could not be sent", failure);
    }
  }

  /** Whether a file that is there has the bytes of a part; not if they cannot be read. */
  private boolean isSame(Part part, String file) throws IOException {
    try {
      return attempts.ask(
          file,
          () -> {
            try (InputStream here = opened(part);
                InputStream there = store.open(file, 0)) {
              return isSame(here, there);
            }
          });
    } catch (NoSuchFileException | InputException unreadable) {
      attempts.checkRunning();
      return false;
    }
  }

  private boolean isSame(InputStream here, InputStream there) throws IOException {
    byte[] expected = new byte[CHUNK];
    byte[] found = new byte[CHUNK];
    int count;
    do {
      attempts.checkRunning();
      count = read(here, expected);
      if (there.readNBytes(found, 0, CHUNK) != count
          || !Arrays.equals(expected, 0, count, found, 0, count)) {
        return false;
      }
    } while (count > 0);
    return true;
  }

  private static InputStream opened(Part part) throws IOException {
    try {
      return part.open();
    } catch (IOException | RuntimeException e) {
      throw new Attempts.SourceException(e);
    }
  }

  private static int read(InputStream part, byte[] bytes) throws IOException {
    try {
      return part.readNBytes(bytes, 0, bytes.length);
    } catch (IOException | RuntimeException e) {
      throw new Attempts.SourceException(e);
    }
  }

  private void send(Part part, String file) throws IOException {
    attempts.run(
        file,
        () -> {
          Sending sending = null;
          try (InputStream in = part.open()) {
            sending = new Sending(in);
            store.write(file, sending);
          } catch (IOException | RuntimeException e) {
            if (sending == null || sending.failure != null) {
              throw new Attempts.SourceException(
                  sending == null || sending.failure == null ? e : sending.failure);
            }
            done.addAndGet(-sending.count);
            throw e;
          }
        });
  }

  /** The content of a file on its way. */
  private final class Sending extends FilterInputStream {
    private long count;
    private @Nullable Exception failure;

    Sending(InputStream in) {
      super(in);
    }

    @Override
    public int read() throws IOException {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] bytes, int offset, int length) throws IOException {
      try {
        attempts.checkRunning();
        int read = in.read(bytes, offset, length);
        if (read > 0) {
          count += read;
          sent.addAndGet(read);
          follower.accept(done.addAndGet(read));
        }
        return read;
      } catch (IOException | RuntimeException e) {
        failure = e;
        throw e;
      }
    }
  }

  /**
   * Stops sending and waits until no file is left half-written.
   *
   * @param seconds how long to wait at most
   * @return whether all threads have ended
   */
  public boolean cancel(long seconds) throws InterruptedException {
    attempts.stop();
    List<Runnable> unused = pool.shutdownNow();
    return pool.awaitTermination(seconds, TimeUnit.SECONDS);
  }

  /** Ends the threads. The store stays open. */
  @Override
  public void close() {
    List<Runnable> unused = pool.shutdownNow();
  }
}
