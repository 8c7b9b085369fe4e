package tech.bsdb.lookup;

import java.io.IOException;
import org.jspecify.annotations.Nullable;
import tech.bsdb.io.Extent;
import tech.bsdb.locate.Locator;
import tech.bsdb.locate.Route;
import tech.bsdb.locate.Starts;

/**
 * Looks up many keys in files that are in memory, stage by stage: all signatures, all places of the
 * first reads, all places of the second reads, all values. Within a stage no key waits for another,
 * so that the processor overlaps many cache misses, which single lookups incur one after the other.
 * Not thread-safe.
 */
final class StagedLookups {
  private final boolean touchesTwice;
  private final int last;
  private final Starts starts;
  private final long[] places = new long[Starts.MOST];

  StagedLookups(Route route) {
    this.touchesTwice = route.any().touchesTwice();
    this.last = route.any().reads() - 1;
    this.starts = new Starts(route);
  }

  /** Looks up all keys of a batch. */
  void run(KeyBatch batch, Probe probe) throws IOException {
    for (int from = 0; from < batch.size(); from += Starts.MOST) {
      run(batch, from, Math.min(Starts.MOST, batch.size() - from), probe);
    }
  }

  private void run(KeyBatch batch, int from, int count, Probe probe) throws IOException {
    for (int i = 0; i < count; i++) {
      starts.sign(i, batch.key(from + i));
    }
    starts.find(count);
    long[] at = starts.places();
    for (int read = 0; read < last; read++) {
      starts.touch(read, at, count);
      follow(read, at, count, probe.before);
      at = places;
    }
    starts.touch(last, at, count);
    if (touchesTwice) {
      touchAgain(at, count);
    }
    for (int i = 0; i < count; i++) {
      batch.note(
          from + i,
          starts.isAbsent(i) ? null : value(starts.locator(i), at[i], batch, from + i, probe));
    }
  }

  /** Finds the places of the next reads. */
  private void follow(int read, long[] at, int count, Extent extent) throws IOException {
    for (int i = 0; i < count; i++) {
      if (!starts.isAbsent(i)) {
        Locator locator = starts.locator(i);
        locator.locate(read, at[i], extent);
        extent.read();
        places[i] = locator.next(at[i], extent);
      }
    }
  }

  private void touchAgain(long[] at, int count) throws IOException {
    long sum = 0;
    for (int i = 0; i < count; i++) {
      if (!starts.isAbsent(i)) {
        sum += starts.locator(i).touchAgain(at[i]);
      }
    }
    Starts.keep(sum);
  }

  private byte @Nullable [] value(
      Locator locator, long place, KeyBatch batch, int number, Probe probe) throws IOException {
    locator.locate(last, place, probe.last);
    probe.last.read();
    return locator.value(place, batch.key(number), probe.last, batch.destination(), probe.scratch);
  }
}
