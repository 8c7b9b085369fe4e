package tech.bsdb.flink;

import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.RuntimeExecutionMode;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.RestOptions;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.minicluster.MiniClusterConfiguration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.api.TableResult;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import org.apache.flink.types.Row;
import org.apache.flink.util.CloseableIterator;

/** The cluster of a test class: two task managers in this process. */
final class LocalFlink implements AutoCloseable {
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

  /** The options of a table, at a path. */
  static String at(Path path, String... more) {
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
