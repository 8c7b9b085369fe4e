package tech.bsdb.spark;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.hdfs.DFSConfigKeys;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.hdfs.HdfsConfiguration;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import org.apache.hadoop.hdfs.protocol.HdfsConstants;
import org.apache.spark.sql.DataFrameWriter;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tech.bsdb.tools.cli.Console;
import tech.bsdb.tools.input.Encoding;
import tech.bsdb.tools.publish.Checks;
import tech.bsdb.tools.publish.FollowOptions;
import tech.bsdb.tools.publish.Follower;
import tech.bsdb.tools.source.FileSourceOptions;
import tech.bsdb.transfer.TransferOptions;

/** Stores on a real HDFS of two data nodes. */
@Timeout(value = 10, unit = TimeUnit.MINUTES)
@Tag("nightly")
class HdfsStoreTest {
  private static final int ROWS = 20_000;
  private static final long BLOCK = 1 << 20;

  @TempDir private static Path work;
  private static MiniDFSCluster hdfs;

  @TempDir Path dir;

  @BeforeAll
  static void start() throws IOException {
    HdfsConfiguration configuration = new HdfsConfiguration();
    configuration.setInt(DFSConfigKeys.DFS_REPLICATION_KEY, 2);
    configuration.setLong(DFSConfigKeys.DFS_BLOCK_SIZE_KEY, BLOCK);
    hdfs = new MiniDFSCluster.Builder(configuration, work.toFile()).numDataNodes(2).build();
    hdfs.waitActive();
  }

  @AfterAll
  static void stop() {
    hdfs.shutdown();
  }

  /** Rows whose numbers are those of a version. */
  private static Dataset<Row> rows(int version) {
    return LocalSpark.session()
        .range(0, ROWS, 1, 3)
        .selectExpr(
            "concat('u', id) as id",
            "id * 31 + " + version + " as number",
            "sha2(cast(id as string), 512) as text");
  }

  private static DataFrameWriter<Row> writer(Dataset<Row> rows, int version) {
    return rows.write()
        .format("bsdb")
        .option("key", "id")
        .option("shards", 3)
        .option("version", "v" + version)
        .option("dfs.blocksize", BLOCK)
        .option("dfs.replication", 2)
        .mode("overwrite");
  }

  private static String store(TestInfo test) {
    return "hdfs://localhost:" + hdfs.getNameNodePort() + path(test);
  }

  private static org.apache.hadoop.fs.Path path(TestInfo test) {
    return new org.apache.hadoop.fs.Path("/stores/" + test.getTestMethod().orElseThrow().getName());
  }

  private static void requireRows(String store, int version) {
    Dataset<Row> stored =
        LocalSpark.session().read().format("bsdb").option("key", "id").load(store);
    assertThat(EveryRowTest.total(stored)).isEqualTo(EveryRowTest.total(rows(version)));
    assertThat(stored.where("id = 'u4711'").first().getLong(1)).isEqualTo(4711 * 31 + version);
    assertThat(stored.where("id = 'u" + ROWS + "'").isEmpty()).isTrue();
  }

  private static void requireStore(TestInfo test, String current, String... versions)
      throws IOException {
    DistributedFileSystem files = hdfs.getFileSystem();
    List<String> names =
        Arrays.stream(files.listStatus(path(test)))
            .map(FileStatus::getPath)
            .map(org.apache.hadoop.fs.Path::getName)
            .filter(name -> !name.equals("CURRENT"))
            .toList();
    assertThat(names).containsExactlyInAnyOrder(versions);
    try (InputStream in = files.open(new org.apache.hadoop.fs.Path(path(test), "CURRENT"))) {
      assertThat(new String(in.readAllBytes(), UTF_8)).startsWith(current + "\n");
    }
  }

  @Test
  void versionsAreWrittenReadAndRemoved(TestInfo test) throws IOException {
    String store = store(test);
    for (int version = 1; version <= 3; version++) {
      writer(rows(version), version).option("keep", 1).save(store);
      requireRows(store, version);
    }
    requireStore(test, "v3", "v2", "v3");
  }

  @Test
  void aWriteThatFailsLeavesTheOldVersion(TestInfo test) throws IOException {
    String store = store(test);
    writer(rows(1), 1).save(store);
    Dataset<Row> broken = rows(2).selectExpr("id", "assert_true(id != 'u19999') as number", "text");
    assertThatThrownBy(() -> writer(broken, 2).save(store)).hasStackTraceContaining("u19999");
    requireStore(test, "v1", "v1");
    assertThatThrownBy(() -> writer(rows(2).union(rows(2).limit(1)), 2).save(store))
        .hasMessageContaining("occurs more than once");
    requireStore(test, "v1", "v1");
    requireRows(store, 1);
  }

  @Test
  void aQuotaThatIsExceededLeavesTheOldVersion(TestInfo test) throws IOException {
    String store = store(test);
    writer(rows(1), 1).save(store);
    DistributedFileSystem files = hdfs.getFileSystem();
    long used = files.getContentSummary(path(test)).getSpaceConsumed();
    files.setQuota(path(test), HdfsConstants.QUOTA_DONT_SET, used + 4 * BLOCK);
    assertThatThrownBy(() -> writer(rows(2), 2).save(store))
        .hasStackTraceContaining("quota of")
        .hasStackTraceContaining(path(test).toString());
    requireStore(test, "v1", "v1");
    requireRows(store, 1);

    files.setQuota(path(test), HdfsConstants.QUOTA_DONT_SET, HdfsConstants.QUOTA_RESET);
    writer(rows(2), 2).save(store);
    requireRows(store, 2);
  }

  @Test
  void ifADataNodeIsLostTheOtherOneIsRead(TestInfo test) throws IOException {
    String store = store(test);
    writer(rows(1), 1).save(store);
    MiniDFSCluster.DataNodeProperties lost = hdfs.stopDataNode(0);
    try {
      requireRows(store, 1);
    } finally {
      assertThat(hdfs.restartDataNode(lost)).isTrue();
      hdfs.waitActive();
    }
  }

  @Test
  void aServerFollows(TestInfo test) throws Exception {
    String store = store(test);
    writer(rows(1), 1).save(store);
    Path near = dir.resolve("near");
    FollowOptions options =
        new FollowOptions(
            store,
            FileSourceOptions.local(),
            near,
            Duration.ofHours(1),
            TransferOptions.defaults(),
            new Checks(0, 5, 1000, -1, false, null, Encoding.UTF8, Checks.Counting.IF_NEEDED),
            1);
    Follower follower = new Follower(options, Console.ofProcess());
    assertThat(follower.first()).isTrue();
    try (Served served = Served.of(near, follower)) {
      assertThat(served.get("u7")).startsWith("{\"id\":\"u7\",\"number\":218,");
      writer(rows(2), 2).save(store);
      follower.lookNow();
      long deadline = System.nanoTime() + TimeUnit.MINUTES.toNanos(5);
      while (!served.get("u7").startsWith("{\"id\":\"u7\",\"number\":219,")) {
        assertThat(System.nanoTime()).as("no new version is served").isLessThan(deadline);
        Thread.sleep(20);
      }
    }
  }
}
