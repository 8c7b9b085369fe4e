package tech.bsdb.tools.serve;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor.DiscardPolicy;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.cli.Console;
import tech.bsdb.tools.cli.Diagnosis;
import tech.bsdb.tools.serve.client.FailureReports;

/**
 * Writes a line for every answered request: time, client, request, status, bytes, microseconds, the
 * client's name if its token has one, and the id of the request's trace if there is one. A
 * dedicated thread writes the lines; when it cannot keep up, lines are dropped and counted instead
 * of delaying requests.
 *
 * <p>When lines cannot be written (a full disk), they are lost and counted, and the failure is
 * reported once. The file is reopened for each following write until one succeeds.
 */
final class AccessLog implements Closeable {
  private static final long FLUSH_MILLIS = 500;

  /** How long the end waits for what is being written. */
  private static final int ENDING_SECONDS = 3;

  /** The writer does not wait for more bytes than these. */
  private static final int PIECE = 64 << 10;

  /** The most bytes that wait for the writer. */
  private static final int MOST = 2 << 20;

  /** The lines to write, which guard themselves. */
  private final ByteArrayOutputStream pending = new ByteArrayOutputStream(PIECE);

  private final LongAdder dropped = new LongAdder();
  private final LongAdder failed = new LongAdder();
  private final @Nullable Path file;
  private final Console console;
  private final ScheduledExecutorService writer =
      new ScheduledThreadPoolExecutor(
          1, new DefaultThreadFactory("bsdb-access-log", true), new DiscardPolicy());
  private volatile boolean reopenFailed;

  // Guarded by this from here on.
  private @Nullable FileChannel out;
  private boolean failing;
  private boolean torn;

  /**
   * Opens a log.
   *
   * @param target a file to append to, or {@code -} for standard output
   */
  AccessLog(String target, Console console) throws IOException {
    this.console = console;
    this.file = target.equals("-") ? null : Path.of(target);
    this.out = file == null ? null : open(file);
    var unused =
        writer.scheduleWithFixedDelay(
            this::flush, FLUSH_MILLIS, FLUSH_MILLIS, TimeUnit.MILLISECONDS);
  }

  private static FileChannel open(Path file) throws IOException {
    return FileChannel.open(
        file, StandardOpenOption.CREATE, StandardOpenOption.WRITE, StandardOpenOption.APPEND);
  }

  void add(Instant time, Exchange exchange, int status, long bytes, long nanos) {
    String line =
        time
            + " "
            + exchange.connection.client()
            + " \""
            + exchange.method
            + " "
            + FailureReports.printable(exchange.uri)
            + (exchange.http10 ? " HTTP/1.0\" " : " HTTP/1.1\" ")
            + status
            + " "
            + bytes
            + " "
            + nanos / 1000
            + (exchange.scope.name().isEmpty() ? "" : " " + exchange.scope.name())
            + (exchange.traceId.isEmpty() ? "" : " trace_id=" + exchange.traceId)
            + "\n";
    byte[] encoded = line.getBytes(US_ASCII);
    synchronized (pending) {
      int before = pending.size();
      if (before + encoded.length > MOST) {
        dropped.increment();
        return;
      }
      pending.writeBytes(encoded);
      if (before < PIECE && pending.size() >= PIECE) {
        writer.execute(this::flush);
      }
    }
  }

  /**
   * Returns the numbers of lines {@code dropped} because the writer could not keep up, and {@code
   * failed} to be written.
   */
  Map<String, Long> lost() {
    return Map.of("dropped", dropped.sum(), "failed", failed.sum());
  }

  /** Whether the last attempt to reopen the file failed. */
  boolean reopenFailed() {
    return reopenFailed;
  }

  /**
   * Reopens the file, which may have been moved away; later lines go to the new file. If that
   * fails, reports it and keeps writing to the old one.
   */
  synchronized void reopen() {
    if (file == null || writer.isShutdown()) {
      return;
    }
    try {
      FileChannel next = open(file);
      flush();
      replace(next);
      torn = false;
      reopenFailed = false;
      console.say("bsdb serve: the access log " + file + " was reopened");
    } catch (IOException e) {
      reopenFailed = true;
      console.say(
          "bsdb serve: the access log cannot be reopened, the old file stays in use: "
              + Diagnosis.of(e).words());
    }
  }

  private synchronized void replace(@Nullable FileChannel next) {
    FileChannel before = out;
    out = next;
    if (before != null) {
      try {
        before.close();
      } catch (IOException e) {
        console.say("bsdb serve: closing the access log failed: " + Diagnosis.of(e).words());
      }
    }
  }

  /** Writes the pending lines; lines that cannot be written are lost. */
  private synchronized void flush() {
    ByteBuffer left = ByteBuffer.allocate(0);
    try {
      synchronized (pending) {
        left = ByteBuffer.wrap(pending.toByteArray());
        pending.reset();
      }
      if (!left.hasRemaining()) {
        return;
      }
      write(left);
      if (failing) {
        failing = false;
        console.say("bsdb serve: the access log is being written again");
      }
    } catch (IOException | RuntimeException | Error e) { // none ends the regular writing
      int written = left.position();
      torn |= written > 0 && left.get(written - 1) != '\n';
      while (left.hasRemaining()) {
        if (left.get() == '\n') {
          failed.increment();
        }
      }
      if (!failing) {
        failing = true;
        console.say(
            "bsdb serve: the access log cannot be written; its lines are lost until it can be: "
                + Diagnosis.of(e).words());
      }
    }
  }

  private void write(ByteBuffer left) throws IOException {
    if (file == null) {
      OutputStream stdout = console.out();
      Channels.newChannel(stdout).write(left.duplicate()); // if it fails, all is lost
      stdout.flush();
      return;
    }
    if (failing) {
      replace(open(file)); // the disk or the directory may be available again
    }
    FileChannel to = out;
    if (to == null) {
      throw new IOException("not open");
    }
    if (torn) {
      to.write(ByteBuffer.wrap(new byte[] {'\n'})); // the rest of a line is lost
      torn = false;
    }
    while (left.hasRemaining()) {
      to.write(left);
    }
  }

  /** Writes the pending lines and stops the writer. */
  @Override
  public void close() {
    writer.execute(this::flush);
    writer.shutdown();
    try {
      if (writer.awaitTermination(ENDING_SECONDS, TimeUnit.SECONDS)) {
        replace(null);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
