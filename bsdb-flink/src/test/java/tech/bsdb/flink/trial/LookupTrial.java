package tech.bsdb.flink.trial;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import tech.bsdb.BuildOptions;
import tech.bsdb.Database;
import tech.bsdb.DatabaseBuilder;
import tech.bsdb.LookupBatch;

/**
 * Measures lookups of random keys: in batches by one thread, and through SQL in one subtask, beside
 * the same query without the join. Arguments: a directory, the number of records, the number of
 * rows.
 */
public final class LookupTrial {
  private static final int BATCH = 256;

  private LookupTrial() {}

  /** Runs it. */
  public static void main(String[] arguments) throws Exception {
    Path database = Path.of(arguments[0]);
    long records = Long.parseLong(arguments[1]);
    long rows = Long.parseLong(arguments[2]);
    if (!Files.exists(database)) {
      build(database, records);
    }
    long opened = System.nanoTime();
    Database.open(database).close();
    print("open and close, ms", (System.nanoTime() - opened) / 1e6);
    for (int round = 0; round < 3; round++) {
      batches(database, records, rows);
      double none = sql(database, records, rows, "SELECT n, 'none' FROM asked", "no join");
      double sync = sql(database, records, rows, join("sync"), "join");
      double async = sql(database, records, rows, join("async"), "asynchronous join");
      print("processor time of a lookup in SQL, us", (sync - none) / rows * 1e6);
      print("the same, asynchronous", (async - none) / rows * 1e6);
    }
  }

  private static String join(String table) {
    return "SELECT n, v FROM asked JOIN "
        + table
        + "_lookups FOR SYSTEM_TIME AS OF asked.p AS t ON asked.n = t.k";
  }

  private static void build(Path database, long records) throws IOException {
    long begun = System.nanoTime();
    BuildOptions options = BuildOptions.defaults().withMemoryBytes(1L << 30);
    try (DatabaseBuilder builder = DatabaseBuilder.create(database, options)) {
      for (long i = 0; i < records; i++) {
        builder.add(String.valueOf(i).getBytes(UTF_8), ("the value " + i).getBytes(UTF_8));
      }
      Object unused = builder.finish();
    }
    print("build, s", (System.nanoTime() - begun) / 1e9);
  }

  private static void batches(Path path, long records, long rows) throws IOException {
    SplittableRandom random = new SplittableRandom(1);
    List<byte[]> keys = new ArrayList<>();
    for (int i = 0; i < 1 << 16; i++) {
      keys.add(String.valueOf(random.nextLong(records)).getBytes(UTF_8));
    }
    try (Database database = Database.open(path)) {
      LookupBatch batch = database.batch();
      double begun = processorSeconds();
      long found = 0;
      for (long done = 0; done < rows; done += BATCH) {
        batch.clear();
        for (int i = 0; i < BATCH; i++) {
          Object unused = batch.add(keys.get((int) ((done + i) & 0xffff)));
        }
        batch.get();
        for (int i = 0; i < BATCH; i++) {
          found += batch.isPresent(i) ? 1 : 0;
        }
      }
      print("lookups/s of a core, in batches", found / (processorSeconds() - begun));
    }
  }

  /** Returns the processor time in seconds. */
  private static double sql(Path path, long records, long rows, String query, String what)
      throws Exception {
    Configuration configuration = new Configuration();
    configuration.setString("rest.bind-port", "0");
    configuration.setString("pipeline.object-reuse", "true");
    StreamExecutionEnvironment environment =
        StreamExecutionEnvironment.createLocalEnvironment(1, configuration);
    StreamTableEnvironment tables = StreamTableEnvironment.create(environment);
    tables.executeSql(
        "CREATE TABLE asked (n BIGINT, p AS PROCTIME()) WITH ('connector' = 'datagen',"
            + " 'rows-per-second' = '1000000000', 'number-of-rows' = '%s', 'fields.n.min' = '0',"
                .formatted(rows)
            + " 'fields.n.max' = '"
            + (records - 1)
            + "')");
    tables.executeSql("CREATE TABLE nowhere (n BIGINT, v STRING) WITH ('connector' = 'blackhole')");
    for (String kind : List.of("sync", "async")) {
      tables.executeSql(
          "CREATE TABLE "
              + kind
              + "_lookups (k BIGINT, v STRING, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'bsdb',"
              + " 'path' = '"
              + path
              + "', 'lookup.async' = '"
              + kind.equals("async")
              + "', 'lookup.threads' = '1')");
    }
    double begun = processorSeconds();
    long clock = System.nanoTime();
    tables.executeSql("INSERT INTO nowhere " + query).await();
    double took = processorSeconds() - begun;
    print(what + ": rows/s of a core", rows / took);
    print(what + ": rows/s", rows / ((System.nanoTime() - clock) / 1e9));
    return took;
  }

  private static double processorSeconds() {
    return ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
            .getProcessCpuTime()
        / 1e9;
  }

  private static void print(String what, double number) {
    System.out.printf("%-45s %,14.2f%n", what, number);
  }
}
