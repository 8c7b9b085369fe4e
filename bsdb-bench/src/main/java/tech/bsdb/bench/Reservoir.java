package tech.bsdb.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * A uniform random sample of the offered records. The same records and seed give the same sample.
 * Not thread-safe.
 */
final class Reservoir {
  private final int capacity;
  private final SplittableRandom random;
  private final List<byte[]> keys = new ArrayList<>();
  private final @Nullable List<byte[]> values;
  private long offered;

  /**
   * Creates an empty sample.
   *
   * @param capacity the maximum number of records it holds
   * @param withValues whether to hold the values too
   */
  Reservoir(int capacity, boolean withValues, long seed) {
    this.capacity = capacity;
    this.random = new SplittableRandom(seed);
    this.values = withValues ? new ArrayList<>() : null;
  }

  /**
   * Offers the next record.
   *
   * @return its place, for {@link #put}, or -1 if it is not sampled
   */
  int offer() {
    long number = offered++;
    if (number < capacity) {
      return (int) number;
    }
    long place = random.nextLong(number + 1);
    return place < capacity ? (int) place : -1;
  }

  /** Stores a record, without copying its arrays, at the place returned by {@link #offer}. */
  void put(int place, byte[] key, byte[] value) {
    put(keys, place, key);
    if (values != null) {
      put(values, place, value);
    }
  }

  private static void put(List<byte[]> list, int place, byte[] bytes) {
    if (place == list.size()) {
      list.add(bytes);
    } else {
      list.set(place, bytes);
    }
  }

  /**
   * Returns the sample in shuffled order, with keys copied so that neighbours are adjacent in
   * memory.
   */
  KeySet shuffled(String source) {
    int count = keys.size();
    int[] order = new int[count];
    for (int i = 0; i < count; i++) {
      int other = random.nextInt(i + 1);
      order[i] = order[other];
      order[other] = i;
    }
    byte[][] present = new byte[count][];
    byte[][] expected = values == null ? null : new byte[count][];
    for (int i = 0; i < count; i++) {
      present[i] = keys.get(order[i]).clone();
      if (values != null && expected != null) {
        expected[i] = values.get(order[i]);
      }
    }
    return new KeySet(present, expected, new byte[0][], offered, source);
  }
}
