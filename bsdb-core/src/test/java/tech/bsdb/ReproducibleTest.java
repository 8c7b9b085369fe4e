package tech.bsdb;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The same records and options give the same bytes, whatever the build had to work with. */
class ReproducibleTest {
  @TempDir Path directory;

  static List<Arguments> kinds() {
    BuildOptions options = BuildOptions.defaults().withDictionaryBytes(8000);
    List<Arguments> kinds = new ArrayList<>();
    for (Layout layout : Layout.values()) {
      if (Rounds.everything()) {
        kinds.add(
            Arguments.of(
                layout.name().toLowerCase(java.util.Locale.ROOT), options.withLayout(layout)));
      }
      kinds.add(
          Arguments.of(
              layout.name().toLowerCase(java.util.Locale.ROOT) + ", 3 files",
              options.withLayout(layout).withDataFiles(3)));
    }
    for (Layout layout : new Layout[] {Layout.PACKED, Layout.PACKED_COMPRESSED}) {
      kinds.add(Arguments.of(layout + ", filter", options.withLayout(layout).withFilterBits(7)));
      kinds.add(
          Arguments.of(
              layout + ", filter, last",
              options.withLayout(layout).withFilterBits(16).withDuplicates(DuplicatePolicy.LAST)));
    }
    for (Layout layout : Layout.values()) {
      kinds.add(
          Arguments.of(
              layout.name().toLowerCase(java.util.Locale.ROOT) + ", ordered, last",
              options
                  .withLayout(layout)
                  .withDataFiles(2)
                  .withOrderedKeys(true)
                  .withDuplicates(DuplicatePolicy.LAST)));
    }
    kinds.add(Arguments.of("approximate", options.withApproximateWidth(9)));
    kinds.add(Arguments.of("seed", options.withSeed(0x5eed_5eed_5eed_5eedL)));
    kinds.add(Arguments.of("last", options.withDuplicates(DuplicatePolicy.LAST)));
    return kinds;
  }

  private static void build(Path target, BuildOptions options, int batchSize) throws Exception {
    SplittableRandom random = new SplittableRandom(4711);
    try (DatabaseBuilder builder = DatabaseBuilder.create(target, Truth.fitting(options))) {
      RecordBatch batch = builder.newBatch();
      for (int i = 0; i < 40_000; i++) {
        byte[] key = Truth.utf8("user/" + i);
        byte[] value =
            Truth.utf8("{\"name\":\"user " + i + "\",\"score\":" + random.nextInt(100) + "}");
        if (options.duplicates() == DuplicatePolicy.LAST && i % 100 == 0) {
          key = Truth.utf8("user/" + random.nextInt(i + 1));
        }
        if (batchSize == 0) {
          builder.add(key, value);
        } else {
          batch.add(key, 0, key.length, value, 0, value.length);
          if (batch.records() == batchSize) {
            builder.add(batch);
            batch.clear();
          }
        }
      }
      builder.add(batch);
      builder.finish();
    }
  }

  @Sampled(3)
  @ParameterizedTest(name = "{0}")
  @MethodSource("kinds")
  void neitherThreadsNorMemoryNorPlacesChangeTheBytes(String name, BuildOptions options)
      throws Exception {
    Path expected = directory.resolve("expected");
    build(expected, options.withThreads(1).withMemoryBytes(1 << 30), 0);
    build(directory.resolve("threads"), options.withThreads(4).withMemoryBytes(1 << 20), 0);
    build(
        directory.resolve("elsewhere/deep/db"),
        options
            .withThreads(3)
            .withMemoryBytes(1 << 20)
            .withTemporaryDirectory(directory.resolve("temp")),
        777);
    build(directory.resolve("again"), options.withThreads(2), 1);
    build(directory.resolve("again"), options.withThreads(7).withOverwrite(true), 39_999);
    for (String other : new String[] {"threads", "elsewhere/deep/db", "again"}) {
      same(expected, directory.resolve(other));
    }
  }

  @Test
  void theSeedBelongsToTheDatabaseAndIsZeroByDefault() throws Exception {
    BuildOptions options = BuildOptions.defaults();
    build(directory.resolve("default"), options, 0);
    build(directory.resolve("zero"), options.withSeed(0), 777);
    build(directory.resolve("one"), options.withSeed(1), 777);
    same(directory.resolve("default"), directory.resolve("zero"));
    assertThat(Database.statistics(directory.resolve("one")).databaseId())
        .isNotEqualTo(Database.statistics(directory.resolve("zero")).databaseId());
  }

  private static void same(Path expected, Path other) throws Exception {
    assertThat(Golden.files(other).stream().map(Path::getFileName))
        .as("files of %s", other)
        .isEqualTo(Golden.files(expected).stream().map(Path::getFileName).toList());
    for (Path file : Golden.files(expected)) {
      assertThat(other.resolve(file.getFileName())).hasSameBinaryContentAs(file);
    }
  }
}
