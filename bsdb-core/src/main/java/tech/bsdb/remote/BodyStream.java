package tech.bsdb.remote;

import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.net.http.HttpResponse.BodySubscriber;
import java.net.http.HttpTimeoutException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow.Subscription;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** The body of an answer as a stream, which fails if nothing arrives for a while. */
final class BodyStream extends InputStream implements BodySubscriber<InputStream> {
  /** How many parts of some 16 KiB may lie here unread. */
  private static final int AHEAD = 8;

  /** What ends the stream, once the parts before it are read. */
  private record Arrived(List<ByteBuffer> parts, boolean ends, @Nullable Throwable failure) {}

  private final LongSupplier patience;
  private final BlockingQueue<Arrived> arrived = new LinkedBlockingQueue<>(); // bounded by demand
  private final Deque<ByteBuffer> parts = new ArrayDeque<>();
  private volatile @Nullable Subscription subscription;
  private volatile boolean closed;
  private boolean ended;

  /**
   * Creates a stream.
   *
   * @param patience how many nanoseconds longer nothing may arrive
   */
  BodyStream(LongSupplier patience) {
    this.patience = patience;
  }

  @Override
  public CompletionStage<InputStream> getBody() {
    return CompletableFuture.completedFuture(this);
  }

  @Override
  public void onSubscribe(Subscription given) {
    subscription = given;
    if (closed) {
      given.cancel();
    } else {
      given.request(AHEAD);
    }
  }

  @Override
  public void onNext(List<ByteBuffer> more) {
    arrived.add(new Arrived(more, false, null));
  }

  @Override
  public void onError(Throwable failure) {
    arrived.add(new Arrived(List.of(), true, failure));
  }

  @Override
  public void onComplete() {
    arrived.add(new Arrived(List.of(), true, null));
  }

  @Override
  public int read() throws IOException {
    byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
  }

  @Override
  public int read(byte[] into, int offset, int length) throws IOException {
    if (closed) {
      throw new IOException("the stream is closed");
    }
    if (length == 0) {
      return 0;
    }
    while (parts.isEmpty() && !ended) {
      take();
    }
    ByteBuffer part = parts.peek();
    if (part == null) {
      return -1;
    }
    int count = Math.min(length, part.remaining());
    part.get(into, offset, count);
    if (!part.hasRemaining()) {
      parts.remove();
    }
    return count;
  }

  private void take() throws IOException {
    Arrived next;
    try {
      next = arrived.poll(patience.getAsLong(), TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      close();
      throw new InterruptedIOException("interrupted");
    }
    if (next == null) {
      close();
      throw new HttpTimeoutException("the server stopped sending");
    }
    if (next.failure != null) {
      close();
      throw next.failure instanceof IOException known ? known : new IOException(next.failure);
    }
    ended = next.ends;
    for (ByteBuffer part : next.parts) {
      if (part.hasRemaining()) {
        parts.add(part);
      }
    }
    Subscription open = subscription;
    if (open != null && !ended) {
      open.request(1);
    }
  }

  /** Gives the body up unless it was read to its end. */
  @Override
  public void close() {
    closed = true;
    Subscription open = subscription;
    if (open != null) {
      open.cancel();
    }
  }
}
