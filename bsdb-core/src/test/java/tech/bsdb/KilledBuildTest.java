package tech.bsdb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
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
 * Builds that are killed at random moments: the target is the old database or the new one, never a
 * part.
 */
@Timeout(value = 20, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class KilledBuildTest {
  private static final int RECORDS = 2000;

  @TempDir Path directory;

  private final SplittableRandom random = Seeds.random("KilledBuildTest");

  @Test
  void theOldOrTheNewIsThere() throws Exception {
    for (int i = 0; i < Rounds.of(1); i++) {
      killOverwriting(i);
    }
  }

  @Tag("nightly")
  @Test
  void aNewTargetIsWholeOrAbsent() throws Exception {
    for (int i = 0; i < 4; i++) {
      killFresh(i);
    }
  }

  @Tag("nightly")
  @Test
  void theOldSetOrTheNewIsThere() throws Exception {
    for (int i = 0; i < 6; i++) {
      killSets(i);
    }
  }

  @Tag("long")
  @Test
  void manyTimes() throws Exception {
    for (int i = 0; i < 150; i++) {
      killOverwriting(i);
      killFresh(i);
      killSets(i);
    }
  }

  private static String layout(int i) {
    return List.of("blocked", "compressed", "packed", "packed_compressed").get(i % 4);
  }

  /**
   * Runs builds in another process, kills it, and returns the seed of the last build that it said
   * was finished.
   */
  private long kill(Path target, String layout, int shards, long seed)
      throws IOException, InterruptedException {
    Process process =
        Fork.start(
            BuildMain.class,
            target.toString(),
            layout,
            String.valueOf(RECORDS),
            String.valueOf(seed),
            "100000",
            String.valueOf(shards));
    try (BufferedReader output =
        new BufferedReader(
            new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
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

  private void killOverwriting(int i) throws Exception {
    Path target = directory.resolve("db");
    long seed = random.nextLong(1L << 40);
    long last = kill(target, layout(i), 1, seed);
    assertThat(holds(target, last) || holds(target, last + 1))
        .as("it is that of %s or the next", last)
        .isTrue();
    Truth next = BuildMain.truth(seed - 1, 100);
    next.build(target, BuildOptions.defaults().withOverwrite(true));
    next.check(target);
    assertThat(Leaks.tree(directory)).as("stale files after the next build").hasSize(4);
  }

  /** Sets of shards overwrite each other; the next build is a single database or another set. */
  private void killSets(int i) throws Exception {
    Path target = directory.resolve("set");
    long seed = random.nextLong(1L << 40);
    long last = kill(target, layout(i), 3, seed);
    assertThat(holds(target, last, 3) || holds(target, last + 1, 3))
        .as("it is that of %s or the next", last)
        .isTrue();
    int shards = 1 + i % 3;
    Truth next = BuildMain.truth(seed - 1, 100);
    BuildOptions options = BuildOptions.defaults().withOverwrite(true).withShards(shards);
    next.build(target, options.withThreads(1));
    Database.verify(target, (done, total) -> {});
    try (Database database = Database.open(target)) {
      next.checkGets(database);
    }
    int files = shards == 1 ? 3 : 1 + 4 * shards; // of each shard, and its directory
    assertThat(Leaks.tree(directory)).as("stale files after the next build").hasSize(1 + files);
  }

  private static boolean holds(Path target, long seed) throws IOException {
    return holds(target, seed, 1);
  }

  private static boolean holds(Path target, long seed, int shards) throws IOException {
    Database.verify(target, (done, total) -> {});
    Truth truth = BuildMain.truth(seed, RECORDS);
    try (Database database = Database.open(target)) {
      if (database.get(truth.records().get(0).key()) == null) {
        return false;
      }
      truth.checkGets(database);
      assertThat(database.statistics().records()).isEqualTo(RECORDS);
      assertThat(database.statistics().shards()).isEqualTo(shards);
      if (shards == 1) { // otherwise in another order
        truth.checkScan(database);
      }
      return true;
    }
  }

  private void killFresh(int i) throws Exception {
    long seed = random.nextLong(1L << 40);
    long last = kill(directory.resolve("fresh-SEED"), layout(i), 1, seed);
    for (long each = seed; each <= last + 1; each++) {
      Path target = directory.resolve("fresh-" + each);
      if (Files.exists(target) || each <= last) {
        if (!holds(target, each)) {
          fail(target + " is of another build");
        }
      }
    }
    Path unfinished = directory.resolve("fresh-" + (last + 1));
    if (!Files.exists(unfinished)) {
      BuildMain.truth(last + 1, 10).build(unfinished, BuildOptions.defaults());
    } else {
      BuildMain.truth(last + 1, 10).build(unfinished, BuildOptions.defaults().withOverwrite(true));
    }
    List<String> left =
        Leaks.tree(directory).stream().filter(name -> name.startsWith(".")).toList();
    assertThat(left).as("stale files after the next build").isEmpty();
    for (long each = seed; each <= last + 1; each++) {
      Path target = directory.resolve("fresh-" + each);
      assertThat(Leaks.tree(target)).allMatch(name -> name.endsWith(".bsdb"));
      for (Path file : Golden.files(target)) {
        Files.delete(file);
      }
      Files.delete(target);
    }
  }
}
