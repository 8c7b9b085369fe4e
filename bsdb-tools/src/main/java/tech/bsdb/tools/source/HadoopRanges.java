package tech.bsdb.tools.source;

import java.io.IOException;
import java.util.Deque;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Options.OpenFileOptions;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.util.functional.FutureIO;
import org.jspecify.annotations.Nullable;

/**
 * Reads ranges of files on a file system of Hadoop. Thread-safe.
 *
 * <p>Hadoop has no asynchronous reads: a thread waits for each range. There are at most {@value
 * #THREADS} of them, which end after a while without work; further reads wait for one.
 *
 * <p>Streams are kept open for the next range, because opening one costs a request on most file
 * systems. On S3 it costs none, since the length is given, and a range is one GET of these bytes.
 */
final class HadoopRanges implements AutoCloseable {
  private static final int THREADS = 128;

  /** The most streams that are kept open. */
  private static final int IDLE = 1024;

  /** Options of streams that read ranges; file systems ignore those that they do not know. */
  private static final Map<String, String> RANDOM =
      Map.of(
          OpenFileOptions.FS_OPTION_OPENFILE_READ_POLICY,
          "random",
          "fs.s3a.readahead.range",
          "0", // otherwise a range is at least 64 KiB long
          "fs.azure.buffered.pread.disable",
          "true");

  private final FileSystem fileSystem;
  private final ThreadPoolExecutor threads;
  private final Map<Source, Deque<FSDataInputStream>> idle = new ConcurrentHashMap<>();
  private final AtomicInteger idleStreams = new AtomicInteger();
  private volatile boolean closed;

  /** Starts no thread yet. */
  HadoopRanges(FileSystem fileSystem) {
    this.fileSystem = fileSystem;
    threads =
        new ThreadPoolExecutor(
            THREADS,
            THREADS,
            10,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            task -> {
              Thread thread = new Thread(task, "bsdb-hadoop-range");
              thread.setDaemon(true);
              return thread;
            });
    threads.allowCoreThreadTimeOut(true);
  }

  /** A file of a known length. */
  record Source(Path path, long size) {}

  /**
   * Starts to read a range.
   *
   * @param failed the exception for what Hadoop threw; may ask the file system
   * @return completes with the bytes; whoever completes it otherwise interrupts the read
   */
  CompletableFuture<byte[]> read(
      Source source, long from, int length, Function<Throwable, Throwable> failed) {
    Reading reading = new Reading(source, from, length, failed);
    CompletableFuture<byte[]> unused =
        reading.result.whenComplete((bytes, failure) -> reading.interrupt());
    try {
      threads.execute(reading);
    } catch (RejectedExecutionException ended) {
      reading.result.completeExceptionally(closed());
    }
    return reading.result;
  }

  private static IOException closed() {
    return new IOException("the directory is closed");
  }

  /** Interrupts the reads, which close their streams and fail; does not wait for them. */
  @Override
  public void close() {
    closed = true;
    for (Runnable waiting : threads.shutdownNow()) {
      ((Reading) waiting).result.completeExceptionally(closed());
    }
    idle.keySet().forEach(this::discard);
  }

  private FSDataInputStream take(Source source) throws IOException {
    Deque<FSDataInputStream> streams = idle.get(source);
    FSDataInputStream kept = streams == null ? null : streams.pollFirst();
    if (kept != null) {
      idleStreams.decrementAndGet();
      return kept;
    }
    var builder =
        fileSystem
            .openFile(source.path)
            .opt(OpenFileOptions.FS_OPTION_OPENFILE_LENGTH, String.valueOf(source.size));
    RANDOM.forEach(builder::opt);
    return FutureIO.awaitFuture(builder.build());
  }

  /** Keeps a stream, which holds no connection from then on. */
  private void keep(Source source, FSDataInputStream stream) throws IOException {
    stream.unbuffer();
    if (idleStreams.incrementAndGet() > IDLE) {
      idleStreams.decrementAndGet();
      stream.close();
      return;
    }
    idle.computeIfAbsent(source, none -> new ConcurrentLinkedDeque<>()).addFirst(stream);
    if (closed) {
      discard(source);
    }
  }

  /** Closes the streams that are kept of a file: they may show one that is no longer there. */
  private void discard(Source source) {
    Deque<FSDataInputStream> streams = idle.get(source);
    FSDataInputStream kept;
    while (streams != null && (kept = streams.pollFirst()) != null) {
      idleStreams.decrementAndGet();
      closeQuietly(kept);
    }
  }

  private static void closeQuietly(FSDataInputStream stream) {
    try {
      stream.close();
    } catch (IOException | RuntimeException unimportant) {
      // it was only read from
    }
  }

  /** One range. */
  private final class Reading implements Runnable {
    final CompletableFuture<byte[]> result = new CompletableFuture<>();
    private final Source source;
    private final long from;
    private final int length;
    private final Function<Throwable, Throwable> failed;
    private @Nullable Thread reader;

    Reading(Source source, long from, int length, Function<Throwable, Throwable> failed) {
      this.source = source;
      this.from = from;
      this.length = length;
      this.failed = failed;
    }

    synchronized void interrupt() {
      if (reader != null) {
        reader.interrupt();
      }
    }

    private synchronized boolean begin() {
      reader = Thread.currentThread();
      return !result.isDone();
    }

    private synchronized void end() {
      reader = null;
    }

    @Override
    public void run() {
      byte @Nullable [] bytes = null;
      Throwable failure = null;
      try {
        if (begin()) {
          bytes = bytes();
        }
      } catch (Throwable e) { // whoever waits must learn of it
        failure = result.isDone() ? e : closed ? closed() : failed.apply(e);
      } finally {
        end();
      }
      if (failure != null) {
        result.completeExceptionally(failure);
      } else if (bytes != null) {
        result.complete(bytes);
      }
    }

    private byte[] bytes() throws IOException {
      FSDataInputStream stream = take(source);
      try {
        byte[] bytes = new byte[length];
        stream.readFully(from, bytes, 0, length);
        keep(source, stream);
        return bytes;
      } catch (Throwable e) {
        boolean unused = Thread.interrupted(); // it was meant for the read
        closeQuietly(stream);
        discard(source);
        throw e;
      }
    }
  }
}
