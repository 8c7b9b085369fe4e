package tech.bsdb.lookup;

import java.util.Arrays;
import tech.bsdb.error.WrongShardException;

/**
 * The keys of a batch in runs with the same locator. The steps of many lookups then load a locator
 * once a run: the loads behind it are what a step overlaps, and to find their addresses through
 * another locator for each key took a third of the time of a batch. Not thread-safe.
 */
public final class Runs {
  /** With more databases, few keys of a batch share one, and sorting costs more than it saves. */
  private static final int MOST_SORTED = 32;

  private final Route route;
  private final boolean sorted;
  private final int[] databases = new int[Starts.MOST];
  private final int[] keys = new int[Starts.MOST];
  private final int[] ends = new int[Starts.MOST];
  private final int[] ofRuns =
      new int[Starts.MOST]; // not locators: storing a reference costs a barrier
  private final int[] places;
  private int count;

  /** Creates runs without keys. */
  public Runs(Route route) {
    this.route = route;
    this.sorted = route.databases() > 1 && route.databases() <= MOST_SORTED;
    this.places = new int[sorted ? route.databases() + 1 : 0];
    for (int i = 0; i < keys.length; i++) {
      keys[i] = i;
    }
  }

  /** Finds the keys of a batch. */
  @FunctionalInterface
  public interface Keys {
    /** The key with the given number. */
    byte[] key(int number);
  }

  /**
   * Puts keys 0 to {@code size} - 1 in runs.
   *
   * @param size 1 to {@link Starts#MOST}
   * @throws WrongShardException if a key belongs to a shard that was not opened
   */
  public void arrange(Keys batch, int size) throws WrongShardException {
    for (int i = 0; i < size; i++) {
      databases[i] = route.number(batch.key(i));
    }
    count = 0;
    if (sorted) {
      sort(size);
    } else {
      divide(size);
    }
  }

  private void addRun(int database, int end) {
    ofRuns[count] = database;
    ends[count++] = end;
  }

  /** Puts the keys in runs as they come. */
  private void divide(int size) {
    int last = 0;
    for (int i = 1; i < size; i++) {
      if (databases[i] != databases[last]) {
        addRun(databases[last], i);
        last = i;
      }
    }
    addRun(databases[last], size);
  }

  /**
   * Sorts the numbers of the keys by database, so that there is a run for each; within a database
   * they stay in order.
   */
  private void sort(int size) {
    Arrays.fill(places, 0);
    for (int i = 0; i < size; i++) {
      places[databases[i] + 1]++;
    }
    for (int i = 1; i < places.length; i++) {
      places[i] += places[i - 1];
    }
    for (int i = 0; i < size; i++) {
      keys[places[databases[i]]++] = i;
    }
    int start = 0;
    for (int database = 0; database < route.databases(); database++) {
      int end = places[database]; // where the next database starts
      if (end > start) {
        addRun(database, end);
        start = end;
      }
    }
  }

  /** The number of the key in a place, 0 to the number of keys - 1. */
  public int key(int place) {
    return keys[place];
  }

  /** The number of runs. */
  public int count() {
    return count;
  }

  /** The locator of the keys of a run. */
  public Locator locator(int run) {
    return route.locator(ofRuns[run]);
  }

  /** The number of the database of the keys of a run. */
  public int database(int run) {
    return ofRuns[run];
  }

  /** The place of the first key of a run. */
  public int start(int run) {
    return run == 0 ? 0 : ends[run - 1];
  }

  /** The place behind the last key of a run. */
  public int end(int run) {
    return ends[run];
  }
}
