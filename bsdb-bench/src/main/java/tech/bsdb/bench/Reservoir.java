package tech.bsdb.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * A sample of records in which each of those that were offered is as likely as another; the same
 * records and seed give the same sample. Not thread-safe.
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
   * @param capacity the most records it holds
   * @param withValues whether the values are held too
   */
  Reservoir(int capacity, boolean withValues, long seed) {
    this.capacity = capacity;
    this.random = new SplittableRandom(seed);
    this.values = withValues ? new ArrayList<>() : null;
  }

  /**
   * Offers the next record.
   *
   * @return the place that it gets, for {@link #put}, or -1 where it is left out
   */
  int offer() {
    long number = offered++;
    if (number < capacity) {
      return (int) number;
    }
    long place = random.nextLong(number + 1);
    return place < capacity ? (int) place : -1;
  }

  /** Puts a record, whose arrays are not copied, at the place that {@link #offer} gave. */
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

  /** The sample in shuffled order, each key copied so that neighbours lie side by side. */
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
