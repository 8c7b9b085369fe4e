package tech.bsdb.tools.serve;

import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import tech.bsdb.Database;
import tech.bsdb.Statistics;
import tech.bsdb.error.MemoryBudgetExceededException;
import tech.bsdb.store.Lease;
import tech.bsdb.store.ReloadingDatabase;
import tech.bsdb.tools.rows.BadRowException;
import tech.bsdb.tools.rows.RowForm;
import tech.bsdb.tools.rows.RowJson;
import tech.bsdb.tools.rows.RowSchema;
import tech.bsdb.tools.serve.batch.AnswerLines;
import tech.bsdb.tools.serve.batch.AnswerWriter;
import tech.bsdb.tools.serve.batch.NotJsonException;
import tech.bsdb.tools.serve.batch.Projection;
import tech.bsdb.tools.text.JsonBuffer;
import tech.bsdb.tools.text.NoRoomException;

/** Looks keys up in the version that is served. Thread-safe. */
final class Lookups {
  /** Where no value is longer, lookups of one connection may overlap. */
  private static final long OVERLAPPING = 64 << 10;

  private final ReloadingDatabase database;
  private final Requests requests;
  private final Executor workers;
  private final boolean async;
  private final ValueKind values;
  private volatile @Nullable Facts facts;
  private volatile @Nullable Identity identity;

  /** What is known of an open database, found once. */
  private record Facts(
      Database of, boolean mapped, long longestValue, @Nullable RowForm rows, String badSchema) {}

  /**
   * Looks up in a database.
   *
   * @param workers runs what would hold an event loop up
   * @param async whether single lookups are asynchronous
   * @param values what values are taken for
   */
  Lookups(
      ReloadingDatabase database,
      Requests requests,
      Executor workers,
      boolean async,
      ValueKind values) {
    this.database = database;
    this.requests = requests;
    this.workers = workers;
    this.async = async;
    this.values = values;
  }

  boolean async() {
    return async;
  }

  /**
   * Whether lookups of one connection may overlap. Large values must not: each is in memory before
   * the client has taken the one in front of it.
   */
  boolean overlap() {
    Facts known = facts;
    return async && (known == null || known.longestValue <= OVERLAPPING);
  }

  boolean json() {
    return values != ValueKind.BYTES;
  }

  Requests requests() {
    return requests;
  }

  Executor workers() {
    return workers;
  }

  Lease acquire() {
    return database.acquire();
  }

  /** Whether lookups in a database take no longer than memory does. */
  boolean mapped(Database of) {
    return facts(of).mapped;
  }

  /** The longest value of a database. */
  long longestValue(Database of) {
    return facts(of).longestValue;
  }

  /** Which version a lease is of. */
  Identity identity(Lease lease) {
    Identity known = identity;
    if (known == null || !known.isOf(lease.database())) {
      known = Identity.of(lease, values);
      identity = known;
    }
    return known;
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
    try {
      RowSchema schema = json() ? RowSchema.stored(statistics) : null;
      RowForm rows = schema == null ? null : values.form(schema);
      return new Facts(of, mapped, longest, rows, "");
    } catch (IllegalArgumentException e) {
      return new Facts(of, mapped, longest, null, "the stored schema is none: " + e.getMessage());
    }
  }

