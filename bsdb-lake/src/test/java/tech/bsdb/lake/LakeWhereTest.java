package tech.bsdb.lake;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tech.bsdb.lake.Lakes.Run;

/** Conditions select rows, and leave out files that have none. */
class LakeWhereTest {
  @TempDir static Path folder;
  private static Lakes lakes;

  @BeforeAll
  static void unpack() throws Exception {
    lakes = Lakes.unpack(folder, "");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      textBlock =
          """
          delta_partitions  | p = 'null'                                  | 5         | 1
          delta_partitions  | p IS NULL                                   | 1,2       | 2
          delta_partitions  | d > DATE '2000-01-01'                       | 2,4       | 2
          delta_partitions  | n IN (0, 7) OR l = 9007199254740993         | 2,3,5     | 3
          delta_partitions  | NOT (n < 7)                                 | 4,5       | 2
          delta_partitions  | ts = TIMESTAMP '2024-02-29 00:00:00Z'       | 4         | 1
          delta_partitions  | f > 1e299                                   | 3,5       | 4
          delta_partitions  | id > 3                                      | 4,5       | 5
          delta_names       | \"the day\" = DATE '2024-01-02' AND id < 7  | 5,6       | 1
          iceberg_specs     | p = 'a b/c=d%20&?'                          | 8         | 1
          iceberg_specs     | day >= DATE '2024-01-08' AND n < 12         | 7,8,9,10  | 4
          iceberg_specs     | id IN (3, 12)                               | 3,12      | 2
          iceberg_specs     | p IS NULL                                   | 6         |
          iceberg_specs     | ts > TIMESTAMP '1970-01-12 00:00:00Z'       | 10,12     | 2
          iceberg_specs     | n = 2.5                                     |           |
          iceberg_defaults  | s = 'none'                                  | 1,2       |
          iceberg_evolved   | d > 1000.5                                  | %d4,5,6,7 |
          iceberg_types     | f64 > 0.5                                   | 4,5       |
          """)
  void rowsAndFilesAreLeftOut(String table, String condition, String ids, Integer files)
      throws Exception {
    Run built = lakes.build(table, "--where", condition.replace("\\", ""));

    assertThat(built.code()).as(built.err()).isZero();
    List<String> expected =
        ids == null ? List.of() : List.of(ids.replace("%d4,5,6,7", LARGE).split(",", -1));
    assertThat(lakes.rows().stream().map(row -> text(row)).toList()).isEqualTo(expected);
    if (files != null) {
      assertThat(built.err()).containsPattern("files read +" + files + "\n");
    }
  }

  private static final String LARGE =
      "9007199254740994,9007199254740995,9007199254740996,9007199254740997";

  private static String text(JsonNode row) {
    return row.get("id").textValue();
  }
}
