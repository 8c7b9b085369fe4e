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

/** What is counted of requests and lookups. Thread-safe. */
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
  private final int mostLookups;
  private final HeldMemory memory;
  private final Latencies latencies;
  private final Console console;
  private final @Nullable AccessLog log;

  /**
   * Begins to count.
   *
   * @param mostLookups lookups that may be in flight
   * @param memory what is held for clients
   */
  Requests(
      int mostLookups,
      HeldMemory memory,
      Latencies latencies,
      Console console,
      @Nullable AccessLog log) {
    this.mostLookups = mostLookups;
    this.memory = memory;
    this.latencies = latencies;
    this.console = console;
    this.log = log;
    for (int status = 100; status < byStatus.length; status++) {
      byStatus[status] = new LongAdder();
    }
  }

  /** Counts what nobody reads, for the administration. */
  static Requests uncounted(Console console) {
    Histogram ignored = Histogram.builder().name("administration").classicOnly().build();
    HeldMemory memory = new HeldMemory(Long.MAX_VALUE / 2, Long.MAX_VALUE / 2);
    return new Requests(Integer.MAX_VALUE, memory, new Latencies(ignored), console, null);
  }

  /** A request's head was read. */
  void began() {
    begun.increment();
  }

  /** A request was answered. */
  void ended(Exchange exchange, int status, long bodyBytes) {
    long nanos = System.nanoTime() - exchange.beganNanos();
    byStatus[status].increment();
    done.increment();
    latencies.record(nanos);
    if (log != null) {
      log.add(Instant.now(), exchange, status, bodyBytes, nanos);
    }
  }

  /** Requests whose connections ended before they were answered. */
  void abandoned(int requests) {
    done.add(requests);
  }

  /** Something failed that no client is to blame for; said once a second at the most. */
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

  /** Takes on lookups, unless too many are in flight; whoever is admitted calls {@link #leave}. */
  boolean enter(int count) {
    int now = lookups.addAndGet(count);
    if (now > mostLookups && now > count) {
      lookups.addAndGet(-count);
      return false;
    }
    return true;
  }

  /** Takes lookups on again that left because the client was to be waited for. */
  void enterAgain(int count) {
    lookups.addAndGet(count);
  }

  /** Ends lookups that were taken on. */
  void leave(int count) {
    lookups.addAndGet(-count);
  }

  /** What is held for clients. */
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

  /** Requests that were answered, by status. */
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

  /** Requests that were read and not answered yet. */
  long inFlight() {
    long ended = done.sum();
    return Math.max(0, begun.sum() - ended);
  }

  Latencies latencies() {
    return latencies;
  }
}
