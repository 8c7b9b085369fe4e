package tech.bsdb.remote;

import java.io.EOFException;
import java.io.IOException;
import java.net.http.HttpResponse.BodySubscriber;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow.Subscription;
import org.jspecify.annotations.Nullable;
import tech.bsdb.transfer.RefusedException;

/** Takes the body of an answer: exactly the bytes that were asked for, or a failure. */
final class RangeBody implements BodySubscriber<byte[]> {
  /** The most of an unusable body that is read so that its connection can be used again. */
  private static final int SKIPPED = 16 << 10;

  private final CompletableFuture<byte[]> body = new CompletableFuture<>();
  private final byte[] bytes;
  private final @Nullable IOException refusal;
  private final int skipped;
  private int filled;
  private @Nullable Subscription subscription;

  private RangeBody(int length, @Nullable IOException refusal, int skipped) {
    this.bytes = new byte[length];
    this.refusal = refusal;
    this.skipped = skipped;
  }

  /** Takes a range of that length. */
  static RangeBody of(int length) {
    return new RangeBody(length, null, 0);
  }

  /** Fails, after the text of a server that does not answer with a part of the file. */
  static RangeBody explained(IOException refusal) {
    return new RangeBody(0, refusal, SKIPPED);
  }

  /** Fails, and reads nothing. */
  static RangeBody refused(IOException refusal) {
    return new RangeBody(0, refusal, 0);
  }

  @Override
  public CompletionStage<byte[]> getBody() {
    return body;
  }

  @Override
  public void onSubscribe(Subscription given) {
    subscription = given;
    if (refusal != null && skipped == 0) {
      stop(refusal);
    } else {
      given.request(Long.MAX_VALUE);
    }
  }

  @Override
  public void onNext(List<ByteBuffer> parts) {
    for (ByteBuffer part : parts) {
      int count = part.remaining();
      int most = refusal == null ? bytes.length : skipped;
      if (count > most - filled) {
        stop(refusal != null ? refusal : new RefusedException("the answer is longer than asked"));
        return;
      }
      if (refusal == null) {
        part.get(bytes, filled, count);
      }
      filled += count;
    }
  }

  private void stop(IOException why) {
    if (subscription != null) {
      subscription.cancel();
    }
    body.completeExceptionally(why);
  }

  @Override
  public void onError(Throwable failure) {
    body.completeExceptionally(refusal == null ? failure : refusal);
  }

  @Override
  public void onComplete() {
    if (refusal != null) {
      body.completeExceptionally(refusal);
    } else if (filled < bytes.length) {
      body.completeExceptionally(
          new EOFException("the answer ended after " + filled + " of " + bytes.length + " bytes"));
    } else {
      body.complete(bytes);
    }
  }
}
