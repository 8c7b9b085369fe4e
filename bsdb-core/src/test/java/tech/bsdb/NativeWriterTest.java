package tech.bsdb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import tech.bsdb.error.DuplicateKeyException;

/**
 * The writer in Rust gives the same bytes as this one, and refuses the same keys. It needs {@code
 * -Dbsdb.native=full}.
 */
@EnabledIfSystemProperty(named = "bsdb.native", matches = "full")
class NativeWriterTest {
  private static final int MOST = Rounds.longOrShort(20_000, 4000);

  private static @Nullable Path program;

  @TempDir Path directory;

  @BeforeAll
  static void itIsThere() {
    assumeTrue(NativeReader.isThere(), "the short form, no cargo here, or no crates");
    program = NativeReader.example("build");
  }

  static Stream<Arguments> cases() {
    List<Arguments> cases = new ArrayList<>();
    for (Layout layout : Layout.values()) {
      for (int count : new int[] {0, 1, 2, 3, 85, 86, 511, 512, 1499, 1500, 1501, MOST}) {
        cases.add(Arguments.of(layout, count));
      }
    }
    return cases.stream();
  }

  /** The databases of {@link ModelTest}, with any options. */
  @ParameterizedTest
  @MethodSource("cases")
  void randomRecords(Layout layout, int count) throws Exception {
    SplittableRandom random = Seeds.random("NativeWriterTest " + layout + " " + count);
    BuildOptions options = random(layout, random);
    Truth truth = new Truth();
    while (truth.records().size() < count) {
      byte[] key = ModelTest.key(random);
      truth.add(key, ModelTest.value(random));
      if (random.nextInt(50) == 0) {
        int again = random.nextInt(truth.records().size());
        truth.add(truth.records().get(again).key(), ModelTest.value(random));
      }
    }
    compare(truth, options);
  }

  private static BuildOptions random(Layout layout, SplittableRandom random) {
    BuildOptions options =
        BuildOptions.defaults()
            .withLayout(layout)
            .withDuplicates(random.nextBoolean() ? DuplicatePolicy.FIRST : DuplicatePolicy.LAST)
            .withDataFiles(1 + random.nextInt(3))
            .withOrderedKeys(random.nextBoolean())
            .withShards(random.nextInt(3) > 0 ? 1 : 2 + random.nextInt(5))
            .withSeed(random.nextLong())
            .withMemoryBytes(random.nextBoolean() ? 1 << 20 : 1 << 28)
            .withThreads(1 + random.nextInt(3));
    if (layout.isCompressed()) {
      options =
          options
              .withBlockSize(512 + random.nextInt(9000))
              .withCompressionLevel(1 + random.nextInt(9))
              .withDictionaryBytes(random.nextInt(3) > 0 ? random.nextInt(20_000) : 0)
              .withSampleRecords(random.nextInt(2000));
    }
    return layout.isPacked()
        ? options.withFilterBits(random.nextInt(17))
        : options.withChecksumBits(random.nextInt(33));
  }

  static Stream<Arguments> many() {
    BuildOptions options = BuildOptions.defaults().withOrderedKeys(true);
    BuildOptions zstd = BuildOptions.defaults().withLayout(Layout.COMPRESSED);
    return Stream.of(
        Arguments.of("parts", 60_000, 10, options.withChecksumBits(0)),
        Arguments.of("stripes", 10_000, 2000, options.withLayout(Layout.COMPACT).withDataFiles(3)),
        Arguments.of("pages", 10_000, 2000, BuildOptions.defaults().withLayout(Layout.BLOCKED)),
        Arguments.of("blocks", 30_000, 100, options.withLayout(Layout.COMPRESSED).withDataFiles(2)),
        Arguments.of("samples", 30_000, 100, zstd.withSampleRecords(1_000_000)),
        Arguments.of("filter", 30_000, 20, options.withLayout(Layout.PACKED).withFilterBits(7)),
        Arguments.of("bins", 30_000, 90, options.withLayout(Layout.PACKED_COMPRESSED)),
        Arguments.of("set", 30_000, 10, options.withLayout(Layout.PACKED).withShards(5)),
        Arguments.of("compressed set", 30_000, 90, zstd.withShards(3).withSampleRecords(3000)),
        Arguments.of("many shards", 3000, 10, BuildOptions.defaults().withShards(100)),
        Arguments.of("rows", 100, 10, options.withValueSchema("{\"type\":\"bytes\"}")));
  }

