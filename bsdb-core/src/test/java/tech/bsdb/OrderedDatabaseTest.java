package tech.bsdb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CancellationException;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import tech.bsdb.format.KeySlots;

/** Building with an order of keys, and the life of what reads it. */
class OrderedDatabaseTest {
  @TempDir Path directory;

  private final SplittableRandom random = Seeds.random("OrderedDatabaseTest");

  @AfterEach
  void nothingIsHeld() throws Exception {
    Leaks.assertNone(directory);
  }

  private Path build(Truth truth, BuildOptions options) throws Exception {
    Path target = directory.resolve("db");
    truth.build(target, options.withOrderedKeys(true));
    return target;
  }

  private static List<ThrowingCallable> questions(Database database) {
    return List.of(
        () -> database.count(KeyRange.all()),
        () -> database.count(KeyRange.prefix(Truth.utf8("a"))),
        database::firstKey,
        database::lastKey,
        () -> database.floorKey(new byte[1]),
        () -> database.ceilingKey(new byte[1]));
  }

  @ParameterizedTest
  @MethodSource("tech.bsdb.Offered#engines")
  void aClosedDatabaseAnswersNothing(OpenOptions.Engine engine) throws Exception {
    Path target = build(Truth.random(random, 100, 20), BuildOptions.defaults());
    Database database = Database.open(target, OpenOptions.defaults().withEngine(engine));
    Database.RecordCursor unused = database.range(KeyRange.all());
    Database.RecordCursor started = database.range(KeyRange.all());
    Database.RecordCursor keysOnly =
        database.range(KeyRange.all(), RangeOptions.defaults().withValues(false));
    Database.RecordCursor ended = database.range(KeyRange.prefix(Truth.bytes(random, 40)));
    assertThat(started.next()).isTrue();
    assertThat(keysOnly.next()).isTrue();
    assertThat(ended.next()).isFalse();
    byte[] key = started.key();
    byte[] value = started.value();
    database.close();
    for (ThrowingCallable question : questions(database)) {
      assertThatThrownBy(question)
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("closed");
    }
    for (Database.RecordCursor cursor : List.of(unused, started, keysOnly, ended)) {
      for (int i = 0; i < 3; i++) {
        assertThatThrownBy(cursor::next)
            .isInstanceOf(IllegalStateException.class)
            .hasMessageContaining("closed");
      }
    }
    assertThat(started.key()).isEqualTo(key);
    assertThat(started.value()).isEqualTo(value);
    for (Database.RecordCursor cursor : List.of(unused, started, keysOnly, ended)) {
      cursor.close();
    }
  }

  @Test
  void aClosedCursorIsRefusedAndMayBeClosedAgain() throws Exception {
    Path target = build(Truth.random(random, 300, 20), BuildOptions.defaults());
    try (Database database = Database.open(target)) {
      Database.RecordCursor cursor = database.range(KeyRange.all());
      assertThat(cursor.next()).isTrue();
      cursor.close();
      cursor.close();
      assertThatThrownBy(cursor::next).isInstanceOf(IllegalStateException.class);
      assertThatThrownBy(cursor::key).isInstanceOf(IllegalStateException.class);
      assertThatThrownBy(cursor::value).isInstanceOf(IllegalStateException.class);
    }
  }

  @Test
  void aCursorHasARecordOnlyBetweenStartAndEnd() throws Exception {
    Truth truth = new Truth().add("a", "1").add("b", "");
    Path target = build(truth, BuildOptions.defaults());
    try (Database database = Database.open(target)) {
      Database.RecordCursor cursor = database.range(KeyRange.all());
      assertThatThrownBy(cursor::key).isInstanceOf(IllegalStateException.class);
      assertThat(cursor.next()).isTrue();
      byte[] key = cursor.key();
      assertThat(cursor.next()).isTrue();
      assertThat(key).isEqualTo(Truth.utf8("a"));
      assertThat(cursor.value()).isEmpty();
      assertThat(cursor.next()).isFalse();
      assertThatThrownBy(cursor::key).isInstanceOf(IllegalStateException.class);
      assertThatThrownBy(cursor::value).isInstanceOf(IllegalStateException.class);
      cursor.close();
      Database.RecordCursor keysOnly =
          database.range(KeyRange.all(), RangeOptions.defaults().withValues(false));
      assertThat(keysOnly.next()).isTrue();
      assertThatThrownBy(keysOnly::value)
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("keys only");
      keysOnly.close();
    }
  }

