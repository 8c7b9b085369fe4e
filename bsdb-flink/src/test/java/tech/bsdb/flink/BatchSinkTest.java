package tech.bsdb.flink;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import org.apache.flink.table.functions.ScalarFunction;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tech.bsdb.Database;
import tech.bsdb.store.Store;
import tech.bsdb.store.StoredVersion;

/** Batches that replace the rows of a store, or add to them. */
@Timeout(300)
final class BatchSinkTest {
  private static final String COLUMNS = "(k INT, v STRING, PRIMARY KEY (k) NOT ENFORCED)";

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

  private static StreamTableEnvironment tables(String columns, String path, String... options)
      throws Exception {
    StreamTableEnvironment tables = flink.batch();
    LocalFlink.run(tables, "CREATE TABLE t " + columns + LocalFlink.at(path, options));
    return tables;
  }

  /** A row of each number, as values of an INSERT. */
  private static String values(IntStream numbers, String value) {
    List<String> rows = new ArrayList<>();
    numbers.forEach(n -> rows.add("(" + n + ", '" + value + n + "')"));
    return "VALUES " + String.join(", ", rows);
  }

  private static List<String> expected(IntStream numbers, String value) {
    return numbers
        .mapToObj(n -> n + "={\"k\":" + n + ",\"v\":\"" + value + n + "\"}")
        .sorted()
        .toList();
  }

  @Test
  void rowsOfShardsAreReplacedOrAdded() throws Exception {
    replacedOrAdded(4, "elsewhere://");
  }

  @ParameterizedTest
  @CsvSource({"1,elsewhere://", "1,''", "4,''"})
  @Tag("nightly")
  void rowsAreReplacedOrAdded(int shards, String scheme) throws Exception {
    replacedOrAdded(shards, scheme);
  }

  private void replacedOrAdded(int shards, String scheme) throws Exception {
    Path here = directory.resolve("store");
    StreamTableEnvironment tables =
        tables(COLUMNS, scheme + here, "'sink.shards' = '" + shards + "'", "'sink.keep' = '1'");
    LocalFlink.run(tables, "INSERT INTO t " + values(IntStream.range(0, 100), "a"));
    assertThat(LocalFlink.contents(here)).isEqualTo(expected(IntStream.range(0, 100), "a"));
    // one row: all shards but one are as they were
    LocalFlink.run(tables, "INSERT INTO t " + values(IntStream.of(100), "a"));
    assertThat(LocalFlink.contents(here)).isEqualTo(expected(IntStream.range(0, 101), "a"));
    LocalFlink.run(tables, "INSERT INTO t " + values(IntStream.range(0, 101), "b"));
    assertThat(LocalFlink.contents(here)).isEqualTo(expected(IntStream.range(0, 101), "b"));
    LocalFlink.run(tables, "INSERT OVERWRITE t " + values(IntStream.range(7, 9), "c"));
    assertThat(LocalFlink.contents(here)).isEqualTo(expected(IntStream.range(7, 9), "c"));
    LocalFlink.run(
        tables, "INSERT OVERWRITE t SELECT * FROM (VALUES (1, 'no')) AS x(k, v) WHERE k < 0");
    assertThat(LocalFlink.contents(here)).isEmpty();
    assertThat(Store.open(here).versions()).hasSize(2);
    for (StoredVersion version : Store.open(here).versions()) {
      Object unused = Database.verify(here.resolve(version.name()), (done, total) -> {});
    }
    try (Stream<Path> files = Files.walk(here)) {
      assertThat(files.map(file -> file.getFileName().toString())).doesNotContain(".pushing");
    }
  }

  @Test
  void duplicatesFailOrTheLastStays() throws Exception {
    Path store = directory.resolve("store");
    String twice = "INSERT OVERWRITE t VALUES (1, 'a'), (2, 'b'), (1, 'c')";
    StreamTableEnvironment strict = tables(COLUMNS, store.toString());
    assertThatThrownBy(() -> LocalFlink.run(strict, twice))
        .hasStackTraceContaining("the key \"1\" occurs more than once; 'sink.duplicates' = 'last'");
    assertThat(store.resolve("CURRENT")).doesNotExist();
    LocalFlink.run(strict, "INSERT INTO t VALUES (1, 'old')", "INSERT INTO t VALUES (1, 'new')");
    assertThatThrownBy(() -> LocalFlink.run(strict, twice.replace("OVERWRITE", "INTO")))
        .hasStackTraceContaining("the key \"1\" occurs more than once; 'sink.duplicates' = 'last'");
    assertThat(LocalFlink.contents(store)).containsExactly("1={\"k\":1,\"v\":\"new\"}");
    StreamTableEnvironment last = tables(COLUMNS, store.toString(), "'sink.duplicates' = 'last'");
    LocalFlink.run(last, twice.replace("VALUES", "SELECT * FROM (VALUES").concat(") AS x(k, v)"));
    assertThat(LocalFlink.contents(store)).hasSize(2);
  }