  /**
   * How the rows of a database are answered as JSON, or null where values are not rows, or are not
   * answered so.
   *
   * @throws RequestRefusedException if it does not have those columns, or no schema that can be
   *     read
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
   * What writes the lines of a batch.
   *
   * @throws RequestRefusedException if the database does not have those columns, or no schema that
   *     can be read
   */
  AnswerWriter lines(Database of, @Nullable Projection fields) throws RequestRefusedException {
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
            throw new NotJsonException(noRow(e));
          }
        });
  }

  private static String noRow(BadRowException e) {
    return "the value is no row of the database's schema: " + e.getMessage();
  }

  /** Answers with the value of a key. */
  void get(Exchange exchange, byte[] key, @Nullable Projection fields, Conditions conditions) {
    if (!requests.enter(1)) {
      exchange.complete(Reply.BUSY);
    } else if (async) {
      getLater(exchange, key, fields, conditions);
    } else {
      exchange.complete(getNow(exchange, key, fields, conditions));
    }
  }

  /**
   * A lookup, and the version that answers it.
   *
   * @param tag the entity tag of the value, if it is there
   */
  private record Asked(
      Identity by,
      String tag,
      Conditions conditions,
      @Nullable Projection fields,
      @Nullable RowForm rows) {
    /** What answers without a look at the value; null where it must be read. */
    @Nullable Reply unread() {
      return conditions.isKnown(tag) ? Reply.unchanged(by.headers(tag)) : null;
    }
  }

  private Asked asked(Lease lease, byte[] key, @Nullable Projection fields, Conditions conditions)
      throws RequestRefusedException {
    Identity by = identity(lease);
    conditions.check(by);
    try {
      RowForm rows = rows(lease.database(), fields);
      return new Asked(by, by.tag(key, fields), conditions, fields, rows);
    } catch (RequestRefusedException e) {
      throw new RequestRefusedException(e.reply().with(by.header()));
    }
  }

  private Reply getNow(
      Exchange exchange, byte[] key, @Nullable Projection fields, Conditions conditions) {
    Asked asked = null;
    try (Lease lease = database.acquire()) {
      asked = asked(lease, key, fields, conditions);
      Reply unread = asked.unread();
      return unread != null
          ? unread
          : reply(lease.database().get(key, exchange.memory()), asked, exchange.memory());
    } catch (RequestRefusedException e) {
      return e.reply();
    } catch (MemoryBudgetExceededException | NoRoomException full) {
      return full(exchange);
    } catch (IOException | RuntimeException | Error e) { // errors of memory, or of a mapped file
      return failed(exchange, e, asked);
    } finally {
      requests.leave(1);
    }
  }

  private void getLater(
      Exchange exchange, byte[] key, @Nullable Projection fields, Conditions conditions) {
    CompletableFuture<byte @Nullable []> later;
    Lease lease = null;
    Asked asked = null;
    try {
      lease = database.acquire();
      facts(lease.database());
      asked = asked(lease, key, fields, conditions);
      Reply unread = asked.unread();
      if (unread != null) {
        lease.close();
        requests.leave(1);
        exchange.complete(unread);
        return;
      }
      later = lease.database().getAsync(key, exchange.memory());
    } catch (RequestRefusedException e) {
      lease.close();
      requests.leave(1);
      exchange.complete(e.reply());
      return;
    } catch (RuntimeException | Error e) {
      later = CompletableFuture.failedFuture(e);
    }
    Lease held = lease;
    Asked answered = asked;
    var unused =
        later.whenComplete(
            (value, failure) -> {
              if (held != null) {
                held.close();
              }
              requests.leave(1);
              exchange.complete(
                  failure == null && answered != null
                      ? found(value, answered, exchange)
                      : failed(exchange, failure, answered));
            });
  }

  /** What is thrown in a future's callback is heard by nobody. */
  private Reply found(byte @Nullable [] value, Asked asked, Exchange exchange) {
    try {
      return reply(value, asked, exchange.memory());
    } catch (NoRoomException full) {
      return full(exchange);
    } catch (RuntimeException | Error e) {
      requests.failed(exchange, e);
      exchange.memory().settle(0);
      return Reply.FAILED.with(asked.by.header());
    }
  }

  private static Reply full(Exchange exchange) {
    exchange.memory().settle(0);
    return Reply.FULL;
  }

  /** The answer; what was held on the way to the value is the answer's length from then on. */
  private Reply reply(byte @Nullable [] value, Asked asked, HeldMemory.Share memory) {
    memory.settle(value == null ? 0 : value.length);
    Reply reply = made(value, asked, memory);
    memory.settle(reply.body().length);
    requests.found(value == null ? 0 : 1, value == null ? 1 : 0);
    return reply;
  }

  private Reply made(byte @Nullable [] value, Asked asked, HeldMemory.Share memory) {
    if (value == null) {
      return Reply.ABSENT.with(asked.by.headers(Identity.tagOfAbsence(asked.tag)));
    }
    String headers = asked.by.headers(asked.tag);
    Reply instead = asked.conditions.insteadOf(asked.tag, headers);
    if (instead != null) {
      return instead;
    }
    if (asked.rows != null) {
      return row(value, asked.rows, asked.by, headers, memory);
    }
    if (asked.fields == null) {
      return new Reply(200, json() ? MediaType.JSON : MediaType.BYTES, headers, value);
    }
    try {
      return new Reply(200, MediaType.JSON, headers, asked.fields.project(value, memory::reserve));
    } catch (NotJsonException e) {
      return Reply.error(
          400, "the value is no JSON object, so that it has no fields", asked.by.header());
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
      return Reply.error(500, noRow(e), by.header());
    }
  }

  private Reply failed(Exchange exchange, Throwable failure, @Nullable Asked asked) {
    Throwable cause =
        failure instanceof CompletionException && failure.getCause() != null
            ? failure.getCause()
            : failure;
    exchange.memory().settle(0);
    if (cause instanceof MemoryBudgetExceededException) {
      return Reply.FULL;
    }
    requests.error(1);
    requests.failed(exchange, cause);
    return asked == null ? Reply.FAILED : Reply.FAILED.with(asked.by.header());
  }
}
