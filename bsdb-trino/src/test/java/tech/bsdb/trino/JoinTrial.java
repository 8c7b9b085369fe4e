package tech.bsdb.trino;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.management.OperatingSystemMXBean;
import io.trino.Session;
import io.trino.spi.Plugin;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import tech.bsdb.BuildOptions;
import tech.bsdb.DatabaseBuilder;

/**
 * Measures joins, lookups and scans of a database beside those of the same table in Trino's memory
 * connector and, if it is on the class path, in its Hive connector as Parquet. Arguments: a
 * directory, the number of records, the number of rounds.
 */
final class JoinTrial {
  /** Trino's log takes what is printed later. */
  private static final PrintStream OUT = System.out;

  private static final String HIVE = "io.trino.plugin.hive.HivePlugin";

  private final Path work;
  private final long records;
  private final Session lookups;
  private final Session filters;
  private final List<String> tables = new ArrayList<>();
  private final Map<String, List<double[]>> times = new HashMap<>();

  private JoinTrial(Path work, long records, Session bsdb) {
    this.work = work;
    this.records = records;
    this.lookups = LocalTrino.withLookupJoins(bsdb, "always");
    this.filters = LocalTrino.withLookupJoins(bsdb, "never");
    tables.add("words");
  }

  /** Runs it. */
  public static void main(String[] arguments) throws Exception {
    Path work = Path.of(arguments[0]).toAbsolutePath();
    long records = Long.parseLong(arguments[1]);
    Path database = work.resolve("words-" + records);
    if (!Files.exists(database)) {
      build(database, records);
    }
    Session bsdb = LocalTrino.catalog(Map.of("bsdb.table.words", database.toString()));
    new JoinTrial(work, records, bsdb).run(Integer.parseInt(arguments[2]));
    System.exit(0); // Trino's threads stay
  }

  private static void build(Path database, long records) throws IOException {
    try (DatabaseBuilder builder = DatabaseBuilder.create(database, BuildOptions.defaults())) {
      for (long i = 0; i < records; i++) {
        builder.add("key-%09d".formatted(i).getBytes(UTF_8), ("the value of " + i).getBytes(UTF_8));
      }
      Object unused = builder.finish();
    }
  }

  private void run(int rounds) throws Exception {
    copy("memory.default.words");
    if (isHiveHere()) {
      copy("hive.trial.words");
    }
    for (int keys : new int[] {1_000, 1_000_000}) {
      execute(
          "CREATE TABLE memory.default.asked_%d AS SELECT 'key-' || lpad(CAST(n * 7919 %% %d AS varchar), 9, '0') AS k"
                  .formatted(keys, records)
              + " FROM UNNEST(sequence(0, %d)) a(high) CROSS JOIN UNNEST(sequence(1, 1000)) b(low) CROSS JOIN LATERAL (SELECT high * 1000 + low AS n)"
                  .formatted(keys / 1_000 - 1));
    }
    for (int round = 0; round < rounds; round++) {
      boolean counts = round > 0 || rounds == 1;
      for (int keys : new int[] {1_000, 1_000_000}) {
        String join =
            "SELECT count(w._value), sum(length(w._value)) FROM %s w JOIN memory.default.asked_"
                + keys
                + " a ON w._key = a.k";
        measure("join with %,d keys".formatted(keys), join, counts);
        time("words, lookup join", "join with %,d keys".formatted(keys), lookups, join, counts);
      }
      measure("one key", "SELECT _value FROM %s WHERE _key = 'key-000000007'", counts);
      measure("scan", "SELECT sum(length(_key)), sum(length(_value)) FROM %s", counts);
    }
    print();
  }

  private void copy(String table) {
    execute("CREATE TABLE " + table + " AS SELECT _key, _value FROM words");
    tables.add(table);
  }

  /** Makes a catalog of Parquet files if that is possible. */
  private boolean isHiveHere() throws Exception {
    Class<?> plugin;
    try {
      plugin = Class.forName(HIVE);
    } catch (ClassNotFoundException e) {
      OUT.println("without Parquet: Trino's Hive connector is not on the class path");
      return false;
    }
    Path files = Files.createDirectories(work.resolve("parquet"));
    LocalTrino.runner().installPlugin((Plugin) plugin.getConstructor().newInstance());
    LocalTrino.runner()
        .createCatalog(
            "hive",
            "hive",
            Map.of(
                "hive.metastore", "file",
                "hive.metastore.catalog.dir", "local:///",
                "fs.native-local.enabled", "true",
                "local.location", files.toString(),
                "hive.storage-format", "PARQUET"));
    execute("CREATE SCHEMA hive.trial");
    return true;
  }

  private void execute(String statement) {
    Object unused = LocalTrino.run(filters, statement);
  }

  /** Runs a query of each table, whose name it has as {@code %s}. */
  private void measure(String what, String query, boolean counts) {
    List<String> expected = null;
    for (String table : tables) {
      List<String> rows = time(table, what, filters, query, counts);
      if (expected != null && !rows.equals(expected)) {
        throw new IllegalStateException(what + ": " + table + " has " + rows + ", not " + expected);
      }
      expected = rows;
    }
  }

  private List<String> time(
      String column, String what, Session session, String query, boolean counts) {
    String table = column.replaceFirst(",.*", "");
    double processor = processorSeconds();
    long begun = System.nanoTime();
    List<String> rows = LocalTrino.rows(session, query.formatted(table));
    double[] took = {processorSeconds() - processor, (System.nanoTime() - begun) / 1e9};
    if (counts) {
      times.computeIfAbsent(what + "|" + column, key -> new ArrayList<>()).add(took);
    }
    return rows;
  }

  private void print() {
    OUT.printf("%-28s %-22s %12s %12s %10s%n", "", "", "processor, s", "clock, s", "processor");
    for (String what :
        List.of("join with 1,000 keys", "join with 1,000,000 keys", "one key", "scan")) {
      double own = median(what + "|words", 0);
      List<String> columns = new ArrayList<>(tables);
      columns.add(1, "words, lookup join");
      for (String column : columns) {
        if (times.containsKey(what + "|" + column)) {
          double processor = median(what + "|" + column, 0);
          OUT.printf(
              "%-28s %-22s %12.3f %12.3f %9.2fx%n",
              what, column, processor, median(what + "|" + column, 1), processor / own);
        }
      }
    }
  }

  private double median(String key, int which) {
    double[] sorted = times.get(key).stream().mapToDouble(each -> each[which]).toArray();
    Arrays.sort(sorted);
    return sorted[sorted.length / 2];
  }

  private static double processorSeconds() {
    return ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
            .getProcessCpuTime()
        / 1e9;
  }
}
