package tech.bsdb.tools.serve.client;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/** Counts lookups, and bounds those in flight. Thread-safe. */
public final class LookupCounts {
  private final LongAdder hits = new LongAdder();
  private final LongAdder misses = new LongAdder();
  private final LongAdder errors = new LongAdder();
  private final AtomicInteger inFlight;
  private final int maxInFlight;
  private final @Nullable LookupCounts whole;

  /**
   * Starts counting.
   *
   * @param maxInFlight maximum lookups in flight
   */
  public LookupCounts(int maxInFlight) {
    this.maxInFlight = maxInFlight;
    this.inFlight = new AtomicInteger();
    this.whole = null;
  }

  /** Counts a part of lookups; the whole counts them, too. Those in flight are the whole's. */
  public LookupCounts(LookupCounts whole) {
    this.maxInFlight = whole.maxInFlight;
    this.inFlight = whole.inFlight;
    this.whole = whole;
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
    if (whole != null) {
      whole.found(hit, missed);
    }
    if (hit != 0) {
      hits.add(hit);
    }
    if (missed != 0) {
      misses.add(missed);
    }
  }

  /** Counts lookups that failed. */
  public void error(long keys) {
    if (whole != null) {
      whole.error(keys);
    }
    errors.add(keys);
  }

  /** Returns the numbers of keys found ("hits"), absent ("misses") and failed ("errors"). */
  public Map<String, Long> byOutcome() {
    Map<String, Long> counts = new LinkedHashMap<>();
    counts.put("hits", hits.sum());
    counts.put("misses", misses.sum());
    counts.put("errors", errors.sum());
    return counts;
  }

  /** Returns the number of lookups in progress. */
  public int inFlight() {
    return inFlight.get();
  }
}
