package tech.bsdb.spark;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.apache.spark.sql.DataFrameWriter;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tech.bsdb.Database;
import tech.bsdb.store.Store;
import tech.bsdb.tools.ParquetBuilder;
import tech.bsdb.tools.cli.Console;

/** What {@code df.write.format("bsdb")} leaves in the store. */
class WriteTest {
  @TempDir Path dir;

  /** Rows with an id, some text, and a number that repeats. */
  private static Dataset<Row> rows(long count) {
    return LocalSpark.session()
        .range(0, count, 1, 3)
        .selectExpr(
            "concat('user-', id) as id",
            "concat('name ', id * 7919) as name",
            "cast(id % 97 as int) as age",
            "if(id % 5 = 0, null, id * 0.5d) as score");
  }

  private DataFrameWriter<Row> writer(Dataset<Row> rows, int shards) {
    return rows.write()
        .format("bsdb")
        .option("key", "id")
        .option("shards", shards)
        .mode("overwrite");
  }

  private Path store() {
    return dir.resolve("store");
  }

  private Path current() throws IOException {
    return store().resolve(Store.open(store()).current());
  }

  private static Map<String, String> content(Path directory) throws IOException {
    Map<String, String> content = new TreeMap<>();
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        content.put(
            directory.relativize(file).toString(),
            Arrays.hashCode(Files.readAllBytes(file)) + " " + Files.size(file));
      }
    }
    return content;
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 5})
  void everyRowIsFound(int shards) throws IOException {
    writer(rows(3_000), shards).save(store().toString());
    try (Database database = Database.open(current())) {
      assertThat(database.statistics().records()).isEqualTo(3_000);
      assertThat(database.statistics().shards()).isEqualTo(shards);
      for (int i = 0; i < 3_000; i += 61) {
        assertThat(database.get(("user-" + i).getBytes(UTF_8))).isNotNull();
      }
      assertThat(Database.verify(current(), (done, total) -> {}).records()).isEqualTo(3_000);
    }
  }

  @Test
  void shardsAreThoseOfBuildParquet() throws Exception {
    rows(2_000).write().parquet(dir.resolve("first").toString());
    // All columns of what Spark reads are nullable, and so they are in the files that it writes.
    Dataset<Row> rows = LocalSpark.session().read().parquet(dir.resolve("first").toString());
    rows.write().parquet(dir.resolve("parquet").toString());
    writer(rows, 3).option("layout", "packed").save(store().toString());
    Path built = dir.resolve("built");
    int code =
        new ParquetBuilder()
            .run(
                List.of(
                    "-i",
                    dir.resolve("parquet").toString(),
                    "-kf",
                    "id",
                    "-o",
                    built.toString(),
                    "--shards",
                    "3",
                    "--layout",
                    "packed",
                    "-q"),
                Console.ofProcess());
    assertThat(code).isZero();
    assertThat(content(current())).isEqualTo(content(built));
  }
}
