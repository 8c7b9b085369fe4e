package tech.bsdb.flink;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.apache.flink.api.common.JobStatus;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.connector.source.util.ratelimit.RateLimiterStrategy;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.connector.datagen.source.DataGeneratorSource;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.api.TableResult;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import org.apache.flink.table.functions.ScalarFunction;
import org.apache.flink.types.Row;
import org.apache.flink.types.RowKind;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tech.bsdb.Database;
import tech.bsdb.Database.RecordCursor;
import tech.bsdb.VerifyReport;
import tech.bsdb.store.Store;
import tech.bsdb.store.StoredVersion;

/** Streams that publish a version at each checkpoint. */
@Timeout(300)
final class StreamSinkTest {
  private static final String TABLE =
      "CREATE TABLE t (id BIGINT, v STRING, PRIMARY KEY (id) NOT ENFORCED)";

  private static LocalFlink flink;

  @TempDir private Path directory;

  @BeforeAll
  static void start() throws Exception {
    flink = new LocalFlink();
  }

  @AfterAll
  static void stop() throws Exception {
    flink.close();
  }

  private static StreamTableEnvironment tables(StreamExecutionEnvironment environment) {
    environment.enableCheckpointing(50);
    StreamTableEnvironment tables = StreamTableEnvironment.create(environment);
    tables.getConfig().set("restart-strategy.type", "fixed-delay");
    tables.getConfig().set("restart-strategy.fixed-delay.attempts", "10");
    tables.getConfig().set("restart-strategy.fixed-delay.delay", "100 ms");
    return tables;
  }

  /** Numbered rows, some at each checkpoint. */
  private static void numbers(
      StreamTableEnvironment tables, StreamExecutionEnvironment environment, long count, int each) {
    DataGeneratorSource<Row> source =
        new DataGeneratorSource<>(
            number -> Row.of(number, "value " + number),
            count,
            RateLimiterStrategy.perCheckpoint(each),
            Types.ROW_NAMED(new String[] {"id", "v"}, Types.LONG, Types.STRING));
    DataStream<Row> rows =
        environment
            .fromSource(source, WatermarkStrategy.noWatermarks(), "numbers")
            .setParallelism(1);
    tables.createTemporaryView("numbers", tables.fromDataStream(rows));
  }

  @Test
  void killedTaskManagerLosesAndRepeatsNothing() throws Exception {
    killed(3, environment -> {});
  }

  @Test
  @Tag("nightly")
  void alsoWithOneShard() throws Exception {
    killed(1, environment -> {});
  }

  /** Barriers overtake rows and reports, which are then part of a checkpoint. */
  @Test
  @Tag("nightly")
  void alsoWithUnalignedCheckpoints() throws Exception {
    killed(
        3,
        environment -> {
          environment.getCheckpointConfig().enableUnalignedCheckpoints();
          Configuration forced = new Configuration();
          forced.setString("execution.checkpointing.unaligned.forced", "true");
          environment.configure(forced);
        });
  }

  private void killed(int shards, Consumer<StreamExecutionEnvironment> more) throws Exception {
    StreamExecutionEnvironment environment = flink.environment();
    StreamTableEnvironment tables = tables(environment);
    more.accept(environment);
    int count = 1000;
    numbers(tables, environment, count, 50);
    Path path = directory.resolve("store");
    LocalFlink.run(tables, TABLE + LocalFlink.at(path, "'sink.shards' = '" + shards + "'"));
    TableResult job = tables.executeSql("INSERT INTO t SELECT id, v FROM numbers");
    await(path, 2);
    flink.cluster().terminateTaskManager(0).get();
    flink.cluster().startTaskManager();
    job.await();
    checkVersions(path, count);
  }

  /** Checks that each version that was current holds more of the first rows, the last one all. */
  private static void checkVersions(Path path, int count) throws Exception {
    Store store = Store.open(path);
    List<String> chain = new ArrayList<>(store.pointer().chain());
    Collections.reverse(chain);
    chain.add(store.current());
    assertThat(chain).hasSizeGreaterThan(2).doesNotHaveDuplicates();
    long before = -1;
    for (String version : chain) {
      long records = prefix(path.resolve(version));
      assertThat(records).describedAs(version).isGreaterThan(before);
      before = records;
    }
    assertThat(before).isEqualTo(count);
    assertThat(store.versions()).extracting(StoredVersion::name).hasSameSizeAs(chain);
  }