  /** Several parts of the function ptr, several stripes, filters of many pages, dictionaries. */
  @ParameterizedTest
  @MethodSource("many")
  void manyRecords(String name, int count, int length, BuildOptions options) throws Exception {
    SplittableRandom random = Seeds.random("NativeWriterTest many " + name);
    Truth truth = new Truth();
    for (int i = 0; i < count; i++) {
      truth.add("key " + i, Long.toHexString(random.nextLong()).repeat(length / 10) + i);
    }
    compare(truth, options);
  }

  /** Keys and values of all lengths at which something changes. */
  @ParameterizedTest
  @EnumSource
  void lengths(Layout layout) throws Exception {
    SplittableRandom random = Seeds.random("NativeWriterTest lengths " + layout);
    Truth truth = new Truth();
    truth.add(new byte[0], Truth.bytes(random, 3));
    for (int length = 1; length <= 130; length++) {
      truth.add(Truth.bytes(random, length), Truth.bytes(random, length));
    }
    for (int length : new int[] {254, 255, 256, 4083, 4084, 4092, 4093, 9000, 65_535}) {
      truth.add(Truth.bytes(random, length), Truth.bytes(random, 70));
      truth.add(Truth.bytes(random, 20), Truth.bytes(random, length));
    }
    for (int length : new int[] {16_384, 16_385, 32_510, 32_511, 65_536, 200_000, 3_000_000}) {
      truth.add(Truth.bytes(random, 9), Truth.bytes(random, length));
      truth.add(Truth.bytes(random, 10), new byte[length]);
    }
    compare(truth, random(layout, random));
    compare(truth, random(layout, random).withOrderedKeys(true));
  }

  /** The keys that are hard to keep in order. */
  @ParameterizedTest
  @EnumSource
  void orders(Layout layout) throws Exception {
    SplittableRandom random = Seeds.random("NativeWriterTest orders " + layout);
    compare(OrderedTruth.random(random), random(layout, random).withOrderedKeys(true));
  }

  /** The error names the same key and the same records, whichever of several pairs it is. */
  @ParameterizedTest
  @EnumSource
  void duplicatesAreRefused(Layout layout) throws Exception {
    SplittableRandom random = Seeds.random("NativeWriterTest duplicates " + layout);
    for (int round = 0; round < 8; round++) {
      BuildOptions options =
          random(layout, random)
              .withDuplicates(DuplicatePolicy.ERROR)
              .withOrderedKeys(round % 2 == 0);
      Truth truth = Truth.random(random, 2000, 100);
      for (int i = 0; i < 1 + round / 4 * 5; i++) {
        byte[] key = truth.records().get(random.nextInt(2000)).key();
        truth.add(key, Truth.utf8("again"));
        truth.add(Truth.bytes(random, 20), new byte[i]);
      }
      Path target = directory.resolve("refused");
      DuplicateKeyException refused =
          catchThrowableOfType(
              DuplicateKeyException.class, () -> build(truth, target, options, List.of()));
      NativeReader.Run run = run(truth, target, options, List.of());
      assertThat(run.exit()).isEqualTo(1);
      assertThat(run.output()).as(options.toString()).isEqualTo(refused.getMessage() + "\n");
      assertThat(target).doesNotExist();
    }
  }

  /** A dictionary that is trained on samples that the caller gives. */
  @Test
  void samples() throws Exception {
    SplittableRandom random = Seeds.random("NativeWriterTest samples");
    Truth truth = new Truth();
    for (int i = 0; i < 5000; i++) {
      truth.add("user:" + i, "{\"name\":\"" + Long.toHexString(random.nextLong()) + "\"}");
    }
    List<Truth.Entry> samples = truth.records().subList(2000, 3500);
    for (Layout layout : List.of(Layout.COMPRESSED, Layout.PACKED_COMPRESSED)) {
      compare(truth, BuildOptions.defaults().withLayout(layout), samples);
      compare(truth, BuildOptions.defaults().withLayout(layout).withShards(2), samples);
    }
  }

