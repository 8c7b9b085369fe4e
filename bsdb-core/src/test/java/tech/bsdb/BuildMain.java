package tech.bsdb;

import java.nio.file.Path;
import java.util.SplittableRandom;

/**
 * Builds a database in a process of its own, that tests can limit or kill: TARGET LAYOUT RECORDS
 * FIRST-SEED BUILDS [SHARDS]. Each build has a seed of its own, which replaces {@code SEED} in the
 * target's name; without that, each build overwrites the one before. Prints the seed of each build
 * that was finished.
 */
public final class BuildMain {
  private BuildMain() {}

  /** The records of the build with that seed. */
  static Truth truth(long seed, int records) {
    return Truth.random(new SplittableRandom(seed), records, 60);
  }

  /** Runs the builds. */
  public static void main(String[] args) {
    BuildOptions options =
        BuildOptions.defaults()
            .withLayout(Layout.valueOf(args[1].toUpperCase(java.util.Locale.ROOT)))
            .withDictionaryBytes(4096)
            .withDataFiles(2)
            .withOrderedKeys(true)
            .withOverwrite(true)
            .withShards(args.length > 5 ? Integer.parseInt(args[5]) : 1);
    int records = Integer.parseInt(args[2]);
    long seed = Long.parseLong(args[3]);
    for (int i = 0; i < Integer.parseInt(args[4]); i++) {
      Path target = Path.of(args[0].replace("SEED", String.valueOf(seed + i)));
      try {
        truth(seed + i, records).build(target, options);
        System.out.println(seed + i);
      } catch (Exception e) {
        System.out.println("failed: " + e);
      }
      System.out.flush();
    }
  }
}
