package tech.bsdb;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Merges that are killed at random moments: the target is that of one merge or the next, never a
 * part, and the base is as it was.
 */
@Tag("nightly")
@Timeout(value = 60, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class KilledMergeTest {
  private static final int RECORDS = 3000;

  private static final List<BuildOptions> KINDS =
      List.of(
          BuildOptions.defaults().withLayout(Layout.PACKED).withDataFiles(2).withFilterBits(8),
          BuildOptions.defaults().withLayout(Layout.BLOCKED).withOrderedKeys(true),
          BuildOptions.defaults().withLayout(Layout.PACKED).withShards(3).withOrderedKeys(true),
          BuildOptions.defaults().withLayout(Layout.COMPRESSED).withShards(2));

  @TempDir Path directory;

  private final SplittableRandom random = Seeds.random("KilledMergeTest");
  private final Truth truth = BuildMain.truth(0, RECORDS);

  @Test
  void theTargetIsWholeAndTheBaseServes() throws Exception {
    for (BuildOptions options : KINDS) {
      kill(options, 2);
    }
  }

  @Tag("long")
  @Test
  void aThousandTimes() throws Exception {
    for (BuildOptions options : KINDS) {
      kill(options, 250);
    }
  }

  private void kill(BuildOptions options, int times) throws Exception {
    Path base = directory.resolve("base");
    Path target = directory.resolve("target");
    truth.build(base, options.withOverwrite(true));
    List<String> before = Leaks.tree(base);
    for (int i = 0; i < times; i++) {
      long seed = random.nextLong(1L << 40);
      long last = kill(base, target, seed);
      long found = seedOf(target);
      assertThat(found).isBetween(last, last + 1);
      Database.verify(target, (done, total) -> {});
      Database.verify(base, (done, total) -> {});
      assertThat(Leaks.tree(base)).isEqualTo(before);
      Path expected = directory.resolve("expected");
      merge(base, expected, found);
      assertThat(Leaks.tree(target)).containsAll(Leaks.tree(expected));
      for (String name : Leaks.tree(expected)) {
        if (Files.isRegularFile(expected.resolve(name))) {
          assertThat(target.resolve(name)).hasSameBinaryContentAs(expected.resolve(name));
        }
      }
      merge(base, target, found + 10); // removes what the killed one left
      merge(base, expected, found + 10);
      assertThat(Leaks.tree(target)).isEqualTo(Leaks.tree(expected));
    }
  }

  private void merge(Path base, Path target, long seed) throws Exception {
    try (Database database = Database.open(base);
        DatabaseBuilder builder =
            DatabaseBuilder.from(
                database,
                target,
                BuildOptions.of(database).withOverwrite(true),
                (stage, done, total) -> {})) {
      MergeMain.change(builder, truth, seed);
      builder.finish();
    }
  }

  private static long seedOf(Path target) throws Exception {
    try (Database database = Database.open(target)) {
      return Long.parseLong(new String(database.get(Truth.utf8("the seed")), UTF_8));
    }
  }

  /**
   * Runs merges in another process, kills it, and returns the seed of the last that it finished.
   */
  private long kill(Path base, Path target, long seed) throws Exception {
    Process process =
        Fork.start(
            MergeMain.class,
            base.toString(),
            target.toString(),
            String.valueOf(seed),
            "100000",
            String.valueOf(RECORDS));
    try (BufferedReader output =
        new BufferedReader(new InputStreamReader(process.getInputStream(), UTF_8))) {
      assertThat(output.readLine()).isEqualTo(String.valueOf(seed));
      TimeUnit.MICROSECONDS.sleep(random.nextInt(random.nextBoolean() ? 400_000 : 40_000));
      process
          .toHandle()
          .destroyForcibly(); // unlike the process's own method it leaves the output readable
      process.waitFor();
      long last = seed;
      for (String line = output.readLine(); line != null; line = output.readLine()) {
        assertThat(line).doesNotStartWith("failed");
        last = Long.parseLong(line);
      }
      StartedBuilds.age(directory);
      return last;
    }
  }
}
