package tech.bsdb.tools.serve;

import io.prometheus.metrics.core.metrics.Histogram;
import java.time.Instant;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.cli.Console;

/** Counts requests and lookups. Thread-safe. */
final class Requests {
  private static final long QUIET_NANOS = 1_000_000_000L;

  private final LongAdder[] byStatus = new LongAdder[600];
  private final LongAdder begun = new LongAdder();
  private final LongAdder done = new LongAdder();
  private final LongAdder hits = new LongAdder();
  private final LongAdder misses = new LongAdder();
  private final LongAdder errors = new LongAdder();
  private final AtomicInteger lookups = new AtomicInteger();
  private final AtomicLong saidNanos = new AtomicLong(System.nanoTime() - QUIET_NANOS);
  private final LongAdder unsaid = new LongAdder();
  private final int maxLookups;
  private final HeldMemory memory;
  private final Latencies latencies;
  private final Console console;
  private final @Nullable AccessLog log;

  /**
   * Starts counting.
   *
   * @param maxLookups maximum lookups in flight
   * @param memory the memory held for clients
   */
  Requests(
      int maxLookups,
      HeldMemory memory,
      Latencies latencies,
      Console console,
      @Nullable AccessLog log) {
    this.maxLookups = maxLookups;
    this.memory = memory;
    this.latencies = latencies;
    this.console = console;
    this.log = log;
    for (int status = 100; status < byStatus.length; status++) {
      byStatus[status] = new LongAdder();
    }
  }

  /** Returns counters that nobody reads, for the admin listener. */
  static Requests uncounted(Console console) {
    Histogram ignored = Histogram.builder().name("administration").classicOnly().build();
    HeldMemory memory = new HeldMemory(Long.MAX_VALUE / 2, Long.MAX_VALUE / 2);
    return new Requests(Integer.MAX_VALUE, memory, new Latencies(ignored), console, null);
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

  /** Called for requests whose connection ended before they were answered. */
  void abandoned(int requests) {
    done.add(requests);
  }

  /** Reports a failure that is not a client's fault, at most once a second. */
  void failed(@Nullable Exchange exchange, Throwable cause) {
    long now = System.nanoTime();
    long said = saidNanos.get();
    if (now - said < QUIET_NANOS || !saidNanos.compareAndSet(said, now)) {
      unsaid.increment();
      return;
    }
    long more = unsaid.sumThenReset();
    String what =
        exchange == null ? "" : exchange.method() + " " + printable(exchange.uri()) + ": ";
    console.say(
        "bsdb serve: "
            + what
            + cause
            + (more == 0 ? "" : " (and " + more + " more failures before it)"));
  }

  static String printable(String uri) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < Math.min(uri.length(), 500); i++) {
      char c = uri.charAt(i);
      if (c > ' ' && c < 127 && c != '"' && c != '\\') {
        text.append(c);
      } else {
        text.append(String.format("\\x%02x", (int) c));
      }
    }
    return text.toString();
  }

  /** Admits lookups unless too many are in flight; after admission, call {@link #leave}. */
  boolean enter(int count) {
    int now = lookups.addAndGet(count);
    if (now > maxLookups && now > count) {
      lookups.addAndGet(-count);
      return false;
    }
    return true;
  }

  /** Readmits lookups that left while waiting for the client. */
  void enterAgain(int count) {
    lookups.addAndGet(count);
  }

  /** Ends admitted lookups. */
  void leave(int count) {
    lookups.addAndGet(-count);
  }

  /** Returns the memory held for clients. */
  HeldMemory memory() {
    return memory;
  }

  void found(long hit, long missed) {
    if (hit != 0) {
      hits.add(hit);
    }
    if (missed != 0) {
      misses.add(missed);
    }
  }

  void error(long keys) {
    errors.add(keys);
  }

  long hits() {
    return hits.sum();
  }

  long misses() {
    return misses.sum();
  }

  long errors() {
    return errors.sum();
  }

  int lookupsInFlight() {
    return lookups.get();
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
