package tech.bsdb.tools.serve;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tech.bsdb.Database;
import tech.bsdb.LookupBatch;
import tech.bsdb.error.MemoryBudgetExceededException;
import tech.bsdb.store.Lease;
import tech.bsdb.tools.serve.batch.AnswerWriter;
import tech.bsdb.tools.serve.batch.RequestRefusedException;
import tech.bsdb.tools.serve.client.HeldMemory;
import tech.bsdb.tools.serve.cluster.Cluster.ElsewhereException;
import tech.bsdb.tools.text.JsonBuffer;
import tech.bsdb.tools.text.NoRoomException;

/**
 * Answers a request a slice at a time, all from one version.
 *
 * <p>The next slice waits until the client has read what was written, so memory does not grow with
 * the answer. A small answer from a mapped database is made on the event loop in one piece; all
 * others are made by the workers. A slice is written by one thread at a time.
 *
 * <p>The writer's array and the values that are read are kept for the next slice, unless values
 * made them large, and count as held memory.
 *
 * @param <W> what writes the slices
 */
abstract class SlicedAnswer<W extends AnswerWriter> implements Action {
  /** The most keys that are looked up for one slice. */
  static final int KEYS = 256;

  /** Bytes of an answer at which a slice ends. */
  static final int BYTES = 256 << 10;

  /** Bytes of values that are read together. */
  private static final long VALUE_BYTES = 1 << 20;

  /** A value array that grew beyond this many bytes is not kept for the next slice. */
  private static final int KEPT = 1 << 20;

  /** How long an answer that has started waits before it requests memory again. */
  private static final long AGAIN_NANOS = 100_000_000;

  /** The keys that are looked up together. */
  final List<byte[]> keys = new ArrayList<>();

  final Lookups lookups;
  private final Exchange exchange;
  private final HttpConnection connection;
  private final Conditions conditions;
  private final MediaType type;
  private final HeldMemory.Share working;
  private @Nullable Lease lease;
  private @Nullable Served served;
  private @Nullable W writer;
  private @Nullable LookupBatch batch;
  private int asking;
  private int hits;
  private int misses;
  private int weight;
  private boolean admitted;
  private long refusedNanos;
  private boolean inPieces;
  private boolean running;
  private boolean waiting;
  private boolean gone;

  /**
   * An answer to a request whose body has not arrived yet.
   *
   * @param conditions the request's conditions on the version that answers
   */
  SlicedAnswer(Lookups lookups, Exchange exchange, Conditions conditions, MediaType type) {
    this.lookups = lookups;
    this.exchange = exchange;
    this.conditions = conditions;
    this.type = type;
    this.connection = exchange.connection;
    this.working = connection.share();
  }

  /** Returns how many lookups the request counts as while it is in progress. */
  abstract int weight();

  /**
   * Returns the writer of the answer. Called once, before the first slice.
   *
   * @throws RequestRefusedException if the request needs something this database does not have
   */
  abstract W begin() throws RequestRefusedException;

  /** Whether the whole answer is small and is read from memory. */
  boolean isQuick() {
    return false;
  }

  /**
   * Looks up and writes the next slice; nothing if there is nothing to send yet. Until it is {@link
   * #taken}, the next call writes it again, from the start, after {@link #dropMemory}.
   *
   * @param answers is empty
   * @throws MemoryBudgetExceededException if there is no room for values
   * @throws NoRoomException if there is no room for what is written
   * @throws ElsewhereException if another node of the cluster answers a key
   */
  abstract void write(W answers) throws IOException, ElsewhereException;

  /** Returns the answer if the first slice could not be written, because the server failed. */
  Reply failed() {
    return Reply.FAILED;
  }

  /** Goes on behind the slice that was written. */
  abstract void taken();

  /** Whether the slice that was taken is the last. */
  abstract boolean isLast();

  /** Returns the bytes kept from slice to slice, besides the writer and the batch. */
  long kept() {
    return 0;
  }

  /** Drops what can be made again, so that an answer that waits holds little. */
  void dropMemory() {
    require(writer).out().drop();
    batch = null;
    keys.clear();
    working.settle(0);
  }

  /** Returns the version that answers, which stays open until the answer is complete. */
  final Served served() {
    return require(served);
  }

  /** Returns the database that answers. */
  final Database database() {
    return served().version().database;
  }

  /** Returns how many values are read together, so that they take little memory. */
  final int together() {
    long longest = Math.max(1, served().version().statistics.longestValue());
    return (int) Math.max(1, Math.min(KEYS, VALUE_BYTES / longest));
  }

  /**
   * Looks up the {@link #keys} together and writes an answer for each.
   *
   * @throws MemoryBudgetExceededException if there is no room for their values
   */
  final void lookUp(W answers) throws IOException {
    LookupBatch asked = batch;
    if (asked == null) {
      asked = database().batch();
      asked.use(working);
      batch = asked;
    }
    asked.clear();
    keys.forEach(asked::add);
    asking = keys.size();
    asked.get();
    for (int i = 0; i < asking; i++) {
      byte[] key = keys.get(i);
      if (asked.isPresent(i)) {
        hits++;
      } else {
        absent(key);
        misses++;
      }
      answers.write(key, asked.values(), asked.offset(i), asked.length(i));
    }
    asking = 0;
  }

