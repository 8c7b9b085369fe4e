package tech.bsdb.lookup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tech.bsdb.BuildOptions;
import tech.bsdb.Database;
import tech.bsdb.Forgery;
import tech.bsdb.Layout;
import tech.bsdb.Leaks;
import tech.bsdb.OpenOptions;
import tech.bsdb.Rounds;
import tech.bsdb.Sampled;
import tech.bsdb.Truth;
import tech.bsdb.VerifyReport;
import tech.bsdb.directory.DataSet;

/** A set of shards that is replaced while readers use or open it, by another or by a database. */
@Timeout(value = 240, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ReplacedSetTest {
  private static final int RECORDS = 200;

  /** The numbers of shards that the target has in turn; 1 is a single database. */
  private static final int[] SHARDS = {3, 1, 2, 5};

  private static final List<Layout> LAYOUTS =
      List.of(Layout.PACKED, Layout.COMPRESSED, Layout.BLOCKED);

  @TempDir Path directory;

  @AfterEach
  void nothingIsHeld() throws Exception {
    Leaks.assertNone(directory);
  }

  private static Truth truth(long seed) {
    return Truth.random(new SplittableRandom(seed), RECORDS, 30).add("seed", String.valueOf(seed));
  }

  private static BuildOptions options(long seed) {
    return BuildOptions.defaults()
        .withOverwrite(true)
        .withDictionaryBytes(300)
        .withLayout(LAYOUTS.get((int) (seed % LAYOUTS.size())))
        .withShards(SHARDS[(int) (seed % SHARDS.length)])
        .withThreads(1);
  }

  @Sampled(2)
  @ParameterizedTest
  @MethodSource("tech.bsdb.Offered#engines")
  void whoHasItOpenKeepsTheOld(OpenOptions.Engine engine) throws Exception {
    Path target = directory.resolve("db");
    List<Database> open = new ArrayList<>();
    for (long seed = 0; seed < 8; seed++) {
      truth(seed).build(target, options(seed));
      open.add(Database.open(target, OpenOptions.defaults().withEngine(engine)));
    }
    Forgery.deleteTree(target);
    for (int seed = 0; seed < 8; seed++) {
      Database database = open.get(seed);
      truth(seed).checkGets(database);
      truth(seed).checkBatches(database);
      assertThat(database.statistics().shards()).isEqualTo(SHARDS[seed % SHARDS.length]);
      int scanned = 0;
      try (Database.RecordCursor cursor = database.scan()) {
        while (cursor.next()) {
          scanned++;
        }
      }
      assertThat(scanned).isEqualTo(RECORDS + 1);
      database.close();
    }
  }

  @Test
  void oneShardAloneOutlivesItsSet() throws Exception {
    Path target = directory.resolve("db");
    truth(0).build(target, options(0));
    Path shard = Forgery.shards(target).get(2);
    try (Database database = Database.open(shard)) {
      long records = database.statistics().records();
      truth(3).build(target, options(3));
      assertThat(shard).doesNotExist();
      long scanned = 0;
      try (Database.RecordCursor cursor = database.scan()) {
        while (cursor.next()) {
          Truth.same(database.get(cursor.key()), cursor.value(), "value");
          scanned++;
        }
      }
      assertThat(scanned).isEqualTo(records).isPositive();
    }
  }

  @Test
  void whoOpensItGetsTheOldOrTheNewWhole() throws Exception {
    Path target = directory.resolve("db");
    truth(0).build(target, options(0));
    AtomicBoolean done = new AtomicBoolean();
    ExecutorService pool = Executors.newCachedThreadPool();
    List<Future<Integer>> openers = new ArrayList<>();
    try {
      openers.add(pool.submit(opener(target, OpenOptions.Engine.MAPPED, done)));
      openers.add(pool.submit(opener(target, OpenOptions.Engine.BUFFERED, done)));
      openers.add(pool.submit(verifier(target, done)));
      for (long seed = 1; seed <= Rounds.of(4); seed++) {
        truth(seed).build(target, options(seed));
      }
    } finally {
      done.set(true);
      pool.shutdown();
    }
    for (Future<Integer> opener : openers) {
      assertThat(opener.get()).as("openings").isPositive();
    }
  }

  private static Callable<Integer> opener(
      Path target, OpenOptions.Engine engine, AtomicBoolean done) {
    return () -> {
      int opened = 0;
      do {
        try (Database database = Database.open(target, OpenOptions.defaults().withEngine(engine))) {
          byte[] seed = database.get(Truth.utf8("seed"));
          assertThat(seed).isNotNull();
          truth(Long.parseLong(new String(seed, StandardCharsets.UTF_8))).checkGets(database);
        }
        opened++;
      } while (!done.get());
      return opened;
    };
  }

  private static Callable<Integer> verifier(Path target, AtomicBoolean done) {
    return () -> {
      int verified = 0;
      do {
        assertThat(Database.verify(target, (finished, total) -> {}).records())
            .isEqualTo(RECORDS + 1);
        verified++;
      } while (!done.get());
      return verified;
    };
  }

  /** A shard or a file that is gone because the set was replaced is looked for in the new one. */
  @Test
  void anOpeningThatMissesAFileStartsAgain() throws Exception {
    Path target = directory.resolve("db");
    for (long old = 0; old < SHARDS.length; old++) {
      long seed = old;
      truth(seed).build(target, options(seed));
      List<DataSet> seen = new ArrayList<>();
      DataSet opened =
          DataSet.withOpened(
              target,
              List.of(),
              each -> {
                seen.add(each);
                if (seen.size() == 1) {
                  truth(seed + 1).build(target, options(seed + 1));
                  DataSet.Located file = each.files().get(each.files().size() - 1);
                  assertThat(file.path()).doesNotExist();
                  throw new NoSuchFileException(file.path().toString());
                }
                return each;
              });
      assertThat(seen).hasSize(2);
      assertThat(opened.id()).isNotEqualTo(seen.get(0).id());
      assertThat(opened.databases()).hasSize(SHARDS[(int) (seed + 1) % SHARDS.length]);
    }
  }

  @Test
  void aSetThatIsRemovedWhileItIsOpenedIsSaidToBe() throws Exception {
    Path target = directory.resolve("db");
    truth(0).build(target, options(0));
    assertThatThrownBy(
            () ->
                DataSet.withOpened(
                    target,
                    List.of(),
                    opened -> {
                      Forgery.deleteTree(target);
                      throw new NoSuchFileException(opened.files().get(0).path().toString());
                    }))
        .isInstanceOf(NoSuchFileException.class)
        .hasMessageContaining(target.toString())
        .hasMessageContaining("removed while it was being opened");
  }

  @Test
  void aVerificationGoesOnWithWhatItOpened() throws Exception {
    Path target = directory.resolve("db");
    for (long old = 0; old < SHARDS.length; old++) {
      long seed = old;
      truth(seed).build(target, options(seed));
      AtomicBoolean replaced = new AtomicBoolean();
      List<Long> seen = new ArrayList<>();
      VerifyReport report =
          Database.verify(
              target,
              (done, total) -> {
                seen.add(done);
                if (!replaced.getAndSet(true)) {
                  try {
                    truth(seed + 1).build(target, options(seed + 1));
                  } catch (IOException e) {
                    throw new UncheckedIOException(e);
                  }
                }
              });
      assertThat(report.records()).isEqualTo(RECORDS + 1);
      assertThat(seen).isSorted().last().isEqualTo(report.pages());
    }
  }
}
