package tech.bsdb.lookup;

import java.io.IOException;
import org.jspecify.annotations.Nullable;
import tech.bsdb.io.Extent;
import tech.bsdb.io.Touches;

/**
 * Looks up many keys in files that are in memory, stage by stage: all signatures, all places of the
 * first reads, all places of the second reads, all values. Within a stage no key waits for another,
 * so that the processor overlaps many cache misses, which single lookups incur one after the other.
 * The stages take the keys in {@link Runs}; between two stages, what the second will read is loaded
 * for all keys in one loop. Not thread-safe.
 */
final class StagedLookups {
  private final boolean aimsTwice;
  private final boolean twoLines;
  private final int last;
  private final Runs runs;
  private final Starts starts;
  private final Touches touches;
  private final long[] places = new long[Starts.MOST];

  StagedLookups(Route route) {
    this.aimsTwice = route.any().aimsTwice();
    this.twoLines = route.any().fillsTwoLines();
    this.last = route.any().reads() - 1;
    this.runs = new Runs(route);
    this.starts = new Starts(route);
    this.touches = starts.touches();
  }

  /** Looks up all keys of a batch. */
  void run(KeyBatch batch, Probe probe) throws IOException {
    for (int from = 0; from < batch.size(); from += Starts.MOST) {
      run(batch, from, Math.min(Starts.MOST, batch.size() - from), probe);
    }
  }

  private void run(KeyBatch batch, int from, int count, Probe probe) throws IOException {
    touches.clear(); // an error may have left some
    runs.arrange(number -> batch.key(from + number), count);
    if (batch.isPlaced()) {
      for (int run = 0; run < runs.count(); run++) {
        aim(run, batch, from);
      }
      takeValues(places, batch, from, probe);
      return;
    }
    for (int run = 0; run < runs.count(); run++) {
      sign(run, batch, from);
    }
    starts.find(runs);
    long[] at = starts.places();
    for (int read = 0; read < last; read++) {
      touches.load();
      for (int run = 0; run < runs.count(); run++) {
        follow(run, read, at, probe);
      }
      at = places;
    }
    if (aimsTwice) {
      touches.load();
      for (int run = 0; run < runs.count(); run++) {
        aimAgain(run, at);
      }
    }
    takeValues(at, batch, from, probe);
  }

  /** Collects what the final reads will find, at places that are known. */
  private void aim(int run, KeyBatch batch, int from) throws IOException {
    Locator locator = runs.locator(run);
    int first = starts.first(runs.database(run));
    for (int i = runs.start(run), end = runs.end(run); i < end; i++) {
      long place = batch.place(from + runs.key(i));
      places[i] = place;
      locator.aim(last, place, touches, first);
    }
  }

  private void takeValues(long[] at, KeyBatch batch, int from, Probe probe) throws IOException {
    if (twoLines) {
      touches.loadTwo();
    } else {
      touches.load();
    }
    for (int run = 0; run < runs.count(); run++) {
      takeValues(run, at, batch, from, probe);
    }
  }

  private void sign(int run, KeyBatch batch, int from) {
    Locator locator = runs.locator(run);
    int database = runs.database(run);
    for (int i = runs.start(run), end = runs.end(run); i < end; i++) {
      starts.sign(locator, database, i, batch.key(from + runs.key(i)));
    }
  }

  /** Finds the places of the next reads, and collects what these will find. */
  private void follow(int run, int read, long[] at, Probe probe) throws IOException {
    Locator locator = runs.locator(run);
    int first = starts.first(runs.database(run));
    Extent extent = probe.before;
    for (int i = runs.start(run), end = runs.end(run); i < end; i++) {
      if (!starts.isAbsent(i)) {
        locator.locate(read, at[i], extent);
        extent.read();
        long place = locator.next(at[i], extent);
        places[i] = place;
        locator.aim(read + 1, place, touches, first);
      }
    }
  }

  private void aimAgain(int run, long[] at) {
    Locator locator = runs.locator(run);
    int first = starts.first(runs.database(run));
    for (int i = runs.start(run), end = runs.end(run); i < end; i++) {
      if (!starts.isAbsent(i)) {
        locator.aimAgain(at[i], touches, first);
      }
    }
  }

  private void takeValues(int run, long[] at, KeyBatch batch, int from, Probe probe)
      throws IOException {
    Locator locator = runs.locator(run);
    Extent extent = probe.last;
    boolean placed = batch.isPlaced();
    for (int i = runs.start(run); i < runs.end(run); i++) {
      int number = from + runs.key(i);
      byte @Nullable [] array = null;
      if (placed || !starts.isAbsent(i)) {
        locator.locate(last, at[i], extent);
        extent.read();
        array = locator.value(at[i], batch.key(number), extent, batch.destination(), probe.scratch);
      }
      batch.note(number, array);
    }
  }
}
