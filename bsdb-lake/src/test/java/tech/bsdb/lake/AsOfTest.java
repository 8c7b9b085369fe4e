package tech.bsdb.lake;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tech.bsdb.lake.Lakes.Run;

/** Versions of tables by number, time and name. */
class AsOfTest {
  @TempDir static Path folder;
  private static Lakes lakes;

  @BeforeAll
  static void unpack() throws Exception {
    lakes = Lakes.unpack(folder, "");
  }

  private static List<String> times(String table) throws Exception {
    return Files.readAllLines(lakes.path(table + ".times"));
  }

  private static void assertRows(String table, String asOf, String expected) throws Exception {
    Run built = lakes.build(table, "--as-of", asOf);

    assertThat(built.code()).as(built.err()).isZero();
    assertThat(lakes.rows()).isEqualTo(lakes.expected(expected));
  }

  private static void assertRefused(String table, String asOf, String... words) {
    Run refused = lakes.build(table, "--as-of", asOf);

    assertThat(refused.code()).isEqualTo(2);
    assertThat(refused.err()).contains(words).contains("--as-of " + asOf);
  }

  @Test
  void versionsOfDeltaAreNumbersAndTimes() throws Exception {
    for (int version = 2; version <= 5; version++) {
      String name = "delta_vectors-" + version;
      assertRows("delta_vectors", String.valueOf(version), name);
      String time = times("delta_vectors").get(version).split(" ", 2)[1]; // in the commit
      assertRows("delta_vectors", time, name);
      if (version < 5) {
        Instant later = Instant.parse(time.replace("+00:00", "Z")).plusMillis(1);
        assertRows("delta_vectors", later.toString(), name);
      }
    }
  }

  @Test
  void theVersionThatWasReadIsNamed() {
    assertThat(lakes.build("delta_vectors").err())
        .contains("delta_vectors: version 5 of 20", "(the same again: --as-of 5)");
    assertThat(lakes.build("iceberg_v1").err())
        .contains("iceberg_v1: snapshot ", "(the same again: --as-of ");
  }

  @Test
  void commitsWithoutTimesHaveThoseOfTheirFiles() throws Exception {
    Path log = lakes.path("delta_evolved/_delta_log");
    Files.setLastModifiedTime(
        log.resolve("00000000000000000000.json"),
        FileTime.from(Instant.parse("2024-01-31T00:00:00Z")));
    Files.setLastModifiedTime(
        log.resolve("00000000000000000001.json"),
        FileTime.from(Instant.parse("2024-02-01T00:00:00Z")));

    Run built = lakes.build("delta_evolved", "--as-of", "2024-01-31 12:00:00");

    assertThat(built.code()).as(built.err()).isZero();
    assertThat(lakes.rows()).hasSize(3);
    assertRefused("delta_evolved", "2024-01-30", "before the earliest", "2024-01-31T00:00:00Z");
    assertRefused("delta_evolved", "2024-02-02", "after the latest", "2024-02-01T00:00:00Z");
  }

  @ParameterizedTest
  @CsvSource({
    "delta_vectors, 6, latest available version is 5",
    "delta_classic, 2, earliest available version is ",
    "delta_vectors, yesterday, expects a version such as 5",
    "delta_vectors, 99999999999999999999, expects a version such as 5",
  })
  void otherVersionsOfDeltaAreRefused(String table, String asOf, String words) {
    assertRefused(table, asOf, words);
  }

  @ParameterizedTest
  @ValueSource(strings = {"iceberg_positions", "iceberg_vectors"})
  void snapshotsOfIcebergAreIdsNamesAndTimes(String table) throws Exception {
    List<String> times = times(table);
    for (int i = 0; i < times.size(); i++) {
      assertRows(table, times.get(i).split(" ", 2)[0], table + "-" + i);
    }
    assertRows(table, "before_delete", table + "-tag");
    assertRows(table, "audit", table + "-branch");
    assertRows(table, "main", table);
    assertRows(table, times.get(0).split(" ", 2)[1], table + "-0");
    assertRows(table, "2100-01-01", table);
  }

  @Test
  void otherSnapshotsOfIcebergAreRefused() throws Exception {
    String id = times("iceberg_positions").get(0).split(" ", 2)[0];
    assertRefused(
        "iceberg_positions",
        "12345",
        "is no snapshot, branch or tag of the table",
        id,
        "branches and tags: audit, before_delete, main");
    assertRefused("iceberg_positions", "staging", "is no snapshot, branch or tag", id);
    assertRefused("iceberg_positions", "2020-01-01", "is before the first snapshot", id);
  }

  @Test
  void aVersionIsOfOneTable() {
    String table = lakes.input("delta_vectors");
    Run refused =
        lakes.buildFrom("-i", table, "-i", table, "--format", "delta", "-kf", "id", "--as-of", "3");

    assertThat(refused.err()).contains("--as-of 3: there are several tables");
    assertThat(lakes.buildFrom("-i", "users.parquet", "-kf", "id", "--as-of", "3").err())
        .contains("--as-of is for tables (--format delta or iceberg)");
  }
}
