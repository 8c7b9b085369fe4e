package tech.bsdb.spark;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.apache.spark.sql.DataFrameWriter;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.api.java.UDF1;
import org.apache.spark.sql.types.DataTypes;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tech.bsdb.Database;
import tech.bsdb.store.Store;

/** The jar for clusters, with a driver and executors in processes of their own. */
class LocalClusterIT {
  private static final int RECORDS = 100_000;

  @TempDir private static Path work;
  private static SparkSession session;

  @TempDir Path dir;

  @BeforeAll
  static void start() {
    session =
        SparkSession.builder()
            .master("local-cluster[2,1,1024]")
            .appName("bsdb on a cluster")
            .config("spark.ui.enabled", false)
            .config("spark.driver.host", "127.0.0.1")
            .config("spark.driver.bindAddress", "127.0.0.1")
            .config("spark.executor.extraClassPath", System.getProperty("java.class.path"))
            .config("spark.executor.memory", "640m")
            .config("spark.sql.shuffle.partitions", 4)
            .config("spark.databricks.delta.snapshotPartitions", 2)
            .config("spark.sql.extensions", "io.delta.sql.DeltaSparkSessionExtension")
            .config(
                "spark.sql.catalog.spark_catalog",
                "org.apache.spark.sql.delta.catalog.DeltaCatalog")
            .config("spark.sql.warehouse.dir", work.resolve("warehouse").toString())
            .config("spark.local.dir", work.resolve("local").toString())
            .getOrCreate();
  }

  @AfterAll
  static void stop() {
    session.stop();
  }

  private static Dataset<Row> rows() {
    return session
        .range(0, RECORDS, 1, 4)
        .selectExpr("concat('user-', id) as id", "id * 31 as number", "array(id, null) as list");
  }

  private static DataFrameWriter<Row> writer(Dataset<Row> rows) {
    return rows.write()
        .format("bsdb")
        .option("key", "id")
        .option("shards", 4)
        .option("layout", "packed-compressed")
        .mode("overwrite");
  }

  private Path current() throws IOException {
    return dir.resolve("store").resolve(Store.open(dir.resolve("store")).current());
  }

  private void requireAll() throws IOException {
    try (Database database = Database.open(current())) {
      assertThat(database.statistics().records()).isEqualTo(RECORDS);
      for (int i = 0; i < RECORDS; i += 997) {
        assertThat(database.get(("user-" + i).getBytes(UTF_8))).isNotNull();
      }
      assertThat(database.get(("user-" + RECORDS).getBytes(UTF_8))).isNull();
    }
    try (Stream<Path> entries = Files.list(dir.resolve("store"))) {
      assertThat(entries.count()).as("CURRENT and the version").isEqualTo(2);
    }
  }

  @Test
  void theConnectorIsTheJar() {
    assertThat(BsdbSource.class.getProtectionDomain().getCodeSource().getLocation().getPath())
        .endsWith(".jar");
    assertThat(Database.class.getProtectionDomain().getCodeSource())
        .isEqualTo(BsdbSource.class.getProtectionDomain().getCodeSource());
  }

  @Test
  void everyRowIsFound() throws IOException {
    writer(rows()).save(dir.resolve("store").toString());
    requireAll();
    Dataset<Row> stored =
        session.read().format("bsdb").option("key", "id").load(dir.resolve("store").toString());
    assertThat(stored.exceptAll(rows()).count()).isZero();
    assertThat(rows().exceptAll(stored).count()).isZero();
    assertThat(stored.where("id = 'user-4711'").first().getLong(1)).isEqualTo(4711 * 31);
  }

  @Test
  void aDeltaTableIsWritten() throws IOException {
    String table = "delta.`" + dir.resolve("delta") + "`";
    rows().write().format("delta").save(dir.resolve("delta").toString());
    session.sql("DELETE FROM " + table + " WHERE number % 1000 = 0");
    session.sql("UPDATE " + table + " SET number = -1 WHERE id = 'user-7'");
    Dataset<Row> rows = session.table(table);
    writer(rows).save(dir.resolve("store").toString());
    Dataset<Row> stored = session.read().format("bsdb").load(dir.resolve("store").toString());
    assertThat(stored.count()).isEqualTo(RECORDS - RECORDS / 1000);
    assertThat(stored.exceptAll(rows).count()).isZero();
    assertThat(stored.where("id = 'user-7'").first().getLong(1)).isEqualTo(-1);
  }

  @Test
  void anExecutorThatDiesIsReplaced() throws IOException {
    String mark = dir.resolve("killed").toString();
    UDF1<Long, Long> deadly =
        number -> {
          if (number == 31L * 60_000 && mark(mark)) {
            Runtime.getRuntime().halt(9);
          }
          return number;
        };
    session.udf().register("deadly", deadly, DataTypes.LongType);
    writer(rows().selectExpr("id", "deadly(number) as number", "list"))
        .save(dir.resolve("store").toString());
    assertThat(Path.of(mark)).exists();
    requireAll();
  }

  /** Creates a file; returns false if it is there already. */
  private static boolean mark(String file) throws IOException {
    if (Files.exists(Path.of(file))) {
      return false;
    }
    Files.write(Path.of(file), List.of("killed"));
    return true;
  }
}