  /** Checks that a version holds the first rows, and nothing else; returns how many. */
  private static long prefix(Path version) throws Exception {
    VerifyReport unused = Database.verify(version, (done, total) -> {});
    long records = 0;
    List<Long> keys = new ArrayList<>();
    try (Database database = Database.open(version);
        RecordCursor cursor = database.scan()) {
      while (cursor.next()) {
        records++;
        keys.add(Long.parseLong(new String(cursor.key(), java.nio.charset.StandardCharsets.UTF_8)));
      }
    }
    keys.sort(null);
    for (int i = 0; i < records; i++) {
      assertThat(keys.get(i)).isEqualTo(i);
    }
    return records;
  }

  /** Waits until a store had some versions. */
  private static void await(Path store, int versions) throws Exception {
    long end = System.nanoTime() + Duration.ofMinutes(2).toNanos();
    while (true) {
      if (Files.exists(store.resolve("CURRENT"))
          && Store.open(store).pointer().chain().size() + 1 >= versions) {
        return;
      }
      assertThat(System.nanoTime()).describedAs("no version came").isLessThan(end);
      Thread.sleep(20);
    }
  }

  @Test
  void changesAndDeletionsReachTheTable() throws Exception {
    StreamTableEnvironment tables = tables(flink.environment());
    DataStream<Row> changes =
        flinkRows(
            Row.ofKind(RowKind.INSERT, 1L, "one"),
            Row.ofKind(RowKind.INSERT, 2L, "two"),
            Row.ofKind(RowKind.INSERT, 3L, "three"),
            Row.ofKind(RowKind.UPDATE_AFTER, 2L, "zwei"),
            Row.ofKind(RowKind.DELETE, 3L, "three"));
    StreamTableEnvironment session =
        StreamTableEnvironment.create(changes.getExecutionEnvironment());
    session.createTemporaryView(
        "changes",
        session.fromChangelogStream(
            changes,
            org.apache.flink.table.api.Schema.newBuilder()
                .column("id", "BIGINT NOT NULL")
                .column("v", "STRING")
                .primaryKey("id")
                .build(),
            org.apache.flink.table.connector.ChangelogMode.upsert()));
    Path path = directory.resolve("store");
    LocalFlink.run(
        session,
        "CREATE TABLE t (id BIGINT, v STRING, PRIMARY KEY (id) NOT ENFORCED)" + LocalFlink.at(path),
        "INSERT INTO t SELECT id, v FROM changes");
    assertThat(LocalFlink.contents(path))
        .containsExactly("1={\"id\":1,\"v\":\"one\"}", "2={\"id\":2,\"v\":\"zwei\"}");
    LocalFlink.run(
        tables,
        "CREATE TABLE t (id BIGINT, v STRING, PRIMARY KEY (id) NOT ENFORCED)" + LocalFlink.at(path),
        "INSERT INTO t VALUES (4, 'four'), (1, CAST(NULL AS STRING))");
    assertThat(LocalFlink.contents(path))
        .containsExactly(
            "1={\"id\":1,\"v\":null}",
            "2={\"id\":2,\"v\":\"zwei\"}",
            "4={\"id\":4,\"v\":\"four\"}");
  }

  private static DataStream<Row> flinkRows(Row... rows) throws Exception {
    StreamExecutionEnvironment environment = flink.environment();
    environment.setParallelism(1);
    return environment.fromData(
        Types.ROW_NAMED(new String[] {"id", "v"}, Types.LONG, Types.STRING), rows);
  }

