package tech.bsdb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import tech.bsdb.format.KeySlots;

/**
 * The reader in Rust gives the same answers as this one. {@link ModelTest} asks it for its random
 * databases, too. Both need {@code -Dbsdb.native=full}.
 */
@EnabledIfSystemProperty(named = "bsdb.native", matches = "full")
class NativeReaderTest {
  @TempDir Path directory;

  @BeforeAll
  static void itIsThere() {
    assumeTrue(NativeReader.isThere(), "the short form, no cargo here, or no crates");
  }

  @ParameterizedTest
  @EnumSource
  void goldenDatabases(Golden golden) throws Exception {
    NativeReader.check(golden.directory(), golden.truth());
  }

  @Test
  void theGoldenSet() throws Exception {
    NativeReader.check(GoldenSetTest.golden(), GoldenSetTest.truth());
  }

  /** Keys and values of all lengths at which something changes, and of many pages. */
  @ParameterizedTest
  @EnumSource
  void lengths(Layout layout) throws Exception {
    SplittableRandom random = Seeds.random("NativeReaderTest lengths " + layout);
    Truth truth = new Truth();
    truth.add(new byte[0], Truth.bytes(random, 3));
    for (int length = 1; length <= 130; length++) { // each path through the signature
      truth.add(Truth.bytes(random, length), Truth.bytes(random, length));
    }
    for (int length : new int[] {254, 255, 256, 4083, 4084, 4092, 4093, 9000, 65_535}) {
      truth.add(Truth.bytes(random, length), Truth.bytes(random, 70));
      truth.add(Truth.bytes(random, 20), Truth.bytes(random, length));
      truth.absent(Truth.bytes(random, length));
    }
    for (int length : new int[] {32_509, 32_510, 32_511, 200_000, 3_000_000}) {
      truth.add(Truth.bytes(random, 9), Truth.bytes(random, length));
      truth.add(Truth.bytes(random, 10), new byte[length]);
    }
    truth.absent(Truth.bytes(random, 65_536)).absent(Truth.bytes(random, 70_000));
    truth.build(
        directory.resolve("db"),
        BuildOptions.defaults()
            .withLayout(layout)
            .withDataFiles(3)
            .withHash(random.nextBoolean() ? HashAlgorithm.GOV : HashAlgorithm.PTR)
            .withSeed(random.nextLong()));
    NativeReader.check(directory.resolve("db"), truth);
  }

  /** Ranges of a database, a set and an empty one; {@link OrderedTruth} has the keys. */
  @ParameterizedTest
  @EnumSource
  void orders(Layout layout) throws Exception {
    SplittableRandom random = Seeds.random("NativeReaderTest orders " + layout);
    Truth truth = OrderedTruth.random(random);
    BuildOptions options =
        BuildOptions.defaults()
            .withLayout(layout)
            .withDataFiles(1 + random.nextInt(3))
            .withBlockSize(512 + random.nextInt(4000))
            .withOrderedKeys(true);
    truth.build(directory.resolve("db"), options);
    NativeReader.check(directory.resolve("db"), truth);
    truth.build(directory.resolve("set"), options.withShards(2 + random.nextInt(4)));
    NativeReader.check(directory.resolve("set"), truth);
    Truth empty = new Truth().absent(new byte[0]).absent(Truth.utf8("absent"));
    empty.build(directory.resolve("empty"), options);
    NativeReader.check(directory.resolve("empty"), empty);
    empty.build(directory.resolve("empty set"), options.withShards(3));
    NativeReader.check(directory.resolve("empty set"), empty);
  }

  static Stream<Arguments> many() {
    BuildOptions options = BuildOptions.defaults().withOrderedKeys(true);
    return Stream.of(
        Arguments.of("parts", 60_000, 10, options.withHash(HashAlgorithm.PTR).withChecksumBits(0)),
        Arguments.of("stripes", 10_000, 2000, options.withLayout(Layout.COMPACT).withDataFiles(3)),
        Arguments.of("blocks", 30_000, 100, options.withLayout(Layout.COMPRESSED).withDataFiles(2)),
        Arguments.of("filter", 30_000, 20, options.withLayout(Layout.PACKED).withFilterBits(7)),
        Arguments.of("bins", 30_000, 90, options.withLayout(Layout.PACKED_COMPRESSED)),
        Arguments.of("set", 30_000, 10, options.withLayout(Layout.PACKED).withShards(5)));
  }

