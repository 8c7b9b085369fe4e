package tech.bsdb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
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
 * docs/examples/read_bsdb.py, written from docs/FORMAT.md alone, gives the same answers as this
 * reader. A difference means that the document is wrong or incomplete. Only the golden databases
 * are read unless {@code -Dbsdb.native=full} is given. Left out with {@code -Dbsdb.readers=false}.
 */
class PythonReaderTest {
  private static final HexFormat HEX = HexFormat.of();

  @TempDir Path directory;

  /** How the script ended. */
  private record Run(int exit, List<String> lines, String errors) {}

  @BeforeAll
  static void pythonIsInstalled() throws Exception {
    String recent = "import sys; sys.exit(sys.version_info < (3, 8))";
    int exit;
    try {
      exit = new ProcessBuilder("python3", "-c", recent).start().waitFor();
    } catch (IOException e) {
      exit = -1;
    }
    assumeTrue(exit == 0, "no python3 here, or older than 3.8");
    assumeTrue(NativeReader.areReadersTested(), "the files are the same on every JDK");
  }

  @ParameterizedTest
  @EnumSource
  void goldenDatabases(Golden golden) throws Exception {
    check(golden.directory(), golden.truth());
  }

  static Stream<Arguments> cases() {
    List<Arguments> cases = new ArrayList<>();
    for (Layout layout : Layout.values()) {
      for (int longestValue : new int[] {40, 3000}) {
        cases.add(Arguments.of(layout, 700, longestValue));
      }
      cases.add(Arguments.of(layout, 0, 0));
    }
    return cases.stream();
  }

  /** Several buckets, groups of bins and pages of everything, and records of many pages. */
  @ParameterizedTest
  @MethodSource("cases")
  @EnabledIfSystemProperty(named = "bsdb.native", matches = "full")
  void randomDatabases(Layout layout, int count, int longestValue) throws Exception {
    SplittableRandom random = Seeds.random("PythonReaderTest " + layout + " " + longestValue);
    Truth truth = Truth.random(random, count, longestValue);
    if (count > 0) {
      for (int length = 31; length <= 130; length++) { // each way through the signature
        truth.add(Truth.bytes(random, length), Truth.bytes(random, length));
      }
      for (int length : new int[] {4000, 32_510, 32_511, 200_000}) {
        truth.add(Truth.bytes(random, 250 + length / 4000), Truth.bytes(random, length));
      }
    }
    BuildOptions options =
        BuildOptions.defaults()
            .withLayout(layout)
            .withDataFiles(1 + random.nextInt(3))
            .withHash(random.nextBoolean() ? HashAlgorithm.GOV : HashAlgorithm.PTR)
            .withChecksumBits(random.nextInt(33))
            .withBlockSize(512 + random.nextInt(4000))
            .withSeed(random.nextLong());
    if (layout == Layout.PACKED || layout == Layout.PACKED_COMPRESSED) {
      options = options.withFilterBits(random.nextInt(17));
    }
    truth.build(directory.resolve("db"), options);
    check(directory.resolve("db"), truth);
  }

  @Test
  void theGoldenSet() throws Exception {
    check(GoldenSetTest.golden(), GoldenSetTest.truth());
  }

  /** Sets, and each shard alone, which answers its own keys and refuses others. */
  @ParameterizedTest
  @EnumSource
  @EnabledIfSystemProperty(named = "bsdb.native", matches = "full")
  void sets(Layout layout) throws Exception {
    SplittableRandom random = Seeds.random("PythonReaderTest sets " + layout);
    Truth truth = Truth.random(random, 300, 60);
    for (int i = 0; i < 20; i++) {
      truth.add("{tag" + i % 3 + "}" + i, "v").add("{}" + i, "v").add("}{" + i, "v");
      truth.absent(Truth.utf8("{tag" + i % 3 + "}absent" + i));
    }
    int shards = 2 + random.nextInt(6);
    Path set = directory.resolve("set");
    truth.build(set, BuildOptions.defaults().withLayout(layout).withShards(shards));
    check(set, truth);
    Path shard = Forgery.shards(set).get(shards - 1);
    Truth own = new Truth();
    byte[] foreign = null;
    for (Truth.Entry record : truth.records()) {
      if (KeySlots.shard(record.key(), shards) == shards - 1) {
        own.add(record.key(), record.value());
      } else {
        foreign = record.key();
      }
    }
    check(shard, own);
    Run refused = answers(shard, own.absent(foreign));
    assertThat(refused.exit).isEqualTo(2);
    assertThat(refused.lines).hasSize(own.records().size());
    assertThat(refused.errors)
        .contains("belongs to shard " + KeySlots.shard(foreign, shards))
        .contains("this is shard " + (shards - 1));
  }

