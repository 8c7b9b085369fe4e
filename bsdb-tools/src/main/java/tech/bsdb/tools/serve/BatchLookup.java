package tech.bsdb.tools.serve;

import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.util.Arrays;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import tech.bsdb.Database;
import tech.bsdb.LookupBatch;
import tech.bsdb.error.MemoryBudgetExceededException;
import tech.bsdb.error.WrongShardException;
import tech.bsdb.store.Lease;
import tech.bsdb.tools.serve.batch.AnswerWriter;
import tech.bsdb.tools.serve.batch.BadRequestException;
import tech.bsdb.tools.serve.batch.KeyList;
import tech.bsdb.tools.serve.batch.KeyStream;
import tech.bsdb.tools.serve.client.HeldMemory;
import tech.bsdb.tools.serve.cluster.ElsewhereException;
import tech.bsdb.tools.serve.dataset.DataSetRemovedException;
import tech.bsdb.tools.text.NoRoomException;

/**
 * AnswerWriterFactory with the values of many keys, all from one version, in request order.
 *
 * <p>The keys are looked up a slice at a time, and the next slice waits until the client has read
 * what was written, so memory does not grow with the answer. A small batch from a mapped database
 * is answered on the event loop in one piece; all others are answered by the workers.
 */
final class BatchLookup implements Action {
  /** Creates the writer for answers from a database. */
  @FunctionalInterface
  interface AnswerWriterFactory {
    /**
     * Creates a writer for one request.
     *
     * @throws RequestRefusedException if the request needs something this database does not have
     */
    AnswerWriter of(Database database) throws RequestRefusedException;
  }

  private static final int SLICE = 256;
  private static final long SLICE_BYTES = 1 << 20;

  /** Answer size in bytes at which a piece ends, where long values make slices short. */
  private static final int PIECE = 256 << 10;

  /** A value array that grew beyond this many bytes is not kept for the next slice. */
  private static final int KEPT = 1 << 20;

  /** How long a batch that has started waits before it requests memory again. */
  private static final long AGAIN_MILLIS = 100;

  private final Lookups lookups;
  private final KeyStream body;
  private final Conditions conditions;
  private final boolean withVersion;
  private final AnswerWriterFactory form;
  private final MediaType type;
  private @Nullable Exchange exchange;
  private HeldMemory.@Nullable Share working;
  private @Nullable Lease lease;
  private @Nullable Identity identity;
  private @Nullable LookupBatch batch;
  private @Nullable AnswerWriter answers;
  private int slice;
  private int weight;
  private boolean admitted;
  private int next;
  private int hits;
  private long refusedNanos;
  private boolean inPieces;
  private boolean running;
  private boolean waiting;
  private boolean gone;

  /**
   * A batch whose body has not arrived yet.
   *
   * @param body takes the body
   * @param conditions the request's conditions on the version that answers
   * @param withVersion whether the answer begins with the version
   * @param form creates the writer of the answer, whose type is {@code type}
   */
  BatchLookup(
      Lookups lookups,
      KeyStream body,
      Conditions conditions,
      boolean withVersion,
      AnswerWriterFactory form,
      MediaType type) {
    this.lookups = lookups;
    this.body = body;
    this.conditions = conditions;
    this.withVersion = withVersion;
    this.form = form;
    this.type = type;
  }

  @Override
  public void body(ByteBuf piece) throws BadRequestException {
    body.feed(piece.nioBuffer());
  }

  @Override
  public void bodyEnded() throws BadRequestException {
    body.end();
  }

  @Override
  public void start(Exchange started) {
    exchange = started;
    working = started.share();
    int keys = body.keys().size();
    weight = Math.max(1, Math.min(keys, SLICE));
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
    try {
      form.of(acquired.database());
    } catch (RequestRefusedException e) {
      release();
      started.complete(e.reply().with(by.header()));
      return;
    }
    long longest = Math.max(1, lookups.longestValue(acquired.database()));
    slice = (int) Math.max(1, Math.min(SLICE, SLICE_BYTES / longest));
    if (keys <= slice && !lookups.async() && lookups.mapped(acquired.database())) {
      delivered(lookUp());
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
      require(exchange).cut();
    }
  }

  /** Runs on a worker. */
  private void work() {
    Throwable failure = lookUp();
    try {
      require(exchange).onLoop(() -> delivered(failure));
    } catch (RejectedExecutionException e) { // the event loop has ended
      release();
    }
  }

