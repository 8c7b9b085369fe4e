package tech.bsdb.flink;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.connector.source.util.ratelimit.RateLimiterStrategy;
import org.apache.flink.connector.datagen.source.DataGeneratorSource;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.api.TableResult;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import org.apache.flink.types.Row;
import org.apache.flink.util.CloseableIterator;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import tech.bsdb.BuildOptions;
import tech.bsdb.DatabaseBuilder;
import tech.bsdb.Layout;
import tech.bsdb.remote.RangeServer;
import tech.bsdb.store.Publication;
import tech.bsdb.store.PublishOptions;

/** Lookup joins, above all with keys and values as plain text. */
@SuppressWarnings("try") // what is closed may be interrupted
final class LookupJoinTest {
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

  /** Publishes a version with numbers as keys. */
  private Path publish(String version, int count, String value, BuildOptions options)
      throws IOException {
    Path database = directory.resolve("built " + version);
    try (DatabaseBuilder builder = DatabaseBuilder.create(database, options)) {
      for (int i = 0; i < count; i++) {
        builder.add(String.valueOf(i).getBytes(UTF_8), (value + i).getBytes(UTF_8));
      }
      Object unused = builder.finish();
    }
    Path store = directory.resolve("store");
    try (Publication publication =
        Publication.of(database, store, PublishOptions.defaults().withVersion(version))) {
      publication.begin();
      publication.copy();
      assertThat(publication.goLive(publication.current())).isTrue();
    }
    return store;
  }

  /** Numbers from 0, some of which are null, with their processing time. */
  private static void asked(StreamTableEnvironment tables, int count) throws Exception {
    LocalFlink.run(
        tables,
        "CREATE TABLE asked (n BIGINT, p AS PROCTIME()) WITH ('connector' = 'datagen',"
            + " 'number-of-rows' = '"
            + count
            + "', 'fields.n.kind' = 'sequence', 'fields.n.start' = '0', 'fields.n.end' = '"
            + (count - 1)
            + "')");
  }

  private static void checkAll(StreamTableEnvironment tables, int count, String value)
      throws Exception {
    int all = count + 50;
    asked(tables, all);
    List<String> found =
        LocalFlink.rows(
            tables,
            "SELECT n, v FROM asked LEFT JOIN t FOR SYSTEM_TIME AS OF asked.p ON asked.n = t.k");
    List<String> expected = new ArrayList<>();
    for (int i = 0; i < all; i++) {
      expected.add("+I[" + i + ", " + (i < count ? value + i : null) + "]");
    }
    expected.sort(null);
    assertThat(found).isEqualTo(expected);
  }

  @ParameterizedTest
  @EnumSource(Layout.class)
  @Tag("nightly")
  void everyLayout(Layout layout) throws Exception {
    Path store =
        publish("v1", 2000, "value ", BuildOptions.defaults().withLayout(layout).withShards(3));
    StreamTableEnvironment tables = flink.stream();
    LocalFlink.run(
        tables,
        "CREATE TABLE t (k BIGINT, v STRING, PRIMARY KEY (k) NOT ENFORCED)" + LocalFlink.at(store));
    checkAll(tables, 2000, "value ");
  }

  @ParameterizedTest
  @CsvSource({"copy,false", "place,true"})
  void storesElsewhere(String read, boolean async) throws Exception {
    elsewhere(read, async);
  }

  @ParameterizedTest
  @CsvSource({"copy,true", "place,false"})
  @Tag("nightly")
  void storesElsewhereTheOtherWay(String read, boolean async) throws Exception {
    elsewhere(read, async);
  }

  private void elsewhere(String read, boolean async) throws Exception {
    Path store = publish("v1", 300, "value ", BuildOptions.defaults().withShards(2));
    try (RangeServer server = RangeServer.of(directory)) {
      boolean copied = read.equals("copy");
      String location = copied ? "elsewhere://" + store : server.uri().resolve("store").toString();
      StreamTableEnvironment tables = flink.stream();
      LocalFlink.run(
          tables,
          "CREATE TABLE t (k BIGINT, v STRING, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' ="
              + " 'bsdb', 'path' = '%s', 'lookup.read' = '%s', 'lookup.async' = '%s',"
                  .formatted(location, read, async)
              + " 'lookup.directory' = '"
              + directory.resolve("kept")
              + "')");
      checkAll(tables, 300, "value ");
      assertThat(directory.resolve("kept").resolve(copied ? "copies" : "pages"))
          .isNotEmptyDirectory();
    }
  }

  @Test
  void rowsGoToTheSubtaskOfTheirShard() throws Exception {
    assumeThat(LocalFlink.IS_2).isTrue();
    Path store = publish("v1", 500, "value ", BuildOptions.defaults().withShards(2));
    StreamTableEnvironment tables = flink.stream();
    LocalFlink.run(
        tables,
        "CREATE TABLE t (k BIGINT, v STRING, PRIMARY KEY (k) NOT ENFORCED)" + LocalFlink.at(store));
    asked(tables, 500);
    String query =
        "SELECT /*+ LOOKUP('table'='t', 'shuffle'='true') */ n, v FROM asked JOIN t FOR SYSTEM_TIME"
            + " AS OF asked.p ON asked.n = t.k";
    assertThat(LocalFlink.rows(tables, query)).hasSize(500);
    assertThat(tables.explainSql(query)).contains("shuffle=[true]");
  }