  @Test
  @EnabledIfSystemProperty(named = "bsdb.native", matches = "full")
  void partialSets() throws Exception {
    SplittableRandom random = Seeds.random("PythonReaderTest partial sets");
    Truth truth = Truth.random(random, 300, 60);
    Path set = directory.resolve("set");
    truth.build(set, BuildOptions.defaults().withShards(8));
    List<Integer> held = List.of(1, 4, 5, 7);
    Path part = Forgery.part(set, directory.resolve("part"), held.toArray(Integer[]::new));
    Truth own = new Truth();
    byte[] foreign = null;
    for (Truth.Entry record : truth.records()) {
      if (held.contains(KeySlots.shard(record.key(), 8))) {
        own.add(record.key(), record.value());
      } else {
        foreign = record.key();
      }
    }
    check(part, own);
    Run refused = answers(part, own.absent(foreign));
    assertThat(refused.exit).isEqualTo(2);
    assertThat(refused.lines).hasSize(own.records().size());
    assertThat(refused.errors)
        .contains("belongs to shard " + KeySlots.shard(foreign, 8) + ", which is not held here");
    List<String> lines = Forgery.lines(part);
    for (String bad : List.of("0-7", "", "8", "4,1", "1-99999999999", "1,1")) {
      Forgery.manifest(part, Forgery.with(lines, "set.held", bad));
      assertThat(answers(part, own).exit).as(bad).isEqualTo(2);
    }
    Forgery.manifest(part, Forgery.with(lines, "set.held", "0,4"));
    assertThat(answers(part, own).errors).contains("shard-00000-");
  }

  @Test
  void mixedUpSetsAreReported() throws Exception {
    Path set = Forgery.copyTree(GoldenSetTest.golden(), directory.resolve("set"));
    List<Path> shards = Forgery.shards(set);
    Path aside = directory.resolve("aside");
    Files.move(shards.get(1), aside);
    assertThat(answers(set, GoldenSetTest.truth()).errors)
        .contains(shards.get(1).getFileName().toString());
    Forgery.copyTree(shards.get(0), shards.get(1));
    Run mixed = answers(set, GoldenSetTest.truth());
    assertThat(mixed.exit).isEqualTo(2);
    assertThat(mixed.errors).contains("it is not the shard that");
  }

  /** More keys than one part of the function ptr holds. */
  @Test
  @EnabledIfSystemProperty(named = "bsdb.native", matches = "full")
  void aHashFunctionOfSeveralParts() throws Exception {
    Truth truth = new Truth();
    for (int i = 0; i < 60_000; i++) {
      truth.add("key " + i, "v");
    }
    truth.build(
        directory.resolve("db"),
        BuildOptions.defaults().withLayout(Layout.BLOCKED).withHash(HashAlgorithm.PTR));
    Truth some = new Truth();
    for (int i = 0; i < 60_000; i += 600) {
      some.add("key " + i, "v");
      some.absent(Truth.utf8("absent " + i));
    }
    check(directory.resolve("db"), some);
  }

  @Test
  @EnabledIfSystemProperty(named = "bsdb.native", matches = "full")
  void approximateDatabases() throws Exception {
    SplittableRandom random = Seeds.random("PythonReaderTest approximate");
    int width = 1 + random.nextInt(255);
    Truth truth = Truth.random(random, 700, width);
    BuildOptions options = BuildOptions.defaults().withApproximateWidth(width).withChecksumBits(32);
    truth.build(directory.resolve("db"), options);
    check(directory.resolve("db"), truth);
  }

