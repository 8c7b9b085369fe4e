package tech.bsdb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.IntUnaryOperator;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The formulas of the plan, held against databases that were built. */
class LayoutPlanTest {
  private static final int PAGE = 4096;

  /** Lock files and journals of a build. */
  private static final long SMALL_FILES = 64 << 10;

  /** What the write buffers of a build's files may hold back. */
  private static final long BUFFERED = 4 << 20;

  @TempDir Path folder;

  private final BuildOptions options =
      BuildOptions.defaults().withLayout(Layout.BLOCKED).withThreads(2);

  static Stream<Arguments> shapes() {
    return Stream.of(
        Arguments.of(0, 8, 8),
        Arguments.of(1, 13, 32),
        Arguments.of(1_000, 8, 0),
        Arguments.of(1_000, 16, 32),
        Arguments.of(1_000, 16, 300),
        Arguments.of(1_000, 8, 5_000),
        Arguments.of(20, 300, 40_000),
        Arguments.of(50_000, 8, 0),
        Arguments.of(50_000, 16, 32),
        Arguments.of(50_000, 8, 300),
        Arguments.of(20_000, 16, 60),
        Arguments.of(20_000, 16, 109),
        Arguments.of(4_000, 16, 5_000));
  }

  @Sampled(4)
  @ParameterizedTest
  @MethodSource("shapes")
  void blockedCompactAndApproximateAreExact(int records, int key, int value) throws Exception {
    requireExact(HashAlgorithm.GOV, 0, records, key, value);
  }

  /** The parts of this function differ in size, but all of them by less than a page. */
  @Sampled(4)
  @ParameterizedTest
  @MethodSource("shapes")
  void withTheHashFunctionPtrTheyAreExactUpToAPage(int records, int key, int value)
      throws Exception {
    requireExact(HashAlgorithm.PTR, PAGE, records, key, value);
  }

  private void requireExact(HashAlgorithm hash, long most, int records, int key, int value)
      throws Exception {
    BuildOptions blocked = options.withHash(hash);
    for (BuildOptions chosen :
        new BuildOptions[] {
          blocked,
          blocked.withLayout(Layout.COMPACT).withChecksumBits(9),
          blocked.withApproximateWidth(Math.max(1, Math.min(255, value)))
        }) {
      LayoutPlan plan = LayoutPlan.of(chosen, records, key, value);
      Built built = build(chosen, records, key, value);
      long hashBytes = built.statistics.hashBytes();
      long databaseBytes = built.statistics.databaseBytes();

      assertThat(plan.dataBytes()).as("%s", plan).isEqualTo(built.statistics.dataBytes());
      assertThat(plan.hashBytes()).as("%s", plan).isCloseTo(hashBytes, within(most));
      assertThat(plan.indexBytes()).as("%s", plan).isEqualTo(built.statistics.indexBytes());
      assertThat(plan.databaseBytes()).as("%s", plan).isCloseTo(databaseBytes, within(most));
      assertThat(plan.lookupMemoryBytes()).isCloseTo(hashBytes, within(most));
      assertThat(plan.pageCacheBytes())
          .isCloseTo(databaseBytes - 3L * PAGE, within(most)); // without the manifest
      requireEnoughDisk(plan, built);
    }
  }

  @ParameterizedTest
  @MethodSource("shapes")
  void packedIsExpectedWithinAPercentOrAPage(int records, int key, int value) throws Exception {
    BuildOptions chosen = options.withLayout(Layout.PACKED);
    LayoutPlan plan = LayoutPlan.of(chosen, records, key, value);
    Built built = build(chosen, records, key, value);
    Statistics statistics = built.statistics;

    assertThat(plan.dataBytes())
        .as("%s", plan)
        .isCloseTo(statistics.dataBytes(), within(PAGE + statistics.dataBytes() / 100));
    assertThat(plan.hashBytes()).isZero();
    assertThat(plan.indexBytes()).isCloseTo(statistics.indexBytes(), within((long) PAGE));
    assertThat(plan.databaseBytes())
        .isCloseTo(statistics.databaseBytes(), within(2 * PAGE + statistics.dataBytes() / 100));
    long pages = statistics.dataBytes() / PAGE - 2;
    long index = 4 * ((statistics.bins() + 255) / 256 + 1) + pages + 9;
    assertThat(plan.lookupMemoryBytes()).isCloseTo(index, within(1 + index / 100));
    requireEnoughDisk(plan, built);
  }

