package tech.bsdb.tools.serve;

import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import tech.bsdb.Database;
import tech.bsdb.Statistics;
import tech.bsdb.error.MemoryBudgetExceededException;
import tech.bsdb.error.WrongShardException;
import tech.bsdb.store.Lease;
import tech.bsdb.tools.rows.BadRowException;
import tech.bsdb.tools.rows.RowForm;
import tech.bsdb.tools.rows.RowJson;
import tech.bsdb.tools.rows.RowSchema;
import tech.bsdb.tools.serve.batch.AnswerLines;
import tech.bsdb.tools.serve.batch.Projection;
import tech.bsdb.tools.serve.batch.Projection.NotJsonException;
import tech.bsdb.tools.serve.client.HeldMemory;
import tech.bsdb.tools.serve.client.LookupCounts;
import tech.bsdb.tools.serve.dataset.DataSet;
import tech.bsdb.tools.serve.dataset.DataSet.DataSetRemovedException;
import tech.bsdb.tools.text.JsonBuffer;
import tech.bsdb.tools.text.NoRoomException;

/** Looks up keys in the served version of a data set. Thread-safe. */
final class Lookups {
  /** Lookups of one connection may overlap where no value is longer than this. */
  private static final long MAX_OVERLAPPING = 64 << 10;

  /** What a cursor holds of the order of a shard: a leaf, and some keys of it decoded. */
  private static final long LEAF_BYTES = 8 << 10;

  private static final long KEYS_OF_LEAF = 16;

  /** Keys that a cursor has read ahead. */
  private static final long KEYS_OF_CURSOR = 128;

  private final DataSet set;
  private final Requests requests;
  private final Executor workers;
  private final boolean async;
  private final ValueKind values;
  private final Placement placement;
  private volatile @Nullable Facts facts;
  private volatile @Nullable Served served;

  /** Facts about an open database, determined once. */
  private record Facts(
      Database of,
      boolean mapped,
      long longestValue,
      long cursorBytes,
      @Nullable RowForm rows,
      String badSchema) {}

  /**
   * The version that was served last.
   *
   * @param plain null if its values are not answered to plain GETs at once
   */
  private record Served(Identity identity, @Nullable PlainHeads plain) {}

  /**
   * Looks up keys in a data set.
   *
   * @param workers runs what would block an event loop
   * @param async whether single lookups are asynchronous
   * @param values how values are interpreted
   * @param placement tells which keys other nodes answer
   */
  Lookups(
      DataSet set,
      Requests requests,
      Executor workers,
      boolean async,
      ValueKind values,
      Placement placement) {
    this.set = set;
    this.requests = requests;
    this.workers = workers;
    this.async = async;
    this.values = values;
    this.placement = placement;
  }

  boolean async() {
    return async;
  }

  /**
   * Whether lookups of one connection may overlap. Lookups of large values must not: each value
   * would be in memory before the client has read the previous one.
   */
  boolean overlap() {
    Facts known = facts;
    return async && (known == null || known.longestValue <= MAX_OVERLAPPING);
  }

  /** Tells which keys other nodes of a cluster answer. */
  Placement placement() {
    return placement;
  }

  boolean json() {
    return values != ValueKind.BYTES;
  }

  Requests requests() {
    return requests;
  }

  LookupCounts counts() {
    return set.counts();
  }

  Executor workers() {
    return workers;
  }

  Lease acquire() {
    return set.acquire();
  }

  /** Whether lookups in a database read only memory. */
  boolean mapped(Database of) {
    return facts(of).mapped;
  }

  /** Returns the length of a database's longest value. */
  long longestValue(Database of) {
    return facts(of).longestValue;
  }

  /**
   * Returns about how much memory a cursor over a range of keys takes: a leaf of each shard, and a
   * batch of keys.
   */
  long cursorBytes(Database of) {
    return facts(of).cursorBytes;
  }

  /** Returns the identity of a leased version. */
  Identity identity(Lease lease) {
    return served(lease).identity;
  }

  /**
   * Returns the heads of the answers of a leased version to plain GETs; null if its values are not
   * in memory or not answered as they are, or if lookups are asynchronous.
   */
  @Nullable PlainHeads plainHeads(Lease lease) {
    return served(lease).plain;
  }

  private Served served(Lease lease) {
    Served known = served;
    if (known == null || !known.identity.isOf(lease.database())) {
      Identity identity = Identity.of(lease, values);
      Facts facts = facts(lease.database());
      boolean plain = !async && facts.mapped && facts.rows == null && facts.badSchema.isEmpty();
      known =
          new Served(identity, plain ? PlainHeads.of(identity, type(), facts.longestValue) : null);
      served = known;
    }
    return known;
  }

