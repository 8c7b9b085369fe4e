package tech.bsdb.tools.serve;

import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import tech.bsdb.Database;
import tech.bsdb.Statistics;
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

/** Looks keys up in the version that is served. Thread-safe. */
final class Lookups {
  /** Where no value is longer, look-ups of one connection may overlap. */
  private static final long OVERLAPPING = 64 << 10;

  private final ReloadingDatabase database;
  private final Requests requests;
  private final Executor workers;
  private final boolean async;
  private final ValueKind values;
  private volatile @Nullable Facts facts;

  /** What is known of an open database, found once. */
  private record Facts(
      Database of, boolean mapped, long longestValue, @Nullable RowForm rows, String badSchema) {}

  /**
   * Looks up in a database.
   *
   * @param workers runs what would hold an event loop up
   * @param async whether single look-ups are asynchronous
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
   * Whether look-ups of one connection may overlap. Large values must not: each is in memory before
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

  /** Whether look-ups in a database take no longer than memory does. */
  boolean mapped(Database of) {
    return facts(of).mapped;
  }

  /** The longest value of a database. */
  long longestValue(Database of) {
    return facts(of).longestValue;
  }

  private Facts facts(Database of) {
    Facts known = facts;
    if (known == null || known.of != of) {
      Statistics statistics = of.statistics();
      boolean mapped = !statistics.engine().matches("(?s).*\\b(buffered|direct|io_uring)\\b.*");
      known = facts(of, mapped, statistics);
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
   * @throws RefusedException if it does not have those columns, or no schema that can be read
   */
  private @Nullable RowForm rows(Database of, @Nullable Projection fields) throws RefusedException {
    if (!json()) {
      return null;
    }
    Facts known = facts(of);
    if (!known.badSchema.isEmpty()) {
      throw new RefusedException(Reply.error(500, known.badSchema));
    }
    RowForm rows = known.rows;
    if (rows == null || fields == null) {
      return rows;
    }
    try {
      return rows.withColumns(fields.names());
    } catch (IllegalArgumentException e) {
      throw new RefusedException(Reply.error(400, "fields: " + e.getMessage()));
    }
  }

  /**
   * What writes the lines of a batch.
   *
   * @throws RefusedException if the database does not have those columns, or no schema that can be
   *     read
   */
  AnswerWriter lines(Database of, @Nullable Projection fields) throws RefusedException {
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

  /** Answers an exchange with the value of a key. */
  void get(Exchange exchange, byte[] key, @Nullable Projection fields) {
    if (!requests.enter(1)) {
      exchange.complete(Reply.BUSY);
    } else if (async) {
      getLater(exchange, key, fields);
    } else {
      exchange.complete(getNow(exchange, key, fields));
    }
  }

  private Reply getNow(Exchange exchange, byte[] key, @Nullable Projection fields) {
    try (Lease lease = database.acquire()) {
      RowForm rows = rows(lease.database(), fields);
      return reply(lease.database().get(key), fields, rows);
    } catch (RefusedException e) {
      return e.reply();
    } catch (IOException | RuntimeException | Error e) { // errors of memory, or of a mapped file
      return failed(exchange, e);
    } finally {
      requests.leave(1);
    }
  }

  private void getLater(Exchange exchange, byte[] key, @Nullable Projection fields) {
    CompletableFuture<byte @Nullable []> later;
    Lease lease = null;
    RowForm rows = null;
    try {
      lease = database.acquire();
      facts(lease.database());
      rows = rows(lease.database(), fields);
      later = lease.database().getAsync(key);
    } catch (RefusedException e) {
      lease.close();
      requests.leave(1);
      exchange.complete(e.reply());
      return;
    } catch (RuntimeException | Error e) {
      later = CompletableFuture.failedFuture(e);
    }
    Lease held = lease;
    RowForm form = rows;
    var unused =
        later.whenComplete(
            (value, failure) -> {
              if (held != null) {
                held.close();
              }
              requests.leave(1);
              exchange.complete(
                  failure == null
                      ? found(value, fields, form, exchange)
                      : failed(exchange, failure));
            });
  }

  /** What is thrown in a future's callback is heard by nobody. */
  private Reply found(
      byte @Nullable [] value,
      @Nullable Projection fields,
      @Nullable RowForm rows,
      Exchange exchange) {
    try {
      return reply(value, fields, rows);
    } catch (RuntimeException | Error e) {
      requests.failed(exchange, e);
      return Reply.FAILED;
    }
  }

  private Reply reply(
      byte @Nullable [] value, @Nullable Projection fields, @Nullable RowForm rows) {
    if (value == null) {
      requests.found(0, 1);
      return Reply.ABSENT;
    }
    requests.found(1, 0);
    if (rows != null) {
      return row(value, rows);
    }
    if (fields == null) {
      return Reply.of(200, json() ? MediaType.JSON : MediaType.BYTES, value);
    }
    try {
      return Reply.of(200, MediaType.JSON, fields.project(value));
    } catch (NotJsonException e) {
      return Reply.error(400, "the value is no JSON object, so that it has no fields");
    }
  }

  private static Reply row(byte[] value, RowForm rows) {
    JsonBuffer out = new JsonBuffer();
    try {
      new RowJson(rows).write(value, 0, value.length, out);
      return Reply.of(200, MediaType.JSON, out.copy());
    } catch (BadRowException e) {
      return Reply.error(500, noRow(e));
    }
  }

  private Reply failed(Exchange exchange, Throwable failure) {
    Throwable cause =
        failure instanceof CompletionException && failure.getCause() != null
            ? failure.getCause()
            : failure;
    requests.error(1);
    requests.failed(exchange, cause);
    return Reply.FAILED;
  }
}