  /** Looks up the next keys, for one piece of the answer; returns the failure, or null. */
  private @Nullable Throwable lookUp() {
    HeldMemory.Share copy = require(exchange).memory();
    int first = next;
    int most = Math.min(body.keys().size(), next + SLICE);
    int end = next;
    hits = 0;
    try {
      AnswerWriter answers = writer();
      answers.reset();
      if (first == 0) {
        requireOwnKeys();
      }
      if (withVersion && first == 0) {
        Identity by = require(identity);
        answers.writeVersion(by.version(), by.id());
      }
      while (next < most && answers.length() < PIECE) {
        end = Math.min(most, next + slice);
        lookUp(end, answers);
        next = end;
      }
      if (!copy.reserveUpTo(answers.length())) { // for the copy to be written
        throw new MemoryBudgetExceededException(answers.length());
      }
      lookups.counts().found(hits, next - first - hits);
      countKeptArrays();
      return null;
    } catch (MemoryBudgetExceededException | NoRoomException full) {
      next = first;
      return full;
    } catch (WrongShardException | ElsewhereException e) {
      return e;
    } catch (IOException | RuntimeException | Error e) { // out of memory, or a mapped file failed
      lookups.counts().error(end - next);
      return e;
    }
  }

  /** Refuses the batch before its answer begins, if a key belongs to another node or shard. */
  private void requireOwnKeys() throws WrongShardException, ElsewhereException {
    KeyList keys = body.keys();
    Placement placement = lookups.placement();
    if (placement.cluster() != null) {
      for (int i = 0; i < keys.size(); i++) {
        placement.requireHere(keys.bytes(), keys.offset(i), keys.length(i));
      }
    }
    Database database = require(lease).database();
    if (database.isShard()) {
      for (int i = 0; i < keys.size(); i++) {
        database.requireOwn(keys.key(i));
      }
    }
  }

  private AnswerWriter writer() throws IOException {
    AnswerWriter made = answers;
    if (made == null) {
      try {
        made = form.of(require(lease).database());
      } catch (RequestRefusedException e) {
        throw new IOException("the database changed while a batch was being answered", e);
      }
      made.use(require(working)::reserve);
      answers = made;
    }
    return made;
  }

  private LookupBatch batch() {
    LookupBatch made = batch;
    if (made == null) {
      made = require(lease).database().batch();
      made.use(require(working));
      batch = made;
    }
    return made;
  }

  /** Counts the arrays kept for the next slice; the largest are dropped. */
  private void countKeptArrays() {
    AnswerWriter writer = require(answers);
    LookupBatch asked = batch;
    if (asked != null && asked.values().length > KEPT) {
      batch = null;
    }
    require(working)
        .settle(writer.buffer().length + (batch == null ? 0L : require(batch).values().length));
  }

  /** Drops the buffers that grow with values, so that a waiting batch holds only its keys. */
  private void dropMemory() {
    answers = null;
    batch = null;
    require(working).settle(0);
  }

  private void lookUp(int end, AnswerWriter answers) throws IOException {
    KeyList keys = body.keys();
    LookupBatch asked = batch();
    asked.clear();
    for (int i = next; i < end; i++) {
      asked.add(keys.key(i));
    }
    asked.get();
    for (int i = next; i < end; i++) {
      int place = i - next;
      if (asked.isPresent(place)) {
        hits++;
        answers.write(
            keys.bytes(),
            keys.offset(i),
            keys.length(i),
            asked.values(),
            asked.offset(place),
            asked.length(place));
      } else {
        answers.writeAbsent(keys.bytes(), keys.offset(i), keys.length(i));
      }
    }
  }

  /** Sends the values that were looked up. Runs on the event loop. */
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
        to.cut();
      } else {
        to.complete(Reply.FAILED.with(require(identity).header()));
      }
      return;
    }
    AnswerWriter written = require(answers);
    int length = written.length();
    boolean last = next == body.keys().size();
    if (last && !inPieces) {
      byte[] whole = Arrays.copyOf(written.buffer(), length);
      Reply reply = new Reply(200, type, require(identity).header(), whole);
      to.memory().settle(length);
      release();
      to.complete(reply);
      return;
    }
    if (!inPieces) {
      inPieces = true;
      to.beginPieces(200, type, require(identity).header());
    }
    ByteBuf piece = to.buffer(length);
    piece.writeBytes(written.buffer(), 0, length);
    to.memory().settle(length);
    if (last) {
      release();
    }
    if (to.piece(piece, last) && !last) {
      submit();
    } else if (!last) {
      waiting = true;
      dropMemory();
      leave(); // a client that does not read must not block others
    }
  }

  private void misdirected(Exchange to, Reply reply) {
    release();
    to.memory().settle(0);
    to.complete(reply);
  }

  /**
   * Handles the lack of memory for the next values. A batch that has started waits for memory as
   * long as a client may keep the server waiting.
   */
  private void refused(Exchange to) {
    dropMemory();
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
    if (now - refusedNanos > to.patienceNanos()) {
      release();
      to.cut();
      return;
    }
    leave();
    to.later(
        () -> {
          if (!gone) {
            submit();
          }
        },
        AGAIN_MILLIS);
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
    dropMemory();
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
