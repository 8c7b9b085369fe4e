package tech.bsdb.lake;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tech.bsdb.lake.Lakes.Run;

/** Tables that cannot be read are refused with the reason. */
class LakeRefusalsTest {
  @TempDir Path folder;
  private Lakes lakes;

  private void unpack(String table) throws IOException {
    lakes = Lakes.unpack(folder, table);
  }

  private void assertRefused(Run refused, String... words) {
    assertThat(refused.code()).isEqualTo(2);
    assertThat(refused.err()).contains(words).doesNotContain("\tat ", "Exception");
    assertThat(lakes.database()).doesNotExist();
  }

  private void replace(Path file, String pattern, String replacement) throws IOException {
    String text = Files.readString(file);
    String replaced = text.replaceFirst(pattern, replacement);
    assertThat(replaced).isNotEqualTo(text);
    Files.writeString(file, replaced);
  }

  @ParameterizedTest
  @CsvSource({"delta_variant, v, variant", "iceberg_variant, v, variant"})
  void typesThatRowsDoNotHave(String table, String column, String type) throws Exception {
    unpack(table);
    assertRefused(
        lakes.build(table), "column " + column + " is, or contains, " + type, "--value-fields");
    assertRefused(lakes.build(table, "--value-fields", column), type);
  }

  @Test
  void typesThatRowsDoNotHaveInOthers() throws Exception {
    unpack("delta_variant");
    assertRefused(
        lakes.build("delta_variant", "--value-fields", "st"), "column st is, or contains, variant");
    unpack("iceberg_variant");
    assertRefused(
        lakes.build("iceberg_variant", "--value-fields", "g"),
        "column g is, or contains, geometry");
  }

  // Delta Lake

  @ParameterizedTest
  @ValueSource(strings = {"redirectReaderWriter-preview", "fromTheFuture", "catalogManaged"})
  void featuresOfDeltaThatAreNotSupported(String feature) throws Exception {
    unpack("delta_vectors");
    replace(
        lakes.path("delta_vectors/_delta_log/00000000000000000000.json"),
        "\"(reader|writer)Features\":\\[(.*?)\\],\"(reader|writer)Features\":\\[",
        "\"$1Features\":[\"" + feature + "\",$2],\"$3Features\":[\"" + feature + "\",");

    assertRefused(lakes.build("delta_vectors"), "delta_vectors: ", "feature \"" + feature + "\"");
  }

  @Test
  void protocolsOfDeltaThatAreNotKnown() throws Exception {
    unpack("delta_vectors");
    replace(
        lakes.path("delta_vectors/_delta_log/00000000000000000000.json"),
        "\"minReaderVersion\":3",
        "\"minReaderVersion\":4");

    assertRefused(lakes.build("delta_vectors"), "delta_vectors: ", "4");
  }

  @Test
  void aFileThatIsGoneIsNamed() throws Exception {
    unpack("delta_vectors");
    for (Path file : lakes.files("delta_vectors", ".parquet")) {
      Files.delete(file);
    }

    assertRefused(
        lakes.build("delta_vectors", "--as-of", "2"),
        ".parquet",
        "version 2 of the table needs is missing",
        "VACUUM");
  }

  @Test
  void aDeletionVectorThatIsGoneIsNamed() throws Exception {
    unpack("delta_vectors");
    for (Path file : lakes.files("delta_vectors", ".bin")) {
      Files.delete(file);
    }

    assertRefused(
        lakes.build("delta_vectors"),
        "deletion_vector_",
        "version 5 of the table needs is missing");
  }

  @Test
  void aTimeWithoutAZoneIsNotGuessed() throws Exception {
    unpack("delta_partitions");
    replace(
        lakes.path("delta_partitions/_delta_log/00000000000000000001.json"),
        "2024-02-29T12:34:56.789012Z",
        "2024-02-29 12:34:56.789012");

    assertRefused(
        lakes.build("delta_partitions"),
        "the value \"2024-02-29 12:34:56.789012\" of partition column ts",
        "has no time zone");
  }

  @Test
  void aDateInTheCalendarOfOldWritersIsABadValue() throws Exception {
    unpack("delta_legacy");

    assertRefused(
        lakes.build("delta_legacy"),
        ".parquet: row 1: a date before 1582",
        "in the calendar of Spark 2 or Hive (column d: ");

    Run built = lakes.build("delta_legacy", "--value-fields", "id,s");
    assertThat(built.code()).as(built.err()).isZero();
  }