  @Test
  void compositeKeysConditionsAndNulls() throws Exception {
    Path store = directory.resolve("store");
    StreamTableEnvironment tables = flink.batch();
    String table =
        "(v DOUBLE, country STRING, id INT, day_ DATE, PRIMARY KEY (country, id) NOT ENFORCED)"
            + LocalFlink.at(store, "'key-join' = '/'");
    LocalFlink.run(
        tables,
        "CREATE TABLE t " + table,
        "INSERT OVERWRITE t VALUES (1.5, 'DE', 1, DATE '2026-11-30'), (2.5, 'DE', 2, DATE"
            + " '2026-12-01'), (3.5, 'FR', 1, CAST(NULL AS DATE))");
    assertThat(LocalFlink.contents(store))
        .contains("DE/2={\"v\":2.5,\"country\":\"DE\",\"id\":2,\"day_\":\"2026-12-01\"}");
    StreamTableEnvironment streams = flink.stream();
    LocalFlink.run(streams, "CREATE TABLE t " + table);
    String asked =
        "(SELECT c, i, PROCTIME() AS p FROM (VALUES ('DE', 1), ('DE', 2), ('FR', 1), ('FR', 9),"
            + " (CAST(NULL AS STRING), 1)) AS x(c, i)) AS q";
    assertThat(
            LocalFlink.rows(
                streams,
                "SELECT c, i, v FROM "
                    + asked
                    + " LEFT JOIN t FOR SYSTEM_TIME AS OF q.p ON q.i = t.id AND q.c = t.country"))
        .containsExactly(
            "+I[DE, 1, 1.5]",
            "+I[DE, 2, 2.5]",
            "+I[FR, 1, 3.5]",
            "+I[FR, 9, null]",
            "+I[null, 1, null]");
    assertThat(
            LocalFlink.rows(
                streams,
                "SELECT c, i, v FROM "
                    + asked
                    + " JOIN t FOR SYSTEM_TIME AS OF q.p ON q.i = t.id AND q.c = t.country AND"
                    + " t.day_ = DATE '2026-12-01' AND t.v > 2"))
        .containsExactly("+I[DE, 2, 2.5]");
    assertThat(
            LocalFlink.rows(
                streams,
                "SELECT i, v FROM "
                    + asked
                    + " JOIN t FOR SYSTEM_TIME AS OF q.p ON q.i = t.id AND t.country = 'FR'"))
        .containsExactly("+I[1, 3.5]", "+I[1, 3.5]", "+I[1, 3.5]");
    assertThat(
            LocalFlink.rows(
                streams,
                "SELECT c, v FROM (SELECT 'DE/1' AS c, 2 AS i, PROCTIME() AS p) AS q LEFT JOIN t FOR"
                    + " SYSTEM_TIME AS OF q.p ON q.i = t.id AND q.c = t.country"))
        .containsExactly("+I[DE/1, null]");
    assertThatThrownBy(
            () -> LocalFlink.run(tables, "INSERT INTO t VALUES (0.0, 'D/E', 1, DATE '2026-11-30')"))
        .hasStackTraceContaining("a part before the last contains '/'");
    assertThatThrownBy(
            () ->
                LocalFlink.rows(
                    streams,
                    "SELECT v FROM " + asked + " JOIN t FOR SYSTEM_TIME AS OF q.p ON q.i = t.id"))
        .hasStackTraceContaining("the join does not compare country with anything");
  }

  @Test
  @Timeout(300)
  void newVersionsAreReadWithoutARestart() throws Exception {
    swaps(/* async= */ false);
  }

  @Test
  @Tag("nightly")
  @Timeout(300)
  void newVersionsAreReadInBatches() throws Exception {
    swaps(/* async= */ true);
  }

