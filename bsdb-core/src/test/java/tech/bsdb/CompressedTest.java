package tech.bsdb;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What is peculiar to the compressed layout: blocks of every size, with much, little or nothing to
 * learn from.
 */
@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class CompressedTest {
  @TempDir Path directory;

  private final SplittableRandom random = Seeds.random("CompressedTest");

  /** The options of all builds here. */
  BuildOptions options() {
    return BuildOptions.defaults().withLayout(Layout.COMPRESSED);
  }

  @Test
  void everyNumberOfBlocksBuilds() throws Exception {
    for (int blocks = 0; blocks <= 24; blocks++) {
      Truth truth = new Truth();
      for (int i = 0; i < blocks; i++) {
        truth.add("key " + i, "a value of a block " + i + " ".repeat(520));
      }
      Path target = directory.resolve("db-" + blocks);
      truth.build(target, options().withBlockSize(512).withDictionaryBytes(1024));
      truth.check(target);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 255, 256, 257, 1 << 20})
  void dictionariesOfEverySizeBuild(int bytes) throws Exception {
    Truth truth = words(1500);
    Path target = directory.resolve("db");
    BuildReport report = truth.build(target, options().withDictionaryBytes(bytes));
    assertThat(report.dictionaryBytes()).isBetween(0, bytes);
    assertThat(Database.statistics(target).dictionaryBytes()).isEqualTo(report.dictionaryBytes());
    truth.check(target);
  }

  @Sampled(2)
  @ParameterizedTest
  @ValueSource(ints = {0, 1, 7, 999, 1000, 1001, 1_000_000})
  void samplesOfEveryNumberBuild(int samples) throws Exception {
    Truth truth = words(1000);
    Path target = directory.resolve("db");
    truth.build(target, options().withSampleRecords(samples).withDictionaryBytes(2000));
    truth.check(target);
  }

  static List<Integer> blockSizes() {
    List<Integer> sizes =
        List.of(512, 513, 1000, 4096, 32_767, 32_768, 65_535, 65_536, 65_537, 1 << 20);
    return Rounds.some(sizes, 5, Seeds.random("CompressedTest block sizes"));
  }

  @Sampled(2)
  @ParameterizedTest
  @MethodSource("blockSizes")
  void blocksOfEverySizeBuild(int blockSize) throws Exception {
    Truth truth = words(1000);
    for (int i = 0; i < (blockSize > 100_000 ? 5 : 15); i++) {
      truth.add(Truth.utf8("edge " + (char) ('a' + i)), new byte[blockSize - 14 + i % 5]);
      truth.add("small " + i, "x".repeat(i * i));
    }
    Path target = directory.resolve("db");
    truth.build(target, options().withBlockSize(blockSize).withDictionaryBytes(500));
    truth.check(target);
    assertThat(Database.statistics(target).blockSize()).isEqualTo(blockSize);
  }

  /** The second of two equally long blocks starts in the last byte of a page. */
  @Test
  void headersOfLargeRecordsSpanPages() throws Exception {
    Truth truth = new Truth();
    for (String key : List.of("a", "b")) {
      byte[] value = new byte[2 * 4092 - 1 - 2 - 3 - 1]; // a page short of headers and the key
      random.nextBytes(value);
      truth.add(Truth.utf8(key), value);
    }
    Path target = directory.resolve("db");
    truth.build(target, options().withBlockSize(512).withDictionaryBytes(0));
    for (OpenOptions.Engine engine : Offered.engines()) {
      truth.checkEveryWay(target, engine);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 22})
  void levelsBuild(int level) throws Exception {
    Truth truth = words(2000);
    Path target = directory.resolve("db");
    truth.build(target, options().withCompressionLevel(level).withDictionaryBytes(2000));
    truth.check(target);
    assertThat(Database.statistics(target).compressionLevel()).isEqualTo(level);
  }

  /** An empty key has the longer header, so its block can be longer than that of other keys. */
  @ParameterizedTest
  @EnumSource(
      value = Layout.class,
      names = {"COMPRESSED", "PACKED_COMPRESSED"})
  void theLongestBlockMayBeThatOfTheEmptyKey(Layout layout) throws Exception {
    for (String other : List.of("", "a", "abcdef")) {
      Truth truth = new Truth().add("", "0".repeat(2000));
      if (!other.isEmpty()) {
        truth.add(other, "1");
      }
      Path target = directory.resolve("db-" + other);
      truth.build(target, options().withLayout(layout).withDictionaryBytes(0));
      truth.check(target);
      try (Database database = Database.open(target)) {
        truth.checkScan(database);
      }
    }
  }

  @Test
  void whatCannotBeCompressedIsHardlyLarger() throws Exception {
    Truth truth = Truth.random(random, 3000, 600);
    Path target = directory.resolve("db");
    BuildReport report = truth.build(target, options());
    truth.check(target);
    assertThat(Database.statistics(target).dataBytes())
        .isLessThan((report.keyBytes() + report.valueBytes()) * 103 / 100 + 3 * 3000 + 20_000);
  }

  @Test
  void samplesGivenAreLearntFromAndAreNoRecords() throws Exception {
    Truth truth = words(2000);
    Path target = directory.resolve("db");
    try (DatabaseBuilder builder =
        DatabaseBuilder.create(target, options().withDictionaryBytes(2000))) {
      for (Truth.Entry record : truth.records()) {
        builder.sample(record.key(), record.value());
      }
      builder.sample(new byte[70_000], new byte[0]); // longer than a key may be
      for (Truth.Entry record : truth.records()) {
        builder.add(record.key(), record.value());
      }
      BuildReport report = builder.finish();
      assertThat(report.records()).isEqualTo(2000);
      assertThat(report.dictionaryBytes()).isPositive();
    }
    truth.check(target);
  }

  @Tag("nightly")
  @Test
  void largeValuesDoNotWaitInTheHeap() throws Exception {
    byte[] value = new byte[60 << 20];
    Path target = directory.resolve("db");
    try (DatabaseBuilder builder =
        DatabaseBuilder.create(target, options().withCompressionLevel(1).withThreads(1))) {
      RecordBatch batch = builder.newBatch();
      for (int i = 10; i < 40; i++) {
        batch.clear();
        batch.add(Truth.utf8("key " + i), 0, 6, value, 0, value.length - i);
        builder.add(batch);
      }
      assertThat(builder.finish().records()).isEqualTo(30);
    }
    try (Database database = Database.open(target)) {
      assertThat(database.get(Truth.utf8("key 39"))).hasSize(value.length - 39);
    }
  }

  private Truth words(int count) {
    String[] words = {
      "build", "serve", "read", "only", "key", "value", "store", "block", "page", "index"
    };
    Truth truth = new Truth();
    for (int i = 0; i < count; i++) {
      StringBuilder value = new StringBuilder();
      for (int word = random.nextInt(30); word > 0; word--) {
        value.append(words[random.nextInt(words.length)]).append(' ');
      }
      truth.add("word " + i, value.toString());
      truth.absent(Truth.utf8("Word " + i));
    }
    return truth;
  }
}
