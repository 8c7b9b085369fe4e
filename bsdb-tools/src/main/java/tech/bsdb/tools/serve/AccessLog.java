package tech.bsdb.tools.serve;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.cli.Console;
import tech.bsdb.tools.serve.client.FailureReports;

/**
 * Writes a line for every answered request: time, client, request, status, bytes, microseconds. A
 * dedicated thread writes the lines; when it cannot keep up, lines are dropped and counted instead
 * of delaying requests.
 *
 * <p>When lines cannot be written (a full disk), they are lost and counted, and the failure is
 * reported once. The file is reopened for each following write until one succeeds.
 */
final class AccessLog implements Closeable {
  private static final long FLUSH_MILLIS = 500;

  /** The writer does not wait for more bytes than these. */
  private static final int PIECE = 64 << 10;

  /** The most bytes that wait for the writer. */
  private static final int MOST = 2 << 20;

  /** The lines to write, which also is their lock. */
  private final ByteArrayOutputStream pending = new ByteArrayOutputStream(PIECE);

  private final LongAdder dropped = new LongAdder();
  private final LongAdder failed = new LongAdder();
  private final @Nullable Path file;
  private final Console console;
  private final Thread writer = new Thread(this::run, "bsdb-access-log");
  private volatile boolean reopenFailed;
  private volatile boolean closed;

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
    writer.setDaemon(true);
    writer.start();
  }

  private static FileChannel open(Path file) throws IOException {
    return FileChannel.open(
        file, StandardOpenOption.CREATE, StandardOpenOption.WRITE, StandardOpenOption.APPEND);
  }

  void add(Instant time, Exchange exchange, int status, long bytes, long nanos) {
    String line =
        time
            + " "
            + exchange.connection().client()
            + " \""
            + exchange.method()
            + " "
            + FailureReports.printable(exchange.uri())
            + (exchange.http10() ? " HTTP/1.0\" " : " HTTP/1.1\" ")
            + status
            + " "
            + bytes
            + " "
            + nanos / 1000
            + "\n";
    byte[] encoded = line.getBytes(US_ASCII);
    synchronized (pending) {
      if (pending.size() + encoded.length > MOST) {
        dropped.increment();
        return;
      }
      pending.writeBytes(encoded);
      if (pending.size() >= PIECE) {
        pending.notifyAll();
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
    if (file == null || closed) {
      return;
    }
    try {
      FileChannel next = open(file);
      flush();
      replace(next);
      reopenFailed = false;
      console.say("bsdb serve: the access log " + file + " was reopened");
    } catch (IOException e) {
      reopenFailed = true;
      console.say(
          "bsdb serve: the access log cannot be reopened, the old file stays in use: "
              + describe(e));
    }
  }

  /** Some exceptions have only the file's name as their message. */
  private static String describe(IOException e) {
    String name = e.getClass().getSimpleName().replaceAll("(?<=[a-z])(?=[A-Z])", " ");
    String kind = name.replace(" Exception", "").replace("IOException", "");
    String message = String.valueOf(e.getMessage());
    return kind.isEmpty() ? message : message + " (" + kind + ")";
  }

  private void run() {
    try {
      while (!closed) {
        synchronized (pending) {
          if (pending.size() < PIECE && !closed) {
            pending.wait(FLUSH_MILLIS);
          }
        }
        flush();
      }
      flush(); // what was added until then
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private synchronized void replace(@Nullable FileChannel next) {
    FileChannel before = out;
    out = next;
    torn = false;
    if (before != null) {
      try {
        before.close();
      } catch (IOException e) {
        console.say("bsdb serve: closing the access log failed: " + describe(e));
      }
    }
  }

  /** Writes the pending lines; lines that cannot be written are lost. */
  private synchronized void flush() {
    byte[] bytes;
    synchronized (pending) {
      bytes = pending.toByteArray();
      pending.reset();
    }
    if (bytes.length == 0) {
      return;
    }
    ByteBuffer left = ByteBuffer.wrap(bytes);
    try {
      write(bytes, left);
      if (failing) {
        failing = false;
        console.say("bsdb serve: the access log is being written again");
      }
    } catch (IOException e) {
      long lost = lines(bytes, bytes.length) - lines(bytes, left.position());
      torn |= left.position() > 0 && bytes[left.position() - 1] != '\n';
      failed.add(lost);
      if (!failing) {
        failing = true;
        console.say(
            "bsdb serve: the access log cannot be written; its lines are lost until it can be: "
                + describe(e));
      }
    }
  }

  private void write(byte[] bytes, ByteBuffer left) throws IOException {
    if (file == null) {
      OutputStream stdout = console.out();
      stdout.write(bytes);
      stdout.flush();
      return;
    }
    if (failing) {
      boolean cut = torn;
      replace(open(file)); // the disk or the directory may be available again
      torn = cut;
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

  private static long lines(byte[] bytes, int length) {
    long count = 0;
    for (int i = 0; i < length; i++) {
      if (bytes[i] == '\n') {
        count++;
      }
    }
    return count;
  }

  /** Writes the pending lines and stops the writer. */
  @Override
  public void close() {
    synchronized (pending) {
      closed = true;
      pending.notifyAll();
    }
    try {
      writer.join(2 * FLUSH_MILLIS + 2_000);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    if (!writer.isAlive()) {
      replace(null);
    }
  }
}
