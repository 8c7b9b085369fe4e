package tech.bsdb.tools.serve;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.yaml.snakeyaml.Yaml;
import tech.bsdb.store.Refusal;
import tech.bsdb.store.ReloadListener;
import tech.bsdb.store.ReloadOptions;
import tech.bsdb.tools.CommandRun;
import tech.bsdb.tools.serve.Wire.Response;
import tech.bsdb.tools.serve.client.LookupCounts;
import tech.bsdb.tools.serve.dataset.DataSet;
import tech.bsdb.tools.serve.dataset.DataSetLocations;
import tech.bsdb.tools.serve.dataset.DataSets;

/** Several data sets in one service. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class DataSetsTest {
  private static final String REMOVED = "-ERR the data set b has been removed; SELECT another\r\n";
  private static final ObjectMapper JSON = new ObjectMapper();

  @TempDir Path folder;

  private Serving named(String... names) throws IOException {
    Map<String, Path> directories = new LinkedHashMap<>();
    for (String name : names) {
      directories.put(name, database(name));
    }
    return serving(DataSetLocations.named(directories));
  }

  /** A database of a key that all have, and of one of its own. */
  private Path database(String name) throws IOException {
    return Serving.build(folder.resolve(name), Map.of("k", "of " + name, "only " + name, name));
  }

  private Serving serving(DataSetLocations data) {
    Serving serving = new Serving(folder);
    serving.data = data;
    serving.resp = true;
    return serving;
  }

  /** Publishes a version with one key to a store in the folder. */
  private void store(String name, String value) throws IOException {
    Path store = folder.resolve("stores").resolve(name);
    Path built = folder.resolve("built-" + name + "-" + value);
    Serving.build(built, Map.of("k", value));
    CommandRun run =
        CommandRun.bsdb("publish", built.toString(), store.toString(), "--version", value, "-q");
    assertThat(run.code()).as(run.err()).isEqualTo(0);
  }

  private static JsonNode json(Response response) throws IOException {
    assertThat(response.status()).as(response.text()).isEqualTo(200);
    return JSON.readTree(response.text());
  }

  private static Response reloaded(Serving serving) throws IOException {
    try (Wire admin = serving.administrate()) {
      return admin.post("/reload", "", new byte[0]);
    }
  }

  private static String asked(Serving serving, String... words) throws Exception {
    try (RespWire wire = RespWire.to(serving.respPort())) {
      return wire.ask(words);
    }
  }

  @Test
  void keysAreBelowTheNamesOfTheirDataSets() throws Exception {
    try (Serving serving = named("users", "items").start();
        Wire wire = serving.connect()) {
      assertThat(wire.get("/bsdb/users/k").text()).isEqualTo("of users");
      assertThat(wire.get("/bsdb/items/k").text()).isEqualTo("of items");
      assertThat(wire.get("/bsdb/items/only%20users").status()).isEqualTo(404);
      assertThat(wire.get("/bsdb/items/only%20items").text()).isEqualTo("items");
      Response batch =
          wire.post("/bsdb/users/", "Content-Type: text/plain\r\n", "k\nx\n".getBytes(US_ASCII));
      assertThat(batch.text())
          .isEqualTo("{\"key\":\"k\",\"value\":\"of users\"}\n{\"key\":\"x\",\"value\":null}\n");
      Response unknown = wire.get("/bsdb/k");
      assertThat(unknown.status()).isEqualTo(404);
      assertThat(unknown.text()).contains("no data set has this name").contains("users, items");
      assertThat(wire.get("/bsdb/users").text()).contains("below /bsdb/users/");
      assertThat(wire.get("/else").text()).contains("keys are below /bsdb/NAME/");
      assertThat(serving.said()).isEmpty();
    }
  }

  @Test
  void figuresAreByDataSet() throws Exception {
    try (Serving serving = named("users", "items").start();
        Wire wire = serving.connect()) {
      assertThat(wire.get("/bsdb/users/k").status()).isEqualTo(200);
      assertThat(wire.get("/bsdb/users/none").status()).isEqualTo(404);
      assertThat(wire.get("/bsdb/items/k").status()).isEqualTo(200);
      assertThat(asked(serving, "MGET", "k", "k", "none")).startsWith("*3");
      assertThat(serving.metric("bsdb_lookup_hits_total{dataset=\"users\"}")).isEqualTo(3);
      assertThat(serving.metric("bsdb_lookup_misses_total{dataset=\"users\"}")).isEqualTo(2);
      assertThat(serving.metric("bsdb_lookup_hits_total{dataset=\"items\"}")).isEqualTo(1);
      assertThat(serving.metric("bsdb_database_records{dataset=\"items\"}")).isEqualTo(2);
      String metrics = wire.get("/metrics").text();
      assertThat(metrics).contains("bsdb_database_info{dataset=\"users\",").contains("engine=");
      JsonNode stats = json(wire.get("/stats"));
      assertThat(stats.get("dataset").asText()).isEqualTo("users");
      assertThat(stats.get("lookups").get("hits").asLong()).isEqualTo(4);
      assertThat(stats.get("datasets").findValuesAsText("name")).containsExactly("users", "items");
      assertThat(stats.get("datasets").get(0).get("lookups").get("hits").asLong()).isEqualTo(3);
      JsonNode items = json(wire.get("/stats?dataset=items"));
      assertThat(items.get("dataset").asText()).isEqualTo("items");
      assertThat(items.get("database").get("directory").asText()).endsWith("items");
      assertThat(wire.get("/stats?dataset=none").status()).isEqualTo(404);
      JsonNode ready = json(wire.get("/readyz"));
      assertThat(ready.get("datasets").get("items").get("version").asText()).isNotEmpty();
      JsonNode paths =
          JSON.valueToTree(new Yaml().<Object>load(wire.get("/openapi.yaml").text())).get("paths");
      assertThat(paths.has("/bsdb/{dataset}/{key}")).isTrue();
      assertThat(paths.get("/bsdb/{dataset}/{key}").get("parameters")).hasSizeGreaterThan(1);
      assertThat(paths.get("/bsdb/{dataset}/").get("parameters").get(0).get("name").asText())
          .isEqualTo("dataset");
    }
  }

  @Test
  void redisClientsSelectByNameOrNumber() throws Exception {
    try (Serving serving = named("users", "items").start();
        RespWire wire = RespWire.to(serving.respPort())) {
      byte[][] together = {
        RespWire.command("GET", "k"),
        RespWire.command("SELECT", "items"),
        RespWire.command("GET", "k"),
        RespWire.command("GET", "only items"),
        RespWire.command("SELECT", "0"),
        RespWire.command("GET", "k"),
        RespWire.command("SELECT", "1"),
        RespWire.command("DBSIZE"),
        RespWire.command("GET", "k")
      };
      for (byte[] each : together) {
        wire.send(each);
      }
      for (String reply :
          new String[] {
            "$8\r\nof users\r\n",
            "+OK\r\n",
            "$8\r\nof items\r\n",
            "$5\r\nitems\r\n",
            "+OK\r\n",
            "$8\r\nof users\r\n",
            "+OK\r\n",
            ":2\r\n",
            "$8\r\nof items\r\n"
          }) {
        assertThat(wire.text()).isEqualTo(reply);
      }
      assertThat(wire.ask("SELECT", "none")).isEqualTo("-ERR no data set is named 'none'\r\n");
      assertThat(wire.ask("SELECT", "2")).isEqualTo("-ERR DB index is out of range\r\n");
      assertThat(wire.ask("GET", "k")).as("what was selected").contains("of items");
      assertThat(wire.ask("CLIENT", "INFO")).contains(" db=1 ");
      assertThat(wire.ask("SCAN", "0")).contains("only items");
      assertThat(wire.ask("INFO", "keyspace")).contains("db0:keys=2").contains("db1:keys=2");
      assertThat(wire.ask("INFO", "bsdb")).contains("data_set_1:name=items,version=");
      assertThat(wire.ask("CONFIG", "GET", "databases")).contains("$1\r\n2\r\n");
      assertThat(wire.ask("MULTI")).isEqualTo("+OK\r\n");
      assertThat(wire.ask("SELECT", "users")).startsWith("-ERR Command not allowed");
      assertThat(wire.ask("EXEC")).startsWith("-EXECABORT");
      assertThat(wire.ask("RESET")).isEqualTo("+RESET\r\n");
      assertThat(wire.ask("GET", "k")).contains("of users");
    }
  }

  @Test
  void aFolderGainsAndLosesDataSets() throws Exception {
    store("a", "first");
    store("b", "second");
    Path stores = folder.resolve("stores");
    Files.createDirectory(stores.resolve("2024"));
    try (Serving serving = serving(DataSetLocations.in(stores)).start();
        Wire wire = serving.connect();
        RespWire redis = RespWire.to(serving.respPort())) {
      assertThat(redis.ask("SELECT", "b")).isEqualTo("+OK\r\n");
      assertThat(redis.ask("GET", "k")).contains("second");
      store("c", "third");
      store("7", "number");
      Path bad = Files.createDirectory(stores.resolve("bad"));
      Files.writeString(bad.resolve("CURRENT"), "none\n");
      assertThat(wire.get("/bsdb/c/k").status()).isEqualTo(404);
      Response failed = reloaded(serving);
      assertThat(failed.status()).isEqualTo(409);
      assertThat(failed.text()).contains("bad: ").contains("what was in service stays");
      assertThat(JSON.readTree(failed.text()).get("added").toString()).isEqualTo("[\"c\"]");
      assertThat(serving.said()).contains("7 is not served: a name has");
      assertThat(wire.get("/bsdb/c/k").text()).isEqualTo("third");
      delete(bad);
      delete(stores.resolve("b"));
      assertThat(redis.ask("MULTI")).isEqualTo("+OK\r\n");
      assertThat(redis.ask("GET", "k")).isEqualTo("+QUEUED\r\n");
      assertThat(redis.ask("MGET", "k", "k")).isEqualTo("+QUEUED\r\n");
      JsonNode changed = json(reloaded(serving));
      assertThat(changed.get("removed").toString()).isEqualTo("[\"b\"]");
      assertThat(changed.get("datasets").get("c").get("changed").asBoolean()).isFalse();
      assertThat(wire.get("/bsdb/b/k").text()).contains("the data sets are: a, c");
      assertThat(redis.ask("EXEC")).isEqualTo(REMOVED);
      assertThat(redis.ask("PING")).as("one reply to EXEC").isEqualTo("+PONG\r\n");
      assertThat(redis.ask("GET", "k")).isEqualTo(REMOVED);
      assertThat(serving.metric("bsdb_resp_errors_total{code=\"ERR\"}")).isGreaterThan(1);
      assertThat(redis.ask("MULTI")).isEqualTo("+OK\r\n");
      assertThat(redis.ask("GET", "k")).as("queued without data").isEqualTo("+QUEUED\r\n");
      assertThat(redis.ask("EXEC")).isEqualTo(REMOVED);
      assertThat(redis.ask("GET")).startsWith("-ERR wrong number of arguments");
      assertThat(redis.ask("SCAN", "0")).startsWith("-ERR the data set b has been removed");
      assertThat(redis.ask("SELECT", "1")).isEqualTo("-ERR DB index is out of range\r\n");
      assertThat(redis.ask("SELECT", "2")).isEqualTo("+OK\r\n");
      assertThat(redis.ask("GET", "k")).contains("third");
      store("b", "again");
      serving.reloadFiles();
      assertThat(serving.said()).contains("data set b is now served");
      assertThat(redis.ask("SELECT", "1")).as("the same number again").isEqualTo("+OK\r\n");
      assertThat(redis.ask("GET", "k")).contains("again");
      for (String name : new String[] {"a", "b", "c", "7"}) {
        delete(stores.resolve(name));
      }
      Response gone = reloaded(serving);
      assertThat(gone.status()).isEqualTo(409);
      assertThat(gone.text()).contains("no database and no store is in this folder");
      assertThat(wire.get("/bsdb/a/k").text()).as("still served").isEqualTo("first");
    }
  }

  @Test
  void aTransactionThatHasWatchedARemovedDataSetIsNotCarriedOut() throws Exception {
    store("a", "first");
    store("b", "second");
    Path stores = folder.resolve("stores");
    try (Serving serving = serving(DataSetLocations.in(stores)).start();
        RespWire redis = RespWire.to(serving.respPort())) {
      for (boolean again : new boolean[] {false, true}) {
        assertThat(redis.ask("SELECT", "b")).isEqualTo("+OK\r\n");
        assertThat(redis.ask("WATCH", "k")).isEqualTo("+OK\r\n");
        assertThat(redis.ask("SELECT", again ? "b" : "a")).isEqualTo("+OK\r\n");
        assertThat(redis.ask("MULTI")).isEqualTo("+OK\r\n");
        assertThat(redis.ask("GET", "k")).isEqualTo("+QUEUED\r\n");
        delete(stores.resolve("b"));
        assertThat(reloaded(serving).status()).isEqualTo(200);
        store("b", again ? "third" : "next");
        assertThat(reloaded(serving).status()).isEqualTo(200);
        assertThat(redis.ask("EXEC")).isEqualTo("*-1\r\n");
      }
      assertThat(redis.ask("GET", "k")).contains("third");
    }
  }

  @Test
  void theFirstDataSetKeepsItsPlaceWhileItIsAway() throws Exception {
    store("a", "first");
    store("b", "second");
    Path stores = folder.resolve("stores");
    String gone = "-ERR the data set a has been removed; SELECT another\r\n";
    try (Serving serving = serving(DataSetLocations.in(stores)).start();
        RespWire before = RespWire.to(serving.respPort())) {
      assertThat(before.ask("GET", "k")).contains("first");
      delete(stores.resolve("a"));
      assertThat(reloaded(serving).status()).isEqualTo(200);
      assertThat(asked(serving, "GET", "k")).as("not another's value").isEqualTo(gone);
      assertThat(asked(serving, "DBSIZE")).isEqualTo(gone);
      assertThat(before.ask("RESET")).isEqualTo("+RESET\r\n");
      assertThat(before.ask("GET", "k")).isEqualTo(gone);
      store("a", "again");
      assertThat(reloaded(serving).status()).isEqualTo(200);
      assertThat(before.ask("GET", "k")).contains("again");
      assertThat(before.ask("DBSIZE")).isEqualTo(":1\r\n");
      assertThat(asked(serving, "GET", "k")).contains("again");
    }
  }

  @Test
  void aRemovedDataSetIsLeasedToNobodyFromThatMomentOn() throws Exception {
    store("a", "first");
    store("b", "second");
    Path stores = folder.resolve("stores");
    CountDownLatch busy = new CountDownLatch(1);
    CountDownLatch released = new CountDownLatch(1);
    ReloadListener holdsUpClosing =
        new ReloadListener() {
          @Override
          public void refused(Refusal refusal) {
            busy.countDown();
            try {
              released.await();
            } catch (InterruptedException e) {
              Thread.currentThread().interrupt();
            }
          }
        };
    ReloadOptions options =
        ReloadOptions.defaults().withPoll(Duration.ofMillis(10)).withListener(holdsUpClosing);
    try (DataSets sets =
        new DataSets(
            DataSetLocations.in(stores),
            (name, place) -> place.follow(name.equals("a") ? options : ReloadOptions.defaults()),
            new LookupCounts(1),
            said -> {})) {
      DataSet removed = sets.named("a");
      removed.acquire().close();
      delete(stores.resolve("a"));
      busy.await();
      assertThat(sets.refresh().removed()).containsExactly("a");
      assertThatThrownBy(removed::acquire)
          .isInstanceOf(DataSet.DataSetRemovedException.class)
          .hasMessage("the data set a has been removed");
    } finally {
      released.countDown();
    }
  }

  @Test
  void aStoreMayTakeThePlaceOfADatabase() throws Exception {
    store("a", "store");
    store("b", "second");
    Path place = folder.resolve("stores").resolve("a");
    try (Serving serving = serving(DataSetLocations.in(folder.resolve("stores"))).start();
        RespWire redis = RespWire.to(serving.respPort())) {
      delete(place);
      Path unused = Serving.build(place, Map.of("k", "of database"));
      JsonNode changed = json(reloaded(serving));
      assertThat(changed.get("added").toString()).isEqualTo("[\"a\"]");
      assertThat(redis.ask("GET", "k")).contains("of database");
      delete(place);
      store("a", "store.again");
      assertThat(reloaded(serving).status()).isEqualTo(200);
      assertThat(redis.ask("GET", "k")).contains("store.again");
      assertThat(serving.said()).doesNotContain("not served any more");
    }
  }

  private static void delete(Path directory) throws IOException {
    try (Stream<Path> all = Files.walk(directory)) {
      for (Path each : all.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(each);
      }
    }
  }

  @Test
  void eachDataSetSwapsOnItsOwnWhileClientsRead() throws Exception {
    store("a", "a0");
    store("b", "b0");
    AtomicBoolean ended = new AtomicBoolean();
    try (Serving serving = serving(DataSetLocations.in(folder.resolve("stores"))).start()) {
      Queue<String> wrong = new ConcurrentLinkedQueue<>();
      Thread http =
          new Thread(
              () -> {
                try (Wire wire = serving.connect()) {
                  while (!ended.get()) {
                    expect(wire.get("/bsdb/a/k").text(), "a", wrong);
                    expect(wire.get("/bsdb/b/k").text(), "b", wrong);
                  }
                } catch (IOException e) {
                  wrong.add(e.toString());
                }
              });
      Thread redis =
          new Thread(
              () -> {
                try (RespWire wire = RespWire.to(serving.respPort())) {
                  while (!ended.get()) {
                    expect(wire.ask("SELECT", "a"), "+OK", wrong);
                    expect(wire.ask("GET", "k"), "$2\r\na", wrong);
                    expect(wire.ask("SELECT", "b"), "+OK", wrong);
                    expect(wire.ask("GET", "k"), "$2\r\nb", wrong);
                  }
                } catch (IOException e) {
                  wrong.add(e.toString());
                }
              });
      http.start();
      redis.start();
      for (int i = 1; i < 10; i++) {
        String name = i % 3 == 0 ? "b" : "a";
        store(name, name + i);
        awaitAnswer(serving, name, name + i);
      }
      ended.set(true);
      http.join();
      redis.join();
      assertThat(wrong).isEmpty();
      assertThat(serving.metric("bsdb_version_swaps_total{dataset=\"a\"}")).isEqualTo(6);
      assertThat(serving.metric("bsdb_version_swaps_total{dataset=\"b\"}")).isEqualTo(3);
      assertThat(serving.said()).contains("a: version ").contains("b: version ");
    }
  }

  private static void expect(String answer, String start, Queue<String> wrong) {
    if (!answer.startsWith(start)) {
      wrong.add(answer + " instead of " + start);
    }
  }

  private static void awaitAnswer(Serving serving, String name, String value) throws IOException {
    try (Wire wire = serving.connect()) {
      while (!wire.get("/bsdb/" + name + "/k").text().equals(value)) { // the test's timeout bounds
        Serving.pause();
      }
    }
  }

  @Test
  void oneThatCannotBeServedIsNamedAndNothingStaysOpen() throws Exception {
    Map<String, Path> directories = new LinkedHashMap<>();
    directories.put("good", database("good"));
    directories.put("rows", database("rows"));
    Serving serving = serving(DataSetLocations.named(directories));
    serving.json = true;
    assertThatThrownBy(serving::start)
        .isInstanceOf(IOException.class)
        .hasMessageContaining("data set good: -json: key");
  }
}
