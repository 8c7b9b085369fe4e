package tech.bsdb.tools.serve;

import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.util.Arrays;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import tech.bsdb.error.MemoryBudgetExceededException;
import tech.bsdb.error.WrongShardException;
import tech.bsdb.store.Lease;
import tech.bsdb.tools.serve.batch.BadRequestException;
import tech.bsdb.tools.serve.client.HeldMemory;
import tech.bsdb.tools.serve.cluster.Cluster.ElsewhereException;
import tech.bsdb.tools.serve.dataset.DataSet.DataSetRemovedException;
import tech.bsdb.tools.text.NoRoomException;

/**
 * Answers a request a slice at a time, all from one version.
 *
 * <p>The next slice waits until the client has read what was written, so memory does not grow with
 * the answer. A small answer from a mapped database is made on the event loop in one piece; all
 * others are made by the workers.
 */
final class SlicedAnswer implements Action {
  /** How long an answer that has started waits before it requests memory again. */
  private static final long AGAIN_NANOS = 100_000_000;

  private final Lookups lookups;
  private final Slices slices;
  private final Conditions conditions;
  private @Nullable Exchange exchange;
  private @Nullable Lease lease;
  private @Nullable Identity identity;
  private int weight;
  private boolean admitted;
  private boolean chosen;
  private long refusedNanos;
  private boolean inPieces;
  private boolean running;
  private boolean waiting;
  private boolean gone;

  /**
   * An answer to a request whose body has not arrived yet.
   *
   * @param slices what is written
   * @param conditions the request's conditions on the version that answers
   */
  SlicedAnswer(Lookups lookups, Slices slices, Conditions conditions) {
    this.lookups = lookups;
    this.slices = slices;
    this.conditions = conditions;
  }

  @Override
  public void body(ByteBuf piece) throws BadRequestException {
    slices.body(piece);
  }

  @Override
  public void bodyEnded() throws BadRequestException {
    slices.bodyEnded();
  }

  @Override
  public void start(Exchange started) {
    exchange = started;
    weight = slices.weight();
    if (!lookups.counts().enter(weight)) {
      started.complete(Reply.BUSY);
      return;
    }
    admitted = true;
    Lease acquired;
    try {
      acquired = lookups.acquire();
    } catch (DataSetRemovedException e) {
      release();
      started.complete(Lookups.removed(e));
      return;
    }
    lease = acquired;
    Identity by = lookups.identity(acquired);
    identity = by;
    try {
      conditions.check(by);
    } catch (RequestRefusedException e) {
      release();
      started.complete(e.reply());
      return;
    }
    boolean quick;
    try {
      quick = slices.begin(acquired.database(), by, started.connection().share());
    } catch (RequestRefusedException e) {
      release();
      started.complete(e.reply().with(by.header()));
      return;
    }
    chosen = true;
    if (quick) {
      delivered(write());
    } else {
      submit();
    }
  }

  private void submit() {
    if (!admitted) {
      admitted = true;
      lookups.counts().enterAgain(weight);
    }
    running = true;
    try {
      lookups.workers().execute(this::work);
    } catch (RejectedExecutionException e) { // the service has ended
      running = false;
      release();
      require(exchange).connection().cut();
    }
  }

  /** Runs on a worker. */
  private void work() {
    Throwable failure = write();
    try {
      require(exchange).connection().onLoop(() -> delivered(failure));
    } catch (RejectedExecutionException e) { // the event loop has ended
      release();
    }
  }

  /** Writes the next slice; returns the failure, or null. */
  private @Nullable Throwable write() {
    HeldMemory.Share copy = require(exchange).memory();
    try {
      slices.write();
      int length = slices.length();
      if (!copy.reserveUpTo(length)) { // for the copy to be sent
        throw new MemoryBudgetExceededException(length);
      }
      slices.taken();
      return null;
    } catch (ElsewhereException | IOException | RuntimeException | Error e) {
      return e; // also out of memory, or a mapped file failed
    }
  }

  /** Sends the slice that was written. Runs on the event loop. */
  private void delivered(@Nullable Throwable failure) {
    running = false;
    Exchange to = require(exchange);
    if (gone) {
      release();
      to.memory().settle(0);
      return;
    }
    if (failure instanceof MemoryBudgetExceededException || failure instanceof NoRoomException) {
      refused(to);
      return;
    }
    refusedNanos = 0;
    if (failure instanceof WrongShardException e && !inPieces) {
      misdirected(to, lookups.placement().misdirected(e).with(require(identity).header()));
      return;
    }
    if (failure instanceof ElsewhereException e) {
      misdirected(to, lookups.placement().misdirected(e));
      return;
    }
    if (failure != null) {
      release();
      lookups.requests().failed(to, failure);
      if (inPieces) {
        to.connection().cut();
      } else {
        to.complete(slices.failed().with(require(identity).header()));
      }
      return;
    }
    int length = slices.length();
    boolean last = slices.isLast();
    if (length == 0 && !last) { // nothing to send yet
      to.memory().settle(0);
      submit();
      return;
    }
    if (last && !inPieces) {
      byte[] whole = Arrays.copyOf(slices.buffer(), length);
      Reply reply = new Reply(200, slices.type(), require(identity).header(), whole);
      to.memory().settle(length);
      release();
      to.complete(reply);
      return;
    }
    if (!inPieces) {
      inPieces = true;
      to.beginPieces(200, slices.type(), require(identity).header());
      if (to.isHead()) { // the head is all that is wanted
        last = true;
        length = 0;
      }
    }
    ByteBuf piece = to.connection().buffer(length);
    if (length > 0) {
      piece.writeBytes(slices.buffer(), 0, length);
    }
    to.memory().settle(length);
    if (last) {
      release();
    }
    if (to.piece(piece, last) && !last) {
      submit();
    } else if (!last) {
      waiting = true;
      slices.dropMemory();
      leave(); // a client that does not read must not block others
    }
  }

  private void misdirected(Exchange to, Reply reply) {
    release();
    to.memory().settle(0);
    to.complete(reply);
  }

  /**
   * Handles the lack of memory for the next slice. An answer that has started waits for memory as
   * long as a client may keep the server waiting.
   */
  private void refused(Exchange to) {
    slices.dropMemory();
    to.memory().settle(0);
    if (!inPieces) {
      release();
      to.complete(Reply.FULL);
      return;
    }
    long now = System.nanoTime();
    if (refusedNanos == 0) {
      refusedNanos = now;
    }
    if (now - refusedNanos > to.connection().patienceNanos()) {
      release();
      to.connection().cut();
      return;
    }
    leave();
    to.connection()
        .after(
            AGAIN_NANOS,
            () -> {
              if (!gone) {
                submit();
              }
            });
  }

  @Override
  public void resume() {
    if (waiting) {
      waiting = false;
      submit();
    }
  }

  @Override
  public void abandoned() {
    gone = true;
    if (!running && exchange != null) {
      release();
      exchange.memory().settle(0);
    }
  }

  private void release() {
    Lease held = lease;
    if (held != null) {
      lease = null;
      held.close();
    }
    if (chosen) {
      slices.dropMemory();
    }
    leave();
  }

  private void leave() {
    if (admitted) {
      admitted = false;
      lookups.counts().leave(weight);
    }
  }

  private static <T> T require(@Nullable T begun) {
    if (begun == null) {
      throw new IllegalStateException("not started");
    }
    return begun;
  }
}
