package tech.bsdb.tools.serve;

import java.time.Instant;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.cli.Console;
import tech.bsdb.tools.serve.client.FailureReports;
import tech.bsdb.tools.serve.client.Latencies;
import tech.bsdb.tools.serve.client.LookupCounts;
import tech.bsdb.tools.serve.client.LoopCounts;

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

  /**
   * Starts counting.
   *
   * @param lookups counts the lookups that requests cause
   */
  Requests(
      LookupCounts lookups, FailureReports failures, Latencies latencies, @Nullable AccessLog log) {
    this.lookups = lookups;
    this.failures = failures;
    this.latencies = latencies;
    this.log = log;
  }

  /** Returns counters that nobody reads, for the admin listener. */
  static Requests uncounted(Console console) {
    return new Requests(
        new LookupCounts(Integer.MAX_VALUE), new FailureReports(console), new Latencies(), null);
  }

  /** Called when a request's head has been read. */
  void began() {
    counts.add(BEGUN, 1);
  }

  /** Called when a request has been answered. */
  void ended(Exchange exchange, int status, long bodyBytes) {
    long nanos = System.nanoTime() - exchange.beganNanos;
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

  /** Whether each answered request is logged. */
  boolean areLogged() {
    return log != null;
  }

  /** Called for requests whose connection ended before they were answered. */
  void abandoned(int requests) {
    counts.add(DONE, requests);
  }

  /** Reports a failure that is not a client's fault. */
  void failed(@Nullable Exchange exchange, Throwable cause) {
    failures.failed(
        exchange == null ? "" : exchange.method + " " + FailureReports.printable(exchange.uri),
        cause);
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
