package tech.bsdb.lookup;

import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;
import tech.bsdb.locate.Locator;

/** One asynchronous lookup and its answer. Passed from thread to thread, used by one at a time. */
final class AsyncRequest implements Runnable {
  final byte[] key;
  final @Nullable LongPredicate budget;
  private final Answer answer;

  /** The locator of the key, if its reads go through a ring. */
  @Nullable Locator locator;

  /** The place of the first read, if it goes through a ring. */
  long place;

  byte @Nullable [] value;
  private @Nullable Throwable failure;

  AsyncRequest(byte[] key, Answer answer, @Nullable LongPredicate budget) {
    this.key = key;
    this.budget = budget;
    this.answer = answer;
  }

  void fail(Throwable why) {
    failure = why;
  }

  /** Delivers the answer. */
  @Override
  public void run() {
    if (failure != null) {
      answer.failed(failure);
    } else {
      answer.completed(value);
    }
  }
}
