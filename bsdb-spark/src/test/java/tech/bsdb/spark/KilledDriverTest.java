package tech.bsdb.spark;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.spark.sql.DataFrameWriter;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tech.bsdb.Database;
import tech.bsdb.store.Store;

/** A driver that is killed while its tasks send shards. */
@Tag("nightly")
class KilledDriverTest {
  private static final int SHARDS = 4;

  @TempDir Path dir;

  /** The driver: writes a version of which the last shard never arrives. */
  static final class Driver {
    private Driver() {}

    public static void main(String[] args) {
      FlakyFileSystem.stalled = "/shard-00003-";
      SparkSession session =
          SparkSession.builder()
              .master("local[1]")
              .config("spark.ui.enabled", "false")
              .config("spark.driver.host", "127.0.0.1")
              .config("spark.driver.bindAddress", "127.0.0.1")
              .config("spark.local.dir", args[1])
              .getOrCreate();
      writer(session, 400, "begun").save("flaky://" + args[0]);
    }
  }

  private static DataFrameWriter<Row> writer(SparkSession session, long rows, String version) {
    return session
        .range(0, rows, 1, 2)
        .selectExpr("concat('k', id) as id", "id as number")
        .write()
        .format("bsdb")
        .option("key", "id")
        .option("shards", SHARDS)
        .option("version", version)
        .option("fs.flaky.impl", FlakyFileSystem.class.getName())
        .mode("overwrite");
  }

  @Test
  void leavesTheOldVersionAndTheNextWriteCleansUp() throws Exception {
    Path store = dir.resolve("store");
    writer(LocalSpark.session(), 100, "old").save(store.toString());
    Process driver = driver(store);
    try {
      awaitShards(store.resolve("begun"), driver, SHARDS - 1);
    } finally {
      driver.destroyForcibly();
    }
    assertThat(driver.waitFor(2, TimeUnit.MINUTES)).isTrue();
    requireRecords(store, "old", 100);
    assertThat(store.resolve("begun")).exists();
    assertThat(store.resolve("begun/manifest.bsdb")).doesNotExist();

    writer(LocalSpark.session(), 200, "new").save(store.toString());
    requireRecords(store, "new", 200);
    try (Stream<Path> entries = Files.list(store)) {
      assertThat(entries.map(Path::getFileName).map(Path::toString))
          .containsExactlyInAnyOrder("CURRENT", "new", "old");
    }
  }

  /** A process with the options of this one, but a small heap. */
  private Process driver(Path store) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
        .filter(option -> option.startsWith("--") || option.startsWith("-XX:+Ignore"))
        .forEach(command::add);
    command.addAll(List.of("-Xmx512m", "-cp", System.getProperty("java.class.path")));
    command.addAll(
        List.of(Driver.class.getName(), store.toString(), dir.resolve("local").toString()));
    return new ProcessBuilder(command)
        .redirectErrorStream(true)
        .redirectOutput(dir.resolve("driver.log").toFile())
        .start();
  }

  /** Waits until shards have arrived as a whole. */
  private void awaitShards(Path version, Process driver, int count) throws Exception {
    long deadline = System.nanoTime() + TimeUnit.MINUTES.toNanos(5);
    while (arrived(version) < count) {
      assertThat(driver.isAlive()).as(() -> log()).isTrue();
      assertThat(System.nanoTime()).as(() -> log()).isLessThan(deadline);
      Thread.sleep(50);
    }
  }

  private static long arrived(Path version) throws IOException {
    if (!Files.isDirectory(version)) {
      return 0;
    }
    try (Stream<Path> shards = Files.list(version)) {
      return shards.filter(shard -> Files.exists(shard.resolve("manifest.bsdb"))).count();
    }
  }

  private String log() {
    try {
      return Files.readString(dir.resolve("driver.log"));
    } catch (IOException e) {
      return e.toString();
    }
  }

  private static void requireRecords(Path store, String version, long records) throws IOException {
    assertThat(Store.open(store).current()).isEqualTo(version);
    assertThat(Database.verify(store.resolve(version), (done, total) -> {}).records())
        .isEqualTo(records);
  }
}
