package tech.bsdb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import tech.bsdb.BuildListener.Stage;
import tech.bsdb.directory.DataSet;
import tech.bsdb.directory.DatabaseDirectory;
import tech.bsdb.error.DuplicateKeyException;
import tech.bsdb.format.Facts;
import tech.bsdb.format.KeySlots;
import tech.bsdb.format.Manifest;
import tech.bsdb.format.ManifestFile;
import tech.bsdb.format.ShardSet;

/** A set of shards: every record is in the shard of its key, and each shard is a database. */
@Timeout(value = 240, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ShardedBuildTest {
  @TempDir Path directory;

  private final SplittableRandom random = Seeds.random("ShardedBuildTest");

  @AfterEach
  void nothingIsLeft() throws Exception {
    Leaks.assertNone(directory);
  }

  /** Every layout, with the width of an approximate database or 0. */
  static List<Arguments> kinds() {
    List<Arguments> kinds = new ArrayList<>();
    for (Layout layout : Layout.values()) {
      kinds.add(Arguments.of(layout, 0));
    }
    kinds.add(Arguments.of(Layout.BLOCKED, 8));
    return kinds;
  }

  static List<Arguments> kindsAndShards() {
    List<Arguments> cases = new ArrayList<>();
    boolean many = false;
    for (Arguments kind : kinds()) {
      many = !many;
      for (int shards : new int[] {2, 24}) {
        if (Rounds.everything() || many == (shards == 24)) {
          cases.add(Arguments.of(kind.get()[0], kind.get()[1], shards));
        }
      }
    }
    return cases;
  }

  private static BuildOptions options(Layout layout, int width, int shards) {
    return BuildOptions.defaults()
        .withLayout(layout)
        .withApproximateWidth(width)
        .withChecksumBits(width > 0 ? 32 : 4)
        .withDictionaryBytes(1024)
        .withThreads(2)
        .withShards(shards);
  }

  private static List<Truth> routed(List<Truth.Entry> records, int shards) {
    List<Truth> routed = new ArrayList<>();
    for (int i = 0; i < shards; i++) {
      routed.add(new Truth());
    }
    for (Truth.Entry record : records) {
      routed.get(KeySlots.shard(record.key(), shards)).add(record.key(), record.value());
    }
    return routed;
  }

  private static ShardSet set(Path target) throws IOException {
    Path file = target.resolve(Manifest.FILE_NAME);
    return ShardSet.of(ManifestFile.decode(file, Files.readAllBytes(file)).manifest());
  }

  private static Path directory(Path target, ShardSet set, int shard) {
    return target.resolve(set.shards().get(shard).directoryName());
  }

  /** Checks the set, each shard, and the report. */
  private static void check(
      Path target, BuildOptions options, List<Truth.Entry> records, BuildReport report)
      throws Exception {
    ShardSet set = set(target);
    assertThat(set.shards()).hasSize(options.shards());
    List<Truth> routed = routed(records, options.shards());
    List<String> names = new ArrayList<>();
    for (ShardSet.Shard shard : set.shards()) {
      Path path = target.resolve(shard.directoryName());
      Truth expected = routed.get(shard.number());
      DatabaseDirectory opened = DataSet.open(path).single();
      Facts facts = opened.facts();
      assertThat(opened.id()).isEqualTo(shard.id());
      assertThat(facts.shard()).isEqualTo(shard.number());
      assertThat(facts.shards()).isEqualTo(options.shards());
      assertThat(opened.manifest().text("shard.hash")).isEqualTo(KeySlots.NAME);
      assertThat(facts.records()).isEqualTo(shard.records()).isEqualTo(expected.records().size());
      assertThat(Database.verify(path, (done, total) -> {}).records()).isEqualTo(shard.records());
      try (Database database = Database.open(path)) {
        expected.checkGets(database);
        if (options.approximateWidth() == 0) {
          expected.checkScan(database);
        }
      }
      names.add(shard.directoryName());
      opened.manifest().files().stream()
          .map(entry -> shard.directoryName() + "/" + entry.name(shard.id()))
          .forEach(names::add);
      names.add(shard.directoryName() + "/" + Manifest.FILE_NAME);
    }
    names.add(Manifest.FILE_NAME);
    assertThat(Leaks.tree(target)).containsExactlyInAnyOrderElementsOf(names);
    names.removeIf(name -> Files.isDirectory(target.resolve(name)));
    assertThat(report.fileBytes().keySet()).containsExactlyElementsOf(names);
    for (Map.Entry<String, Long> file : report.fileBytes().entrySet()) {
      assertThat(target.resolve(file.getKey())).hasSize(file.getValue());
    }
    long keyBytes = records.stream().mapToLong(record -> record.key().length).sum();
    long valueBytes = records.stream().mapToLong(record -> record.value().length).sum();
    assertThat(report.records()).isEqualTo(records.size()).isEqualTo(set.records());
    assertThat(report.duplicatesDropped()).isZero();
    assertThat(report.keyBytes()).isEqualTo(keyBytes);
    assertThat(report.valueBytes()).isEqualTo(valueBytes);
    assertThat(report.databaseBytes())
        .isEqualTo(report.fileBytes().values().stream().mapToLong(Long::longValue).sum());
    Path manifest = target.resolve(Manifest.FILE_NAME);
    assertThat(report.databaseId())
        .isEqualTo(ManifestFile.decode(manifest, Files.readAllBytes(manifest)).id().toString());
    assertThat(report.stageSeconds()).containsOnlyKeys(Stage.RECORDS, Stage.INDEX, Stage.PUBLISH);
  }

  @ParameterizedTest
  @MethodSource("kindsAndShards")
  void everyShardHoldsItsRecords(Layout layout, int width, int shards) throws Exception {
    Truth truth = Truth.random(random, 6000, 8);
    BuildOptions options =
        options(layout, width, shards)
            .withDataFiles(2)
            .withTemporaryDirectory(directory.resolve("temp"));
    BuildReport report = truth.build(directory.resolve("db"), options);
    check(directory.resolve("db"), options, truth.records(), report);
    assertThat(Leaks.tree(directory)).doesNotContain("temp");
  }

  @ParameterizedTest
  @MethodSource("kinds")
  void noRecords(Layout layout, int width) throws Exception {
    BuildOptions options = options(layout, width, 5);
    BuildReport report = new Truth().build(directory.resolve("db"), options);
    check(directory.resolve("db"), options, List.of(), report);
  }

  @Sampled(3)
  @ParameterizedTest
  @MethodSource("kinds")
  void allRecordsInOneShard(Layout layout, int width) throws Exception {
    Truth truth = new Truth();
    for (int i = 0; i < 3000; i++) {
      truth.add("{together}" + i, "value" + i % 100);
    }
    BuildOptions options = options(layout, width, 7);
    BuildReport report = truth.build(directory.resolve("db"), options);
    check(directory.resolve("db"), options, truth.records(), report);
    assertThat(set(directory.resolve("db")).shards())
        .filteredOn(shard -> shard.records() > 0)
        .hasSize(1);
  }

  @Sampled(3)
  @ParameterizedTest
  @EnumSource
  void longKeysAndValues(Layout layout) throws Exception {
    Truth truth = new Truth().add(new byte[0], new byte[0]);
    int[] lengths = {0, 1, 4095, 4096, 16_383, 16_384, 16_385, 65_537, 1 << 20, (1 << 20) + 1};
    for (int i = 0; i < 8; i++) {
      for (int length : lengths) {
        truth.add(Truth.bytes(random, 10), Truth.bytes(random, length));
        truth.add(Truth.bytes(random, 65_535), Truth.bytes(random, length));
      }
    }
    truth.add("longest", "x".repeat(5_000_000));
    BuildOptions options = options(layout, 0, 3);
    BuildReport report = truth.build(directory.resolve("db"), options);
    check(directory.resolve("db"), options, truth.records(), report);
  }

  @Test
  void moreShardsThanRecords() throws Exception {
    Truth truth = Truth.random(random, 40, 50);
    BuildOptions options = options(Layout.PACKED, 0, Rounds.longOrShort(200, 50));
    BuildReport report = truth.build(directory.resolve("db"), options);
    check(directory.resolve("db"), options, truth.records(), report);
  }

  private static BuildReport build(
      Path target, BuildOptions options, List<Truth.Entry> records, int batchSize)
      throws IOException {
    try (DatabaseBuilder builder = DatabaseBuilder.create(target, Truth.fitting(options))) {
      RecordBatch batch = builder.newBatch();
      for (Truth.Entry record : records) {
        if (batchSize == 0) {
          builder.add(record.key(), record.value());
          continue;
        }
        batch.add(record.key(), 0, record.key().length, record.value(), 0, record.value().length);
        if (batch.records() == batchSize) {
          builder.add(batch);
          batch.clear();
        }
      }
      builder.add(batch);
      return builder.finish();
    }
  }

  /** Records of text, whose dictionary depends on the sample. */
  private List<Truth.Entry> texts(int count, boolean duplicates) {
    List<Truth.Entry> records = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      int number = duplicates && i % 50 == 7 ? random.nextInt(i) : i;
      String value =
          "{\"name\":\"user "
              + i
              + "\",\"score\":"
              + random.nextInt(1000)
              + ",\"n\":"
              + i * 7
              + "}";
      records.add(new Truth.Entry(Truth.utf8("user/" + number), Truth.utf8(value)));
    }
    return records;
  }

  private static void same(Path expected, Path found) throws IOException {
    assertThat(Leaks.tree(found)).isEqualTo(Leaks.tree(expected));
    for (String name : Leaks.tree(expected)) {
      if (Files.isRegularFile(expected.resolve(name))) {
        assertThat(found.resolve(name)).hasSameBinaryContentAs(expected.resolve(name));
      }
    }
  }

  @Sampled(4)
  @ParameterizedTest
  @MethodSource("kinds")
  void neitherThreadsNorMemoryNorBatchesChangeTheBytes(Layout layout, int width) throws Exception {
    List<Truth.Entry> records = texts(20_000, true);
    BuildOptions options =
        options(layout, width, 7).withDuplicates(DuplicatePolicy.LAST).withSampleRecords(700);
    Path expected = directory.resolve("expected");
    build(expected, options.withThreads(1), records, 0);
    build(
        directory.resolve("small"), options.withThreads(3).withMemoryBytes(1 << 20), records, 777);
    build(
        directory.resolve("elsewhere"),
        options.withThreads(2).withTemporaryDirectory(directory.resolve("temp")),
        records,
        1);
    same(expected, directory.resolve("small"));
    same(expected, directory.resolve("elsewhere"));
  }

  @Sampled(3)
  @ParameterizedTest
  @MethodSource("kinds")
  void aShardDependsOnItsOwnRecordsAlone(Layout layout, int width) throws Exception {
    List<Truth.Entry> records = texts(9000, false);
    BuildOptions options = options(layout, width, 3).withSampleRecords(400);
    Path all = directory.resolve("all");
    build(all, options, records, 1000);
    for (int i = 0; i < 3; i++) {
      Path alone = directory.resolve("alone" + i);
      build(alone, options, routed(records, 3).get(i).records(), 10);
      same(directory(all, set(all), i), directory(alone, set(alone), i));
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"COMPRESSED", "PACKED_COMPRESSED"})
  void eachShardTrainsItsOwnDictionary(Layout layout) throws Exception {
    List<Truth.Entry> records = texts(9000, false);
    BuildOptions options = options(layout, 0, 3);
    Path target = directory.resolve("db");
    BuildReport report = build(target, options, records, 100);
    long sum = 0;
    for (int i = 0; i < 3; i++) {
      byte[] dictionary = DataSet.open(directory(target, set(target), i)).single().dictionary();
      assertThat(dictionary).isNotNull().isNotEmpty();
      sum += dictionary.length;
    }
    assertThat(report.dictionaryBytes()).isEqualTo(Math.toIntExact(sum));
    BuildReport none = build(directory.resolve("none"), options.withSampleRecords(0), records, 100);
    assertThat(none.dictionaryBytes()).isZero();
    try (DatabaseBuilder builder =
        DatabaseBuilder.create(directory.resolve("sampled"), Truth.fitting(options))) {
      for (int i = 0; i < 500; i++) {
        builder.sample(Truth.utf8("sample " + i), Truth.utf8("not like the records at all"));
      }
      for (Truth.Entry record : records) {
        builder.add(record.key(), record.value());
      }
      builder.finish();
    }
    same(target, directory.resolve("sampled"));
  }

  /** The sample is spread over all of a shard: what only its end repeats is in the dictionary. */
  @ParameterizedTest
  @EnumSource(names = {"COMPRESSED", "PACKED_COMPRESSED"})
  void theSampleIsSpreadOverTheShard(Layout layout) throws Exception {
    byte[] phrase = Truth.bytes(random, 300);
    List<Truth.Entry> records = new ArrayList<>();
    for (int i = 0; i < 4000; i++) {
      byte[] value = i < 2000 ? Truth.bytes(random, 300) : phrase;
      records.add(new Truth.Entry(Truth.utf8("key " + i), value));
    }
    BuildOptions options = options(layout, 0, 2).withBlockSize(512).withSampleRecords(200);
    Path target = directory.resolve("db");
    build(target, options, records, 100);
    for (int i = 0; i < 2; i++) {
      byte[] dictionary = DataSet.open(directory(target, set(target), i)).single().dictionary();
      assertThat(dictionary).isNotNull();
      assertThat(sharesPart(dictionary, phrase)).as("the dictionary of shard %s", i).isTrue();
    }
  }

  /** Whether 16 bytes of one array, anywhere, are in another. */
  private static boolean sharesPart(byte[] bytes, byte[] other) {
    Set<ByteBuffer> parts = new HashSet<>();
    for (int at = 0; at + 16 <= other.length; at++) {
      parts.add(ByteBuffer.wrap(other, at, 16).slice());
    }
    for (int at = 0; at + 16 <= bytes.length; at++) {
      if (parts.contains(ByteBuffer.wrap(bytes, at, 16).slice())) {
        return true;
      }
    }
    return false;
  }

  @Sampled(3)
  @ParameterizedTest
  @MethodSource("kinds")
  void duplicatesAreNumberedAmongAllRecords(Layout layout, int width) throws Exception {
    List<Truth.Entry> records = texts(3000, false);
    for (int[] places : new int[][] {{0, 1}, {0, 2999}, {17, 1500, 2998}}) {
      List<Truth.Entry> twice = new ArrayList<>(records);
      for (int place : places) {
        twice.set(place, new Truth.Entry(Truth.utf8("twice"), Truth.utf8("v" + place)));
      }
      Path target = directory.resolve("db");
      assertThatThrownBy(() -> build(target, options(layout, width, 7), twice, 500))
          .isInstanceOfSatisfying(
              DuplicateKeyException.class,
              e -> {
                assertThat(e.key()).isEqualTo(Truth.utf8("twice"));
                assertThat(e.first()).isEqualTo(places[0]);
                assertThat(e.second()).isEqualTo(places[1]);
              });
      assertThat(Leaks.tree(directory)).isEmpty();
    }
  }

  @Sampled(2)
  @ParameterizedTest
  @MethodSource("kinds")
  void theFirstOrTheLastDuplicateStays(Layout layout, int width) throws Exception {
    List<Truth.Entry> records = new ArrayList<>();
    for (int i = 0; i < 4000; i++) {
      records.add(new Truth.Entry(Truth.utf8("key " + i % 2500), Truth.utf8("v" + i)));
    }
    for (DuplicatePolicy policy : EnumSet.of(DuplicatePolicy.FIRST, DuplicatePolicy.LAST)) {
      Path target = directory.resolve(policy.name());
      BuildOptions options = options(layout, width, 7).withDuplicates(policy);
      BuildReport report = build(target, options, records, 300);
      assertThat(report.records()).isEqualTo(2500);
      assertThat(report.duplicatesDropped()).isEqualTo(1500);
      boolean last = policy == DuplicatePolicy.LAST;
      List<Truth.Entry> kept =
          records.subList(last ? 1500 : 0, last ? 4000 : 2500); // each key once, as it stays
      List<Truth> routed = routed(kept, 7);
      ShardSet set = set(target);
      for (ShardSet.Shard shard : set.shards()) {
        Path path = directory(target, set, shard.number());
        Truth expected = routed.get(shard.number());
        assertThat(Database.verify(path, (done, total) -> {}).records())
            .isEqualTo(expected.records().size());
        try (Database database = Database.open(path)) {
          expected.checkGets(database);
        }
      }
    }
  }

  @Sampled(3)
  @ParameterizedTest
  @MethodSource("kinds")
  void theProgressNeverGoesBack(Layout layout, int width) throws Exception {
    Truth truth = Truth.random(random, 5000, 20);
    List<Stage> stages = new ArrayList<>();
    long[] last = {0};
    BuildListener listener =
        (stage, done, total) -> {
          if (stages.isEmpty() || stages.get(stages.size() - 1) != stage) {
            stages.add(stage);
            last[0] = 0;
          }
          assertThat(done).as("%s", stage).isGreaterThanOrEqualTo(last[0]);
          last[0] = done;
          if (stage == Stage.INDEX) {
            assertThat(total).isEqualTo(5000);
            assertThat(done).isLessThanOrEqualTo(total);
          } else if (stage == Stage.PUBLISH) {
            assertThat(done).isLessThan(total);
          } else {
            assertThat(total).isEqualTo(-1);
          }
        };
    BuildOptions options =
        options(layout, width, 7).withDuplicates(DuplicatePolicy.LAST).withMemoryBytes(1 << 20);
    long[] index = {0};
    try (DatabaseBuilder builder =
        DatabaseBuilder.create(
            directory.resolve("db"),
            Truth.fitting(options),
            (stage, done, total) -> {
              listener.progress(stage, done, total);
              index[0] = stage == Stage.INDEX ? done : index[0];
            })) {
      RecordBatch batch = builder.newBatch();
      for (Truth.Entry record : truth.records()) {
        batch.add(record.key(), 0, record.key().length, record.value(), 0, record.value().length);
        if (batch.records() == 500) {
          builder.add(batch);
          batch.clear();
        }
      }
      builder.finish();
    }
    assertThat(stages).containsExactly(Stage.RECORDS, Stage.INDEX, Stage.PUBLISH);
    assertThat(index[0]).isEqualTo(5000);
  }

  @Test
  void oneShardIsAnUndividedDatabase() throws Exception {
    Truth truth = Truth.random(random, 1000, 50);
    truth.build(directory.resolve("default"), BuildOptions.defaults());
    truth.build(directory.resolve("one"), BuildOptions.defaults().withShards(1));
    same(directory.resolve("default"), directory.resolve("one"));
    assertThat(Database.statistics(directory.resolve("one")).shards()).isOne();
  }

  @Test
  void setsAndDatabasesReplaceEachOther() throws Exception {
    Path target = directory.resolve("db");
    Truth first = Truth.random(random, 500, 50);
    Truth second = Truth.random(random, 600, 50);
    BuildOptions whole = BuildOptions.defaults().withOverwrite(true);
    BuildOptions three = options(Layout.PACKED, 0, 3).withOverwrite(true);
    BuildOptions five = options(Layout.COMPRESSED, 0, 5).withOverwrite(true);
    first.build(target, whole);
    check(target, three, first.records(), first.build(target, three));
    check(target, three, second.records(), second.build(target, three));
    check(target, five, second.records(), second.build(target, five));
    check(target, five, second.records(), second.build(target, five));
    second.build(target, whole);
    second.check(target);
    assertThat(Golden.files(target)).allMatch(Files::isRegularFile);
  }

  @Test
  void samplesComeBeforeTheRecords() throws Exception {
    try (DatabaseBuilder builder =
        DatabaseBuilder.create(
            directory.resolve("db"), Truth.fitting(options(Layout.COMPRESSED, 0, 3)))) {
      RecordBatch batch = builder.newBatch();
      batch.add(new byte[1], 0, 1, new byte[1], 0, 1);
      builder.add(batch);
      assertThatThrownBy(() -> builder.sample(new byte[1], new byte[1]))
          .isInstanceOf(IllegalStateException.class);
    }
    assertThat(Leaks.tree(directory)).isEmpty();
  }
}
