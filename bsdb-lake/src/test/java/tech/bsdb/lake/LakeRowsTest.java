package tech.bsdb.lake;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tech.bsdb.lake.Lakes.Run;

/** The rows of all tables are those that Spark reads. */
@Tag("jdk")
class LakeRowsTest {
  @TempDir static Path folder;
  private static Lakes lakes;

  @BeforeAll
  static void unpack() throws Exception {
    lakes = Lakes.unpack(folder, "");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "delta_classic", // with a checkpoint, and without the log before it
        "delta_evolved", // with columns and fields that older files lack
        "delta_feed", // with files of changes, clusters and row ids
        "delta_ids", // with columns by id, renamed and dropped
        "delta_names", // with columns by name, renamed and dropped
        "delta_partitions", // of all types, with nulls and odd text
        "delta_parts", // with a checkpoint in several files
        "delta_types",
        "delta_v2", // with a checkpoint that has sidecars
        "delta_vectors", // with deletion vectors
        "delta_wider", // with columns whose types became wider
        "iceberg_defaults", // with values of columns that files lack
        "iceberg_equality", // with deletes by value
        "iceberg_evolved", // with columns and fields renamed, dropped, moved, and wider
        "iceberg_imported", // with files that have neither ids nor the partition columns
        "iceberg_nanos",
        "iceberg_positions", // with deletes by position
        "iceberg_rare", // with UUIDs, times and fixed bytes
        "iceberg_specs", // with partitions that changed
        "iceberg_types", // in Parquet, Avro and ORC
        "iceberg_v1",
        "iceberg_vectors", // with deletion vectors
      })
  void rowsAreThoseOfSpark(String table) throws Exception {
    Run built = lakes.build(table, "--threads", "3");

    assertThat(built.code()).as(built.err()).isZero();
    assertThat(lakes.rows()).isEqualTo(lakes.expected(table));
  }

  @Test
  void rowsAreTheSameBytesAsFromParquet() throws Exception {
    String file = lakes.files("delta_types", ".parquet").get(0).toString();
    lakes.buildFrom("-i", file, "--raw-files", "-kf", "id", "--int96", "micros");
    List<String> fromParquet = lakes.hashes();

    Run built = lakes.build("delta_types");

    assertThat(built.code()).as(built.err()).isZero();
    assertThat(lakes.hashes()).isEqualTo(fromParquet);
  }

  @ParameterizedTest
  @ValueSource(strings = {"delta_names", "iceberg_evolved"})
  void onlyNeededColumnsAreRead(String table) throws Exception {
    String other = table.startsWith("delta") ? "the day" : "new";

    Run built = lakes.build(table, "--value-fields", "id," + other);

    assertThat(built.code()).as(built.err()).isZero();
    assertThat(lakes.rows()).allSatisfy(row -> assertThat(row).hasSize(2));
    assertThat(lakes.rows().stream().map(row -> row.get(other)))
        .isEqualTo(lakes.expected(table).stream().map(row -> row.get(other)).toList());
  }

  @ParameterizedTest
  @ValueSource(strings = {"delta_partitions", "iceberg_specs"})
  void aPartitionColumnCanBeTheKey(String table) throws Exception {
    String key = table.startsWith("delta") ? "p" : "day";
    Run built =
        lakes.buildFrom(
            "--format",
            table.replaceFirst("_.*", ""),
            "-i",
            lakes.input(table),
            "-kf",
            key,
            "--value-fields",
            "id",
            "--on-bad-line",
            "skip");

    assertThat(built.code()).as(built.err()).isZero();
    assertThat(lakes.rows())
        .hasSize(
            (int) lakes.expected(table).stream().filter(row -> !row.get(key).isNull()).count());
  }

  @Test
  void onlyPartitionColumnsAreRead() throws Exception {
    Run built =
        lakes.buildFrom(
            "-i",
            lakes.input("delta_partitions"),
            "-kf",
            "n",
            "--value-fields",
            "n,ts",
            "--on-bad-line",
            "skip");

    assertThat(built.code()).as(built.err()).isZero();
    assertThat(built.err()).contains("records written             4");
  }

  @ParameterizedTest
  @ValueSource(strings = {"delta_variant", "iceberg_variant"})
  void whatCannotBeReadCanBeLeftOut(String table) throws Exception {
    Run built = lakes.build(table, "--value-fields", "id,s");

    assertThat(built.code()).as(built.err()).isZero();
    assertThat(lakes.rows()).isEqualTo(lakes.expected(table));
  }
}
