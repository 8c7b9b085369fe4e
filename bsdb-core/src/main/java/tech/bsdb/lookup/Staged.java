package tech.bsdb.lookup;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import tech.bsdb.data.Found;
import tech.bsdb.hash.Signature;
import tech.bsdb.io.Extent;

/**
 * Keys of a batch that are looked up together in files in memory, stage by stage: all signatures,
 * then what is read first for all keys, and so on, to the values. Within a stage no key waits for
 * another, so that the processor overlaps many cache misses, which single lookups incur one after
 * the other. {@link Locator#stage} is a stage of some keys. Not thread-safe.
 */
final class Staged {
  /** Few enough keys that what one stage touches is still cached in the next. */
  static final int MOST = 256;

  /** The last stage of {@link Locator#stage}, which notes the values. */
  static final int VALUES = 5;

  /** With more databases, few keys share one, and sorting costs more than it saves. */
  private static final int MOST_SORTED = 32;

  private static final KeyBatch NONE = new KeyBatch();

  private final Route route;

  /** The working memory of lookups that are not finished in stages. */
  final Session session;

  /** For each key the halves of its signature. */
  final long[] highs = new long[MOST];

  final long[] lows = new long[MOST];

  /** For each key where the next stage reads; {@link Locator#ABSENT} if the key is absent. */
  final long[] places = new long[MOST];

  /** Memory of a stage. */
  final long[] scratch = new long[MOST];

  /** For each key the directory entry of its bin, in packed databases. */
  final int[] entries = new int[MOST];

  /** The numbers of the keys in the batch, in the order of their databases. */
  private final int[] numbers = new int[MOST];

  /* Runs of keys of the same database. A stage loads the state of a locator once per run. */
  private final int[] databases = new int[MOST];
  private final int[] ends = new int[MOST];
  private int runs;

  /** For each key the number of its database, and for each database the place of its next key. */
  private final int[] owners = new int[MOST];

  private final int[] next;
  private KeyBatch batch = NONE;

  /** Creates stages of lookups in the databases of a route, for one session. */
  Staged(Route route, Session session) {
    this.route = route;
    this.session = session;
    this.next = new int[route.databases() + 1];
  }

  /** Looks up all keys of a batch. */
  void run(KeyBatch keys) throws IOException {
    batch = keys;
    try {
      runAll(keys);
    } finally {
      batch = NONE;
    }
  }

  private void runAll(KeyBatch keys) throws IOException {
    for (int from = 0; from < keys.size(); from += MOST) {
      int count = Math.min(MOST, keys.size() - from);
      arrange(from, count);
      for (int i = 0; keys.isPlaced() && i < count; i++) {
        places[i] = keys.place(numbers[i]);
      }
      for (int stage = keys.isPlaced() ? VALUES - 1 : 0; stage <= VALUES; stage++) {
        int start = 0;
        for (int run = 0; run < runs; run++) {
          route.locator(databases[run]).stage(stage, this, start, ends[run]);
          start = ends[run];
        }
      }
    }
  }

  /** Orders keys by database, and finds the runs. */
  private void arrange(int from, int count) throws IOException {
    int most = route.databases();
    runs = 0;
    if (most > 1 && most <= MOST_SORTED) {
      Arrays.fill(next, 0);
      for (int i = 0; i < count; i++) {
        owners[i] = route.number(batch.key(from + i));
        next[owners[i] + 1]++;
      }
      for (int i = 0; i < most; i++) {
        next[i + 1] += next[i];
        if (next[i + 1] > next[i]) {
          addRun(i, next[i + 1]);
        }
      }
      for (int i = 0; i < count; i++) {
        numbers[next[owners[i]]++] = from + i;
      }
      return;
    }
    int last = 0;
    for (int i = 0; i < count; i++) {
      numbers[i] = from + i;
      int own = route.number(batch.key(from + i));
      if (i > 0 && own != last) {
        addRun(last, i);
      }
      last = own;
    }
    addRun(last, count);
  }

  private void addRun(int database, int end) {
    databases[runs] = database;
    ends[runs++] = end;
  }

  /** The key in a place. */
  byte[] key(int place) {
    return batch.key(numbers[place]);
  }

  /** Computes the signatures of keys. */
  void sign(Locator locator, int from, int to) {
    Signature signature = session.signature;
    for (int i = from; i < to; i++) {
      locator.sign(key(i), signature);
      highs[i] = signature.high;
      lows[i] = signature.low;
    }
  }

  /**
   * Notes what a search for a key in a page of memory has found.
   *
   * @param found see {@link Found}
   * @return false if the search could not tell
   */
  boolean isNoted(int place, ByteBuffer page, long found) throws IOException {
    if (found >= 0) {
      note(place, batch.destination().take(page, Found.offset(found), Found.length(found)));
    } else if (found == Found.ABSENT) {
      note(place, null);
    }
    return found != Found.UNCLEAR;
  }

  /** Makes the final read of a key's lookup, and notes the value. */
  void read(Locator locator, int place, long finalRead) throws IOException {
    Extent extent = session.last;
    locator.locate(locator.reads() - 1, finalRead, extent);
    extent.read();
    note(place, locator.value(finalRead, key(place), extent, batch.destination(), session.scratch));
  }

  /** Notes the value that has just been put into the batch; null if the key is absent. */
  void note(int place, byte @Nullable [] array) {
    batch.note(numbers[place], array);
  }
}