  /** A database and a set. */
  @ParameterizedTest
  @EnumSource
  @EnabledIfSystemProperty(named = "bsdb.native", matches = "full")
  void ranges(Layout layout) throws Exception {
    SplittableRandom random = Seeds.random("PythonReaderTest ranges " + layout);
    Truth truth = OrderedTruth.random(random);
    BuildOptions options =
        BuildOptions.defaults()
            .withLayout(layout)
            .withDataFiles(1 + random.nextInt(3))
            .withBlockSize(512 + random.nextInt(4000))
            .withOrderedKeys(true);
    truth.build(directory.resolve("db"), options);
    List<KeyRange> ranges = OrderedTruth.ranges(random, truth);
    checkRanges(directory.resolve("db"), Rounds.some(ranges, 3, random));
    Truth some = new Truth();
    truth.records().subList(0, 300).forEach(record -> some.add(record.key(), record.value()));
    some.absent(Truth.utf8("absent"));
    check(directory.resolve("db"), some);
    truth.build(directory.resolve("set"), options.withShards(2 + random.nextInt(4)));
    ranges = OrderedTruth.ranges(random, truth).subList(0, 4);
    checkRanges(directory.resolve("set"), Rounds.some(ranges, 1, random));
  }

  @Test
  @EnabledIfSystemProperty(named = "bsdb.native", matches = "full")
  void rangesOfFewRecords() throws Exception {
    BuildOptions ordered = BuildOptions.defaults().withOrderedKeys(true);
    List<KeyRange> ranges = List.of(KeyRange.all(), KeyRange.all().from(new byte[1]));
    for (int count : Rounds.everything() ? List.of(0, 1, 17) : List.of(0, 17)) {
      Truth truth = new Truth();
      for (int i = 0; i < count; i++) {
        truth.add(new byte[i], new byte[] {(byte) i});
      }
      Path database = directory.resolve("db-" + count);
      truth.build(database, ordered);
      checkRanges(database, ranges);
      Path set = directory.resolve("set-" + count);
      truth.build(set, ordered.withShards(3));
      checkRanges(set, ranges);
    }
  }

  @Test
  void rangesWithoutAnOrderAreRefused() throws Exception {
    for (Path database : List.of(Golden.BLOCKED.directory(), GoldenSetTest.golden())) {
      Run run = run(database, "--range", "-", "-");
      assertThat(run.exit).isEqualTo(2);
      assertThat(run.errors).contains("bsdb build --ordered");
    }
  }

  @Test
  @EnabledIfSystemProperty(named = "bsdb.native", matches = "full")
  void damagedOrdersAreReported() throws Exception {
    Path database = directory.resolve("db");
    BuildOptions ordered = BuildOptions.defaults().withOrderedKeys(true);
    Golden.BLOCKED.truth().build(database, ordered);
    checkRanges(database, List.of(KeyRange.all()));
    for (Path file : Golden.files(database)) {
      if (file.getFileName().toString().startsWith("order-")) {
        byte[] bytes = Files.readAllBytes(file);
        bytes[4096 + 1000] ^= 4;
        Files.write(file, bytes);
      }
    }
    Run run = run(database, "--prefix", "");
    assertThat(run.exit).isEqualTo(2);
    assertThat(run.errors).contains("checksum").contains("order-");
    check(database, Golden.BLOCKED.truth());
  }

  /** One bit of the page after the header, in each file: these lookups read all of them. */
  @ParameterizedTest
  @EnumSource(names = {"COMPACT", "DICTIONARY", "APPROXIMATE", "PTR", "PACKED_FILTER"})
  @EnabledIfSystemProperty(named = "bsdb.native", matches = "full")
  void damagedPagesAreReported(Golden golden) throws Exception {
    Path damaged = golden.copyTo(directory.resolve("db"));
    for (Path file : Golden.files(damaged)) {
      byte[] bytes = Files.readAllBytes(file);
      byte[] flipped = bytes.clone();
      flipped[4096 + 1000] ^= 4;
      Files.write(file, flipped);
      Run run = answers(damaged, golden.truth());
      assertThat(run.exit).as(file.getFileName().toString()).isEqualTo(2);
      assertThat(run.errors).contains("checksum").contains(file.getFileName().toString());
      Files.write(file, bytes);
    }
  }

  @Test
  void theFilterRejectsAbsentKeysWithoutTheirRecords() throws Exception {
    Path damaged = Golden.PACKED_FILTER.copyTo(directory.resolve("db"));
    for (Path file : Golden.files(damaged)) {
      if (file.getFileName().toString().startsWith("data-")) {
        byte[] bytes = Files.readAllBytes(file);
        bytes[4096 + 1000] ^= 4;
        Files.write(file, bytes);
      }
    }
    Truth absent = new Truth();
    Golden.PACKED_FILTER.truth().absentKeys().forEach(absent::absent);
    check(damaged, absent);
  }

