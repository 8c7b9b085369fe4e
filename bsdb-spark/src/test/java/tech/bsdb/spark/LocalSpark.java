package tech.bsdb.spark;

import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;
import org.apache.spark.sql.SparkSession;

/** The one session of a test run, with two threads. */
public final class LocalSpark {
  private static final SparkSession SESSION = start();

  private LocalSpark() {}

  /** The session, which is active on the calling thread afterwards. */
  public static SparkSession session() {
    SparkSession.setActiveSession(SESSION);
    return SESSION;
  }

  /**
   * A session for many small queries, which is active on the calling thread afterwards: it compiles
   * no code for each of them.
   */
  public static SparkSession interpreting() {
    SparkSession session = SESSION.newSession();
    session.conf().set("spark.sql.codegen.wholeStage", "false");
    session.conf().set("spark.sql.codegen.factoryMode", "NO_CODEGEN");
    session.conf().set("spark.sql.adaptive.enabled", "false");
    session.conf().set("spark.sql.shuffle.partitions", "1");
    SparkSession.setActiveSession(session);
    return session;
  }

  /** Whether this is Spark 3.5. */
  public static boolean isSpark3() {
    return SESSION.version().startsWith("3.");
  }

  /** Skips a test where Spark is older than what it is about. */
  public static void assumeSpark4(String about) {
    assumeFalse(isSpark3(), () -> "Spark " + SESSION.version() + " has no " + about);
  }

  /** What such tables as a data source can have in SQL are created and dropped as. */
  public static String create(String table) {
    return (isSpark3() ? "CREATE TEMPORARY VIEW " : "CREATE TABLE ") + table;
  }

  /** The opposite of {@link #create}. */
  public static String drop(String table) {
    return (isSpark3() ? "DROP VIEW " : "DROP TABLE ") + table;
  }

  private static SparkSession start() {
    Path directory;
    try {
      directory = Files.createTempDirectory("bsdb-spark");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    SparkSession session =
        SparkSession.builder()
            .master("local[2,2]")
            .appName("tests")
            .config("spark.ui.enabled", "false")
            .config("spark.driver.host", "127.0.0.1")
            .config("spark.driver.bindAddress", "127.0.0.1")
            .config("spark.sql.shuffle.partitions", "4")
            .config("spark.sql.session.timeZone", "UTC")
            .config("spark.sql.warehouse.dir", directory.resolve("warehouse").toString())
            .config("spark.local.dir", directory.resolve("local").toString())
            .config("spark.hadoop.fs.elsewhere.impl", ElsewhereFileSystem.class.getName())
            .getOrCreate();
    Runtime.getRuntime().addShutdownHook(new Thread(() -> stop(session, directory)));
    return session;
  }

  private static void stop(SparkSession session, Path directory) {
    session.stop();
    try (Stream<Path> all = Files.walk(directory)) {
      for (Path each : all.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(each);
      }
    } catch (IOException | UncheckedIOException e) {
      // Spark removes its own directories at the same time
    }
  }
}