  /** Changes of one key alone, so that the other shard stays, while old versions are removed. */
  @Test
  void quietShardsStayThoughTheirVersionIsRemoved() throws Exception {
    Path path = directory.resolve("store");
    LocalFlink.run(
        flink.batch(),
        TABLE + LocalFlink.at(path, "'sink.shards' = '2'"),
        "INSERT INTO t VALUES (1, 'of shard 1'), (2, 'of shard 0'), (3, 'c'), (4, 'd')");
    StreamExecutionEnvironment environment = flink.environment();
    StreamTableEnvironment tables = tables(environment);
    numbers(tables, environment, 100, 10);
    LocalFlink.run(
        tables,
        TABLE + LocalFlink.at(path, "'sink.shards' = '2'", "'sink.keep' = '0'"),
        "INSERT INTO t SELECT CAST(1 AS BIGINT), v FROM numbers");
    assertThat(LocalFlink.contents(path))
        .hasSize(4)
        .contains("1={\"id\":1,\"v\":\"value 99\"}", "4={\"id\":4,\"v\":\"d\"}");
  }

  @Test
  @Tag("nightly")
  void savepointsWithoutCheckpointsKeepAllRows() throws Exception {
    Path path = directory.resolve("store");
    StreamExecutionEnvironment first = flink.environment();
    StreamTableEnvironment tables = StreamTableEnvironment.create(first);
    endless(tables, first);
    LocalFlink.run(tables, TABLE + LocalFlink.at(path));
    TableResult job = tables.executeSql("INSERT INTO t SELECT id, v FROM numbers");
    JobClient client = job.getJobClient().orElseThrow();
    while (client.getJobStatus().get() != JobStatus.RUNNING) {
      Thread.sleep(20);
    }
    Thread.sleep(500); // some rows, or none
    String saved = save(client);
    long rows = Files.exists(path.resolve("CURRENT")) ? current(path) : 0;
    StreamExecutionEnvironment second = restored(saved);
    tables = tables(second);
    endless(tables, second);
    LocalFlink.run(tables, TABLE + LocalFlink.at(path));
    job = tables.executeSql("INSERT INTO t SELECT id, v FROM numbers");
    while (!Files.exists(path.resolve("CURRENT")) || current(path) <= rows) {
      Thread.sleep(20);
    }
    job.getJobClient().orElseThrow().cancel().get();
  }

  private static void endless(
      StreamTableEnvironment tables, StreamExecutionEnvironment environment) {
    DataGeneratorSource<Row> source =
        new DataGeneratorSource<>(
            number -> Row.of(number, "value " + number),
            Long.MAX_VALUE,
            RateLimiterStrategy.perSecond(1000),
            Types.ROW_NAMED(new String[] {"id", "v"}, Types.LONG, Types.STRING));
    tables.createTemporaryView(
        "numbers",
        tables.fromDataStream(
            environment
                .fromSource(source, WatermarkStrategy.noWatermarks(), "numbers")
                .setParallelism(1)));
  }

  private static long current(Path path) throws Exception {
    return prefix(path.resolve(String.valueOf(Store.open(path).current())));
  }

  private static String save(JobClient client) throws Exception {
    Path saved = Files.createTempDirectory("saved");
    return client
        .stopWithSavepoint(false, saved.toUri().toString(), SavepointFormatType.CANONICAL)
        .get();
  }

  private static StreamExecutionEnvironment restored(String saved) throws Exception {
    StreamExecutionEnvironment environment = flink.environment();
    Configuration restore = new Configuration();
    restore.setString("execution.savepoint.path", saved); // of Flink 1
    restore.setString("execution.state-recovery.path", saved);
    environment.configure(restore);
    return environment;
  }