  private void compare(Truth truth, BuildOptions options) throws Exception {
    compare(truth, options, List.of());
  }

  /** Builds with both writers, and asserts that all files are equal. */
  private void compare(Truth truth, BuildOptions options, List<Truth.Entry> samples)
      throws Exception {
    Path here = Files.createTempDirectory(directory, "java").resolve("db");
    Path there = Files.createTempDirectory(directory, "rust").resolve("db");
    BuildReport report = build(truth, here, options, samples);
    NativeReader.Run run = run(truth, there, options, samples);
    assertThat(run.exit()).as(options + ": " + run.output()).isZero();
    assertThat(files(there)).as(options.toString()).isEqualTo(files(here));
    for (Path file : files(here)) {
      assertThat(Files.mismatch(here.resolve(file), there.resolve(file)))
          .as("the first byte of %s that differs, with %s", file, options)
          .isEqualTo(-1);
    }
    assertThat(run.output())
        .contains("id " + report.databaseId() + ", " + report.records() + " records, ")
        .contains(report.duplicatesDropped() + " dropped, " + report.databaseBytes() + " bytes");
  }

  private static BuildReport build(
      Truth truth, Path target, BuildOptions options, List<Truth.Entry> samples)
      throws IOException {
    try (DatabaseBuilder builder = DatabaseBuilder.create(target, options)) {
      for (Truth.Entry sample : samples) {
        builder.sample(sample.key(), sample.value());
      }
      for (Truth.Entry record : truth.records()) {
        builder.add(record.key(), record.value());
      }
      return builder.finish();
    }
  }

  private NativeReader.Run run(
      Truth truth, Path target, BuildOptions options, List<Truth.Entry> samples)
      throws IOException, InterruptedException {
    Path input = directory.resolve("input");
    write(truth.records(), input);
    List<String> command = new ArrayList<>(List.of(String.valueOf(program), "--framed"));
    if (!samples.isEmpty()) {
      Path sampled = directory.resolve("samples");
      write(samples, sampled);
      command.addAll(List.of("--sample", sampled.toString()));
    }
    command.addAll(List.of("--layout", options.layout().id()));
    command.addAll(List.of("--checksum-bits", "" + options.checksumBits()));
    command.addAll(List.of("--filter-bits", "" + options.filterBits()));
    command.addAll(List.of("--block", "" + options.blockSize()));
    command.addAll(List.of("--level", "" + options.compressionLevel()));
    command.addAll(List.of("--dictionary", "" + options.dictionaryBytes()));
    command.addAll(List.of("--samples", "" + options.sampleRecords()));
    command.addAll(List.of("--data-files", "" + options.dataFiles()));
    command.addAll(List.of("--shards", "" + options.shards()));
    command.addAll(List.of("--duplicates", options.duplicates().name().toLowerCase(Locale.ROOT)));
    command.addAll(List.of("--seed", "" + options.seed()));
    command.addAll(List.of("--memory", "" + options.memoryBytes()));
    command.addAll(List.of("--threads", "" + options.threads()));
    if (options.orderedKeys()) {
      command.add("--ordered");
    }
    String schema = options.valueSchema();
    if (schema != null) {
      Path file = Files.writeString(directory.resolve("schema"), schema);
      command.addAll(List.of("--schema", file.toString()));
    }
    command.addAll(List.of(input.toString(), target.toString()));
    return NativeReader.run(command);
  }

  private static void write(List<Truth.Entry> records, Path file) throws IOException {
    try (OutputStream out = new BufferedOutputStream(Files.newOutputStream(file))) {
      ByteBuffer lengths = ByteBuffer.allocate(6).order(ByteOrder.LITTLE_ENDIAN);
      for (Truth.Entry record : records) {
        lengths.clear();
        lengths.putShort((short) record.key().length).putInt(record.value().length);
        out.write(lengths.array());
        out.write(record.key());
        out.write(record.value());
      }
    }
  }

  /** The files below a directory, relative to it, in order. */
  private static List<Path> files(Path directory) throws IOException {
    try (Stream<Path> files = Files.walk(directory)) {
      return files.filter(Files::isRegularFile).map(directory::relativize).sorted().toList();
    }
  }
}
