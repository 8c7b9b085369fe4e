package tech.bsdb.flink;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.RuntimeExecutionMode;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.RestOptions;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.minicluster.MiniClusterConfiguration;
import org.apache.flink.runtime.util.EnvironmentInformation;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.api.TableResult;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import org.apache.flink.types.Row;
import org.apache.flink.util.CloseableIterator;
import tech.bsdb.Database;
import tech.bsdb.Database.RecordCursor;
import tech.bsdb.store.Store;
import tech.bsdb.tools.rows.RowForm;
import tech.bsdb.tools.rows.RowJson;
import tech.bsdb.tools.rows.RowSchema;
import tech.bsdb.tools.text.JsonBuffer;

/** The cluster of a test class: two task managers in this process. */
@SuppressWarnings("try") // what is closed may be interrupted
final class LocalFlink implements AutoCloseable {
  /** Whether this is Flink 2. */
  static final boolean IS_2 = EnvironmentInformation.getVersion().startsWith("2.");

  private static final int SLOTS = 4;

  private final MiniCluster cluster;

  LocalFlink() throws Exception {
    Configuration configuration = new Configuration();
    configuration.set(RestOptions.BIND_PORT, "0");
    configuration.set(RestOptions.PORT, 0);
    cluster =
        new MiniCluster(
            new MiniClusterConfiguration.Builder()
                .setConfiguration(configuration)
                .setNumTaskManagers(2)
                .setNumSlotsPerTaskManager(SLOTS)
                .build());
    cluster.start();
  }

  MiniCluster cluster() {
    return cluster;
  }

  StreamExecutionEnvironment environment() throws Exception {
    URI rest = cluster.getRestAddress().get();
    StreamExecutionEnvironment environment =
        StreamExecutionEnvironment.createRemoteEnvironment(rest.getHost(), rest.getPort());
    environment.setParallelism(2);
    return environment;
  }

  /** Tables of a session that runs batches. */
  StreamTableEnvironment batch() throws Exception {
    StreamExecutionEnvironment environment = environment();
    environment.setRuntimeMode(RuntimeExecutionMode.BATCH);
    return StreamTableEnvironment.create(environment);
  }

  /** Tables of a session that runs streams. */
  StreamTableEnvironment stream() throws Exception {
    return StreamTableEnvironment.create(environment());
  }

  /** The rows of a query, sorted by their text. */
  static List<String> rows(StreamTableEnvironment tables, String query) throws Exception {
    List<String> rows = new ArrayList<>();
    TableResult result = tables.executeSql(query);
    try (CloseableIterator<Row> found = result.collect()) {
      found.forEachRemaining(row -> rows.add(String.valueOf(row)));
    }
    rows.sort(null);
    return rows;
  }

  /** Runs statements, each to its end. */
  static void run(StreamTableEnvironment tables, String... statements) throws Exception {
    for (String statement : statements) {
      TableResult result = tables.executeSql(statement);
      if (result.getJobClient().isPresent()) {
        result.await();
      }
    }
  }

  /** The records of a store as text, sorted: keys, and rows as JSON. */
  static List<String> contents(Path store) throws Exception {
    List<String> records = new ArrayList<>();
    try (Database database = Database.open(store.resolve(Store.open(store).current()));
        RecordCursor cursor = database.scan()) {
      RowSchema schema = RowSchema.stored(database.statistics());
      RowJson json = schema == null ? null : new RowJson(RowForm.of(schema));
      while (cursor.next()) {
        String value = new String(cursor.value(), UTF_8);
        if (json != null) {
          JsonBuffer text = new JsonBuffer();
          json.write(cursor.value(), 0, cursor.value().length, text);
          value = new String(text.bytes(), 0, text.length(), UTF_8);
        }
        records.add(new String(cursor.key(), UTF_8) + "=" + value);
      }
    }
    records.sort(null);
    return records;
  }

  /** The options of a table, at a path. */
  static String at(Object path, String... more) {
    StringBuilder options =
        new StringBuilder(" WITH ('connector' = 'bsdb', 'path' = '" + path + "'");
    for (String option : more) {
      options.append(", ").append(option);
    }
    return options.append(")").toString();
  }

  @Override
  public void close() throws Exception {
    cluster.close();
  }
}