  private void swaps(boolean async) throws Exception {
    Path store = publish("v1", 10, "one ", BuildOptions.defaults());
    StreamExecutionEnvironment environment = flink.environment();
    environment.setParallelism(1);
    StreamTableEnvironment tables = StreamTableEnvironment.create(environment);
    DataGeneratorSource<Row> source =
        new DataGeneratorSource<>(
            number -> Row.of(number % 10),
            Long.MAX_VALUE,
            RateLimiterStrategy.perSecond(500),
            Types.ROW_NAMED(new String[] {"n"}, Types.LONG));
    tables.createTemporaryView(
        "numbers",
        tables.fromDataStream(
            environment.fromSource(source, WatermarkStrategy.noWatermarks(), "numbers")));
    LocalFlink.run(
        tables,
        "CREATE TABLE t (k BIGINT, v STRING, PRIMARY KEY (k) NOT ENFORCED)"
            + LocalFlink.at(store, "'lookup.poll' = '10 ms'", "'lookup.async' = '" + async + "'"));
    TableResult job =
        tables.executeSql(
            "SELECT n, v FROM (SELECT n, PROCTIME() AS p FROM numbers) AS q LEFT JOIN t FOR"
                + " SYSTEM_TIME AS OF q.p ON q.n = t.k");
    try (CloseableIterator<Row> rows = job.collect()) {
      awaitVersion(rows, "one ", "one ");
      publish("v2", 10, "two ", BuildOptions.defaults());
      awaitVersion(rows, "one ", "two ");
      // a version that lacks the column, of which nothing is read
      LocalFlink.run(
          flink.batch(),
          "CREATE TABLE t (k BIGINT, w INT, PRIMARY KEY (k) NOT ENFORCED)" + LocalFlink.at(store),
          "INSERT OVERWRITE t VALUES (3, 3)");
      publish("v4", 10, "four ", BuildOptions.defaults());
      awaitVersion(rows, "two ", "four ");
    }
  }

  /** Reads rows until those of a version come, and then some, which must be of that version. */
  private static void awaitVersion(CloseableIterator<Row> rows, String before, String version) {
    boolean came = false;
    for (int left = 100; left > 0; ) {
      Row row = rows.next();
      String value = String.valueOf(row.getField(1));
      came |= value.equals(version + row.getField(0));
      assertThat(value).isEqualTo((came ? version : before) + row.getField(0));
      left -= came ? 1 : 0;
    }
  }

  @Test
  void mistakesAreNamed() throws Exception {
    Path store = publish("v1", 10, "value ", BuildOptions.defaults());
    Path typed = directory.resolve("typed");
    StreamTableEnvironment batch = flink.batch();
    LocalFlink.run(
        batch,
        "CREATE TABLE t (id BIGINT, name STRING, ts TIMESTAMP(6), PRIMARY KEY (id) NOT ENFORCED)"
            + LocalFlink.at(typed),
        "INSERT OVERWRITE t VALUES (1, 'a', TIMESTAMP '2026-11-30 10:00:00.123456')");
    String key = ", PRIMARY KEY (id) NOT ENFORCED)";
    refused("(id BIGINT, name STRING)" + LocalFlink.at(typed), "add PRIMARY KEY (COLUMN)");
    refused("(id BIGINT, nam STRING" + key + LocalFlink.at(typed), "did you mean name?");
    refused(
        "(id BIGINT, name BIGINT" + key + LocalFlink.at(typed),
        "column name is stored as string, which cannot be read as BIGINT");
    refused(
        "(id BIGINT, ts TIMESTAMP(3)" + key + LocalFlink.at(typed),
        "column ts is stored as local-timestamp-micros, which cannot be read as TIMESTAMP(3)");
    refused("(id BIGINT, name STRING" + key + LocalFlink.at(directory.resolve("none")), "none");
    refused("(id BIGINT, name INT" + key + LocalFlink.at(store), "values are plain bytes");
    refused(
        "(id BIGINT, name STRING, more STRING" + key + LocalFlink.at(store),
        "one column besides the key");
    refused(
        "(id BIGINT, name STRING, PRIMARY KEY (id, name) NOT ENFORCED)" + LocalFlink.at(typed),
        "'key-join' is the text between them");
    refused(
        "(id BIGINT, name STRING, PRIMARY KEY (id, name) NOT ENFORCED)"
            + LocalFlink.at(typed, "'key-join' = ''"),
        "'key-join' is empty");
    refused(
        "(id BIGINT, name STRING" + key + LocalFlink.at(typed, "'lookup.bach' = '3'"),
        "lookup.bach");
    refused(
        "(id BIGINT, name STRING" + key + " WITH ('connector' = 'bsdb', 'path' = 's3://b/x')",
        "neither Flink nor Hadoop has a file system for s3");
    refused(
        "(id BIGINT, name STRING" + key + LocalFlink.at(typed, "'lookup.poll' = '2 d'"),
        "'lookup.poll': poll is PT48H, not in 1 ms to 1 day");
    refused(
        "(id BIGINT, name STRING"
            + key
            + " WITH ('connector' = 'bsdb', 'path' = 's3://b/x', 'lookup.read' = 'place')",
        "s3");
    Files.writeString(typed.resolve("CURRENT"), "\n");
    refused("(id BIGINT, name STRING" + key + LocalFlink.at(typed), "names no version");
  }

  private static void refused(String table, String why) throws Exception {
    StreamTableEnvironment tables = flink.stream();
    tables.getConfig().set("restart-strategy.type", "none");
    assertThatThrownBy(
            () -> {
              LocalFlink.run(tables, "CREATE TABLE t " + table);
              LocalFlink.rows(
                  tables,
                  "SELECT t.* FROM (SELECT k, PROCTIME() AS p FROM (VALUES (CAST(1 AS BIGINT))) AS"
                      + " q(k)) AS q JOIN t FOR SYSTEM_TIME AS OF q.p ON q.k = t.id");
            })
        .hasStackTraceContaining(why);
  }
}
