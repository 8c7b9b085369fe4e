package tech.bsdb.lake;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tech.bsdb.tools.input.InputException;
import tech.bsdb.tools.table.Table;
import tech.bsdb.tools.table.TableFile;
import tech.bsdb.tools.table.TableFile.Part;
import tech.bsdb.tools.table.TableFile.Rows;

/** Tables that change between the opening of a snapshot and the reading of its rows. */
class ChangingTablesTest {
  @TempDir Path folder;

  private static long rows(Table table) throws IOException {
    long count = 0;
    for (TableFile file : table.files()) {
      for (Part part : file.parts()) {
        try (Rows rows = file.open(part, List.of(0))) {
          while (rows.next()) {
            count++;
          }
        }
      }
    }
    return count;
  }

  @Test
  void aVersionOfDeltaLakeStaysWhatItWas() throws Exception {
    Lakes lakes = Lakes.unpack(folder, "delta_vectors");
    int expected = lakes.expected("delta_vectors").size();
    try (Table table = lakes.open("delta_vectors")) {
      Path log = lakes.path("delta_vectors/_delta_log");
      Files.writeString(
          log.resolve("00000000000000000006.json"),
          "{\"metaData\":{\"id\":\"another\",\"schemaString\":\"another\"}}",
          UTF_8);
      assertThat(rows(table)).isEqualTo(expected);

      for (Path file : lakes.files("delta_vectors", ".json")) {
        Files.delete(file);
      }
      assertThat(rows(table)).isEqualTo(expected);

      Files.delete(lakes.files("delta_vectors", ".parquet").get(0)); // VACUUM
      Files.delete(lakes.files("delta_vectors", ".parquet").get(0));
      assertThatThrownBy(() -> rows(table))
          .isInstanceOf(InputException.class)
          .hasMessageContaining("version 5 of the table needs is missing")
          .hasMessageContaining("VACUUM");
    }
  }

  @Test
  void aSnapshotOfIcebergStaysWhatItWas() throws Exception {
    Lakes lakes = Lakes.unpack(folder, "iceberg_vectors");
    int expected = lakes.expected("iceberg_vectors").size();
    try (Table table = lakes.open("iceberg_vectors")) {
      for (Path file : lakes.files("iceberg_vectors/metadata", ".avro")) { // a snapshot expires
        Files.deleteIfExists(file);
      }
      assertThat(rows(table)).isEqualTo(expected);

      for (Path file : lakes.files("iceberg_vectors", ".parquet")) {
        Files.delete(file);
      }
      assertThatThrownBy(() -> rows(table))
          .isInstanceOf(InputException.class)
          .hasMessageContaining("a file that the snapshot needs is missing")
          .hasMessageContaining("the snapshot has expired, so build from a newer one");
    }
  }
}
