package tech.bsdb.io;

import java.io.EOFException;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.channels.ClosedChannelException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;

/**
 * Reads ranges of local files, as if they lay elsewhere, on the threads of an executor, and notes
 * what was requested. Close it to close the files.
 */
public final class LocalRanges implements Ranges, AutoCloseable {
  /** A request. */
  public record Request(Path file, long first, int count) {}

  /** Changes what a request brings. */
  public interface Change {
    /** Returns the bytes to answer with, or fails. */
    byte[] of(Request request, byte[] bytes) throws IOException;
  }

  private final Executor executor;
  private final Map<Path, RandomAccessFile> files = new HashMap<>();
  private final Queue<Request> requests = new ConcurrentLinkedQueue<>();
  private volatile Change change = (request, bytes) -> bytes;
  private boolean closed;

  /** Creates ranges that an executor reads; it may be {@code Runnable::run}. */
  public LocalRanges(Executor executor) {
    this.executor = executor;
  }

  /** Opens a file now rather than at its first request. */
  void open(Path file) throws IOException {
    opened(file);
  }

  private synchronized RandomAccessFile opened(Path file) throws IOException {
    if (closed) {
      throw new ClosedChannelException(); // a piece read ahead, of which nobody waits for the end
    }
    RandomAccessFile opened = files.get(file);
    if (opened == null) {
      opened = new RandomAccessFile(file.toFile(), "r");
      files.put(file, opened);
    }
    return opened;
  }

  /** Changes what later requests bring. */
  public void change(Change other) {
    change = other;
  }

  /** Returns the requests since the last call. */
  public List<Request> take() {
    List<Request> taken = new ArrayList<>();
    for (Request next = requests.poll(); next != null; next = requests.poll()) {
      taken.add(next);
    }
    return taken;
  }

  @Override
  public CompletableFuture<byte[]> read(Path file, long size, long from, int length) {
    Request request = new Request(file, from / PageSource.PAGE, length / PageSource.PAGE);
    requests.add(request);
    CompletableFuture<byte[]> answer = new CompletableFuture<>();
    executor.execute(
        () -> {
          try {
            answer.complete(change.of(request, bytes(file, from, length)));
          } catch (IOException | RuntimeException e) {
            answer.completeExceptionally(e);
          }
        });
    return answer;
  }

  private byte[] bytes(Path file, long from, int length) throws IOException {
    RandomAccessFile opened = opened(file);
    byte[] bytes = new byte[length];
    synchronized (opened) {
      opened.seek(from);
      try {
        opened.readFully(bytes);
      } catch (EOFException e) {
        throw NativeFile.cutShort(file, from + length);
      }
    }
    return bytes;
  }

  @Override
  public synchronized void close() throws IOException {
    closed = true;
    for (RandomAccessFile file : files.values()) {
      file.close();
    }
  }
}
