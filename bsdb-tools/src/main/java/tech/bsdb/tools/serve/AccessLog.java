package tech.bsdb.tools.serve;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.BufferedOutputStream;
import java.io.Closeable;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.time.Instant;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.cli.Console;

/**
 * A line for every answered request: time, client, request, status, bytes, microseconds. A thread
 * of its own writes; when it cannot keep up, lines are left out and counted rather than requests
 * held up.
 */
final class AccessLog implements Closeable {
  private static final int QUEUE = 16_384;
  private static final long FLUSH_MILLIS = 500;

  private final BlockingQueue<String> lines = new ArrayBlockingQueue<>(QUEUE);
  private final LongAdder dropped = new LongAdder();
  private final OutputStream out;
  private final Console console;
  private final Thread writer = new Thread(this::run, "bsdb-access-log");
  private volatile boolean closed;

  /**
   * Opens a log.
   *
   * @param target a file, which is appended to, or {@code -} for standard output
   */
  AccessLog(String target, Console console) throws IOException {
    this.console = console;
    this.out =
        new BufferedOutputStream(
            target.equals("-") ? console.out() : new FileOutputStream(target, true), 64 << 10);
    writer.setDaemon(true);
    writer.start();
  }

  void add(Instant time, Exchange exchange, int status, long bytes, long nanos) {
    String line =
        time
            + " "
            + exchange.client()
            + " \""
            + exchange.method()
            + " "
            + Requests.printable(exchange.uri())
            + (exchange.http10() ? " HTTP/1.0\" " : " HTTP/1.1\" ")
            + status
            + " "
            + bytes
            + " "
            + nanos / 1000
            + "\n";
    if (!lines.offer(line)) {
      dropped.increment();
    }
  }

  /** Lines that were left out. */
  long dropped() {
    return dropped.sum();
  }

  private void run() {
    try {
      while (true) {
        @Nullable String line = lines.poll(FLUSH_MILLIS, TimeUnit.MILLISECONDS);
        if (line != null) {
          out.write(line.getBytes(US_ASCII));
        } else {
          out.flush();
          if (closed) {
            return;
          }
        }
      }
    } catch (IOException e) {
      console.say("bsdb serve: the access log ends, it cannot be written: " + e.getMessage());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Writes what waits, and ends. */
  @Override
  public void close() throws IOException {
    closed = true;
    try {
      writer.join(2 * FLUSH_MILLIS + 2_000);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    out.flush();
  }
}
