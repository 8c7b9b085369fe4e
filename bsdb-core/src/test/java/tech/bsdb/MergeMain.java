package tech.bsdb;

import java.nio.file.Path;
import java.util.SplittableRandom;

/**
 * Merges in a process of its own, that tests can kill: BASE TARGET FIRST-SEED MERGES. Each merge
 * has a seed of its own and overwrites the result of the one before. Prints the seed of each merge
 * that was finished.
 */
public final class MergeMain {
  private MergeMain() {}

  /** Changes for a tenth of the base's records; each has a value that tells the seed. */
  static void change(DatabaseBuilder builder, Truth base, long seed) throws Exception {
    SplittableRandom random = new SplittableRandom(seed);
    for (int i = 0; i < base.records().size() / 10; i++) {
      byte[] key = base.records().get(random.nextInt(base.records().size())).key();
      if (random.nextInt(3) == 0) {
        builder.delete(key);
      } else {
        builder.add(key, Truth.utf8("seed " + seed));
      }
    }
    builder.add(Truth.utf8("the seed"), Truth.utf8("" + seed));
  }

  /** Runs the merges. */
  public static void main(String[] args) throws Exception {
    Truth truth = BuildMain.truth(0, Integer.parseInt(args[4]));
    long seed = Long.parseLong(args[2]);
    try (Database base = Database.open(Path.of(args[0]))) {
      BuildOptions options = BuildOptions.of(base).withOverwrite(true);
      for (int i = 0; i < Integer.parseInt(args[3]); i++) {
        try (DatabaseBuilder builder =
            DatabaseBuilder.from(base, Path.of(args[1]), options, (stage, done, total) -> {})) {
          change(builder, truth, seed + i);
          builder.finish();
          System.out.println(seed + i);
        } catch (Exception e) {
          System.out.println("failed: " + e);
        }
        System.out.flush();
      }
    }
  }
}