  /** Returns the type of values that are answered as they are. */
  private MediaType type() {
    return json() ? MediaType.JSON : MediaType.BYTES;
  }

  private Facts facts(Database of) {
    Facts known = facts;
    if (known == null || known.of != of) {
      Statistics statistics = of.statistics();
      known = facts(of, statistics.readsMemory(), statistics);
      facts = known;
    }
    return known;
  }

  private Facts facts(Database of, boolean mapped, Statistics statistics) {
    long longest = statistics.longestValue();
    long key = 1 + statistics.keyBytes() / Math.max(1, statistics.records());
    int shards = statistics.shards() == 1 ? 1 : statistics.heldShards().size();
    long cursor = shards * (LEAF_BYTES + KEYS_OF_LEAF * key) + KEYS_OF_CURSOR * key;
    try {
      RowSchema schema = json() ? RowSchema.stored(statistics) : null;
      RowForm rows = schema == null ? null : values.form(schema);
      return new Facts(of, mapped, longest, cursor, rows, "");
    } catch (IllegalArgumentException e) {
      return new Facts(
          of, mapped, longest, cursor, null, "the stored schema is invalid: " + e.getMessage());
    }
  }

  /**
   * Returns how the rows of a database are written as JSON, or null where values are not rows or
   * are answered in another form.
   *
   * @throws RequestRefusedException if it lacks one of the columns or its schema is invalid
   */
  private @Nullable RowForm rows(Database of, @Nullable Projection fields)
      throws RequestRefusedException {
    if (!json()) {
      return null;
    }
    Facts known = facts(of);
    if (!known.badSchema.isEmpty()) {
      throw new RequestRefusedException(Reply.error(500, known.badSchema));
    }
    RowForm rows = known.rows;
    if (rows == null || fields == null) {
      return rows;
    }
    try {
      return rows.withColumns(fields.names());
    } catch (IllegalArgumentException e) {
      throw new RequestRefusedException(Reply.error(400, "fields: " + e.getMessage()));
    }
  }

  /**
   * Creates the writer for the lines of many keys.
   *
   * @throws RequestRefusedException if the database lacks one of the columns or its schema is
   *     invalid
   */
  AnswerLines lines(Database of, @Nullable Projection fields) throws RequestRefusedException {
    RowForm rows = rows(of, fields);
    if (rows == null) {
      return new AnswerLines(json(), fields);
    }
    RowJson writer = new RowJson(rows);
    return new AnswerLines(
        (bytes, offset, length, out) -> {
          try {
            writer.write(bytes, offset, length, out);
          } catch (BadRowException e) {
            throw new NotJsonException(notARow(e));
          }
        });
  }

  private static String notARow(BadRowException e) {
    return "the value is not a row of the database's schema: " + e.getMessage();
  }

  /** Answers a request with the value of a key. */
  void get(Exchange exchange, byte[] key, @Nullable Projection fields, Conditions conditions) {
    if (!counts().enter(1)) {
      exchange.complete(Reply.BUSY);
    } else if (async) {
      getAsync(exchange, key, fields, conditions);
    } else {
      exchange.complete(getSync(exchange, key, fields, conditions));
    }
  }

  /**
   * A lookup and the version that answers it.
   *
   * @param tag the entity tag of the value, if it is present
   */
  private record BoundLookup(
      Identity by,
      String tag,
      Conditions conditions,
      @Nullable Projection fields,
      @Nullable RowForm rows) {
    /** Returns the answer that needs no value; null if the value must be read. */
    @Nullable Reply replyWithoutValue() {
      return conditions.clientHas(tag) ? Reply.unchanged(by.headers(tag)) : null;
    }
  }

  private BoundLookup bound(
      Lease lease, byte[] key, @Nullable Projection fields, Conditions conditions)
      throws RequestRefusedException {
    Identity by = identity(lease);
    conditions.check(by);
    try {
      RowForm rows = rows(lease.database(), fields);
      return new BoundLookup(by, by.tag(key, fields), conditions, fields, rows);
    } catch (RequestRefusedException e) {
      throw new RequestRefusedException(e.reply().with(by.header()));
    }
  }

  private Reply getSync(
      Exchange exchange, byte[] key, @Nullable Projection fields, Conditions conditions) {
    BoundLookup bound = null;
    try (Lease lease = set.acquire()) {
      bound = bound(lease, key, fields, conditions);
      Reply unread = bound.replyWithoutValue();
      return unread != null
          ? unread
          : reply(lease.database().get(key, exchange.memory()), bound, exchange.memory());
    } catch (RequestRefusedException e) {
      return e.reply();
    } catch (MemoryBudgetExceededException | NoRoomException full) {
      return full(exchange);
    } catch (WrongShardException e) {
      return misdirected(exchange, e, bound);
    } catch (IOException | RuntimeException | Error e) { // out of memory, or a mapped file failed
      return failed(exchange, e, bound);
    } finally {
      counts().leave(1);
    }
  }

