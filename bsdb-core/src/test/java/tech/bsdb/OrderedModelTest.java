package tech.bsdb;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import tech.bsdb.directory.DataSet;

/** The order of keys of random databases against a sorted map, by every layout and engine. */
@Timeout(value = 90, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class OrderedModelTest {
  /** Random databases of each of the five layouts in the long run; ten thousand in all. */
  private static final int CAMPAIGN = 2000;

  @TempDir Path directory;

  /** Records by key, as unsigned bytes order them. */
  private final TreeMap<byte[], byte[]> model = new TreeMap<>(Arrays::compareUnsigned);

  static Stream<Arguments> cases() {
    List<Arguments> cases = new ArrayList<>();
    for (Layout layout : Layout.values()) {
      for (int shards : new int[] {1, 3}) {
        for (int count : new int[] {0, 1, 2, 17, 400}) {
          cases.add(Arguments.of(layout, shards, count));
        }
      }
    }
    return cases.stream();
  }

  @ParameterizedTest
  @MethodSource("cases")
  void rangesAreThoseOfTheModel(Layout layout, int shards, int count) throws Exception {
    SplittableRandom random =
        Seeds.random("OrderedModelTest " + layout + " " + shards + " " + count);
    build(
        RandomKeys.set(random, count, count > 100 ? 3000 : RandomKeys.LONGEST),
        options(random, layout, shards),
        random);
    for (OpenOptions.Engine engine : Offered.some(random)) {
      check(engine, random, 25);
    }
  }

  /** Two levels above the leaves and more, in every shard. */
  @ParameterizedTest
  @EnumSource
  void highTreesToo(Layout layout) throws Exception {
    SplittableRandom random = Seeds.random("OrderedModelTest " + layout);
    boolean sharded = random.nextBoolean();
    NavigableSet<byte[]> keys = RandomKeys.groups(random, 3000, 30, 200, 150);
    keys.addAll(RandomKeys.groups(random, 60, 3, 3000, 2000));
    keys.addAll(RandomKeys.set(random, 2000, 40));
    build(keys, options(random, layout, sharded ? 3 : 1), random);
    if (!sharded) {
      var order = DataSet.open(directory.resolve("db")).single().facts().order();
      assertThat(order).isNotNull();
      assertThat(order.levels()).hasSizeGreaterThanOrEqualTo(3);
    }
    for (OpenOptions.Engine engine : Offered.some(random)) {
      check(engine, random, 12);
    }
  }

  @Tag("long")
  @ParameterizedTest
  @EnumSource
  void thousandsOfDatabases(Layout layout) throws Exception {
    SplittableRandom seeds = Seeds.random("OrderedModelTest campaign " + layout);
    List<OpenOptions.Engine> engines = Offered.engines();
    for (int i = 0; i < CAMPAIGN; i++) {
      long seed = seeds.nextLong();
      try {
        SplittableRandom random = new SplittableRandom(seed);
        int count =
            random.nextInt(random.nextInt(12) == 0 ? 3000 : random.nextBoolean() ? 12 : 200);
        NavigableSet<byte[]> keys =
            random.nextInt(10) == 0
                ? RandomKeys.groups(
                    random,
                    count,
                    1 + random.nextInt(20),
                    random.nextInt(400),
                    3 + random.nextInt(300))
                : RandomKeys.set(random, count, count > 200 ? 400 : RandomKeys.LONGEST);
        build(keys, options(random, layout, random.nextBoolean() ? 1 : 3), random);
        check(engines.get(random.nextInt(engines.size())), random, 15);
      } catch (Exception | AssertionError e) {
        throw new AssertionError("database " + i + " of " + layout + ", seed " + seed, e);
      }
    }
    Leaks.assertNone(directory);
  }

  private static BuildOptions options(SplittableRandom random, Layout layout, int shards) {
    return BuildOptions.defaults()
        .withOrderedKeys(true)
        .withOverwrite(true)
        .withLayout(layout)
        .withShards(shards)
        .withDataFiles(1 + random.nextInt(3))
        .withHash(random.nextBoolean() ? HashAlgorithm.GOV : HashAlgorithm.PTR)
        .withFilterBits(layout.isPacked() && random.nextBoolean() ? 8 : 0)
        .withSeed(random.nextInt(3))
        .withSignatureOrder(
            (layout == Layout.BLOCKED || layout == Layout.COMPACT) && random.nextInt(3) == 0)
        .withDictionaryBytes(0)
        .withBlockSize(512 + random.nextInt(9000))
        .withMemoryBytes(random.nextBoolean() ? 1 << 20 : 1 << 26)
        .withThreads(1 + random.nextInt(2))
        .withDuplicates(random.nextBoolean() ? DuplicatePolicy.FIRST : DuplicatePolicy.LAST);
  }

  /** Builds a database of the keys, shuffled, some of them twice or more. */
  private void build(NavigableSet<byte[]> keys, BuildOptions options, SplittableRandom random)
      throws Exception {
    model.clear();
    List<byte[]> added = new ArrayList<>(keys);
    if (random.nextBoolean()) {
      for (int i = keys.size() / 4; i > 0; i--) {
        added.add(added.get(random.nextInt(added.size())));
      }
    }
    for (int i = added.size() - 1; i > 0; i--) {
      int other = random.nextInt(i + 1);
      byte[] key = added.set(other, added.get(i));
      added.set(i, key);
    }
    try (DatabaseBuilder builder =
        DatabaseBuilder.create(directory.resolve("db"), Truth.fitting(options))) {
      for (byte[] key : added) {
        byte[] value = Truth.bytes(random, random.nextInt(random.nextInt(50) == 0 ? 9000 : 60));
        builder.add(key, value);
        if (options.duplicates() == DuplicatePolicy.LAST) {
          model.put(key, value);
        } else {
          model.putIfAbsent(key, value);
        }
      }
      assertThat(builder.finish().records()).isEqualTo(model.size());
    }
    assertThat(model).hasSameSizeAs(keys);
  }

  private void check(OpenOptions.Engine engine, SplittableRandom random, int ranges)
      throws Exception {
    OpenOptions options = OpenOptions.defaults().withEngine(engine);
    try (Database database = Database.open(directory.resolve("db"), options)) {
      assertThat(database.isOrdered()).isTrue();
      assertThat(database.statistics().ordered()).isTrue();
      same(database.firstKey(), model.isEmpty() ? null : model.firstKey());
      same(database.lastKey(), model.isEmpty() ? null : model.lastKey());
      walk(database, KeyRange.all(), model, RangeOptions.defaults(), Integer.MAX_VALUE);
      walk(
          database,
          KeyRange.all(),
          model.descendingMap(),
          RangeOptions.defaults().withDescending(true).withValues(false),
          Integer.MAX_VALUE);
      assertThat(database.count(KeyRange.all())).isEqualTo(model.size());
      List<byte[]> keys = new ArrayList<>(model.keySet());
      RandomKeys others = new RandomKeys(random, RandomKeys.LONGEST);
      for (int i = 0; i < ranges; i++) {
        byte[] bound = bound(random, keys, others);
        same(database.floorKey(bound), model.floorKey(bound));
        same(database.ceilingKey(bound), model.ceilingKey(bound));
        range(database, random, bound, bound(random, keys, others));
      }
    }
  }

  private static byte[] bound(SplittableRandom random, List<byte[]> keys, RandomKeys others) {
    int kind = random.nextInt(6);
    if (kind == 0 || keys.isEmpty()) {
      return kind == 1 ? Truth.bytes(random, 70_000) : others.next();
    }
    byte[] key = keys.get(random.nextInt(keys.size())).clone();
    if (kind == 1) {
      return Arrays.copyOf(key, random.nextInt(key.length + 1)); // often a prefix of several
    }
    if (kind == 2) {
      return Arrays.copyOf(key, key.length + 1);
    }
    if (kind == 3 && key.length > 0) {
      key[random.nextInt(key.length)] += (byte) (random.nextBoolean() ? 1 : -1);
    }
    return key;
  }

  /** Reads a range of one or two bounds, which may be empty or reversed. */
  private void range(Database database, SplittableRandom random, byte[] one, byte[] other)
      throws Exception {
    RangeStep first = RangeStep.random(random, one, true);
    RangeStep second = RangeStep.random(random, random.nextInt(8) == 0 ? one : other, false);
    boolean both = random.nextBoolean();
    KeyRange range = first.narrow(KeyRange.all());
    range = both ? second.narrow(range) : range;
    TreeMap<byte[], byte[]> expected = new TreeMap<>(Arrays::compareUnsigned);
    for (Map.Entry<byte[], byte[]> record : model.entrySet()) {
      byte[] key = record.getKey();
      if (first.admits(key) && (!both || second.admits(key))) {
        expected.put(key, record.getValue());
      }
    }
    assertThat(database.count(range)).isEqualTo(expected.size());
    boolean descending = random.nextBoolean();
    walk(
        database,
        range,
        descending ? expected.descendingMap() : expected,
        RangeOptions.defaults().withDescending(descending).withValues(random.nextInt(3) > 0),
        random.nextBoolean() ? Integer.MAX_VALUE : random.nextInt(300));
  }

  /** Compares the first records of a range, and its end if that is reached. */
  private static void walk(
      Database database,
      KeyRange range,
      NavigableMap<byte[], byte[]> expected,
      RangeOptions options,
      int most)
      throws Exception {
    try (Database.RecordCursor cursor = database.range(range, options)) {
      Iterator<Map.Entry<byte[], byte[]>> records = expected.entrySet().iterator();
      for (int i = 0; i < most; i++) {
        if (!records.hasNext()) {
          assertThat(cursor.next()).as("a record behind the last").isFalse();
          assertThat(cursor.next()).isFalse();
          return;
        }
        Map.Entry<byte[], byte[]> record = records.next();
        assertThat(cursor.next()).as("record %s", i).isTrue();
        same(cursor.key(), record.getKey());
        if (options.values()) {
          same(cursor.value(), record.getValue());
        }
      }
    }
  }

  private static void same(byte[] found, byte[] expected) {
    Truth.same(found, expected, "key or value");
  }
}