  @Sampled(4)
  @ParameterizedTest
  @MethodSource("shapes")
  void aFilterIsExact(int records, int key, int value) throws Exception {
    for (Layout layout : new Layout[] {Layout.PACKED, Layout.PACKED_COMPRESSED}) {
      BuildOptions without = options.withLayout(layout).withDictionaryBytes(0);
      BuildOptions chosen = without.withFilterBits(1 + records % 16);
      LayoutPlan plan = LayoutPlan.of(chosen, records, key, value);
      LayoutPlan bare = LayoutPlan.of(without, records, key, value);
      Built built = build(chosen, records, key, value);

      long filter = built.statistics.filterBytes();
      assertThat(plan.filterBytes()).as("%s", plan).isEqualTo(filter).isPositive();
      assertThat(plan.databaseBytes()).isEqualTo(bare.databaseBytes() + filter);
      assertThat(plan.lookupMemoryBytes()).isEqualTo(bare.lookupMemoryBytes() + filter);
      assertThat(plan.pageCacheBytes()).isEqualTo(bare.pageCacheBytes());
      assertThat(plan.heapBytes()).isEqualTo(bare.heapBytes());
      assertThat(bare.filterBytes()).isZero();
      requireEnoughDisk(plan, built);
    }
  }

  /** The order of random keys takes nearly as much as planned, and never more. */
  @Sampled(4)
  @ParameterizedTest
  @MethodSource("shapes")
  void anOrderTakesAtMostAsMuch(int records, int key, int value) throws Exception {
    SplittableRandom random = Seeds.random("LayoutPlanTest " + records + " " + key + " " + value);
    for (Layout layout : Rounds.some(List.of(Layout.values()), 2, random)) {
      BuildOptions without = options.withLayout(layout).withDictionaryBytes(0);
      BuildOptions chosen = without.withOrderedKeys(true);
      LayoutPlan plan = LayoutPlan.of(chosen, records, key, value);
      LayoutPlan bare = LayoutPlan.of(without, records, key, value);
      Built built = build(chosen, records, key, value);

      long order = built.statistics.orderBytes();
      assertThat(order).as("%s", plan).isBetween(2L * PAGE, plan.orderBytes());
      assertThat(plan.databaseBytes()).isEqualTo(bare.databaseBytes() + plan.orderBytes());
      assertThat(bare.orderBytes()).isZero();
      requireEnoughDisk(plan, built);
    }
  }

  /** Ascending keys fill partitions one after the other, of which no sample knows. */
  @Sampled(2)
  @ParameterizedTest
  @ValueSource(longs = {1 << 20, 16 << 20, 64 << 20})
  void anOrderOfAscendingKeysTakesAtMostAsMuch(long memoryBytes) throws Exception {
    BuildOptions chosen = options.withOrderedKeys(true).withMemoryBytes(memoryBytes);
    LayoutPlan plan = LayoutPlan.of(chosen, 500_000, 8, 60);
    requireEnoughDisk(plan, build(chosen, 500_000, 8, 60));
  }

  @Tag("nightly")
  @ParameterizedTest
  @EnumSource(Layout.class)
  void anOrderOfAMillionRandomKeys(Layout layout) throws Exception {
    BuildOptions chosen =
        options.withLayout(layout).withOrderedKeys(true).withMemoryBytes(64 << 20);
    LayoutPlan plan = LayoutPlan.of(chosen, 1_000_000, 16, 0);
    Built built = buildRandom(chosen, 1_000_000, 16);

    assertThat(plan.orderBytes())
        .isBetween(built.statistics.orderBytes(), built.statistics.orderBytes() * 103 / 100);
    requireClosePeak(plan, built); // the temporary files of keys that descend take twice as much
  }

