package tech.bsdb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import tech.bsdb.OpenOptions.Engine;
import tech.bsdb.error.CorruptDatabaseException;

/** Packed databases with a filter: right answers, and few reads for absent keys. */
@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class FilteredDatabaseTest {
  @TempDir Path directory;

  private final SplittableRandom random = Seeds.random("FilteredDatabaseTest");

  @AfterEach
  void nothingIsHeld() throws Exception {
    Leaks.assertNone(directory);
  }

  private static BuildOptions options(Layout layout, int bits) {
    return Truth.fitting(
        BuildOptions.defaults()
            .withLayout(layout)
            .withFilterBits(bits)
            .withDictionaryBytes(2000)
            .withThreads(2));
  }

  private static Database open(Path path, Engine engine) throws Exception {
    return Database.open(path, OpenOptions.defaults().withEngine(engine));
  }

  /** Whether lookups of an open database consult its filter. */
  private static boolean filters(Database database) {
    return !database.statistics().readsMemory();
  }

  @ParameterizedTest
  @CsvSource({
    "PACKED, 0, 8",
    "PACKED, 1, 1",
    "PACKED, 2, 16",
    "PACKED, 129, 5",
    "PACKED, 5000, 12",
    "PACKED_COMPRESSED, 0, 3",
    "PACKED_COMPRESSED, 1, 16",
    "PACKED_COMPRESSED, 5000, 7"
  })
  void everyEngineAnswers(Layout layout, int count, int bits) throws Exception {
    Truth truth = Truth.random(random, count, 300);
    Path target = directory.resolve("db");
    truth.build(target, options(layout, bits).withDataFiles(2));
    for (Engine engine : Offered.engines()) {
      try (Database database = open(target, engine)) {
        truth.checkGets(database);
        truth.checkBatches(database);
        truth.checkScan(database);
      }
    }
    Statistics statistics = Database.statistics(target);
    assertThat(statistics.filterBits()).isEqualTo(bits);
    assertThat(statistics.filterBytes())
        .isEqualTo(
            Golden.files(target).stream()
                .filter(file -> file.getFileName().toString().startsWith("filter-"))
                .mapToLong(file -> file.toFile().length())
                .sum())
        .isPositive();
    assertThat(Database.verify(target, (done, total) -> {}).records()).isEqualTo(count);
  }

  @Test
  void manyKeysWithOneHalfOfASignature() throws Exception {
    Truth truth = new Truth();
    for (int i = 0; i < 2_000; i++) {
      truth.add(SpookyCollision.key(42, random.nextLong(), i), new byte[0]);
    }
    for (int i = 0; i < 100; i++) {
      truth.add(SpookyCollision.key(-1, 7, i), new byte[i]);
      truth.absent(SpookyCollision.key(42, random.nextLong(), -i));
      truth.absent(SpookyCollision.key(-1, 7, -i));
      truth.absent(Truth.bytes(random, 20));
    }
    Path target = directory.resolve("db");
    truth.build(
        target,
        options(Layout.PACKED, 16)
            .withSignature(SignatureAlgorithm.SPOOKY)
            .withMemoryBytes(1 << 20));
    try (Database database = open(target, Engine.BUFFERED)) {
      truth.checkGets(database);
    }
    Database.verify(target, (done, total) -> {});
  }

  @ParameterizedTest
  @EnumSource(
      value = DuplicatePolicy.class,
      names = {"FIRST", "LAST"})
  void duplicatesCountOnce(DuplicatePolicy policy) throws Exception {
    Path target = directory.resolve("db");
    Truth truth = new Truth();
    try (DatabaseBuilder builder =
        DatabaseBuilder.create(target, options(Layout.PACKED, 10).withDuplicates(policy))) {
      for (int i = 0; i < 3000; i++) {
        byte[] key = Truth.utf8("key " + i % 700);
        builder.add(key, Truth.utf8("value " + i));
        truth.absent(Truth.utf8("no " + i));
      }
      assertThat(builder.finish().records()).isEqualTo(700);
    }
    for (int i = 0; i < 700; i++) {
      int kept = policy == DuplicatePolicy.FIRST ? i : i + 700 * ((2999 - i) / 700);
      truth.add(Truth.utf8("key " + i), Truth.utf8("value " + kept));
    }
    try (Database database = open(target, Engine.BUFFERED)) {
      truth.checkGets(database);
    }
    Database.verify(target, (done, total) -> {});
  }

  /** By every way of asking that may read from the device. */
  @ParameterizedTest
  @EnumSource(names = {"PACKED", "PACKED_COMPRESSED"})
  void anAbsentKeySeldomCostsARead(Layout layout) throws Exception {
    int bits = 4;
    int count = 20_000;
    Truth truth = Truth.random(random, 3000, 60);
    Path target = directory.resolve("db");
    truth.build(target, options(layout, bits));
    List<byte[]> absent = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      absent.add(Truth.bytes(random, 40));
    }
    double expected = 1 - Math.exp(-Math.pow(0.5, bits));
    for (Engine engine : Offered.engines()) {
      try (Database database = open(target, engine)) {
        if (filters(database)) {
          for (byte[] key : absent) {
            assertThat(database.get(key)).isNull();
          }
          double single = database.ioCounters().reads();
          assertThat(single / count).as("%s", engine).isCloseTo(expected, within(0.2 * expected));
          assertThat(database.getAll(absent)).containsOnlyNulls();
          assertThat(database.ioCounters().reads()).as("%s", engine).isEqualTo((long) (2 * single));
          List<CompletableFuture<byte[]>> answers = new ArrayList<>();
          absent.forEach(key -> answers.add(database.getAsync(key)));
          for (CompletableFuture<byte[]> answer : answers) {
            assertThat(answer.get(60, TimeUnit.SECONDS)).isNull();
          }
          assertThat(database.ioCounters().reads()).as("%s", engine).isEqualTo((long) (3 * single));
        }
        long before = database.ioCounters().reads();
        for (Truth.Entry record : truth.records()) {
          Truth.same(database.get(record.key()), record.value(), "value");
        }
        assertThat(database.ioCounters().reads() - before)
            .as("%s", engine)
            .isEqualTo(filters(database) ? truth.records().size() : 0);
      }
    }
  }

  /** Mapped and loaded files need no filter, so it is not even read. */
  @Test
  void onlyLookupsThatReadLoadTheFilter() throws Exception {
    Truth truth = Truth.random(random, 2000, 60);
    Path target = directory.resolve("db");
    truth.build(target, options(Layout.PACKED, 8));
    Path filter =
        Golden.files(target).stream()
            .filter(file -> file.getFileName().toString().startsWith("filter-"))
            .findAny()
            .orElseThrow();
    byte[] bytes = Files.readAllBytes(filter);
    bytes[5000] ^= 1;
    Files.write(filter, bytes);
    for (Engine engine : Offered.engines()) {
      if (engine == Engine.MAPPED || engine == Engine.MEMORY) {
        try (Database database = open(target, engine)) {
          truth.checkGets(database);
          truth.checkBatches(database);
        }
      } else if (engine != Engine.AUTO) {
        assertThatThrownBy(() -> open(target, engine))
            .as("%s", engine)
            .isInstanceOfSatisfying(
                CorruptDatabaseException.class, e -> assertThat(e.file()).isEqualTo(filter));
      }
    }
    assertThatThrownBy(() -> Database.verify(target, (done, total) -> {}))
        .isInstanceOf(CorruptDatabaseException.class)
        .hasMessageContaining(filter.toString());
  }

  @Test
  void aLoadedFilterNeedsItsFileNoMoreAndCountsAsMemory() throws Exception {
    Truth truth = Truth.random(random, 3000, 60);
    Path target = directory.resolve("db");
    truth.build(target, options(Layout.PACKED, 16));
    long bytes = Database.statistics(target).filterBytes();
    try (Database database = open(target, Engine.BUFFERED)) {
      for (Path file : Golden.files(target)) {
        if (file.getFileName().toString().startsWith("filter-")) {
          Files.write(file, new byte[10]);
        }
      }
      truth.checkGets(database);
      if (Runtime.version().feature() >= 22) {
        assertThat(database.memoryUse().bytes()).isEqualTo(bytes);
      }
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = Layout.class,
      names = {"PACKED", "PACKED_COMPRESSED"},
      mode = EnumSource.Mode.EXCLUDE)
  void otherLayoutsHaveChecksumBitsInstead(Layout layout) {
    Path target = directory.resolve("db");
    assertThatThrownBy(() -> DatabaseBuilder.create(target, options(layout, 9)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(
            "filterBits is 9, but the layout %s has checksum bits in its hash function instead: set"
                + " checksumBits, or choose a packed layout",
            layout.name().toLowerCase(java.util.Locale.ROOT));
    assertThat(directory).isEmptyDirectory();
  }

  @Test
  void approximateModeHasChecksumBitsInstead() {
    BuildOptions approximate = options(Layout.PACKED, 9).withApproximateWidth(8);
    assertThatThrownBy(() -> DatabaseBuilder.create(directory.resolve("db"), approximate))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("filterBits is 9, but an approximate database has checksum bits");
  }

  @Test
  void aBuildThatIsClosedLeavesNothing() throws Exception {
    Path target = directory.resolve("db");
    DatabaseBuilder builder = DatabaseBuilder.create(target, options(Layout.PACKED, 9));
    builder.add(new byte[] {1}, new byte[] {2});
    builder.close();
    assertThat(Leaks.tree(directory)).isEmpty();
  }

  @Test
  void aBuildThatIsCancelledWhileItPacksLeavesNothing() throws Exception {
    Path target = directory.resolve("db");
    Truth truth = Truth.random(random, 20_000, 60);
    DatabaseBuilder[] built = new DatabaseBuilder[1];
    BuildListener listener =
        (stage, done, total) -> {
          if (stage == BuildListener.Stage.INDEX && done > 5_000) {
            built[0].close();
          }
        };
    try (DatabaseBuilder builder =
        DatabaseBuilder.create(target, options(Layout.PACKED, 9), listener)) {
      built[0] = builder;
      for (Truth.Entry record : truth.records()) {
        builder.add(record.key(), record.value());
      }
      assertThatThrownBy(builder::finish)
          .isInstanceOf(java.util.concurrent.CancellationException.class);
    }
    assertThat(Leaks.tree(directory)).isEmpty();
  }
}
