package tech.bsdb.lookup;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tech.bsdb.format.RecordFrame;
import tech.bsdb.hash.Signature;
import tech.bsdb.io.ShownFile;
import tech.bsdb.io.Touches;

/**
 * The first steps of up to {@link #MOST} lookups, taken together: all signatures, then all places
 * of first reads. Within a step no key waits for another, so the processor overlaps the cache
 * misses of the hash function: a step collects what the next one will read, and then {@link Touches
 * all of it is loaded together}. Keys are numbered by their place in {@link Runs}. Not thread-safe.
 */
public final class Starts {
  /** Few enough keys that what one step touches is still cached in the next. */
  public static final int MOST = 128;

  private final Signature signature = new Signature();
  private final boolean[] tooLong = new boolean[MOST];
  private final long[] highs = new long[MOST];
  private final long[] lows = new long[MOST];
  private final long[] places = new long[MOST];
  private final boolean touchesStart;
  private final Touches touches;

  /** For each database the number of its locator's first file in {@link #touches}. */
  private final int[] firsts;

  /** Creates starts of lookups with one locator, which is that of database 0. */
  public Starts(Locator locator) {
    this(List.of(locator));
  }

  /** Creates starts of lookups with the locators of a route. */
  public Starts(Route route) {
    this(route.locators());
  }

  private Starts(List<Locator> locators) {
    List<@Nullable ShownFile> files = new ArrayList<>();
    this.firsts = new int[locators.size()];
    for (int i = 0; i < firsts.length; i++) {
      firsts[i] = files.size();
      files.addAll(locators.get(i).shown());
    }
    this.touches = new Touches(files, 2 * MOST);
    this.touchesStart = locators.get(0).touchesStart();
  }

  /** What the next step will read, to be loaded before. */
  public Touches touches() {
    return touches;
  }

  /** The number of the first file of a database's locator in {@link #touches}. */
  public int first(int database) {
    return firsts[database];
  }

  /**
   * Computes the signature of the key in a place.
   *
   * @param locator the locator of its run
   * @param database the number of the database of its run
   * @param place 0 to {@link #MOST} - 1
   */
  public void sign(Locator locator, int database, int place, byte[] key) {
    tooLong[place] = key.length > RecordFrame.MAX_KEY;
    locator.sign(key, signature);
    long high = signature.high;
    highs[place] = high;
    lows[place] = signature.low;
    locator.aimStart(high, touches, firsts[database]);
  }

  /**
   * Finds the places of the first reads of all keys, and collects what these reads will find in
   * {@link #touches}.
   */
  public void find(Runs runs) throws IOException {
    touches.load();
    if (touchesStart) {
      long sum = 0;
      for (int run = 0; run < runs.count(); run++) {
        sum += touchStarts(runs.locator(run), runs.start(run), runs.end(run));
      }
      Touches.keep(sum);
    }
    for (int run = 0; run < runs.count(); run++) {
      findCandidates(runs.locator(run), runs.database(run), runs.start(run), runs.end(run));
    }
    touches.load();
    for (int run = 0; run < runs.count(); run++) {
      confirm(runs.locator(run), runs.database(run), runs.start(run), runs.end(run));
    }
  }

  /** The same for keys 0 to {@code count} - 1, which are one run of database 0. */
  public void find(Locator locator, int count) throws IOException {
    touches.load();
    Touches.keep(touchStarts(locator, 0, count));
    findCandidates(locator, 0, 0, count);
    touches.load();
    confirm(locator, 0, 0, count);
  }

  private long touchStarts(Locator locator, int from, int to) {
    long sum = 0;
    for (int i = from; i < to; i++) {
      sum += locator.touchStart(highs[i]);
    }
    return sum;
  }

  private void findCandidates(Locator locator, int database, int from, int to) throws IOException {
    int first = firsts[database];
    for (int i = from; i < to; i++) {
      long high = highs[i];
      long candidate = tooLong[i] ? Locator.ABSENT : locator.candidate(high, lows[i]);
      places[i] = candidate;
      if (candidate != Locator.ABSENT) {
        locator.aimCandidate(candidate, high, touches, first);
      }
    }
  }

  private void confirm(Locator locator, int database, int from, int to) throws IOException {
    int first = firsts[database];
    for (int i = from; i < to; i++) {
      if (places[i] != Locator.ABSENT) {
        long place = locator.confirm(places[i], highs[i], lows[i]);
        places[i] = place;
        if (place != Locator.ABSENT) {
          locator.aim(0, place, touches, first);
        }
      }
    }
  }

  /** Whether the key in a place is certainly absent. */
  public boolean isAbsent(int place) {
    return places[place] == Locator.ABSENT;
  }

  /** The places of the first reads, or {@link Locator#ABSENT}, by the places of the keys. */
  public long[] places() {
    return places;
  }
}