  /** More keys than one part of the function ptr holds, several stripes, filters of many pages. */
  @ParameterizedTest
  @MethodSource("many")
  void manyRecords(String name, int count, int length, BuildOptions options) throws Exception {
    SplittableRandom random = Seeds.random("NativeReaderTest many " + name);
    Truth truth = new Truth();
    for (int i = 0; i < count; i++) {
      truth.add("key " + i, Long.toHexString(random.nextLong()).repeat(length / 10) + i);
      if (i % 5 == 0) {
        truth.absent(Truth.utf8("absent " + i));
      }
    }
    truth.build(directory.resolve("db"), options);
    NativeReader.check(directory.resolve("db"), truth);
  }

  @ParameterizedTest
  @EnumSource
  void duplicatesThatWereDropped(Layout layout) throws Exception {
    for (DuplicatePolicy policy : List.of(DuplicatePolicy.FIRST, DuplicatePolicy.LAST)) {
      Path database = directory.resolve("db-" + policy);
      boolean first = policy == DuplicatePolicy.FIRST;
      BuildOptions options = BuildOptions.defaults().withLayout(layout).withOrderedKeys(true);
      try (DatabaseBuilder builder =
          DatabaseBuilder.create(database, Truth.fitting(options.withDuplicates(policy)))) {
        for (int i = 0; i < 3000; i++) {
          builder.add(Truth.utf8("key " + i % 1000), Truth.utf8("value " + i));
        }
        builder.finish();
      }
      Truth truth = new Truth();
      for (int i = 0; i < 1000; i++) {
        truth.add("key " + i, "value " + (first ? i : i + 2000));
      }
      NativeReader.check(database, truth);
    }
  }

  @Test
  void aShardAloneAndPartsOfASet() throws Exception {
    SplittableRandom random = Seeds.random("NativeReaderTest shards");
    Truth truth = Truth.random(random, 400, 60);
    for (int i = 0; i < 40; i++) {
      truth.add("{tag" + i % 3 + "}" + i, "v").add("{}" + i, "v").add("}{" + i, "v");
    }
    Path set = directory.resolve("set");
    truth.build(set, BuildOptions.defaults().withShards(8).withOrderedKeys(true));
    NativeReader.check(set, truth);
    List<Integer> held = List.of(1, 4, 5, 7);
    Path part = Forgery.part(set, directory.resolve("part"), held.toArray(Integer[]::new));
    checkSome(part, truth, held);
    checkSome(Forgery.shards(set).get(6), truth, List.of(6));
  }

  private static void checkSome(Path database, Truth truth, List<Integer> held) throws Exception {
    Truth own = new Truth();
    byte[] foreign = new byte[0];
    for (Truth.Entry record : truth.records()) {
      if (held.contains(KeySlots.shard(record.key(), 8))) {
        own.add(record.key(), record.value());
      } else {
        foreign = record.key();
      }
    }
    NativeReader.check(database, own);
    NativeReader.Run refused = NativeReader.run(database, own.absent(foreign));
    assertThat(refused.exit()).isEqualTo(2);
    assertThat(refused.output())
        .contains("belongs to shard " + KeySlots.shard(foreign, 8))
        .contains("does not hold");
  }

  @Test
  void aStore() throws Exception {
    Golden.PACKED.copyTo(directory.resolve("store/v1"));
    Files.writeString(directory.resolve("store/CURRENT"), "v1\n");
    NativeReader.check(directory.resolve("store"), Golden.PACKED.truth());
    Files.writeString(directory.resolve("store/CURRENT"), "v2\n");
    assertThat(NativeReader.run(directory.resolve("store"), Golden.PACKED.truth()).output())
        .contains("v2")
        .contains("no such directory");
  }
}