  /**
   * Called for a key that was looked up and is absent.
   *
   * @throws IOException if the database is damaged, because it says elsewhere that it has the key
   */
  void absent(byte[] key) throws IOException {}

  /** Whether keys are being looked up, or were when that failed. */
  final boolean isLookingUp() {
    return asking > 0;
  }

  /**
   * Reserves memory that is kept from slice to slice.
   *
   * @throws MemoryBudgetExceededException if there is none
   */
  final void reserve(long bytes) throws MemoryBudgetExceededException {
    if (!working.reserve(bytes)) {
      throw new MemoryBudgetExceededException(bytes);
    }
  }

  @Override
  public final void start(Exchange started) {
    weight = weight();
    if (!lookups.counts().enter(weight)) {
      exchange.complete(Reply.BUSY);
      return;
    }
    admitted = true;
    try {
      Lease acquired = lookups.acquire();
      lease = acquired;
      Served by = lookups.served(acquired);
      served = by;
      exchange.version = by.version().name;
      conditions.check(by);
      W made = begin();
      made.out().use(working::reserve);
      writer = made;
    } catch (RequestRefusedException | RuntimeException | Error e) {
      end(lookups.failed(exchange, e, served, 0, Reply.FAILED));
      return;
    }
    if (isQuick()) {
      delivered(write());
    } else {
      submit();
    }
  }

  /** Ends with a whole answer, instead of slices. */
  private void end(Reply reply) {
    undone();
    exchange.complete(reply);
  }

  private void submit() {
    if (!admitted) {
      admitted = true;
      lookups.counts().enterAgain(weight);
    }
    running = true;
    connection.onThread(lookups.workers, this::write, this::delivered, this::undone);
  }

  /** Releases everything: nothing more is sent. */
  private void undone() {
    running = false;
    release();
    exchange.memory.settle(0);
  }

  /** Writes the next slice; returns the failure, or null. */
  private @Nullable Throwable write() {
    W answers = require(writer);
    JsonBuffer out = answers.out();
    try {
      out.reset();
      keys.clear();
      asking = 0;
      hits = 0;
      misses = 0;
      write(answers);
      if (!exchange.memory.reserveUpTo(out.length())) { // for the copy to be sent
        throw new MemoryBudgetExceededException(out.length());
      }
    } catch (ElsewhereException | IOException | RuntimeException | Error e) {
      return e; // out of memory, or a mapped file failed
    }
    lookups.counts().found(hits, misses);
    exchange.lookedUp(hits, misses);
    taken();
    LookupBatch read = batch;
    if (read != null && read.values().length > KEPT) {
      read = null;
      batch = null;
    }
    working.settle(kept() + out.bytes().length + (read == null ? 0 : read.values().length));
    return null;
  }

  /** Sends the slice that was written. Runs on the event loop. */
  private void delivered(@Nullable Throwable failure) {
    running = false;
    if (gone) {
      undone();
      return;
    }
    if (failure instanceof MemoryBudgetExceededException || failure instanceof NoRoomException) {
      refused();
      return;
    }
    refusedNanos = 0;
    if (failure != null) {
      Reply reply = lookups.failed(exchange, failure, served, Math.max(1, asking), failed());
      if (inPieces) {
        release();
        connection.cut();
      } else {
        end(reply);
      }
    } else {
      send(require(writer).out(), isLast());
    }
  }

  private void send(JsonBuffer slice, boolean last) {
    int length = slice.length();
    if (length == 0 && !last) { // nothing to send yet
      exchange.memory.settle(0);
      submit();
      return;
    }
    if (last && !inPieces) {
      byte[] whole = slice.copy();
      exchange.memory.settle(length);
      release();
      exchange.complete(reply(whole));
      return;
    }
    boolean ends = last;
    if (!inPieces) {
      inPieces = true;
      connection.beginPieces(exchange, reply(new byte[0]));
      if (exchange.isHead()) { // the head is all that is wanted
        ends = true;
        length = 0;
      }
    }
    byte[] bytes = slice.bytes();
    exchange.memory.settle(length);
    if (ends) {
      release();
      connection.piece(exchange, bytes, length, true);
    } else if (connection.piece(exchange, bytes, length, false)) {
      submit();
    } else {
      waiting = true;
      dropMemory();
      leave(); // a client that does not read must not block others
    }
  }

  private Reply reply(byte[] body) {
    return new Reply(200, type, served().header(), body);
  }

  /**
   * Handles the lack of memory for the next slice. An answer that has started waits for memory as
   * long as a client may keep the server waiting.
   */
  private void refused() {
    if (!inPieces) {
      end(Reply.FULL);
      return;
    }
    dropMemory();
    exchange.memory.settle(0);
    long now = System.nanoTime();
    if (refusedNanos == 0) {
      refusedNanos = now;
    }
    if (now - refusedNanos > connection.patienceNanos()) {
      release();
      connection.cut();
      return;
    }
    leave();
    connection.after(
        AGAIN_NANOS,
        () -> {
          if (!gone) {
            submit();
          }
        });
  }

  @Override
  public final void resume() {
    if (waiting) {
      waiting = false;
      submit();
    }
  }

  @Override
  public final void abandoned() {
    gone = true;
    if (!running) {
      undone();
    }
  }

  private void release() {
    if (lease != null) {
      lease.close();
    }
    if (writer != null) {
      dropMemory();
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
