package tech.bsdb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import tech.bsdb.error.CorruptDatabaseException;

/** Ranges over records that lie in the order of their keys, each run of which takes one read. */
class NeighbouringRecordsTest {
  private static final int PAGE = 4096;

  @TempDir Path directory;

  private final SplittableRandom random = Seeds.random("NeighbouringRecordsTest");
  private final List<Truth.Entry> records = new ArrayList<>();

  @AfterEach
  void nothingIsHeld() throws Exception {
    Leaks.assertNone(directory);
  }

  private Path build(BuildOptions options) throws IOException {
    Path target = directory.resolve("db");
    try (DatabaseBuilder builder =
        DatabaseBuilder.create(
            target, Truth.fitting(options.withOrderedKeys(true).withDictionaryBytes(0)))) {
      for (Truth.Entry record : records) {
        builder.add(record.key(), record.value());
      }
      builder.finish();
    }
    return target;
  }

  private void addNumbered(int count, int valueLength) {
    for (int i = 0; i < count; i++) {
      records.add(
          new Truth.Entry(Truth.utf8("key" + (10_000 + i)), Truth.bytes(random, valueLength)));
    }
  }

  /** Keys of 0 to 65,535 bytes, and values of 0 bytes to several reads, among many short ones. */
  private void addOfAllSizes() {
    TreeSet<byte[]> keys = new TreeSet<>(Arrays::compareUnsigned);
    keys.addAll(RandomKeys.set(random, 700, 24));
    keys.addAll(RandomKeys.set(random, 40, 600));
    keys.add(new byte[0]);
    keys.add(Truth.bytes(random, 65_535));
    for (byte[] key : keys) {
      int kind = random.nextInt(60);
      int most = kind == 0 ? 40_000 : kind < 4 ? 9_000 : kind < 8 ? 700 : 60;
      records.add(new Truth.Entry(key, Truth.bytes(random, random.nextInt(most))));
    }
    int large = random.nextInt(records.size());
    records.set(large, new Truth.Entry(records.get(large).key(), Truth.bytes(random, 1_500_000)));
  }

  static Stream<Arguments> builds() {
    List<Arguments> all = new ArrayList<>();
    for (Layout layout : new Layout[] {Layout.BLOCKED, Layout.COMPACT, Layout.COMPRESSED}) {
      for (int shards : new int[] {1, 3}) {
        all.add(Arguments.of(layout, shards));
      }
    }
    return all.stream();
  }

  @Sampled(4)
  @ParameterizedTest
  @MethodSource("builds")
  void everyRangeIsThatOfTheRecords(Layout layout, int shards) throws Exception {
    addOfAllSizes();
    Path target =
        build(
            BuildOptions.defaults()
                .withLayout(layout)
                .withShards(shards)
                .withDataFiles(1 + random.nextInt(2))
                .withBlockSize(512 + random.nextInt(9000)));
    for (OpenOptions.Engine engine : Offered.engines()) {
      try (Database database =
          Database.open(
              target, OpenOptions.defaults().withEngine(engine).withVerify(random.nextBoolean()))) {
        check(database, 0, records.size(), false, Integer.MAX_VALUE);
        check(database, 0, records.size(), true, Integer.MAX_VALUE);
        for (int i = 0; i < 25; i++) {
          int from = random.nextInt(records.size());
          int to = from + random.nextInt(records.size() - from);
          check(database, from, to, random.nextBoolean(), 1 + random.nextInt(300));
        }
      }
    }
  }

  private void check(Database database, int from, int to, boolean descending, int limit)
      throws IOException {
    KeyRange range = KeyRange.all().from(records.get(from).key());
    if (to < records.size()) {
      range = range.to(records.get(to).key());
    }
    RangeOptions options = RangeOptions.defaults().withDescending(descending).withLimit(limit);
    int count = Math.min(limit, to - from);
    try (Database.RecordCursor cursor = database.range(range, options)) {
      for (int i = 0; i < count; i++) {
        Truth.Entry expected = records.get(descending ? to - 1 - i : from + i);
        assertThat(cursor.next()).isTrue();
        Truth.same(cursor.key(), expected.key(), "key");
        Truth.same(cursor.value(), expected.value(), "value");
      }
      assertThat(cursor.next()).isFalse();
    }
  }

  /** Neighbours may be few in each page: what counts is that the pages follow one another. */
  @ParameterizedTest
  @EnumSource(names = {"BLOCKED", "COMPACT", "COMPRESSED"})
  void aRunOfPagesTakesOneRead(Layout layout) throws Exception {
    addNumbered(900, 700);
    Path target = build(BuildOptions.defaults().withLayout(layout));
    for (OpenOptions.Engine engine : Offered.engines()) {
      try (Database database = Database.open(target, OpenOptions.defaults().withEngine(engine))) {
        check(database, 0, 1, false, 1);
        long before = database.ioCounters().reads();
        check(database, 100, 900, false, 100);
        check(database, 100, 900, true, 7);
        if (engine == OpenOptions.Engine.BUFFERED || Offered.readsDevice(engine)) {
          assertThat(database.ioCounters().reads() - before).isBetween(2L, 8L);
        }
      }
    }
  }

