package tech.bsdb.tools.serve;

import io.netty.handler.codec.http.HttpHeaders;
import java.time.Instant;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.cli.Console;
import tech.bsdb.tools.serve.client.FailureReports;
import tech.bsdb.tools.serve.client.Latencies;
import tech.bsdb.tools.serve.client.LookupCounts;
import tech.bsdb.tools.serve.client.LoopCounts;
import tech.bsdb.tools.serve.telemetry.RequestHead;
import tech.bsdb.tools.serve.telemetry.RequestSpan.Lookup;
import tech.bsdb.tools.serve.telemetry.Telemetry;
import tech.bsdb.tools.serve.telemetry.TraceParent;

/** Counts HTTP requests, on the event loops that answer them. Thread-safe. */
final class Requests {
  /** The number of the count of requests whose head has been read; statuses have their own. */
  private static final int BEGUN = 0;

  /** The number of the count of requests that were answered or given up. */
  private static final int DONE = 1;

  private static final int FIRST_STATUS = 100;

  private final LoopCounts counts = new LoopCounts(600);
  private final LookupCounts lookups;
  private final FailureReports failures;
  private final Latencies latencies;
  private final @Nullable AccessLog log;
  private final Telemetry telemetry;
  private final String scheme;

  /**
   * Starts counting.
   *
   * @param lookups counts the lookups that requests cause
   * @param scheme {@code http} or {@code https}
   */
  Requests(
      LookupCounts lookups,
      FailureReports failures,
      Latencies latencies,
      @Nullable AccessLog log,
      Telemetry telemetry,
      String scheme) {
    this.lookups = lookups;
    this.failures = failures;
    this.latencies = latencies;
    this.log = log;
    this.telemetry = telemetry;
    this.scheme = scheme;
  }

  /** Returns counters that nobody reads, for the admin listener. */
  static Requests uncounted(Console console) {
    return new Requests(
        new LookupCounts(Integer.MAX_VALUE),
        new FailureReports(console),
        new Latencies(),
        null,
        Telemetry.NONE,
        "http");
  }

  /** Called when a request's head has been read. */
  void began() {
    counts.add(BEGUN, 1);
  }

  /** Called when the route of a request is known, or that it has none. */
  void routed(Exchange exchange, HttpHeaders headers) {
    if (telemetry.isOn()) {
      exchange.span =
          telemetry.began(
              new RequestHead(
                  exchange.method,
                  scheme,
                  exchange.http10 ? "1.0" : "1.1",
                  exchange.route,
                  exchange.connection.client(),
                  headers::getAll));
      exchange.traceId = exchange.span.traceId();
    } else if (log != null) {
      exchange.traceId = TraceParent.traceId(headers.getAll(TraceParent.NAME));
    }
  }

  /** Called when a request has been answered. */
  void ended(Exchange exchange, int status, long bodyBytes) {
    long nanos = exchange.nanos();
    exchange.span.answered(
        status, nanos, new Lookup(exchange.version, exchange.found, exchange.absent));
    counts.add(status, 1);
    counts.add(DONE, 1);
    latencies.record(nanos, 1);
    if (log != null) {
      log.add(Instant.now(), exchange, status, bodyBytes, nanos);
    }
  }

  /** Called when a few requests for keys have been answered at once, which are not logged. */
  void answered(int present, int absent, long nanos) {
    int all = present + absent;
    counts.add(BEGUN, all);
    counts.add(200, present);
    counts.add(404, absent);
    counts.add(DONE, all);
    latencies.record(nanos, all);
  }

  /** Whether something is told of each request, besides counts. */
  boolean areTold() {
    return log != null || telemetry.isOn();
  }

  /** Called for a request whose connection ended before it was answered. */
  void abandoned(Exchange exchange) {
    counts.add(DONE, 1);
    exchange.span.abandoned(exchange.nanos());
  }

  /** Reports a failure that is not a client's fault. */
  void failed(@Nullable Exchange exchange, Throwable cause) {
    if (exchange == null) {
      failures.failed("", cause);
      return;
    }
    exchange.span.failed(cause);
    String trace = exchange.traceId.isEmpty() ? "" : " trace_id=" + exchange.traceId;
    failures.failed(exchange.method + " " + FailureReports.printable(exchange.uri) + trace, cause);
  }

  /** Returns the counts of lookups. */
  LookupCounts lookups() {
    return lookups;
  }

  /** Returns the number of answered requests by status. */
  Map<Integer, Long> byStatus() {
    long[] sums = counts.sums();
    Map<Integer, Long> byStatus = new TreeMap<>();
    for (int status = FIRST_STATUS; status < sums.length; status++) {
      if (sums[status] != 0) {
        byStatus.put(status, sums[status]);
      }
    }
    return byStatus;
  }

  /** Returns the number of requests read and not yet answered. */
  long inFlight() {
    long ended = counts.sum(DONE);
    return Math.max(0, counts.sum(BEGUN) - ended);
  }

  Latencies latencies() {
    return latencies;
  }
}