  @ParameterizedTest
  @CsvSource({
    "delta_vectors, _delta_log/00000000000000000005.json, the log of ",
    "delta_classic, .checkpoint.parquet, the log of ",
    "delta_vectors, -c000.zstd.parquet, version 5 of the table",
    "delta_vectors, .bin, version 5 of the table",
    "iceberg_rare, v4.metadata.json, the table",
    "iceberg_v1, snap-*.avro, the snapshot",
    "iceberg_v1, -m0.avro, the snapshot",
    "iceberg_v1, data/*.parquet, the snapshot",
    "iceberg_types, data/*.orc, the snapshot",
    "iceberg_types, data/*.avro, the snapshot",
    "iceberg_vectors, .puffin, the snapshot",
  })
  void aFileThatIsCutIsNamed(String table, String suffix, String needer) throws Exception {
    unpack(table);
    int star = suffix.indexOf('*');
    String folder = suffix.substring(0, Math.max(star, 0));
    String end = suffix.substring(star + 1);
    for (Path file : lakes.files(table, end)) {
      if (star < 0 || file.toString().contains("/" + folder)) {
        byte[] bytes = Files.readAllBytes(file);
        Files.write(file, Arrays.copyOf(bytes, bytes.length / 20));
      }
    }
    String name = end.equals("v4.metadata.json") ? "metadata/ (its newest *.metadata.json)" : end;
    assertRefused(
        lakes.build(table),
        name,
        ": is damaged or cut off (",
        "), and " + needer,
        " needs it: copy the file again, or ");
  }

  @Test
  void theLogOfATableIsNoTable() throws Exception {
    unpack("");
    String delta = lakes.path("delta_vectors").toString();
    String iceberg = lakes.path("iceberg_v1").toString();

    assertRefused(
        lakes.buildFrom("-kf", "id", "-i", delta + "/_delta_log/"),
        "_delta_log: is the log of a table: give the table's directory (-i " + delta + ")");
    assertRefused(
        lakes.buildFrom("-kf", "id", "-i", iceberg + "/metadata"),
        "metadata: is the log of a table: give the table's directory (-i " + iceberg + ")");
    assertRefused(
        lakes.buildFrom(
            "-kf", "id", "--format", "iceberg", "-i", "viewfs://lakes/t/iceberg_v1/metadata/"),
        "(-i viewfs://lakes/t/iceberg_v1)");
  }

  @Test
  void directoriesThatAreNoTables() throws Exception {
    unpack("iceberg_v1");
    Files.createDirectories(lakes.path("delta_none/_delta_log"));
    Files.createDirectories(lakes.path("iceberg_none/metadata"));
    Files.createDirectories(lakes.path("iceberg_nothing"));

    assertRefused(lakes.build("delta_none"), "delta_none: is not a Delta Lake table");
    assertRefused(lakes.build("delta_nowhere"), "delta_nowhere: no such file or directory");
    assertRefused(lakes.build("iceberg_none"), "iceberg_none: is not an Iceberg table");
    assertRefused(lakes.build("iceberg_nothing"), "iceberg_nothing: is not an Iceberg table");
    assertRefused(lakes.build("iceberg_nowhere"), "iceberg_nowhere: no such file or directory");
    assertRefused(
        lakes.buildFrom(
            "--format", "iceberg", "-kf", "id", "-i", lakes.path("iceberg_v1.jsonl").toString()),
        "iceberg_v1.jsonl: is not an Iceberg table");
  }

  // Iceberg

  @Test
  void encryptedTables() throws Exception {
    unpack("iceberg_rare");
    replace(
        lakes.path("iceberg_rare/metadata/v4.metadata.json"),
        "\"properties\":\\{",
        "\"properties\":{\"encryption.key-id\":\"key\",");

    assertRefused(lakes.build("iceberg_rare"), "iceberg_rare: is encrypted (key)");
  }

  @Test
  void versionsOfIcebergThatAreNotKnown() throws Exception {
    unpack("iceberg_rare");
    replace(
        lakes.path("iceberg_rare/metadata/v4.metadata.json"),
        "\"format-version\":2",
        "\"format-version\":9");

    assertRefused(
        lakes.build("iceberg_rare"), "iceberg_rare: ", "Cannot read unsupported version 9");
  }

  @Test
  void aTableThatWasMoved() throws Exception {
    unpack("iceberg_v1");
    Files.move(lakes.path("iceberg_v1"), lakes.path("iceberg_moved"));

    assertRefused(
        lakes.build("iceberg_moved"),
        "iceberg_moved: ",
        "moved or copied from viewfs://lakes/t/iceberg_v1",
        "rewrite_table_path");
  }

  @Test
  void anExpiredFile() throws Exception {
    unpack("iceberg_v1");
    for (Path file : lakes.files("iceberg_v1/data", ".parquet")) {
      Files.delete(file);
    }

    assertRefused(lakes.build("iceberg_v1"), ".parquet", "is missing");
  }

  @Test
  void theMetadataOfATableOfACatalogIsNamedByTheUser() throws Exception {
    unpack("iceberg_rare");
    Files.delete(lakes.path("iceberg_rare/metadata/version-hint.text"));
    String newest = "viewfs://lakes/t/iceberg_rare/metadata/v4.metadata.json";

    assertRefused(lakes.build("iceberg_rare"), "is the table of a catalog", "-i " + newest);

    Run built = lakes.buildFrom("-i", newest, "-kf", "id");
    assertThat(built.code()).as(built.err()).isZero();
    assertThat(lakes.rows()).isEqualTo(lakes.expected("iceberg_rare"));
  }
}
