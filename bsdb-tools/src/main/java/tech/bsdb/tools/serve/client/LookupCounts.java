package tech.bsdb.tools.serve.client;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

/** Counts lookups, and bounds those in flight. Thread-safe. */
public final class LookupCounts {
  private final LongAdder hits = new LongAdder();
  private final LongAdder misses = new LongAdder();
  private final LongAdder errors = new LongAdder();
  private final List<LookupCounts> parts = new CopyOnWriteArrayList<>();
  private final AtomicInteger inFlight;
  private final int maxInFlight;

  /**
   * Starts counting.
   *
   * @param maxInFlight maximum lookups in flight
   */
  public LookupCounts(int maxInFlight) {
    this(maxInFlight, new AtomicInteger());
  }

  private LookupCounts(int maxInFlight, AtomicInteger inFlight) {
    this.maxInFlight = maxInFlight;
    this.inFlight = inFlight;
  }

  /** Returns new counts that remain part of these; lookups in flight are bounded together. */
  public LookupCounts part() {
    LookupCounts part = new LookupCounts(maxInFlight, inFlight);
    parts.add(part);
    return part;
  }

  /** Whether {@link #enter} would not admit a lookup. */
  public boolean isFull() {
    int now = inFlight.get();
    return now >= maxInFlight && now > 0;
  }

  /** Admits lookups unless too many are in flight; after admission, call {@link #leave}. */
  public boolean enter(int count) {
    int now = inFlight.addAndGet(count);
    if (now > maxInFlight && now > count) {
      inFlight.addAndGet(-count);
      return false;
    }
    return true;
  }

  /** Readmits lookups that left while waiting for the client. */
  public void enterAgain(int count) {
    inFlight.addAndGet(count);
  }

  /** Ends admitted lookups. */
  public void leave(int count) {
    inFlight.addAndGet(-count);
  }

  /** Counts lookups that were answered. */
  public void found(long hit, long missed) {
    if (hit != 0) {
      hits.add(hit);
    }
    if (missed != 0) {
      misses.add(missed);
    }
  }

  /** Counts lookups that failed. */
  public void error(long keys) {
    errors.add(keys);
  }

  /** Returns the numbers of keys found ("hits"), absent ("misses") and failed ("errors"). */
  public Map<String, Long> byOutcome() {
    Map<String, Long> counts = new LinkedHashMap<>();
    counts.put("hits", hits.sum());
    counts.put("misses", misses.sum());
    counts.put("errors", errors.sum());
    parts.forEach(
        part ->
            part.byOutcome().forEach((outcome, keys) -> counts.merge(outcome, keys, Long::sum)));
    return counts;
  }

  /** Returns the number of lookups in progress. */
  public int inFlight() {
    return inFlight.get();
  }
}
