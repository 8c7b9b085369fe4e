package tech.bsdb.spark.trial;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.spark.executor.TaskMetrics;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.apache.spark.sql.SparkSession;
import org.jspecify.annotations.Nullable;

/**
 * A program that writes a store and prints what that took, or only reads the rows, or generates
 * them:
 *
 * <pre>
 * WriteTrial rows COUNT PARQUET LOCAL_DIRECTORY
 * WriteTrial read PARQUET CORES LOCAL_DIRECTORY
 * WriteTrial write PARQUET STORE LAYOUT SHARDS CORES LOCAL_DIRECTORY
 * </pre>
 */
public final class WriteTrial {
  /** Multiples of it, modulo a count that it does not divide, are a permutation. */
  private static final long PRIME = 7_368_787;

  private WriteTrial() {}

  /** Runs the program. */
  public static void main(String[] args) throws IOException, InterruptedException {
    if (args[0].equals("rows")) {
      rows(Long.parseLong(args[1]), args[2], args[3]);
    } else if (args[0].equals("read")) {
      SparkSession session = session(args[2], args[3]);
      session.read().parquet(args[1]).write().format("noop").mode("overwrite").save();
      session.stop();
    } else {
      write(args);
    }
  }

  private static SparkSession session(String cores, String local) {
    return SparkSession.builder()
        .master("local[" + cores + "]")
        .appName("trial")
        .config("spark.ui.enabled", false)
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.local.dir", local)
        .getOrCreate();
  }

  /** Rows with keys of 14 bytes in no order, and values of some 45 bytes. */
  private static void rows(long count, String directory, String local) {
    SparkSession session = session("2", local);
    session
        .range(0, count, 1, 8)
        .selectExpr("id * " + PRIME + " % " + count + " as id")
        .selectExpr(
            "concat('item-', lpad(id, 9, '0')) as id",
            "substr(md5(cast(id as string)), 1, 20) as name",
            "cast(id % 97 as int) as age",
            "rand(7) as score")
        .write()
        .parquet(directory);
    session.stop();
  }

  private static void write(String[] args) throws IOException, InterruptedException {
    long began = System.nanoTime();
    Path local = Path.of(args[6]);
    SparkSession session = session(args[5], args[6]);
    AtomicLong shuffled = new AtomicLong();
    AtomicLong spilled = new AtomicLong();
    session
        .sparkContext()
        .addSparkListener(
            new SparkListener() {
              @Override
              public void onTaskEnd(SparkListenerTaskEnd task) {
                TaskMetrics metrics = task.taskMetrics();
                shuffled.addAndGet(metrics.shuffleWriteMetrics().bytesWritten());
                spilled.addAndGet(metrics.diskBytesSpilled());
              }
            });
    AtomicLong peak = new AtomicLong();
    Thread watch = watch(local, peak);
    long started = System.nanoTime();
    session
        .read()
        .parquet(args[1])
        .write()
        .format("bsdb")
        .option("key", "id")
        .option("layout", args[3])
        .option("shards", args[4])
        .mode("overwrite")
        .save(args[2]);
    long ended = System.nanoTime();
    watch.interrupt();
    watch.join();
    session.stop(); // after which the listener has heard everything
    System.out.printf(
        Locale.ROOT,
        "{\"start\": %.2f, \"write\": %.2f, \"shuffled\": %d, \"spilled\": %d, \"localPeak\": %d}%n",
        (started - began) / 1e9,
        (ended - started) / 1e9,
        shuffled.get(),
        spilled.get(),
        peak.get());
  }

  /** Watches the size of a directory. */
  private static Thread watch(Path directory, AtomicLong peak) {
    Thread thread =
        new Thread(
            () -> {
              try {
                while (true) {
                  peak.accumulateAndGet(size(directory), Math::max);
                  Thread.sleep(100);
                }
              } catch (InterruptedException e) {
                // the end
              }
            },
            "watch");
    thread.setDaemon(true);
    thread.start();
    return thread;
  }

  /** The bytes below a directory, without files that disappear meanwhile. */
  private static long size(Path directory) {
    AtomicLong bytes = new AtomicLong();
    try {
      Files.walkFileTree(
          directory,
          new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
              bytes.addAndGet(attributes.size());
              return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFileFailed(Path file, IOException gone) {
              return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult postVisitDirectory(Path each, @Nullable IOException gone) {
              return FileVisitResult.CONTINUE;
            }
          });
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.get();
  }
}
