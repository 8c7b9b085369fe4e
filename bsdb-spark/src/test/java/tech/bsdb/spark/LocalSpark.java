package tech.bsdb.spark;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;
import org.apache.spark.sql.SparkSession;

/** One session of Spark in this JVM, on two threads, for all tests. */
final class LocalSpark {
  private static SparkSession session;

  private LocalSpark() {}

  /** Returns the session; the first call starts it. */
  static synchronized SparkSession session() {
    if (session == null) {
      session = start();
    }
    return session;
  }

  private static SparkSession start() {
    Path work;
    try {
      work = Files.createTempDirectory("bsdb-spark-test-");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    SparkSession started =
        SparkSession.builder()
            .master("local[2,2]")
            .appName("bsdb tests")
            .config("spark.ui.enabled", false)
            .config("spark.driver.host", "127.0.0.1")
            .config("spark.driver.bindAddress", "127.0.0.1")
            .config("spark.sql.shuffle.partitions", 4)
            .config("spark.sql.warehouse.dir", work.resolve("warehouse").toString())
            .config("spark.local.dir", work.resolve("local").toString())
            .getOrCreate();
    Runtime.getRuntime()
        .addShutdownHook(
            new Thread(
                () -> {
                  started.stop();
                  remove(work);
                }));
    return started;
  }

  private static void remove(Path directory) {
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
