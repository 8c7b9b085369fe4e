package tech.bsdb.tools.serve;

import java.io.IOException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import tech.bsdb.store.Lease;
import tech.bsdb.tools.serve.batch.AnswerLines;
import tech.bsdb.tools.serve.batch.Projection;
import tech.bsdb.tools.serve.batch.Projection.NotJsonException;
import tech.bsdb.tools.serve.batch.RequestRefusedException;
import tech.bsdb.tools.serve.client.HeldMemory;

/** The value of one key, which is looked up at once or asynchronously. */
final class KeyLookup implements Action {
  private final KeyRoutes routes;
  private final Lookups lookups;
  private final Exchange exchange;
  private final byte[] key;
  private final @Nullable Projection fields;
  private final Conditions conditions;
  private @Nullable Lease lease;
  private @Nullable Served by;
  private @Nullable AnswerLines writer;
  private String tag = "";

  /**
   * An answer to a request.
   *
   * @param fields the fields to keep of the value; null for all
   */
  KeyLookup(
      KeyRoutes routes,
      Exchange exchange,
      byte[] key,
      @Nullable Projection fields,
      Conditions conditions) {
    this.routes = routes;
    this.lookups = routes.lookups();
    this.exchange = exchange;
    this.key = key;
    this.fields = fields;
    this.conditions = conditions;
  }

  @Override
  public boolean overlaps() {
    return lookups.overlap();
  }

  @Override
  public @Nullable KeyRoutes plainRoutes() {
    boolean plain = fields == null && conditions.equals(Conditions.NONE) && !lookups.async;
    return plain ? routes : null;
  }

  @Override
  public void start(Exchange started) {
    if (!lookups.counts().enter(1)) {
      exchange.complete(Reply.BUSY);
      return;
    }
    byte[] value = null;
    Throwable failure = null;
    try {
      Lease leased = lookups.acquire();
      lease = leased;
      Served served = lookups.served(leased);
      by = served;
      exchange.version = served.version().name;
      conditions.check(served);
      writer = fields == null && served.isVerbatim() ? null : served.lines(fields);
      tag = served.tag(key, fields);
      if (!conditions.clientHas(tag)) {
        if (lookups.async) {
          var unused = leased.database().getAsync(key, exchange.memory).whenComplete(this::answer);
          return;
        }
        value = leased.database().get(key, exchange.memory);
      }
    } catch (RequestRefusedException | IOException | RuntimeException | Error e) {
      failure = e; // the client's, or out of memory, or a mapped file failed
    }
    answer(value, failure);
  }

  /** Handles every exception: one thrown in a future's callback would be lost. */
  private void answer(byte @Nullable [] value, @Nullable Throwable failure) {
    Reply reply;
    try {
      reply =
          failure == null
              ? reply(Objects.requireNonNull(by), value)
              : lookups.failed(exchange, failure, by, 1, Reply.FAILED);
    } catch (RuntimeException | Error e) {
      reply = lookups.failed(exchange, e, by, 1, Reply.FAILED);
    }
    if (lease != null) {
      lease.close();
    }
    lookups.counts().leave(1);
    exchange.complete(reply);
  }

  /** Returns the answer. From then on the memory held equals the answer's length. */
  private Reply reply(Served served, byte @Nullable [] value) {
    if (conditions.clientHas(tag)) {
      return Reply.unchanged(served.headers(tag)); // not read
    }
    HeldMemory.Share memory = exchange.memory;
    memory.settle(value == null ? 0 : value.length);
    Reply reply =
        value == null
            ? Reply.ABSENT.with(served.headers(Served.tagOfAbsence(tag)))
            : found(served, value);
    memory.settle(reply.body().length);
    int hits = value == null ? 0 : 1;
    lookups.counts().found(hits, 1 - hits);
    exchange.lookedUp(hits, 1 - hits);
    return reply;
  }

  private Reply found(Served served, byte[] value) {
    String headers = served.headers(tag);
    Reply instead = conditions.insteadOf(tag, headers);
    if (instead != null) {
      return instead;
    }
    AnswerLines lines = writer;
    if (lines == null) {
      return new Reply(200, served.type(), headers, value);
    }
    try {
      lines.out().use(exchange.memory::reserve);
      lines.writeValue(value);
      return new Reply(200, MediaType.JSON, headers, lines.out().copy());
    } catch (NotJsonException e) {
      return served.rows() != null
          ? Reply.error(500, e.getMessage(), served.header())
          : Reply.error(
              400, "the value is not a JSON object, so it has no fields", served.header());
    }
  }
}
