package tech.bsdb.spark;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What docs/SPARK.md shows works as it stands there. */
class SparkPageTest {
  private static final Path PAGE = Path.of("../docs/SPARK.md");
  private static final Path SOURCE = Path.of("src/test/java/tech/bsdb/spark/SparkPageTest.java");

  @TempDir Path dir;

  private static String block(String language) throws IOException {
    Matcher block =
        Pattern.compile("```" + language + "\n(.*?)```", Pattern.DOTALL)
            .matcher(Files.readString(PAGE));
    assertThat(block.find()).isTrue();
    return block.group(1);
  }

  /** Without the white space that only formats, and with the path of the page. */
  private static String code(String text) {
    return text.replace("dir + \"/stores/users\"", "\"stores/users\"").replaceAll("\\s", "");
  }

  @Tag("nightly")
  @Test
  void theTenLinesAnswerOverHttp() throws Exception {
    SparkSession spark = LocalSpark.session();
    // the page begins
    Dataset<Row> users =
        spark.range(100_000).selectExpr("concat('user-', id) AS id", "id % 90 AS age");
    users
        .write()
        .format("bsdb")
        .option("key", "id")
        .option("shards", 4)
        .mode("overwrite")
        .save(dir + "/stores/users");
    Dataset<Row> stored =
        spark.read().format("bsdb").option("key", "id").load(dir + "/stores/users");
    stored.where("id = 'user-42'").show(); // a lookup, not a scan
    // the page ends
    String source = Files.readString(SOURCE);
    String here =
        source.substring(
            source.indexOf("// the page begins") + 18, source.indexOf("// the page ends"));
    assertThat(code(here)).isEqualTo(code(block("java")));
    assertThat(stored.where("id = 'user-42'").first().getLong(1)).isEqualTo(42);
    assertThat(stored.except(users).union(users.except(stored)).count()).isZero();

    try (Served served = Served.of(dir.resolve("stores/users"))) {
      assertThat(served.get("user-42")).isEqualTo("{\"id\":\"user-42\",\"age\":42}");
    }
  }

  @Test
  void theStatementsRun() throws IOException {
    SparkSession spark = LocalSpark.session();
    List<Row> last = new ArrayList<>();
    for (String statement : block("sql").split(";\n", -1)) {
      if (!statement.isBlank()) {
        String placed =
            statement
                .replace("CREATE TABLE users", LocalSpark.create("users"))
                .replace("stores/users", dir + "/stores/users");
        last = spark.sql(placed).collectAsList();
      }
    }
    spark.sql(LocalSpark.drop("users"));
    assertThat(last).hasSize(1);
    assertThat(last.get(0).getLong(0)).isEqualTo(42);
  }
}
