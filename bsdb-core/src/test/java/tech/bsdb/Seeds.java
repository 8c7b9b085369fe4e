package tech.bsdb;

import java.util.SplittableRandom;

/** Random generators whose seed is printed, and replayed with {@code -Dbsdb.seed=}. */
public final class Seeds {
  private Seeds() {}

  /** A generator for the test of that name. */
  public static SplittableRandom random(String test) {
    long seed = Long.getLong("bsdb.seed", System.nanoTime());
    System.out.println(test + ": replay with -Dbsdb.seed=" + seed);
    return new SplittableRandom(seed);
  }
}
