package tech.bsdb;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

/**
 * How much of a test runs: the short form by default, and with {@code -Dbsdb.rounds=10}, as at
 * night, every case.
 */
public final class Rounds {
  private static final double FACTOR = Double.parseDouble(System.getProperty("bsdb.rounds", "1"));

  private Rounds() {}

  /** So many rounds of the short form, times the factor {@code bsdb.rounds}; at least one. */
  public static int of(int count) {
    return (int) Math.max(1, Math.min(Integer.MAX_VALUE, Math.round(count * FACTOR)));
  }

  /** Whether nothing is left out. */
  public static boolean everything() {
    return FACTOR >= 10;
  }

  /** The first where nothing is left out, else the second: for sizes rather than rounds. */
  public static int longOrShort(int inTheLongForm, int inTheShortForm) {
    return everything() ? inTheLongForm : inTheShortForm;
  }

  /**
   * All of them, or a sample of {@code of(count)} that is spread evenly and has the first and the
   * last, if it has two.
   */
  public static <T> List<T> some(List<T> all, int count, SplittableRandom random) {
    int size = of(count);
    if (everything() || size >= all.size()) {
      return all;
    }
    List<T> some = new ArrayList<>();
    for (int i = 0; i < size; i++) {
      int from = (int) ((long) i * all.size() / size);
      int to = (int) ((i + 1L) * all.size() / size);
      int at = from + random.nextInt(to - from);
      boolean edge = size > 1 && (i == 0 || i == size - 1);
      some.add(all.get(!edge ? at : i == 0 ? 0 : all.size() - 1));
    }
    return some;
  }

  /** All numbers from the first to the last, or a sample as that of a list. */
  public static List<Integer> some(int first, int last, int count, SplittableRandom random) {
    return some(IntStream.rangeClosed(first, last).boxed().toList(), count, random);
  }
}
