package tech.bsdb.lookup;

import java.io.IOException;
import org.jspecify.annotations.Nullable;
import tech.bsdb.data.Values;
import tech.bsdb.format.Page;
import tech.bsdb.io.Extent;

/** Looks up one key at a time in a session, reading one extent after another. Thread-safe. */
final class SingleLookups {
  /** Marks a value that would have to be read; compared by identity. */
  static final byte[] NOT_IN_MEMORY = new byte[0];

  private final Route route;
  private final int last;

  /** Creates lookups. */
  SingleLookups(Route route) {
    this.route = route;
    this.last = route.any().reads() - 1;
  }

  /**
   * Looks up a key.
   *
   * @param values receives the value
   * @return the array that holds the value, or null if the key is absent
   */
  byte @Nullable [] get(byte[] key, Probe probe, Values values) throws IOException {
    Locator locator = route.of(key);
    long place = locator.start(key, probe.signature);
    if (place == Locator.ABSENT) {
      return null;
    }
    Extent extent = probe.before;
    for (int read = 0; read < last; read++) {
      locator.locate(read, place, extent);
      extent.read();
      place = locator.next(place, extent);
    }
    extent = probe.last;
    locator.locate(last, place, extent);
    long bytes = (long) extent.count() * Page.SIZE;
    if (bytes > Values.UNASKED) {
      values.reserve(bytes);
    }
    extent.read();
    return locator.value(place, key, extent, values, probe.scratch);
  }

  /**
   * Like {@link #get} if all pages it needs were read before and are thus probably in memory, else
   * {@link #NOT_IN_MEMORY}.
   */
  byte @Nullable [] getIfTouched(byte[] key, Probe probe) throws IOException {
    Locator locator = route.of(key);
    long place = locator.start(key, probe.signature);
    if (place == Locator.ABSENT) {
      return null;
    }
    for (int read = 0; read < last; read++) {
      locator.locate(read, place, probe.before);
      if (!probe.before.touched()) {
        return NOT_IN_MEMORY;
      }
      probe.before.read();
      place = locator.next(place, probe.before);
    }
    locator.locate(last, place, probe.last);
    if (!probe.last.touched()) {
      return NOT_IN_MEMORY;
    }
    probe.last.read();
    return locator.holds(place, probe.last)
        ? locator.value(place, key, probe.last, probe.values, probe.scratch)
        : NOT_IN_MEMORY;
  }
}
