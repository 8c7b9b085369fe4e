package tech.bsdb.lookup;

import java.io.IOException;
import org.jspecify.annotations.Nullable;
import tech.bsdb.data.Values;
import tech.bsdb.error.WrongShardException;
import tech.bsdb.format.Page;
import tech.bsdb.io.Extent;
import tech.bsdb.io.Touches;

/** Looks up one key at a time, reading one extent after the other. Thread-safe. */
final class SingleLookups {
  /** Marks a value that would have to be read; compared by identity. */
  static final byte[] NOT_IN_MEMORY = new byte[0];

  private final Route route;
  private final int last;
  private final boolean shown;

  /**
   * Creates lookups.
   *
   * @param shown whether all reads show mapped or loaded memory
   */
  SingleLookups(Route route, boolean shown) {
    this.route = route;
    this.shown = shown;
    this.last = route.any().reads() - 1;
  }

  /**
   * Looks up a key.
   *
   * @param values receives the value
   * @return the array that holds the value, or null if the key is absent
   */
  byte @Nullable [] get(byte[] key, Probe probe, Values values) throws IOException {
    int database = route.number(key);
    Locator locator = route.locator(database);
    long place = locator.start(key, probe.signature);
    if (place == Locator.ABSENT) {
      return null;
    }
    Extent before = shown ? probe.before(database) : probe.before;
    for (int read = 0; read < last; read++) {
      locator.locate(read, place, before);
      before.read();
      place = locator.next(place, before);
    }
    return get(database, place, key, probe, values);
  }

  /** Prepares the final read. */
  private void locate(Locator locator, long place, Extent extent, Values values)
      throws IOException {
    locator.locate(last, place, extent);
    long bytes = (long) extent.count() * Page.SIZE;
    if (bytes > Values.UNASKED) {
      values.reserve(bytes);
    }
  }

  /** Makes the final read. */
  private byte @Nullable [] get(int database, long place, byte[] key, Probe probe, Values values)
      throws IOException {
    Locator locator = route.locator(database);
    Extent extent = shown ? probe.last(database) : probe.last;
    locate(locator, place, extent, values);
    extent.read();
    if (shown) {
      Touches.keep(locator.touchLikely(place, extent));
    }
    return locator.value(place, key, extent, values, probe.scratch);
  }

  /** The extent that shows the value of the key that {@link #get} has just found. */
  Extent lastOf(byte[] key, Probe probe) throws WrongShardException {
    return shown ? probe.last(route.number(key)) : probe.last;
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
