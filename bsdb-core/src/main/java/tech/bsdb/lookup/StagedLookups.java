package tech.bsdb.lookup;

import java.io.IOException;
import org.jspecify.annotations.Nullable;
import tech.bsdb.io.Extent;
import tech.bsdb.locate.Locator;
import tech.bsdb.locate.Route;
import tech.bsdb.locate.Runs;
import tech.bsdb.locate.Starts;

/**
 * Looks up many keys in files that are in memory, stage by stage: all signatures, all places of the
 * first reads, all places of the second reads, all values. Within a stage no key waits for another,
 * so that the processor overlaps many cache misses, which single lookups incur one after the other.
 * The stages take the keys in {@link Runs}. Not thread-safe.
 */
final class StagedLookups {
  private final boolean touchesTwice;
  private final int last;
  private final Runs runs;
  private final Starts starts = new Starts();
  private final long[] places = new long[Starts.MOST];

  StagedLookups(Route route) {
    this.touchesTwice = route.any().touchesTwice();
    this.last = route.any().reads() - 1;
    this.runs = new Runs(route);
  }

  /** Looks up all keys of a batch. */
  void run(KeyBatch batch, Probe probe) throws IOException {
    for (int from = 0; from < batch.size(); from += Starts.MOST) {
      run(batch, from, Math.min(Starts.MOST, batch.size() - from), probe);
    }
  }

  private void run(KeyBatch batch, int from, int count, Probe probe) throws IOException {
    runs.arrange(number -> batch.key(from + number), count);
    for (int run = 0; run < runs.count(); run++) {
      for (int i = runs.start(run); i < runs.end(run); i++) {
        starts.sign(runs.locator(run), i, batch.key(from + runs.key(i)));
      }
    }
    starts.find(runs);
    long[] at = starts.places();
    for (int read = 0; read < last; read++) {
      touch(read, at);
      follow(read, at, probe);
      at = places;
    }
    touch(last, at);
    if (touchesTwice) {
      touchAgain(at);
    }
    for (int run = 0; run < runs.count(); run++) {
      takeValues(run, at, batch, from, probe);
    }
  }

  private void touch(int read, long[] at) throws IOException {
    long sum = 0;
    for (int run = 0; run < runs.count(); run++) {
      sum += starts.touch(runs.locator(run), read, at, runs.start(run), runs.end(run));
    }
    Starts.keep(sum);
  }

  /** Finds the places of the next reads. */
  private void follow(int read, long[] at, Probe probe) throws IOException {
    for (int run = 0; run < runs.count(); run++) {
      Locator locator = runs.locator(run);
      Extent extent = probe.before(runs.database(run));
      for (int i = runs.start(run); i < runs.end(run); i++) {
        if (!starts.isAbsent(i)) {
          locator.locate(read, at[i], extent);
          extent.read();
          places[i] = locator.next(at[i], extent);
        }
      }
    }
  }

  private void touchAgain(long[] at) throws IOException {
    long sum = 0;
    for (int run = 0; run < runs.count(); run++) {
      Locator locator = runs.locator(run);
      for (int i = runs.start(run); i < runs.end(run); i++) {
        if (!starts.isAbsent(i)) {
          sum += locator.touchAgain(at[i]);
        }
      }
    }
    Starts.keep(sum);
  }

  private void takeValues(int run, long[] at, KeyBatch batch, int from, Probe probe)
      throws IOException {
    Locator locator = runs.locator(run);
    Extent extent = probe.last(runs.database(run));
    for (int i = runs.start(run); i < runs.end(run); i++) {
      int number = from + runs.key(i);
      byte @Nullable [] array = null;
      if (!starts.isAbsent(i)) {
        locator.locate(last, at[i], extent);
        extent.read();
        array = locator.value(at[i], batch.key(number), extent, batch.destination(), probe.scratch);
      }
      batch.note(number, array);
    }
  }
}