  /** The spill of the keys grows while that of the records shrinks, in 1 to 16 steps. */
  @Sampled(2)
  @ParameterizedTest
  @CsvSource({
    "100, 60000, 10, 2",
    "3000, 2000, 0, 8",
    "12000, 300, 1000, 2",
    "200000, 40, 0, 2",
    "200000, 16, 32, 9"
  })
  void theKeysOfPackedRecordsAreSpilledBesideThem(int records, int key, int value, int threads)
      throws Exception {
    SplittableRandom random = Seeds.random("LayoutPlanTest " + records);
    for (Layout layout : Rounds.some(List.of(Layout.PACKED, Layout.PACKED_COMPRESSED), 1, random)) {
      BuildOptions without =
          options
              .withLayout(layout)
              .withDictionaryBytes(0)
              .withThreads(threads)
              .withMemoryBytes(1 << 20);
      BuildOptions chosen = without.withOrderedKeys(true);
      LayoutPlan plan = LayoutPlan.of(chosen, records, key, value);
      assertThat(plan.temporaryBytes())
          .isGreaterThan(LayoutPlan.of(without, records, key, value).temporaryBytes());
      requireEnoughDisk(plan, build(chosen, records, key, value));
    }
  }

  @Test
  void anOrderTakesWhatWasMeasured() { // docs/guides/ranges.md, 16 random bytes
    BuildOptions ordered = options.withOrderedKeys(true);
    LayoutPlan blocked = LayoutPlan.of(ordered, 1_000_000, 16, 32);
    LayoutPlan packed = LayoutPlan.of(ordered.withLayout(Layout.PACKED), 1_000_000, 16, 32);
    assertThat(blocked.orderBytes() / 1e6).isCloseTo(18.5, within(0.5));
    assertThat(packed.orderBytes() / 1e6).isCloseTo(15.4, within(0.3));
    assertThat(packed.lookupMemoryBytes())
        .isEqualTo(
            LayoutPlan.of(options.withLayout(Layout.PACKED), 1_000_000, 16, 32)
                .lookupMemoryBytes());
    assertThat(packed.buildMemoryBytes()).isLessThanOrEqualTo(options.memoryBytes());
    assertThatThrownBy(() -> LayoutPlan.of(ordered.withApproximateWidth(8), 1, 1, 1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("orderedKeys is set");
  }

  @Test
  void aFilterNeedsAPackedLayout() {
    BuildOptions chosen = options.withFilterBits(8);
    assertThatThrownBy(() -> LayoutPlan.of(chosen, 1, 1, 1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("filterBits is 8, but the layout blocked has checksum bits");
    assertThatThrownBy(
            () -> LayoutPlan.of(chosen.withLayout(Layout.PACKED).withApproximateWidth(8), 1, 1, 1))
        .hasMessageStartingWith("filterBits is 8, but an approximate database has checksum bits");
  }

  @ParameterizedTest
  @MethodSource("shapes")
  void compressedIsAtMostStoredAndFollowsFromTheRatio(int records, int key, int value)
      throws Exception {
    BuildOptions chosen = options.withLayout(Layout.COMPRESSED).withDictionaryBytes(0);
    LayoutPlan most = LayoutPlan.of(chosen, records, key, value);
    Built built = build(chosen, records, key, value);
    Statistics statistics = built.statistics;

    assertThat(statistics.dataBytes()).as("%s", most).isLessThanOrEqualTo(most.dataBytes());
    assertThat(statistics.databaseBytes()).isLessThanOrEqualTo(most.databaseBytes());
    if (value >= 300) { // random bytes do not compress
      assertThat(statistics.dataBytes()).isEqualTo(most.dataBytes());
    }
    requireEnoughDisk(most, built);
    if (records > 0) {
      double ratio =
          (double) (statistics.keyBytes() + statistics.valueBytes()) / statistics.dataBytes();
      LayoutPlan plan = LayoutPlan.of(chosen, records, key, value, ratio);
      assertThat(plan.dataBytes()).isCloseTo(statistics.dataBytes(), within(3L * PAGE));
    }
  }

  @Test
  void aDictionaryTakesAtMostItsOption() throws Exception {
    BuildOptions chosen = options.withLayout(Layout.COMPRESSED).withDictionaryBytes(20_000);
    LayoutPlan most = LayoutPlan.of(chosen, 20_000, 8, 50);
    Built built = build(chosen, 20_000, 8, 50);

    assertThat(built.statistics.dictionaryBytes()).isPositive();
    assertThat(built.statistics.databaseBytes()).isLessThanOrEqualTo(most.databaseBytes());
    assertThat(most.databaseBytes())
        .isEqualTo(
            LayoutPlan.of(chosen.withSampleRecords(0), 20_000, 8, 50).databaseBytes() + 7L * PAGE);
  }

  static List<Layout> layouts() {
    return Rounds.some(List.of(Layout.values()), 2, Seeds.random("LayoutPlanTest layouts"));
  }

  @ParameterizedTest
  @MethodSource("layouts")
  void temporaryFilesOfAMillionRecords(Layout layout) throws Exception {
    requireCloseDiskOfAMillion(options.withLayout(layout));
  }

  @Tag("nightly")
  @Test
  void theHashFunctionPtrOfAMillionRecords() throws Exception {
    Built built = requireCloseDiskOfAMillion(options.withHash(HashAlgorithm.PTR));
    LayoutPlan plan = LayoutPlan.of(options.withHash(HashAlgorithm.PTR), 1_000_000, 8, 0);
    assertThat(plan.hashBytes()).isCloseTo(built.statistics.hashBytes(), within((long) PAGE));
  }

  @Tag("nightly")
  @Test
  void temporaryFilesOfAMillionRecordsWithTheHashFunctionGov() throws Exception {
    requireCloseDiskOfAMillion(options.withHash(HashAlgorithm.GOV));
  }

  private Built requireCloseDiskOfAMillion(BuildOptions given) throws Exception {
    BuildOptions chosen = given.withMemoryBytes(64 << 20);
    Built built = build(chosen, 1_000_000, 8, 0);
    requireCloseDisk(LayoutPlan.of(chosen, 1_000_000, 8, 0), built);
    return built;
  }

  @Test
  void temporaryFilesOfApproximateMode() throws Exception {
    BuildOptions chosen = options.withApproximateWidth(5);
    LayoutPlan plan = LayoutPlan.of(chosen, 1_000_000, 8, 5);
    requireCloseDisk(plan, build(chosen, 1_000_000, 8, 5));
  }

  @ParameterizedTest
  @CsvSource({"12000, 16, 5000", "400, 16, 100000"})
  void temporaryFilesOfLargePackedRecords(int records, int key, int value) throws Exception {
    // With few records, the seed decides whether the partitions are as even as the plan assumes.
    BuildOptions chosen = options.withLayout(Layout.PACKED).withSeed(17);
    LayoutPlan plan = LayoutPlan.of(chosen, records, key, value);
    requireCloseDisk(plan, build(chosen, records, key, value));
  }

  @ParameterizedTest
  @EnumSource(names = {"BLOCKED", "COMPRESSED", "PACKED"})
  void keysThatDescendAreEnoughPlanned(Layout layout) throws Exception {
    BuildOptions chosen =
        options
            .withLayout(layout)
            .withOrderedKeys(true)
            .withMemoryBytes(8 << 20)
            .withDuplicates(DuplicatePolicy.LAST);
    LayoutPlan plan = LayoutPlan.of(chosen, 400_000, 16, 30);
    Built built = build(chosen, 400_000, 16, 30, i -> 400_000 - i);
    requireClosePeak(plan, built);
  }

  /** The plan is enough for the build. */
  private static void requireEnoughDisk(LayoutPlan plan, Built built) {
    assertThat(built.temporaryBytes)
        .as("%s", plan)
        .isLessThanOrEqualTo(plan.temporaryBytes() + SMALL_FILES);
    assertThat(built.peakBytes)
        .as("%s", plan)
        .isLessThanOrEqualTo(plan.peakDiskBytes() + plan.dataBytes() / 100 + SMALL_FILES + PAGE);
  }

  /** The plan is enough for the build, and not much more. */
  private static void requireCloseDisk(LayoutPlan plan, Built built) {
    requireClosePeak(plan, built);
    assertThat(plan.temporaryBytes())
        .as("%s", plan)
        .isLessThanOrEqualTo((long) (1.3 * built.temporaryBytes));
  }

  /** The plan is enough for the build, and its peak is not much more. */
  private static void requireClosePeak(LayoutPlan plan, Built built) {
    requireEnoughDisk(plan, built);
    assertThat(plan.peakDiskBytes())
        .as("%s", plan)
        .isLessThanOrEqualTo(((long) (1.3 * built.peakBytes)) + BUFFERED);
  }

  /** A finished build: its figures, and the most that its files took at a call of the listener. */
  private record Built(Statistics statistics, long temporaryBytes, long peakBytes) {}

  private Built build(BuildOptions given, int records, int key, int value) throws Exception {
    return build(given, records, key, value, i -> i);
  }

  /** Builds with keys of random bytes and empty values. */
  private Built buildRandom(BuildOptions given, int records, int key) throws Exception {
    return build(given, records, key, 0, null);
  }

  /** Builds with random bytes, but keys that begin with a number unless that is null. */
  private Built build(
      BuildOptions given, int records, int key, int value, @Nullable IntUnaryOperator number)
      throws Exception {
    Path place = Files.createTempDirectory(folder, "build");
    Path target = place.resolve("db");
    Path temporary = Files.createDirectory(place.resolve("temporary"));
    long[] most = {0, 0};
    BuildListener listener =
        (stage, done, total) -> {
          most[0] = Math.max(most[0], bytesBelow(temporary));
          most[1] = Math.max(most[1], bytesBelow(place));
        };
    SplittableRandom random = new SplittableRandom(records + 31L * key + 17L * value);
    byte[] keyBytes = new byte[key];
    byte[] valueBytes = new byte[value];
    try (DatabaseBuilder builder =
        DatabaseBuilder.create(target, given.withTemporaryDirectory(temporary), listener)) {
      for (int i = 0; i < records; i++) {
        random.nextBytes(keyBytes);
        if (number != null) {
          ByteBuffer.wrap(keyBytes).putInt(number.applyAsInt(i));
        }
        random.nextBytes(valueBytes);
        builder.add(keyBytes, valueBytes);
      }
      builder.finish();
    }
    return new Built(Database.statistics(target), most[0], most[1]);
  }

  private static long bytesBelow(Path directory) {
    long[] bytes = {0};
    try {
      Files.walkFileTree(
          directory,
          new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
              bytes[0] += attributes.size();
              return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFileFailed(Path file, IOException deleted) {
              return FileVisitResult.CONTINUE;
            }
          });
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes[0];
  }

  @Test
  void aRecordOf45BytesTakesWhatTheBenchmarksSay() {
    LayoutPlan gov = LayoutPlan.of(options.withHash(HashAlgorithm.GOV), 10_000_000, 13, 32);
    LayoutPlan ptr = LayoutPlan.of(options, 10_000_000, 13, 32);
    LayoutPlan packed = LayoutPlan.of(options.withLayout(Layout.PACKED), 10_000_000, 13, 32);

    assertThat(gov.databaseBytes()).isEqualTo(573_022_208); // docs/benchmarks/device-jdk25.txt
    assertThat(ptr.databaseBytes()).isCloseTo(570_208_256, within((long) PAGE));
    assertThat(packed.databaseBytes() / 1e7).isCloseTo(50.72, within(0.05));
    assertThat(packed.lookupMemoryBytes() * 8 / 1e7).isCloseTo(0.224, within(0.001));
    assertThat(gov.lookupMemoryBytes() * 8 / 1e7).isCloseTo(8.76, within(0.01));
    assertThat(ptr.lookupMemoryBytes() * 8 / 1e7).isCloseTo(6.52, within(0.01));
  }

  @Test
  void theTableOfTheHashFunctionPtrIsOnTheHeap() {
    LayoutPlan gov = LayoutPlan.of(options.withHash(HashAlgorithm.GOV), 1_000_000_000, 13, 32);
    LayoutPlan ptr = LayoutPlan.of(options.withHash(HashAlgorithm.PTR), 1_000_000_000, 13, 32);
    long table = 32_768 * 64; // a cache line for each part

    assertThat(gov.heapBytes()).isEqualTo(gov.pageCacheBytes() / PAGE / 8);
    assertThat(ptr.heapBytes()).isEqualTo(ptr.pageCacheBytes() / PAGE / 8 + table);
    assertThat(gov.lookupMemoryBytes()).isEqualTo(gov.hashBytes());
    assertThat(ptr.lookupMemoryBytes()).isEqualTo(ptr.hashBytes() + table);
    assertThat(ptr.hashBytes() * 8 / 1e9).isCloseTo(6.50, within(0.01));
  }

  @Test
  void readsOfALookup() {
    LayoutPlan blocked = LayoutPlan.of(options, 1_000_000, 13, 32);
    assertThat(blocked.presentReads()).isEqualTo(2);
    assertThat(blocked.absentReads()).isEqualTo(2 / 16.0);
    assertThat(blocked.presentPages()).isEqualTo(2);
    assertThat(LayoutPlan.of(options, 1_000_000, 13, 5_000).presentPages()).isEqualTo(3);

    LayoutPlan packed = LayoutPlan.of(options.withLayout(Layout.PACKED), 1_000_000, 13, 32);
    assertThat(packed.presentReads()).isEqualTo(1);
    assertThat(packed.absentReads()).isEqualTo(1);
    assertThat(packed.presentPages()).isEqualTo(1);

    BuildOptions filtered = options.withLayout(Layout.PACKED).withFilterBits(8);
    LayoutPlan filter = LayoutPlan.of(filtered, 1_000_000, 13, 32);
    assertThat(filter.presentReads()).isEqualTo(1);
    assertThat(filter.absentReads()).isCloseTo(1 / 256.0, within(1e-5));
    assertThat(filter.absentPages()).isCloseTo(1 / 256.0, within(1e-5));
    assertThat(filter.filterBytes() * 8 / 1e6).isCloseTo(10.25, within(0.15));

    LayoutPlan inline = LayoutPlan.of(options.withApproximateWidth(32), 1_000_000, 13, 32);
    assertThat(inline.presentReads()).isEqualTo(1);
    assertThat(inline.absentReads()).isEqualTo(1 / 16.0);
  }

  @Sampled(3)
  @ParameterizedTest
  @CsvSource({
    "BLOCKED, 0",
    "COMPACT, 0",
    "COMPRESSED, 0",
    "PACKED, 0",
    "PACKED, 1",
    "PACKED, 3",
    "PACKED_COMPRESSED, 0",
    "PACKED_COMPRESSED, 2"
  })
  void readsAndPagesAreThoseOfLookups(Layout layout, int filterBits) throws Exception {
    int records = 4_000;
    for (int value : new int[] {32, 1_500, 6_000}) {
      BuildOptions chosen =
          options.withLayout(layout).withDictionaryBytes(0).withFilterBits(filterBits);
      Path target = folder.resolve("db" + value);
      SplittableRandom random = new SplittableRandom(value);
      byte[][] keys = new byte[records][];
      byte[] bytes = new byte[value];
      try (DatabaseBuilder builder = DatabaseBuilder.create(target, chosen)) {
        for (int i = 0; i < records; i++) {
          random.nextBytes(bytes);
          keys[i] = ByteBuffer.allocate(16).putLong(i).putLong(random.nextLong()).array();
          builder.add(keys[i], bytes);
        }
        builder.finish();
      }
      LayoutPlan plan = LayoutPlan.of(chosen, records, 16, value);
      IoCounters present;
      IoCounters absent;
      OpenOptions buffered = OpenOptions.defaults().withEngine(OpenOptions.Engine.BUFFERED);
      try (Database database = Database.open(target, buffered)) {
        for (byte[] key : keys) {
          database.get(key);
        }
        present = database.ioCounters();
        for (byte[] key : keys) {
          database.get(ByteBuffer.allocate(20).put(key).array());
        }
        absent = database.ioCounters();
      }
      double reads = (double) present.reads() / records;
      double pages = (double) present.bytes() / PAGE / records;
      assertThat(plan.presentReads()).as("%s: %s", plan, reads).isCloseTo(reads, within(0.05));
      assertThat(plan.presentPages()).as("%s: %s", plan, pages).isCloseTo(pages, within(0.15));
      reads = (double) absent.reads() / records - reads;
      pages = (double) absent.bytes() / PAGE / records - pages;
      assertThat(plan.absentReads()).as("%s: %s", plan, reads).isCloseTo(reads, within(0.05));
      double most =
          filterBits == 1 ? 0.25 : 0.15; // the bin of a key that it lets pass may be empty
      assertThat(plan.absentPages()).as("%s: %s", plan, pages).isCloseTo(pages, within(most));
    }
  }

  @Test
  void moreMemoryMeansNoMoreThanTheLimit() {
    for (Layout layout : Layout.values()) {
      BuildOptions chosen = options.withLayout(layout).withMemoryBytes(32 << 20);
      for (HashAlgorithm hash : HashAlgorithm.values()) {
        if (layout.isPacked() && hash != HashAlgorithm.PTR) {
          continue; // it has no hash function
        }
        BuildOptions hashed = chosen.withHash(hash);
        long all = LayoutPlan.of(hashed, 1_000_000_000, 13, 32).buildMemoryBytes();
        assertThat(all).as("%s %s", layout, hash).isBetween(16L << 20, 64L << 20);
        assertThat(LayoutPlan.of(hashed, 1_000, 13, 32).buildMemoryBytes()).isLessThan(20 << 20);
      }
    }
  }

  @ParameterizedTest
  @EnumSource(Layout.class)
  void sizesGrowWithTheRecords(Layout layout) {
    BuildOptions chosen = options.withLayout(layout);
    long[] sizes =
        LongStream.of(0, 1, 1_000, 1_000_000, 10_000_000_000L)
            .map(records -> LayoutPlan.of(chosen, records, 16, 100).databaseBytes())
            .toArray();
    assertThat(sizes).isSorted();
    assertThat(sizes[0]).isPositive();
  }

  @ParameterizedTest
  @ValueSource(longs = {-1, LayoutPlan.MAX_RECORDS + 1})
  void impossibleNumbersOfRecordsAreRefused(long records) {
    assertThatThrownBy(() -> LayoutPlan.of(options, records, 1, 1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("records is " + records);
  }

  @Test
  void whatALayoutCannotHoldIsRefused() {
    long most = LayoutPlan.MAX_RECORDS;
    assertThatThrownBy(() -> LayoutPlan.of(options, most, 65_535, 2_000_000_000))
        .hasMessage("no database holds more than 32 PiB of records");
    assertThatThrownBy(() -> LayoutPlan.of(options, most, 65_536, 1))
        .hasMessage("keyLength is 65536, not in 0 to 65535");
    assertThatThrownBy(() -> LayoutPlan.of(options, most, 1, -1))
        .hasMessageContaining("valueLength is -1");
    assertThatThrownBy(() -> LayoutPlan.of(options, 1, 1, 1, Double.NaN))
        .hasMessage("compressionRatio is NaN");
    assertThatThrownBy(() -> LayoutPlan.of(options, most, 16, 1_000))
        .hasMessage("these records need 5 data files, not 1");
    assertThat(LayoutPlan.of(options.withDataFiles(5), most, 16, 1_000).records()).isEqualTo(most);
    assertThatThrownBy(
            () -> LayoutPlan.of(options.withLayout(Layout.PACKED), 100_000_000_000L, 16, 100))
        .hasMessageContaining("and the packed layout holds at most 2147483583");
  }
}
