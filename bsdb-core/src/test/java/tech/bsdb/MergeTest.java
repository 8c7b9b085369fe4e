package tech.bsdb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.CancellationException;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import tech.bsdb.error.CorruptDatabaseException;
import tech.bsdb.error.DuplicateKeyException;
import tech.bsdb.error.ForeignRecordException;
import tech.bsdb.format.KeySlots;
import tech.bsdb.hash.Signature;

/** Builds from a base: what they accept and refuse, and what is left of them if they fail. */
@Timeout(value = 240, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class MergeTest {
  @TempDir Path directory;

  private final SplittableRandom random = Seeds.random("MergeTest");

  private Path base;
  private Path target;

  @BeforeEach
  void paths() {
    base = directory.resolve("base");
    target = directory.resolve("target");
  }

  @AfterEach
  void nothingIsLeft() throws Exception {
    Leaks.assertNone(directory);
    try (Stream<Path> all = Files.list(directory)) {
      assertThat(all.map(path -> path.getFileName().toString()).filter(n -> n.startsWith(".")))
          .isEmpty();
    }
  }

  private static BuildOptions options(Layout layout) {
    return BuildOptions.defaults().withLayout(layout).withDictionaryBytes(0);
  }

  /** The content of all files below a directory. */
  private static Map<String, List<Byte>> content(Path path) throws IOException {
    Map<String, List<Byte>> content = new HashMap<>();
    for (String name : Leaks.tree(path)) {
      if (Files.isRegularFile(path.resolve(name))) {
        List<Byte> bytes = new ArrayList<>();
        for (byte each : Files.readAllBytes(path.resolve(name))) {
          bytes.add(each);
        }
        content.put(name, bytes);
      }
    }
    return content;
  }

  private static DatabaseBuilder from(Database database, Path target, BuildOptions options)
      throws IOException {
    return DatabaseBuilder.from(database, target, options, (stage, done, total) -> {});
  }

  @ParameterizedTest
  @EnumSource
  void theOptionsOfABaseGiveADatabaseLikeIt(Layout layout) throws Exception {
    BuildOptions options =
        options(layout)
            .withDataFiles(2)
            .withSeed(77)
            .withHash(layout.isPacked() ? HashAlgorithm.PTR : HashAlgorithm.GOV)
            .withChecksumBits(layout.isPacked() ? 4 : 9)
            .withBlockSize(2048)
            .withCompressionLevel(3)
            .withValueSchema("{\"type\":\"string\"}")
            .withFilterBits(layout.isPacked() ? 5 : 0)
            .withShards(2);
    Truth.random(random, 500, 100).build(base, options);
    try (Database database = Database.open(base)) {
      BuildOptions of = BuildOptions.of(database);
      assertThat(of.duplicates()).isEqualTo(DuplicatePolicy.LAST);
      try (DatabaseBuilder builder = DatabaseBuilder.from(database, target)) {
        BuildReport report = builder.finish();
        assertThat(report.changes().kept()).isEqualTo(500);
        assertThat(report.changes().replaced()).isZero();
      }
    }
    assertThat(content(target)).isEqualTo(content(base));
    Path shard = target.resolve(Forgery.set(target).shards().get(1).directoryName());
    try (Database database = Database.open(shard)) {
      assertThat(BuildOptions.of(database).onlyShard()).hasValue(1);
      assertThat(BuildOptions.of(database).shards()).isEqualTo(2);
    }
  }

  /** What a database does not tell of its build. */
  private static final Set<String> NOT_OF_A_DATABASE =
      Set.of(
          "duplicates",
          "memoryBytes",
          "onlyShard",
          "overwrite",
          "sampleRecords",
          "signatureOrder",
          "temporaryDirectory",
          "threads");

  @ParameterizedTest
  @EnumSource
  void everyPropertyOfABaseIsCarriedOver(Layout layout) throws Exception {
    BuildOptions options =
        BuildOptions.defaults()
            .withLayout(layout)
            .withDataFiles(2)
            .withSeed(77)
            .withOrderedKeys(true)
            .withValueSchema("{\"type\":\"string\"}")
            .withShards(2);
    if (layout.isPacked()) {
      options = options.withFilterBits(5);
    } else {
      options = options.withHash(HashAlgorithm.GOV).withChecksumBits(9);
    }
    if (layout.isCompressed()) {
      options = options.withBlockSize(2048).withCompressionLevel(3).withDictionaryBytes(4096);
    }
    Truth truth = new Truth();
    for (int i = 0; i < 5000; i++) {
      truth.add("key " + i, "{\"name\":\"someone\",\"number\":" + i * 7919 + "}");
    }
    truth.build(base, options);
    try (Database database = Database.open(base)) {
      BuildOptions of = BuildOptions.of(database);
      for (Method property : BuildOptions.class.getDeclaredMethods()) {
        String name = property.getName();
        if (!Modifier.isPublic(property.getModifiers())
            || Modifier.isStatic(property.getModifiers())
            || property.getParameterCount() > 0
            || Set.of("hashCode", "toString").contains(name)
            || NOT_OF_A_DATABASE.contains(name)) {
          continue;
        }
        if (name.equals("dictionaryBytes") && layout.isCompressed()) {
          assertThat(of.dictionaryBytes()).as("of what was trained").isBetween(256, 4096);
        } else {
          assertThat(property.invoke(of)).as(name).isEqualTo(property.invoke(options));
        }
      }
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"COMPRESSED", "PACKED_COMPRESSED"})
  void aDictionaryIsTrainedIfTheBaseHasOne(Layout layout) throws Exception {
    Truth truth = new Truth();
    for (int i = 0; i < 5000; i++) {
      truth.add("key " + i, "{\"name\":\"someone\",\"number\":" + i * 7919 + "}");
    }
    truth.build(base, options(layout).withDictionaryBytes(8000));
    try (Database database = Database.open(base);
        DatabaseBuilder builder = DatabaseBuilder.from(database, target)) {
      builder.add(Truth.utf8("new"), Truth.utf8("{\"name\":\"someone else\"}"));
      assertThat(builder.finish().dictionaryBytes()).isPositive();
    }
    try (Database database = Database.open(target)) {
      truth.checkGets(database);
      assertThat(database.get(Truth.utf8("new"))).isNotNull();
    }
  }

  @Test
  void recordsThatTheBaseDroppedStayDropped() throws Exception {
    Truth truth = new Truth();
    for (int i = 0; i < 300; i++) {
      truth.add("key " + i % 100, "value " + i);
    }
    BuildOptions options = options(Layout.BLOCKED).withDuplicates(DuplicatePolicy.LAST);
    truth.build(base, options);
    Truth distinct = new Truth();
    for (int i = 200; i < 300; i++) {
      distinct.add("key " + i % 100, "value " + i);
    }
    try (Database database = Database.open(base);
        DatabaseBuilder builder = from(database, target, options)) {
      BuildReport report = builder.finish();
      assertThat(report.changes().kept()).isEqualTo(100);
      assertThat(report.duplicatesDropped()).isZero();
    }
    Path whole = directory.resolve("whole");
    distinct.build(whole, options);
    assertThat(content(target)).isEqualTo(content(whole));
  }

  @ParameterizedTest
  @EnumSource
  void ofTheChangesOfAKeyTheOptionsTellWhichCounts(Layout layout) throws Exception {
    new Truth().add("a", "1").add("b", "2").build(base, options(layout));
    for (DuplicatePolicy policy : DuplicatePolicy.values()) {
      target = directory.resolve(policy.name());
      try (Database database = Database.open(base);
          DatabaseBuilder builder =
              from(database, target, options(layout).withDuplicates(policy))) {
        builder.add(Truth.utf8("c"), Truth.utf8("3"));
        builder.add(Truth.utf8("a"), Truth.utf8("4"));
        builder.delete(Truth.utf8("a"));
        if (policy == DuplicatePolicy.ERROR) {
          assertThatThrownBy(builder::finish)
              .isInstanceOfSatisfying(
                  DuplicateKeyException.class,
                  e -> {
                    assertThat(e.key()).isEqualTo(Truth.utf8("a"));
                    assertThat(e.first()).isEqualTo(1);
                    assertThat(e.second()).isEqualTo(2);
                  });
          continue;
        }
        ChangeCounts counts = builder.finish().changes();
        assertThat(counts.superseded()).isEqualTo(1);
        assertThat(counts.added()).isEqualTo(1);
        assertThat(counts.kept()).isEqualTo(1);
        assertThat(counts.deleted()).isEqualTo(policy == DuplicatePolicy.LAST ? 1 : 0);
        assertThat(counts.replaced()).isEqualTo(policy == DuplicatePolicy.LAST ? 0 : 1);
      }
      try (Database database = Database.open(target)) {
        byte[] first = Truth.utf8("4");
        assertThat(database.get(Truth.utf8("a")))
            .isEqualTo(policy == DuplicatePolicy.LAST ? null : first);
      }
    }
    assertThat(directory.resolve("ERROR")).doesNotExist();
  }

  @Test
  void keysWithOneSignatureAreToldApart() throws Exception {
    Truth truth = Truth.random(random, 200, 30);
    byte[] victim = truth.records().get(0).key();
    Signature signature = new Signature();
    signature.compute(victim, 0, victim.length, 0);
    List<byte[]> colliding = new ArrayList<>();
    for (int i = 0; i < 40; i++) {
      colliding.add(SpookyCollision.key(signature.high, signature.low, i));
    }
    for (int i = 0; i < 30; i++) {
      truth.add(colliding.get(i), Truth.utf8("old " + i));
    }
    truth.build(base, options(Layout.PACKED).withSignature(SignatureAlgorithm.SPOOKY));
    Truth expected = new Truth();
    List<Truth.Entry> records = truth.records();
    for (Truth.Entry record : records) {
      int number = colliding.indexOf(record.key());
      if (number < 0 || number % 3 == 2) {
        expected.add(record.key(), record.value());
      } else if (number % 3 == 1) {
        expected.add(record.key(), Truth.utf8("new " + number));
      } else {
        expected.absent(record.key());
      }
    }
    try (Database database = Database.open(base);
        DatabaseBuilder builder = DatabaseBuilder.from(database, target)) {
      for (int i = 0; i < 40; i++) {
        if (i >= 30 || i % 3 == 1) {
          builder.add(colliding.get(i), Truth.utf8("new " + i));
        } else if (i % 3 == 0) {
          builder.delete(colliding.get(i));
        }
        if (i >= 30) {
          expected.add(colliding.get(i), Truth.utf8("new " + i));
        }
      }
      ChangeCounts counts = builder.finish().changes();
      assertThat(counts.deleted()).isEqualTo(10);
      assertThat(counts.replaced()).isEqualTo(10);
      assertThat(counts.added()).isEqualTo(10);
      assertThat(counts.kept()).isEqualTo(210);
    }
    expected.check(target);
    Path whole = directory.resolve("whole");
    expected.build(whole, options(Layout.PACKED).withSignature(SignatureAlgorithm.SPOOKY));
    assertThat(content(target)).isEqualTo(content(whole));
  }

  @ParameterizedTest
  @EnumSource
  void filesAreForcedUnlessTheyGoWithTheBuild(Layout layout) throws Exception {
    Truth.random(random, 300, 30).build(base, options(layout));
    Map<Integer, Path> opened = new HashMap<>();
    Set<Path> written = new HashSet<>();
    Set<Path> forced = new HashSet<>();
    Path watched =
        WatchedFiles.watch(
            target,
            change -> {
              if (change instanceof WatchedFiles.Open open) {
                opened.put(open.handle(), open.path());
              } else if (change instanceof WatchedFiles.Write write) {
                written.add(opened.get(write.handle()));
              } else if (change instanceof WatchedFiles.Force force) {
                forced.add(opened.get(force.handle()));
              }
            });
    try (Database database = Database.open(base);
        DatabaseBuilder builder = DatabaseBuilder.from(database, watched)) {
      builder.add(Truth.utf8("new"), Truth.utf8("value"));
      builder.finish();
    }
    assertThat(written).anyMatch(path -> ofChanges(path));
    assertThat(forced).noneMatch(path -> ofChanges(path));
    assertThat(forced).anyMatch(path -> path.getFileName().toString().startsWith("data-"));
  }

  private static boolean ofChanges(Path file) {
    return file.getParent().getFileName().toString().equals("changes.part");
  }

  @ParameterizedTest
  @EnumSource(names = {"BLOCKED", "PACKED", "PACKED_COMPRESSED"})
  void oneShardOfASetIsABase(Layout layout) throws Exception {
    BuildOptions options = options(layout).withShards(3);
    Truth truth = Truth.random(random, 600, 60);
    truth.build(base, options);
    Path shard = base.resolve(Forgery.set(base).shards().get(1).directoryName());
    byte[] own = new byte[0];
    byte[] other = new byte[0];
    for (Truth.Entry record : truth.records()) {
      int owner = KeySlots.shard(record.key(), 3);
      own = owner == 1 ? record.key() : own;
      other = owner == 2 ? record.key() : other;
    }
    byte[] deleted = own;
    byte[] elsewhere = other;
    Path merged = directory.resolve("merged");
    try (Database database = Database.open(shard)) {
      try (DatabaseBuilder builder = DatabaseBuilder.from(database, target)) {
        builder.delete(deleted);
        builder.delete(elsewhere);
        assertThatThrownBy(builder::finish)
            .isInstanceOfSatisfying(
                ForeignRecordException.class, e -> assertThat(e.record()).isEqualTo(1))
            .hasMessageContaining("belongs to shard 2");
      }
      try (DatabaseBuilder builder = DatabaseBuilder.from(database, target)) {
        builder.delete(deleted);
        assertThat(builder.finish().changes().deleted()).isEqualTo(1);
      }
    }
    try (Database database = Database.open(base);
        DatabaseBuilder builder = DatabaseBuilder.from(database, merged)) {
      builder.delete(deleted);
      builder.finish();
    }
    Path same = merged.resolve(Forgery.set(merged).shards().get(1).directoryName());
    assertThat(content(target)).isEqualTo(content(same));
  }

  /** Of the keys of short records, only the empty one has a wide header, and it has one shard. */
  @Test
  void theEmptyKeyOfASetIsCountedOnce() throws Exception {
    Truth truth = Truth.random(random, 600, 60).add("", "of the empty key");
    truth.build(base, options(Layout.PACKED).withShards(3));
    try (Database database = Database.open(base);
        DatabaseBuilder builder = DatabaseBuilder.from(database, target)) {
      assertThat(builder.finish().changes().kept()).isEqualTo(601);
    }
    assertThat(content(target)).isEqualTo(content(base));
  }

  @Test
  void onlyBasesOfTheSameKindAreAccepted() throws Exception {
    Truth.random(random, 50, 20).build(base, options(Layout.BLOCKED));
    Path approximate = directory.resolve("approximate");
    Truth.random(random, 50, 20)
        .build(approximate, options(Layout.BLOCKED).withApproximateWidth(4));
    Path set = directory.resolve("set");
    Truth.random(random, 50, 20).build(set, options(Layout.BLOCKED).withShards(3));
    Path part = Forgery.part(set, directory.resolve("part"), 0, 2);
    try (Database database = Database.open(base)) {
      BuildOptions like = BuildOptions.of(database);
      refused(database, target, like.withLayout(Layout.PACKED), "layout", "blocked", "packed");
      refused(database, target, like.withSeed(5), "seed", "0", "5");
      refused(database, target, like.withShards(2), "number of shards", "1", "2");
      refused(database, target, like.withValueSchema("\"long\""), "value schema", "long");
      ValueElements vector = new ValueElements(ValueElements.Type.I16, 8);
      refused(database, target, like.withValueElements(vector), "elements of values", "i16 8");
      refused(database, base, like.withOverwrite(true), "is the base itself");
      Path link = Files.createSymbolicLink(directory.resolve("link"), base);
      refused(database, link, like.withOverwrite(true), "is the base itself");
      refused(database, base.resolve("inside"), like, "lies inside the database");
    }
    for (Path path : List.of(approximate, part)) {
      try (Database database = Database.open(path)) {
        refused(
            database,
            target,
            BuildOptions.of(database),
            path.toString(),
            path.equals(part) ? "whole" : "approximate");
      }
    }
    try (Database database = Database.open(set)) {
      Path shard = set.resolve(Forgery.set(set).shards().get(0).directoryName());
      refused(database, shard, BuildOptions.of(database).withOverwrite(true), "is the base itself");
    }
    assertThat(target).doesNotExist();
  }

  private static void refused(
      Database database, Path target, BuildOptions options, String... words) {
    assertThatThrownBy(() -> from(database, target, options))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll(words);
  }

  @Test
  void aBuildWithoutABaseDeletesNothing() throws Exception {
    try (DatabaseBuilder builder = DatabaseBuilder.create(target, BuildOptions.defaults())) {
      assertThatThrownBy(() -> builder.delete(new byte[1]))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("without a base");
      RecordBatch batch = builder.newBatch();
      batch.delete(new byte[1], 0, 1);
      assertThatThrownBy(() -> builder.add(batch))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("without a base");
      batch.clear();
      builder.add(batch);
      assertThat(builder.finish().changes()).isNull();
    }
  }

  @ParameterizedTest
  @EnumSource
  void aBaseThatWasClosedFailsTheBuild(Layout layout) throws Exception {
    Truth truth = Truth.random(random, 50, 20);
    truth.build(base, options(layout));
    Database database = Database.open(base);
    try (DatabaseBuilder builder = DatabaseBuilder.from(database, target)) {
      database.close();
      assertThatThrownBy(builder::finish)
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("closed");
    }
    assertThat(target).doesNotExist();
  }

  @ParameterizedTest
  @CsvSource({
    "BLOCKED, 1",
    "COMPACT, 3",
    "COMPRESSED, 1",
    "PACKED, 1",
    "PACKED, 3",
    "PACKED_COMPRESSED, 1"
  })
  void damageOfTheBaseIsNamed(Layout layout, int shards) throws Exception {
    Truth truth = Truth.random(random, 3000, 60);
    truth.build(base, options(layout).withShards(shards));
    List<Path> data;
    try (Stream<Path> files = Files.walk(base)) {
      data = files.filter(file -> file.getFileName().toString().startsWith("data-")).toList();
    }
    for (int i = 0; i < Rounds.of(2); i++) {
      Path damaged = data.get(random.nextInt(data.size()));
      long bits = 8 * (Files.size(damaged) - 8192); // of pages, without header and footer
      long bit = 8 * 4096 + random.nextLong(bits);
      Specimen.flip(damaged, bit);
      int few = random.nextInt(3000);
      try (Database database = Database.open(base);
          DatabaseBuilder builder = DatabaseBuilder.from(database, target)) {
        for (int j = 0; j < few; j++) {
          builder.delete(truth.records().get(j).key());
        }
        assertThatThrownBy(builder::finish)
            .isInstanceOfSatisfying(
                CorruptDatabaseException.class, e -> assertThat(e.file()).isEqualTo(damaged));
      }
      Specimen.flip(damaged, bit);
      assertThat(target).doesNotExist();
      assertThat(Leaks.tree(directory)).noneMatch(name -> name.startsWith("."));
    }
    try (Database database = Database.open(base)) {
      truth.checkGets(database);
    }
  }

  /** More keys than the least memory holds, and long values, which no frame is followed by. */
  @ParameterizedTest
  @CsvSource({"false, 1", "true, 3"})
  void keysAreCollectedIfTheOrderOfABaseDoesNotHelp(boolean ordered, int threads) throws Exception {
    Map<String, byte[]> records = new HashMap<>();
    while (records.size() < 40_000) {
      int length = records.size() % 400 == 7 ? random.nextInt(50_000) : random.nextInt(20);
      records.put("key " + random.nextInt(1 << 30), Truth.bytes(random, length));
    }
    BuildOptions options =
        options(Layout.PACKED).withOrderedKeys(true).withMemoryBytes(1 << 20).withThreads(threads);
    Truth before = new Truth();
    records.forEach((key, value) -> before.add(Truth.utf8(key), value));
    before.build(base, options.withOrderedKeys(ordered));
    Truth after = new Truth();
    try (Database database = Database.open(base);
        DatabaseBuilder builder =
            from(database, target, options.withDuplicates(DuplicatePolicy.LAST))) {
      for (Truth.Entry record : before.records()) {
        switch (random.nextInt(5)) {
          case 0 -> builder.delete(record.key());
          case 1 -> {
            byte[] value = Truth.bytes(random, random.nextInt(50) == 0 ? 20_000 : 9);
            builder.add(record.key(), value);
            after.add(record.key(), value);
          }
          default -> after.add(record.key(), record.value());
        }
      }
      builder.finish();
    }
    Path whole = directory.resolve("whole");
    after.build(whole, options);
    assertThat(content(target)).isEqualTo(content(whole));
    try (Database database = Database.open(target)) {
      after.checkOrder(database);
    }
  }

  @Sampled(2)
  @ParameterizedTest
  @CsvSource({"BLOCKED, 1", "PACKED, 1", "PACKED_COMPRESSED, 2", "PACKED, 2"})
  void aMergeCanBeCancelledInEveryStage(Layout layout, int shards) throws Exception {
    Truth truth = Truth.random(random, 2000, 40);
    truth.build(base, options(layout).withShards(shards));
    for (BuildListener.Stage stage : BuildListener.Stage.values()) {
      boolean[] finishing = {false};
      boolean[] reached = {false};
      DatabaseBuilder[] self = new DatabaseBuilder[1];
      try (Database database = Database.open(base);
          DatabaseBuilder builder =
              DatabaseBuilder.from(
                  database,
                  target,
                  BuildOptions.of(database).withOrderedKeys(true),
                  (current, done, total) -> {
                    if (finishing[0] && current == stage) {
                      reached[0] = true;
                      self[0].close();
                    }
                  })) {
        self[0] = builder;
        for (int i = 0; i < 1000; i++) { // many, so that the packed layout counts first
          builder.delete(truth.records().get(i).key());
        }
        builder.add(builder.newBatch());
        finishing[0] = true;
        try {
          builder.finish();
        } catch (CancellationException e) {
          assertThat(target).doesNotExist();
        }
        assertThat(Files.exists(target)).isEqualTo(!reached[0]);
      }
      if (!reached[0]) {
        if (shards == 1 || stage != BuildListener.Stage.ORDER) {
          assertThat(stage).isIn(BuildListener.Stage.RECORDS, BuildListener.Stage.COUNT);
        }
        try (Stream<Path> paths = Files.walk(target)) {
          for (Path path : paths.sorted(Comparator.reverseOrder()).toList()) {
            Files.delete(path);
          }
        }
      }
    }
  }

  @Sampled(3)
  @ParameterizedTest
  @EnumSource(names = {"BLOCKED", "COMPRESSED", "PACKED", "PACKED_COMPRESSED"})
  void aFullDiskLeavesTheBaseAndNothingElse(Layout layout) throws Exception {
    Truth truth = Truth.random(random, 4000, 100);
    truth.build(base, options(layout));
    int full = 0;
    int growth = Rounds.longOrShort(1, 2);
    try (SmallDisk disk = SmallDisk.mount(directory.resolve("disk"), 1 << 16)) {
      target = disk.directory().resolve("db");
      for (long size = 1 << 16; ; size += growth << 16) {
        disk.resize(size);
        try (Database database = Database.open(base);
            DatabaseBuilder builder = DatabaseBuilder.from(database, target)) {
          for (int i = 0; i < 2000; i++) {
            builder.add(truth.records().get(i).key(), new byte[100]);
          }
          builder.finish();
          break;
        } catch (IOException e) {
          assertThat(e).hasStackTraceContaining("No space left on device");
          assertThat(Leaks.tree(disk.directory())).as("disk of %s bytes", size).isEmpty();
          full++;
        }
      }
      try (Database database = Database.open(target)) {
        assertThat(database.statistics().records()).isEqualTo(4000);
      }
    }
    assertThat(full * growth).isGreaterThan(3);
    truth.check(base);
  }

  @Test
  void temporaryFilesGoWhereTheOptionsSay() throws Exception {
    Truth truth = Truth.random(random, 400, 100);
    truth.build(base, options(Layout.COMPACT));
    Path temporary = Files.createDirectory(directory.resolve("temporary"));
    try (Database database = Database.open(base);
        DatabaseBuilder builder =
            from(database, target, BuildOptions.of(database).withTemporaryDirectory(temporary))) {
      builder.add(new byte[3], new byte[3]);
      assertThat(Leaks.tree(temporary)).anyMatch(name -> name.endsWith("changes.part"));
      builder.finish();
    }
    assertThat(temporary).isEmptyDirectory();
  }
}