  @Test
  void cursorsDoNotDisturbEachOther() throws Exception {
    Truth truth = Truth.random(random, 1000, 20);
    Path target = build(truth, BuildOptions.defaults().withShards(2));
    try (Database database = Database.open(target);
        Database.RecordCursor one = database.range(KeyRange.all());
        Database.RecordCursor two =
            database.range(KeyRange.all(), RangeOptions.defaults().withDescending(true))) {
      List<byte[]> ascending = new ArrayList<>();
      List<byte[]> descending = new ArrayList<>();
      while (one.next()) {
        assertThat(two.next()).isTrue();
        ascending.add(one.key());
        descending.add(0, two.key());
        assertThat(database.get(one.key())).isEqualTo(one.value());
      }
      assertThat(ascending).hasSize(1000);
      for (int i = 0; i < 1000; i++) {
        assertThat(ascending.get(i)).isEqualTo(descending.get(i));
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void anUnorderedDatabaseNamesTheOption(Layout layout) throws Exception {
    Path target = directory.resolve("db");
    Truth.random(random, 10, 20).build(target, BuildOptions.defaults().withLayout(layout));
    try (Database database = Database.open(target)) {
      assertThat(database.isOrdered()).isFalse();
      assertThat(database.statistics().ordered()).isFalse();
      assertThat(database.statistics().orderBytes()).isZero();
      List<ThrowingCallable> all = new ArrayList<>(questions(database));
      all.add(() -> database.range(KeyRange.all()));
      all.add(() -> database.range(KeyRange.all(), RangeOptions.defaults()));
      for (ThrowingCallable question : all) {
        assertThatThrownBy(question)
            .isInstanceOf(UnsupportedOperationException.class)
            .hasMessageContaining(target.toString())
            .hasMessageContaining("--ordered")
            .hasMessageContaining("withOrderedKeys");
      }
    }
  }

  @Test
  void anApproximateDatabaseHasNoKeysToOrder() throws Exception {
    BuildOptions options = BuildOptions.defaults().withApproximateWidth(8);
    assertThatThrownBy(
            () ->
                DatabaseBuilder.create(directory.resolve("db"), options.withOrderedKeys(true))
                    .close())
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("orderedKeys");
    assertThat(Leaks.tree(directory)).isEmpty();
    Path target = directory.resolve("approximate");
    Truth.random(random, 10, 8).build(target, options);
    try (Database database = Database.open(target)) {
      assertThat(database.isOrdered()).isFalse();
      assertThatThrownBy(database::firstKey).isInstanceOf(UnsupportedOperationException.class);
    }
  }

  @Test
  void statisticsAndOptionsTellOfTheOrder() throws Exception {
    Path target = build(Truth.random(random, 500, 20), BuildOptions.defaults().withShards(2));
    try (Database database = Database.open(target)) {
      long bytes = 0;
      for (String name : Leaks.tree(target)) {
        Path file = target.resolve(name);
        bytes += file.getFileName().toString().startsWith("order-") ? Files.size(file) : 0;
      }
      assertThat(database.statistics().orderBytes()).isEqualTo(bytes).isPositive();
      assertThat(database.statistics().ordered()).isTrue();
      assertThat(BuildOptions.of(database).orderedKeys()).isTrue();
    }
    assertThat(BuildOptions.defaults().orderedKeys()).isFalse();
  }

  @ParameterizedTest
  @EnumSource(names = {"COMPACT", "PACKED"})
  void aPartOfASetHasTheRangesOfItsShards(Layout layout) throws Exception {
    Truth all = Truth.random(random, 700, 20);
    Path set = build(all, BuildOptions.defaults().withLayout(layout).withShards(3));
    Path part = Forgery.part(set, directory.resolve("part"), 0, 2);
    Truth held = new Truth();
    Truth last = new Truth();
    for (Truth.Entry record : all.records()) {
      int shard = KeySlots.shard(record.key(), 3);
      if (shard != 1) {
        held.add(record.key(), record.value());
      }
      if (shard == 2) {
        last.add(record.key(), record.value());
      }
    }
    all.absentKeys().forEach(held::absent);
    all.absentKeys().forEach(last::absent);
    for (OpenOptions.Engine engine : Offered.engines()) {
      try (Database database = Database.open(part, OpenOptions.defaults().withEngine(engine))) {
        held.checkOrder(database);
      }
    }
    try (Database database = Database.open(Forgery.shards(part).get(1))) {
      last.checkOrder(database);
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"BLOCKED", "PACKED"})
  void aBuildCanBeCancelledWhileItPutsKeysInOrder(Layout layout) throws Exception {
    DatabaseBuilder[] self = new DatabaseBuilder[1];
    boolean[] reached = {false};
    BuildListener listener =
        (stage, done, total) -> {
          if (stage == BuildListener.Stage.ORDER && !reached[0]) {
            reached[0] = true;
            self[0].close();
          }
        };
    BuildOptions options =
        BuildOptions.defaults().withLayout(layout).withOrderedKeys(true).withMemoryBytes(1 << 20);
    try (DatabaseBuilder builder =
        DatabaseBuilder.create(directory.resolve("db"), options, listener)) {
      self[0] = builder;
      for (int i = 0; i < 200_000; i++) {
        builder.add(Truth.utf8("" + i), new byte[0]);
      }
      assertThatThrownBy(builder::finish).isInstanceOf(CancellationException.class);
    }
    assertThat(reached[0]).isTrue();
    assertThat(Leaks.tree(directory)).isEmpty();
  }

  static Stream<Arguments> builds() {
    List<Arguments> cases = new ArrayList<>();
    boolean odd = true;
    for (Layout layout : Layout.values()) {
      odd = !odd;
      if (Rounds.everything() || odd) {
        cases.add(Arguments.of(layout, 1, DuplicatePolicy.FIRST));
      }
      if (Rounds.everything() || !odd) {
        cases.add(Arguments.of(layout, 3, DuplicatePolicy.LAST));
      }
    }
    return cases.stream();
  }

  /** Keys of more than the least memory, so that they are sorted in several runs. */
  @Sampled(2)
  @ParameterizedTest
  @MethodSource("builds")
  void neitherMemoryNorThreadsChangeTheBytes(
      Layout layout, int dataFiles, DuplicatePolicy duplicates) throws Exception {
    List<byte[]> keys = new ArrayList<>(RandomKeys.groups(random, 9000, 100, 200, 60));
    keys.addAll(RandomKeys.set(random, 15_000, 40));
    List<Truth.Entry> records = new ArrayList<>();
    for (int i = 0; i < keys.size() + 3000; i++) {
      byte[] key = i < keys.size() ? keys.get(i) : keys.get(random.nextInt(keys.size()));
      records.add(new Truth.Entry(key, Truth.bytes(random, random.nextInt(20))));
    }
    java.util.Collections.shuffle(records, new java.util.Random(random.nextLong()));
    BuildOptions options =
        BuildOptions.defaults()
            .withOrderedKeys(true)
            .withLayout(layout)
            .withDataFiles(dataFiles)
            .withDictionaryBytes(0)
            .withDuplicates(duplicates);
    assertSameBytes(options, records, 1, 2);
  }

  /** Keys of so many bytes that the partitions are larger than the least memory. */
  @Sampled(2)
  @ParameterizedTest
  @EnumSource(names = {"BLOCKED", "PACKED"})
  void partitionsLargerThanTheMemoryAreMerged(Layout layout) throws Exception {
    List<Truth.Entry> records = new ArrayList<>();
    for (byte[] key : RandomKeys.groups(random, 20_000, 5, 3000, 500)) {
      records.add(new Truth.Entry(key, new byte[0]));
    }
    java.util.Collections.shuffle(records, new java.util.Random(random.nextLong()));
    assertSameBytes(BuildOptions.defaults().withOrderedKeys(true).withLayout(layout), records, 8);
  }

  private void assertSameBytes(BuildOptions options, List<Truth.Entry> records, int... threadCounts)
      throws Exception {
    Path expected = directory.resolve("expected");
    build(expected, options.withMemoryBytes(1 << 30).withThreads(1), records);
    for (int threads : threadCounts) {
      Path other = directory.resolve("threads-" + threads);
      build(other, options.withMemoryBytes(1 << 20).withThreads(threads), records);
      assertThat(Leaks.tree(other)).isEqualTo(Leaks.tree(expected));
      for (String name : Leaks.tree(expected)) {
        assertThat(Files.mismatch(other.resolve(name), expected.resolve(name)))
            .as("first different byte of %s", name)
            .isEqualTo(-1);
      }
    }
  }

  /** Records that were added in the order of their keys: a range reads each of their pages once. */
  @ParameterizedTest
  @EnumSource(names = {"BLOCKED", "COMPACT", "COMPRESSED"})
  void recordsThatLieTogetherAreReadTogether(Layout layout) throws Exception {
    List<Truth.Entry> records = new ArrayList<>();
    for (int i = 10_000; i < 15_000; i++) {
      byte[] value = Truth.bytes(random, i % 500 == 0 ? 9000 : 30 + random.nextInt(9));
      records.add(new Truth.Entry(Truth.utf8("key" + i), value));
    }
    Path target = directory.resolve("sorted");
    build(target, BuildOptions.defaults().withLayout(layout).withOrderedKeys(true), records);
    for (OpenOptions.Engine engine : Offered.engines()) {
      try (Database database =
          Database.open(target, OpenOptions.defaults().withEngine(engine).withVerify(false))) {
        assertThat(database.firstKey()).isEqualTo(records.get(0).key());
        for (int from = 0; from < 4_900; from += 97) {
          long before = database.ioCounters().reads();
          try (Database.RecordCursor range =
              database.range(
                  KeyRange.all().from(records.get(from).key()),
                  RangeOptions.defaults().withLimit(100))) {
            for (int i = from; i < from + 100; i++) {
              assertThat(range.next()).isTrue();
              Truth.same(range.key(), records.get(i).key(), "key " + i);
              Truth.same(range.value(), records.get(i).value(), "value " + i);
            }
            assertThat(range.next()).isFalse();
          }
          if (engine == OpenOptions.Engine.BUFFERED || Offered.readsDevice(engine)) {
            assertThat(database.ioCounters().reads() - before).isBetween(1L, 6L);
          }
        }
      }
    }
  }

  /** Two keys of one signature, whatever the seed, beside a duplicate: the build says so. */
  @Test
  void keysWithOneSignatureAreRefusedLikeWithoutOrder() {
    byte[] one = new byte[36];
    one[16] = 24;
    byte[] other = new byte[39]; // longer by 24 bits
    BuildOptions options =
        BuildOptions.defaults()
            .withSignature(SignatureAlgorithm.SPOOKY)
            .withOrderedKeys(true)
            .withDuplicates(DuplicatePolicy.FIRST);
    List<Truth.Entry> records =
        List.of(new Truth.Entry(one, one), new Truth.Entry(other, one), new Truth.Entry(one, one));
    assertThatThrownBy(() -> build(directory.resolve("colliding"), options, records))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("have the same 128-bit signature");
  }

  private static void build(Path target, BuildOptions options, List<Truth.Entry> records)
      throws Exception {
    try (DatabaseBuilder builder = DatabaseBuilder.create(target, options)) {
      for (Truth.Entry record : records) {
        builder.add(record.key(), record.value());
      }
      builder.finish();
    }
  }
}
