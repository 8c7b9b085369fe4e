package tech.bsdb.spark;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.spark.sql.DataFrameWriter;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.api.java.UDF1;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.unsafe.types.UTF8String;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tech.bsdb.Database;
import tech.bsdb.spark.rows.SparkValues;
import tech.bsdb.store.Store;
import tech.bsdb.tools.rows.RowDecoder;
import tech.bsdb.tools.rows.RowForm;
import tech.bsdb.tools.rows.RowSchema;

/** The jar for clusters, with a driver and executors in processes of their own. */
class LocalClusterIT {
  /** Fewer in the short form. */
  private static final int RECORDS =
      Integer.getInteger("bsdb.rounds", 10) >= 10 ? 1_000_000 : 200_000;

  private static final boolean DELTA =
      LocalClusterIT.class.getResource("/io/delta/sql/DeltaSparkSessionExtension.class") != null;

  private static final Map<String, Object> DELTA_OPTIONS =
      DELTA
          ? Map.of(
              "spark.databricks.delta.snapshotPartitions",
              2,
              "spark.sql.extensions",
              "io.delta.sql.DeltaSparkSessionExtension",
              "spark.sql.catalog.spark_catalog",
              "org.apache.spark.sql.delta.catalog.DeltaCatalog")
          : Map.of();

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
            .config(
                "spark.executor.extraJavaOptions", System.getProperty("bsdb.executor.options", ""))
            .config("spark.sql.shuffle.partitions", 4)
            .config(DELTA_OPTIONS)
            .config("spark.sql.warehouse.dir", work.resolve("warehouse").toString())
            .config("spark.local.dir", work.resolve("local").toString())
            .getOrCreate();
  }

  @AfterAll
  static void stop() {
    session.stop();
  }

  private static Dataset<Row> rows() {
    return rows(RECORDS);
  }

  private static Dataset<Row> rows(int count) {
    return session
        .range(0, count, 1, 4)
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

  private void requireAll() throws Exception {
    try (Database database = Database.open(current())) {
      assertThat(database.statistics().records()).isEqualTo(RECORDS);
      RowForm form = RowForm.of(RowSchema.stored(database.statistics()));
      RowDecoder decoder = new RowDecoder(form, new SparkValues());
      for (int i = 0; i < RECORDS; i++) {
        byte[] row = database.get(("user-" + i).getBytes(UTF_8));
        if (row == null || !isRow(i, decoder.decode(row, 0, row.length))) {
          throw new AssertionError("user-" + i);
        }
      }
      assertThat(database.get(("user-" + RECORDS).getBytes(UTF_8))).isNull();
    }
    try (Stream<Path> entries = Files.list(dir.resolve("store"))) {
      assertThat(entries.count()).as("CURRENT and the version").isEqualTo(2);
    }
  }

  private static boolean isRow(int id, Object[] row) {
    return row.length == 3
        && row[0].equals(UTF8String.fromString("user-" + id))
        && row[1].equals(id * 31L)
        && row[2] instanceof ArrayData list
        && list.numElements() == 2
        && list.getLong(0) == id
        && list.isNullAt(1);
  }

  @Test
  void theConnectorIsTheJar() {
    assertThat(BsdbSource.class.getProtectionDomain().getCodeSource().getLocation().getPath())
        .endsWith(".jar");
    assertThat(Database.class.getProtectionDomain().getCodeSource())
        .isEqualTo(BsdbSource.class.getProtectionDomain().getCodeSource());
  }

  @Test
  void everyRowIsFound() throws Exception {
    writer(rows()).save(dir.resolve("store").toString());
    requireAll();
    Dataset<Row> stored =
        session.read().format("bsdb").option("key", "id").load(dir.resolve("store").toString());
    assertThat(EveryRowTest.total(stored)).isEqualTo(EveryRowTest.total(rows()));
    assertThat(stored.where("id = 'user-4711'").first().getLong(1)).isEqualTo(4711 * 31);
  }

  @Tag("nightly")
  @Test
  void aDeltaTableIsWritten() throws IOException {
    assumeTrue(DELTA, () -> "there is no Delta for Spark " + session.version() + " here");
    String table = "delta.`" + dir.resolve("delta") + "`";
    rows(100_000).write().format("delta").save(dir.resolve("delta").toString());
    session.sql("DELETE FROM " + table + " WHERE number % 1000 = 0");
    session.sql("UPDATE " + table + " SET number = -1 WHERE id = 'user-7'");
    Dataset<Row> rows = session.table(table);
    writer(rows).save(dir.resolve("store").toString());
    Dataset<Row> stored = session.read().format("bsdb").load(dir.resolve("store").toString());
    assertThat(stored.count()).isEqualTo(100_000 - 100);
    assertThat(EveryRowTest.total(stored)).isEqualTo(EveryRowTest.total(rows));
    assertThat(stored.where("id = 'user-7'").first().getLong(1)).isEqualTo(-1);
  }

  @Tag("nightly")
  @Test
  void anExecutorThatDiesIsReplaced() throws Exception {
    String mark = dir.resolve("killed").toString();
    UDF1<Long, Long> deadly =
        number -> {
          if (number == 31L * 600_000 && mark(mark)) {
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