  /** Its groups straddle pages, and the starts of its groups do not begin in page 2. */
  @Test
  @EnabledIfSystemProperty(named = "bsdb.native", matches = "full")
  void aFilterOfSeveralPages() throws Exception {
    SplittableRandom random = Seeds.random("PythonReaderTest filter");
    Truth truth = Truth.random(random, 2500, 20);
    truth.build(
        directory.resolve("db"),
        BuildOptions.defaults().withLayout(Layout.PACKED).withFilterBits(16));
    check(directory.resolve("db"), truth);
  }

  @Test
  void valuesArePrinted() throws Exception {
    Path database = Golden.BLOCKED.directory();
    String value = "build and serve, build and serve, build and serve";
    assertThat(run(database, "bsdb", ""))
        .isEqualTo(new Run(0, List.of(value, "an empty key is a key"), ""));
    Run absent = run(database, "absent", "bsdb");
    assertThat(absent.exit).isEqualTo(1);
    assertThat(absent.lines).containsExactly(value);
    assertThat(absent.errors).contains("absent");
    assertThat(run(directory, "bsdb").exit).isEqualTo(2);
    assertThat(run(database).exit).isEqualTo(2);
  }

  private void check(Path database, Truth truth) throws Exception {
    Run run = answers(database, truth);
    assertThat(run.errors).isEmpty();
    assertThat(run.exit).isZero();
    List<String> expected = new ArrayList<>();
    truth.records().forEach(record -> expected.add(HEX.formatHex(record.value())));
    truth.absentKeys().forEach(key -> expected.add("absent"));
    assertThat(run.lines).isEqualTo(expected);
  }

  /** Asks for each range in both directions. */
  private void checkRanges(Path database, List<KeyRange> ranges) throws Exception {
    try (Database same = Database.open(database)) {
      for (KeyRange range : ranges) {
        byte[] from = range.from();
        byte[] to = range.to();
        checkRange(
            database,
            same,
            range,
            "--range",
            from == null ? "-" : HEX.formatHex(from),
            to == null ? "-" : HEX.formatHex(to));
      }
      for (String prefix : List.of("", "ff", "63")) {
        checkRange(database, same, KeyRange.prefix(HEX.parseHex(prefix)), "--prefix", prefix);
      }
    }
  }

  private void checkRange(Path database, Database same, KeyRange range, String... question)
      throws Exception {
    for (boolean descending : new boolean[] {false, true}) {
      List<String> arguments = new ArrayList<>(List.of(question));
      if (descending) {
        arguments.add("reverse");
      }
      Run run = run(database, arguments.toArray(String[]::new));
      assumeFalse(run.errors.contains("compressed layouts need"), run.errors);
      assertThat(run.errors).isEmpty();
      assertThat(run.exit).isZero();
      List<String> expected = new ArrayList<>();
      for (Truth.Entry record : OrderedTruth.read(same, range, descending)) {
        expected.add(HEX.formatHex(record.key()) + " " + HEX.formatHex(record.value()));
      }
      assertThat(run.lines).as(String.join(" ", arguments)).isEqualTo(expected);
    }
  }

  /** Asks for all keys, the records' before the absent ones. */
  private Run answers(Path database, Truth truth) throws Exception {
    List<String> keys = new ArrayList<>();
    truth.records().forEach(record -> keys.add(HEX.formatHex(record.key())));
    truth.absentKeys().forEach(key -> keys.add(HEX.formatHex(key)));
    Path file = Files.write(directory.resolve("keys"), keys);
    Run run = run(database, "--keys-from", file.toString());
    assumeFalse(run.errors.contains("compressed layouts need"), run.errors);
    return run;
  }

  private Run run(Path database, String... arguments) throws Exception {
    Path script =
        Path.of(System.getProperty("basedir", "")).resolve("../docs/examples/read_bsdb.py");
    List<String> command = new ArrayList<>(List.of("python3", script.toString()));
    command.add(database.toString());
    command.addAll(List.of(arguments));
    Path output = directory.resolve("output");
    Path errors = directory.resolve("errors");
    int exit =
        new ProcessBuilder(command)
            .redirectOutput(output.toFile())
            .redirectError(errors.toFile())
            .start()
            .waitFor();
    return new Run(exit, Files.readAllLines(output), Files.readString(errors));
  }
}