  @Test
  @Tag("nightly")
  void savedJobsRefuseOtherColumnsAndOldSavepoints() throws Exception {
    Path path = directory.resolve("store");
    StreamExecutionEnvironment environment = flink.environment();
    StreamTableEnvironment tables = tables(environment);
    numbers(tables, environment, Long.MAX_VALUE, 20);
    LocalFlink.run(tables, TABLE + LocalFlink.at(path));
    TableResult job = tables.executeSql("INSERT INTO t SELECT id, v FROM numbers");
    await(path, 3);
    String saved = save(job.getJobClient().orElseThrow());
    List<String> versions = Store.open(path).versions().stream().map(StoredVersion::name).toList();
    StreamExecutionEnvironment other = restored(saved);
    StreamTableEnvironment others = tables(other);
    numbers(others, other, Long.MAX_VALUE, 20);
    LocalFlink.run(others, TABLE.replace("v STRING", "v STRING NOT NULL") + LocalFlink.at(path));
    assertThatThrownBy(() -> others.executeSql("INSERT INTO t SELECT id, v FROM numbers").await())
        .hasStackTraceContaining("the job was saved with other columns");
    LocalFlink.run(
        flink.batch(), TABLE + LocalFlink.at(path), "INSERT INTO t VALUES (-1, 'later')");
    StreamExecutionEnvironment late = restored(saved);
    StreamTableEnvironment lates = tables(late);
    numbers(lates, late, Long.MAX_VALUE, 20);
    LocalFlink.run(lates, TABLE + LocalFlink.at(path));
    assertThatThrownBy(() -> lates.executeSql("INSERT INTO t SELECT id, v FROM numbers").await())
        .hasStackTraceContaining("became current while this job continued");
    assertThat(Store.open(path).versions()).extracting(StoredVersion::name).containsAll(versions);
    assertThat(LocalFlink.contents(path)).contains("-1={\"id\":-1,\"v\":\"later\"}");
  }

  @Test
  @Tag("nightly")
  void savedJobsContinueWithAnotherParallelism() throws Exception {
    Path path = directory.resolve("store");
    int count = 1000;
    StreamExecutionEnvironment first = flink.environment();
    StreamTableEnvironment tables = tables(first);
    numbers(tables, first, count, 20);
    LocalFlink.run(tables, TABLE + LocalFlink.at(path, "'sink.shards' = '4'"));
    TableResult job = tables.executeSql("INSERT INTO t SELECT id, v FROM numbers");
    await(path, 3);
    String saved =
        job.getJobClient()
            .orElseThrow()
            .stopWithSavepoint(
                false, directory.resolve("saved").toUri().toString(), SavepointFormatType.CANONICAL)
            .get();
    StreamExecutionEnvironment second = flink.environment();
    second.setParallelism(3);
    Configuration restore = new Configuration();
    restore.setString("execution.savepoint.path", saved); // of Flink 1
    restore.setString("execution.state-recovery.path", saved);
    second.configure(restore);
    tables = tables(second);
    numbers(tables, second, count, 20);
    LocalFlink.run(
        tables,
        TABLE + LocalFlink.at(path, "'sink.shards' = '4'"),
        "INSERT INTO t SELECT id, v FROM numbers");
    checkVersions(path, count);
  }

  /** Numbers below a limit, of which there may be more later. */
  public static final class IsLet extends ScalarFunction {
    private static final long serialVersionUID = 1L;
    private static final AtomicLong LIMIT = new AtomicLong();

    /** Called by Flink. */
    public IsLet() {}

    /** Called by Flink. */
    public boolean eval(Long number) {
      return number < LIMIT.get();
    }

    @Override
    public boolean isDeterministic() {
      return false;
    }
  }

  @Test
  void streamFailsRatherThanUndoWhatOthersPublished() throws Exception {
    Path path = directory.resolve("store");
    StreamExecutionEnvironment environment = flink.environment();
    StreamTableEnvironment tables = tables(environment);
    numbers(tables, environment, Long.MAX_VALUE, 5);
    tables.createTemporarySystemFunction("is_let", IsLet.class);
    IsLet.LIMIT.set(20);
    LocalFlink.run(tables, TABLE + LocalFlink.at(path));
    TableResult job = tables.executeSql("INSERT INTO t SELECT id, v FROM numbers WHERE is_let(id)");
    await(path, 1);
    while (LocalFlink.contents(path).size() < 20) {
      Thread.sleep(20);
    }
    int versions = Store.open(path).versions().size();
    LocalFlink.run(
        flink.batch(), TABLE + LocalFlink.at(path), "INSERT OVERWRITE t VALUES (-1, 'of another')");
    IsLet.LIMIT.set(Long.MAX_VALUE);
    assertThatThrownBy(job::await)
        .hasStackTraceContaining("became current while this job continued");
    assertThat(LocalFlink.contents(path)).containsExactly("-1={\"id\":-1,\"v\":\"of another\"}");
    assertThat(Store.open(path).versions())
        .filteredOn(version -> version.records() >= 0) // others were being sent
        .hasSize(versions + 1);
  }
}