  private void getAsync(
      Exchange exchange, byte[] key, @Nullable Projection fields, Conditions conditions) {
    CompletableFuture<byte @Nullable []> later;
    Lease lease = null;
    BoundLookup bound = null;
    try {
      lease = set.acquire();
      facts(lease.database());
      bound = bound(lease, key, fields, conditions);
      Reply unread = bound.replyWithoutValue();
      if (unread != null) {
        lease.close();
        counts().leave(1);
        exchange.complete(unread);
        return;
      }
      later = lease.database().getAsync(key, exchange.memory());
    } catch (RequestRefusedException e) {
      lease.close();
      counts().leave(1);
      exchange.complete(e.reply());
      return;
    } catch (RuntimeException | Error e) {
      later = CompletableFuture.failedFuture(e);
    }
    Lease held = lease;
    BoundLookup answered = bound;
    var unused =
        later.whenComplete(
            (value, failure) -> {
              if (held != null) {
                held.close();
              }
              counts().leave(1);
              exchange.complete(
                  failure == null && answered != null
                      ? found(value, answered, exchange)
                      : failed(exchange, failure, answered));
            });
  }

  /** Handles every exception here: one thrown in a future's callback would be lost. */
  private Reply found(byte @Nullable [] value, BoundLookup bound, Exchange exchange) {
    try {
      return reply(value, bound, exchange.memory());
    } catch (NoRoomException full) {
      return full(exchange);
    } catch (RuntimeException | Error e) {
      requests.failed(exchange, e);
      exchange.memory().settle(0);
      return Reply.FAILED.with(bound.by.header());
    }
  }

  private static Reply full(Exchange exchange) {
    exchange.memory().settle(0);
    return Reply.FULL;
  }

  /** Returns the answer. From then on the memory held equals the answer's length. */
  private Reply reply(byte @Nullable [] value, BoundLookup bound, HeldMemory.Share memory) {
    memory.settle(value == null ? 0 : value.length);
    Reply reply = build(value, bound, memory);
    memory.settle(reply.body().length);
    counts().found(value == null ? 0 : 1, value == null ? 1 : 0);
    return reply;
  }

  private Reply build(byte @Nullable [] value, BoundLookup bound, HeldMemory.Share memory) {
    if (value == null) {
      return Reply.ABSENT.with(bound.by.headers(Identity.tagOfAbsence(bound.tag)));
    }
    String headers = bound.by.headers(bound.tag);
    Reply instead = bound.conditions.insteadOf(bound.tag, headers);
    if (instead != null) {
      return instead;
    }
    if (bound.rows != null) {
      return row(value, bound.rows, bound.by, headers, memory);
    }
    if (bound.fields == null) {
      return new Reply(200, type(), headers, value);
    }
    try {
      return new Reply(200, MediaType.JSON, headers, bound.fields.project(value, memory::reserve));
    } catch (NotJsonException e) {
      return Reply.error(
          400, "the value is not a JSON object, so it has no fields", bound.by.header());
    }
  }

  private static Reply row(
      byte[] value, RowForm rows, Identity by, String headers, HeldMemory.Share memory) {
    JsonBuffer out = new JsonBuffer();
    out.use(memory::reserve);
    try {
      new RowJson(rows).write(value, 0, value.length, out);
      return new Reply(200, MediaType.JSON, headers, out.copy());
    } catch (BadRowException e) {
      return Reply.error(500, notARow(e), by.header());
    }
  }

  /** Returns the answer if the data set is not served any more. */
  static Reply removed(DataSetRemovedException e) {
    return Reply.error(404, String.valueOf(e.getMessage()));
  }

  private Reply misdirected(Exchange exchange, WrongShardException e, @Nullable BoundLookup bound) {
    exchange.memory().settle(0);
    Reply reply = placement.misdirected(e);
    return bound == null ? reply : reply.with(bound.by.header());
  }

  private Reply failed(Exchange exchange, Throwable failure, @Nullable BoundLookup bound) {
    Throwable cause =
        failure instanceof CompletionException && failure.getCause() != null
            ? failure.getCause()
            : failure;
    exchange.memory().settle(0);
    if (cause instanceof MemoryBudgetExceededException) {
      return Reply.FULL;
    }
    if (cause instanceof WrongShardException e) {
      return misdirected(exchange, e, bound);
    }
    if (cause instanceof DataSetRemovedException e) {
      return removed(e);
    }
    counts().error(1);
    requests.failed(exchange, cause);
    return bound == null ? Reply.FAILED : Reply.FAILED.with(bound.by.header());
  }
}
