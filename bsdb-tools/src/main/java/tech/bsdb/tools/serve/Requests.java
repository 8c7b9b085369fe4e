package tech.bsdb.tools.serve;

import io.prometheus.metrics.core.metrics.Histogram;
import java.time.Instant;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.cli.Console;
import tech.bsdb.tools.serve.client.FailureReports;
import tech.bsdb.tools.serve.client.LookupCounts;

/** Counts HTTP requests. Thread-safe. */
final class Requests {
  private final LongAdder[] byStatus = new LongAdder[600];
  private final LongAdder begun = new LongAdder();
  private final LongAdder done = new LongAdder();
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
    for (int status = 100; status < byStatus.length; status++) {
      byStatus[status] = new LongAdder();
    }
  }

  /** Returns counters that nobody reads, for the admin listener. */
  static Requests uncounted(Console console) {
    Histogram ignored = Histogram.builder().name("administration").classicOnly().build();
    return new Requests(
        new LookupCounts(Integer.MAX_VALUE),
        new FailureReports(console),
        new Latencies(ignored),
        null);
  }

  /** Called when a request's head has been read. */
  void began() {
    begun.increment();
  }

  /** Called when a request has been answered. */
  void ended(Exchange exchange, int status, long bodyBytes) {
    long nanos = System.nanoTime() - exchange.beganNanos();
    byStatus[status].increment();
    done.increment();
    latencies.record(nanos);
    if (log != null) {
      log.add(Instant.now(), exchange, status, bodyBytes, nanos);
    }
  }

  /** Called when a few requests for keys have been answered at once, which are not logged. */
  void answered(int present, int absent, long nanos) {
    int all = present + absent;
    begun.add(all);
    byStatus[200].add(present);
    byStatus[404].add(absent);
    done.add(all);
    for (int i = 0; i < all; i++) {
      latencies.record(nanos);
    }
  }

  /** Whether each answered request is logged. */
  boolean areLogged() {
    return log != null;
  }

  /** Called for requests whose connection ended before they were answered. */
  void abandoned(int requests) {
    done.add(requests);
  }

  /** Reports a failure that is not a client's fault. */
  void failed(@Nullable Exchange exchange, Throwable cause) {
    failures.failed(
        exchange == null ? "" : exchange.method() + " " + FailureReports.printable(exchange.uri()),
        cause);
  }

  /** Returns the counts of lookups. */
  LookupCounts lookups() {
    return lookups;
  }

  /** Returns the number of answered requests by status. */
  Map<Integer, Long> byStatus() {
    Map<Integer, Long> counts = new TreeMap<>();
    for (int status = 100; status < byStatus.length; status++) {
      long count = byStatus[status].sum();
      if (count != 0) {
        counts.put(status, count);
      }
    }
    return counts;
  }

  /** Returns the number of requests read and not yet answered. */
  long inFlight() {
    long ended = done.sum();
    return Math.max(0, begun.sum() - ended);
  }

  Latencies latencies() {
    return latencies;
  }
}
