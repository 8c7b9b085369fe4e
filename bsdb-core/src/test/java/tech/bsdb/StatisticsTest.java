package tech.bsdb;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Report and statistics agree with each other, with the records, and with the files that are there.
 */
class StatisticsTest {
  @TempDir Path directory;

  @ParameterizedTest
  @ValueSource(ints = {0, 3, 300_000, BuildOptions.MAX_VALUE_SCHEMA})
  void theSchemaOfValuesIsKeptAndBelongsToTheId(int length) throws Exception {
    Truth truth = Truth.random(Seeds.random("StatisticsTest"), 20, 300);
    String schema = length == 0 ? null : "{" + "\u00e9".repeat(length / 2 - 1) + "}";
    Path plain = directory.resolve("plain");
    Path typed = directory.resolve("typed");
    truth.build(plain, BuildOptions.defaults());
    BuildReport report = truth.build(typed, BuildOptions.defaults().withValueSchema(schema));

    assertThat(Database.statistics(plain).valueSchema()).isNull();
    assertThat(Database.statistics(typed).valueSchema()).isEqualTo(schema);
    assertThat(report.databaseId().equals(Database.statistics(plain).databaseId()))
        .isEqualTo(schema == null);
    assertThat(Database.verify(typed, (done, all) -> {}).records()).isEqualTo(20);
  }

  @Test
  void tellsWhetherLookupsReadMemory() throws Exception {
    Truth truth = Truth.random(Seeds.random("StatisticsTest"), 100, 30);
    for (int width : new int[] {0, 4}) {
      Path target = directory.resolve("db" + width);
      truth.build(target, BuildOptions.defaults().withApproximateWidth(width));
      for (OpenOptions.Engine engine : Offered.engines()) {
        if (engine == OpenOptions.Engine.AUTO) {
          continue;
        }
        OpenOptions options = OpenOptions.defaults().withEngine(engine);
        try (Database database = Database.open(target, options);
            Database loaded = Database.open(target, options.withIndexInMemory(true))) {
          boolean mapped =
              engine == OpenOptions.Engine.MAPPED || engine == OpenOptions.Engine.MEMORY;
          assertThat(database.statistics().readsMemory()).as("%s", engine).isEqualTo(mapped);
          assertThat(loaded.statistics().readsMemory())
              .as("%s, index in memory, width %d", engine, width)
              .isEqualTo(mapped || width > 0);
        }
      }
    }
  }

  @ParameterizedTest
  @CsvSource({
    "BLOCKED, 0",
    "COMPACT, 0",
    "COMPRESSED, 0",
    "PACKED, 0",
    "PACKED_COMPRESSED, 0",
    "BLOCKED, 5"
  })
  void figuresAreRight(Layout layout, int width) throws Exception {
    Truth truth =
        Truth.random(Seeds.random("StatisticsTest"), 3000, 300)
            .add("x".repeat(99), "y".repeat(999));
    Path target = directory.resolve("db");
    BuildReport report =
        truth.build(
            target,
            BuildOptions.defaults()
                .withLayout(layout)
                .withApproximateWidth(width)
                .withDataFiles(2)
                .withDictionaryBytes(2000)
                .withChecksumBits(11)
                .withSeed(-3));
    long keyBytes = truth.records().stream().mapToLong(record -> record.key().length).sum();
    long valueBytes = truth.records().stream().mapToLong(record -> record.value().length).sum();
    Map<String, Long> files = new HashMap<>();
    for (Path file : Golden.files(target)) {
      files.put(file.getFileName().toString(), Files.size(file));
    }
    long bytes = files.values().stream().mapToLong(Long::longValue).sum();

    assertThat(report.directory()).isEqualTo(target.toRealPath());
    assertThat(report.records()).isEqualTo(3001);
    assertThat(report.duplicatesDropped()).isZero();
    assertThat(report.keyBytes()).isEqualTo(keyBytes);
    assertThat(report.valueBytes()).isEqualTo(valueBytes);
    assertThat(report.fileBytes()).isEqualTo(files);
    assertThat(report.databaseBytes()).isEqualTo(bytes);
    assertThat(report.stageSeconds().values()).allMatch(seconds -> seconds >= 0);

    Statistics statistics = Database.statistics(target);
    assertThat(statistics.databaseId()).isEqualTo(report.databaseId()).matches("[0-9a-f]{32}");
    assertThat(statistics.formatVersion()).isEqualTo(2);
    assertThat(statistics.layout())
        .isEqualTo(
            width > 0
                ? "none"
                : layout.name().toLowerCase(java.util.Locale.ROOT).replace('_', '-'));
    assertThat(statistics.approximateWidth()).isEqualTo(width);
    assertThat(statistics.records()).isEqualTo(3001);
    assertThat(statistics.checksumBits()).isEqualTo(layout.isPacked() ? 0 : 11);
    assertThat(statistics.signature()).isEqualTo("mum");
    assertThat(statistics.seed()).isEqualTo(-3);
    assertThat(statistics.readsMemory()).isFalse();
    assertThat(statistics.keyBytes()).isEqualTo(keyBytes);
    assertThat(statistics.valueBytes()).isEqualTo(valueBytes);
    assertThat(statistics.longestKey()).isEqualTo(99);
    assertThat(statistics.longestValue()).isEqualTo(999);
    assertThat(statistics.shard()).isZero();
    assertThat(statistics.shards()).isOne();
    assertThat(statistics.fileBytes()).isEqualTo(files);
    assertThat(statistics.databaseBytes()).isEqualTo(bytes);
    assertThat(statistics.engine()).isEqualTo("not opened");
    try (Database database =
        Database.open(target, OpenOptions.defaults().withEngine(OpenOptions.Engine.BUFFERED))) {
      assertThat(database.statistics().engine()).contains("buffered");
      assertThat(database.statistics())
          .usingRecursiveComparison()
          .ignoringFields("engine")
          .isEqualTo(statistics);
    }
    VerifyReport verified =
        Database.verify(target, (done, total) -> assertThat(done).isBetween(1L, total));
    assertThat(verified.records()).isEqualTo(3001);
    assertThat(verified.bytes()).as("bytes of all files").isEqualTo(bytes);
  }
}