  @Test
  void rawValuesAndOtherOptions() throws Exception {
    Path store = directory.resolve("store");
    StreamTableEnvironment tables =
        tables(
            "(v BYTES, k STRING, PRIMARY KEY (k) NOT ENFORCED)",
            store.toString(),
            "'value-format' = 'raw'",
            "'sink.layout' = 'compressed'",
            "'sink.ordered' = 'true'",
            "'sink.memory' = '16 mb'",
            "'sink.directory' = '" + directory.resolve("work") + "'");
    LocalFlink.run(tables, "INSERT OVERWRITE t VALUES (X'41', 'a'), (X'', 'b')");
    assertThat(LocalFlink.contents(store)).containsExactly("a=A", "b=");
    try (Database database =
        Database.open(store.resolve(String.valueOf(Store.open(store).current())))) {
      assertThat(database.isOrdered()).isTrue();
      assertThat(database.statistics().layout()).isEqualTo("compressed");
    }
    assertThat(directory.resolve("work")).isEmptyDirectory();
  }

  @Test
  void whatDoesNotFitIsRefused() throws Exception {
    Path store = directory.resolve("store");
    LocalFlink.run(tables(COLUMNS, store.toString()), "INSERT INTO t VALUES (1, 'a')");
    String current = Files.readString(store.resolve("CURRENT"));
    String insert = "INSERT INTO t VALUES (2, 'b')";
    refused(
        insert, "has 1 shards, not 3", tables(COLUMNS, store.toString(), "'sink.shards' = '3'"));
    refused(
        insert,
        "has rows with other columns",
        tables("(k INT, w STRING, PRIMARY KEY (k) NOT ENFORCED)", store.toString()));
    refused(
        "INSERT INTO t VALUES ('', 'b')",
        "a key has 0 bytes, not 1 to",
        tables(
            "(k STRING, v STRING, PRIMARY KEY (k) NOT ENFORCED)",
            directory.resolve("texts").toString()));
    Path version = store.resolve(String.valueOf(Store.open(store).current()));
    refused(insert, "is a single database, not a store", tables(COLUMNS, version.toString()));
    refused(
        insert,
        "'sink.layout' is pakced, not one of",
        tables(COLUMNS, store.toString(), "'sink.layout' = 'pakced'"));
    refused(
        insert,
        "needs one column besides the key",
        tables(
            "(k INT, v STRING, w STRING, PRIMARY KEY (k) NOT ENFORCED)",
            store.toString(),
            "'value-format' = 'raw'"));
    refused(
        insert,
        "'sink.memory': memoryBytes is",
        tables(COLUMNS, store.toString(), "'sink.memory' = '1 kb'"));
    StreamTableEnvironment strict = flink.stream();
    LocalFlink.run(
        strict, "CREATE TABLE t " + COLUMNS + LocalFlink.at(store, "'sink.duplicates' = 'error'"));
    refused(insert, "'sink.duplicates' = 'error' needs the batch mode", strict);
    StreamTableEnvironment streams = flink.stream();
    LocalFlink.run(streams, "CREATE TABLE t " + COLUMNS + LocalFlink.at(store));
    refused("INSERT OVERWRITE t VALUES (2, 'b')", "needs the batch mode", streams);
    assertThat(Files.readString(store.resolve("CURRENT"))).isEqualTo(current);
    assertThat(LocalFlink.contents(store)).containsExactly("1={\"k\":1,\"v\":\"a\"}");
    Files.writeString(version.resolve("manifest.bsdb"), "damaged");
    refused(insert, "manifest.bsdb", tables(COLUMNS, store.toString()));
    LocalFlink.run(tables(COLUMNS, store.toString()), "INSERT OVERWRITE t VALUES (2, 'b')");
    assertThat(LocalFlink.contents(store)).containsExactly("2={\"k\":2,\"v\":\"b\"}");
  }

  private static void refused(String statement, String why, StreamTableEnvironment tables) {
    assertThatThrownBy(() -> LocalFlink.run(tables, statement)).hasStackTraceContaining(why);
  }

  /** Fails the first few times that it meets a number. */
  public static final class FailsTwice extends ScalarFunction {
    private static final long serialVersionUID = 1L;
    private static final AtomicInteger LEFT = new AtomicInteger();

    /** Called by Flink. */
    public FailsTwice() {}

    /** Called by Flink. */
    public int eval(int number) {
      if (number == 90 && LEFT.getAndDecrement() > 0) {
        throw new IllegalStateException("as the test wants");
      }
      return number;
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 3})
  @Tag("nightly")
  void failedAttemptsLeaveNothing(int shards) throws Exception {
    Path store = directory.resolve("store");
    StreamTableEnvironment tables =
        tables(COLUMNS, store.toString(), "'sink.shards' = '" + shards + "'");
    tables.getConfig().set("restart-strategy.type", "fixed-delay");
    tables.getConfig().set("restart-strategy.fixed-delay.attempts", "5");
    tables.getConfig().set("restart-strategy.fixed-delay.delay", "10 ms");
    tables.createTemporarySystemFunction("fails_twice", FailsTwice.class);
    FailsTwice.LEFT.set(2);
    LocalFlink.run(
        tables,
        "INSERT INTO t SELECT fails_twice(k), v FROM ("
            + values(IntStream.range(0, 100), "a")
            + ") AS x(k, v)");
    assertThat(FailsTwice.LEFT.get()).isNegative();
    assertThat(LocalFlink.contents(store)).isEqualTo(expected(IntStream.range(0, 100), "a"));
    assertThat(Store.open(store).versions()).hasSize(1);
    FailsTwice.LEFT.set(100);
    refused(
        "INSERT INTO t SELECT fails_twice(k), v FROM ("
            + values(IntStream.range(80, 100), "b")
            + ") AS x(k, v)",
        "as the test wants",
        tables);
    assertThat(LocalFlink.contents(store)).isEqualTo(expected(IntStream.range(0, 100), "a"));
  }
}