  /** A set reads the records of each shard together, in the same way. */
  @ParameterizedTest
  @EnumSource(names = {"BLOCKED", "COMPACT", "COMPRESSED"})
  void eachShardOfASetIsReadByItself(Layout layout) throws Exception {
    addNumbered(3000, 40);
    Path target = build(BuildOptions.defaults().withLayout(layout).withShards(3));
    for (OpenOptions.Engine engine : Offered.engines()) {
      try (Database database = Database.open(target, OpenOptions.defaults().withEngine(engine))) {
        check(database, 0, 1, false, 1);
        long before = database.ioCounters().reads();
        check(database, 500, 3000, false, 100);
        if (engine == OpenOptions.Engine.BUFFERED || Offered.readsDevice(engine)) {
          assertThat(database.ioCounters().reads() - before).isBetween(5L, 15L);
        }
      }
    }
  }

  private static Path dataFile(Path target) throws IOException {
    try (Stream<Path> files = Files.list(target)) {
      return files
          .filter(file -> file.getFileName().toString().startsWith("data-"))
          .toList()
          .get(0);
    }
  }

  /** Inverts a bit of a byte. */
  private static void damage(Path file, long position) throws IOException {
    try (RandomAccessFile bytes = new RandomAccessFile(file.toFile(), "rw")) {
      bytes.seek(position);
      int found = bytes.read();
      bytes.seek(position);
      bytes.write(found ^ 1);
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"BLOCKED", "COMPACT", "COMPRESSED"})
  void damageInTheMiddleOfARangeIsNamed(Layout layout) throws Exception {
    addNumbered(2000, 60);
    Path target = build(BuildOptions.defaults().withLayout(layout));
    Path data = dataFile(target);
    long page = Files.size(data) / PAGE / 2;
    damage(data, page * PAGE + 1234);
    for (OpenOptions.Engine engine : Offered.engines()) {
      if (engine == OpenOptions.Engine.MEMORY) {
        continue; // verifies when it is opened
      }
      try (Database database = Database.open(target, OpenOptions.defaults().withEngine(engine));
          Database.RecordCursor cursor = database.range(KeyRange.all())) {
        List<byte[]> keys = new ArrayList<>();
        assertThatThrownBy(
                () -> {
                  while (cursor.next()) {
                    keys.add(cursor.key());
                  }
                })
            .isInstanceOfSatisfying(
                CorruptDatabaseException.class,
                corrupt -> {
                  assertThat(corrupt.file().getFileName()).isEqualTo(data.getFileName());
                  assertThat(corrupt.offset()).isEqualTo(page * PAGE);
                });
        assertThat(keys.size()).isBetween(500, 1100);
        check(database, 1600, 2000, false, 100);
        assertThatThrownBy(cursor::next).isInstanceOf(IllegalStateException.class);
      }
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"BLOCKED", "COMPACT"})
  void aRecordWithAnotherKeyThanTheOrderIsDamage(Layout layout) throws Exception {
    addNumbered(500, 60);
    Path target = build(BuildOptions.defaults().withLayout(layout));
    Path data = dataFile(target);
    int[] places = {0, 3 + 2}; // the length of the key, and its third byte
    for (int place : places) {
      damage(data, PAGE + 71L * 10 + place);
      for (OpenOptions.Engine engine : Offered.engines()) {
        OpenOptions trusting = OpenOptions.defaults().withEngine(engine).withVerify(false);
        try (Database database = Database.open(target, trusting);
            Database.RecordCursor cursor =
                database.range(KeyRange.all().from(records.get(5).key()))) {
          assertThatThrownBy(cursor::next).isInstanceOf(CorruptDatabaseException.class);
        }
      }
      damage(data, PAGE + 71L * 10 + place);
    }
    try (Database database = Database.open(target)) {
      check(database, 0, 500, false, 500);
    }
  }

  /** A walk that ended leaves its cursor to the next one, which must not see where it was. */
  @Test
  void walksAfterAndBesideOneAnotherDoNotMeet() throws Exception {
    addNumbered(1500, 10);
    Path target = build(BuildOptions.defaults());
    try (Database database = Database.open(target);
        Database.RecordCursor open = database.range(KeyRange.all())) {
      for (int i = 0; i < 1500; i++) {
        assertThat(open.next()).isTrue();
        Truth.same(open.key(), records.get(i).key(), "key");
        open.key()[0] = 0; // its array is the caller's
        check(database, i, 1500, i % 2 == 0, 1 + i % 40);
      }
      assertThat(open.next()).isFalse();
    }
  }
}
