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
import tech.bsdb.tools.serve.batch.NotJsonException;
import tech.bsdb.tools.serve.batch.Projection;

/** Looks keys up in the version that is served. Thread-safe. */
final class Lookups {
  /** Where no value is longer, look-ups of one connection may overlap. */
  private static final long OVERLAPPING = 64 << 10;

  private final ReloadingDatabase database;
  private final Requests requests;
  private final Executor workers;
  private final boolean async;
  private final boolean json;
  private volatile @Nullable Facts facts;

  /** What is known of an open database, found once. */
  private record Facts(Database of, boolean mapped, long longestValue) {}

  /**
   * Looks up in a database.
   *
   * @param workers runs what would hold an event loop up
   * @param async whether single look-ups are asynchronous
   * @param json whether values are JSON
   */
  Lookups(
      ReloadingDatabase database,
      Requests requests,
      Executor workers,
      boolean async,
      boolean json) {
    this.database = database;
    this.requests = requests;
    this.workers = workers;
    this.async = async;
    this.json = json;
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
    return json;
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
      known = new Facts(of, mapped, statistics.longestValue());
      facts = known;
    }
    return known;
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
      return reply(lease.database().get(key), fields);
    } catch (IOException | RuntimeException | Error e) { // errors of memory, or of a mapped file
      return failed(exchange, e);
    } finally {
      requests.leave(1);
    }
  }

  private void getLater(Exchange exchange, byte[] key, @Nullable Projection fields) {
    CompletableFuture<byte @Nullable []> later;
    Lease lease = null;
    try {
      lease = database.acquire();
      facts(lease.database());
      later = lease.database().getAsync(key);
    } catch (RuntimeException | Error e) {
      later = CompletableFuture.failedFuture(e);
    }
    Lease held = lease;
    var unused =
        later.whenComplete(
            (value, failure) -> {
              if (held != null) {
                held.close();
              }
              requests.leave(1);
              exchange.complete(
                  failure == null ? found(value, fields, exchange) : failed(exchange, failure));
            });
  }

  /** What is thrown in a future's callback is heard by nobody. */
  private Reply found(byte @Nullable [] value, @Nullable Projection fields, Exchange exchange) {
    try {
      return reply(value, fields);
    } catch (RuntimeException | Error e) {
      requests.failed(exchange, e);
      return Reply.FAILED;
    }
  }

  private Reply reply(byte @Nullable [] value, @Nullable Projection fields) {
    if (value == null) {
      requests.found(0, 1);
      return Reply.ABSENT;
    }
    requests.found(1, 0);
    if (fields == null) {
      return Reply.of(200, json ? MediaType.JSON : MediaType.BYTES, value);
    }
    try {
      return Reply.of(200, MediaType.JSON, fields.project(value));
    } catch (NotJsonException e) {
      return Reply.error(400, "the value is no JSON object, so that it has no fields");
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
