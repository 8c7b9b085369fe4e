package tech.bsdb.tools.serve;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tech.bsdb.remote.HttpOrigin;
import tech.bsdb.remote.RangeServer;
import tech.bsdb.remote.RangeServer.Fault;
import tech.bsdb.remote.RemoteOptions;
import tech.bsdb.store.Preload;
import tech.bsdb.tools.CommandRun;
import tech.bsdb.tools.inspect.Place;
import tech.bsdb.tools.serve.Wire.Response;
import tech.bsdb.tools.serve.dataset.DataSetLocations;

/** Data sets that lie on a web server are served from there. */
@Timeout(value = 240, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class DistantServiceTest {
  /** More than there are event loops, so that each of them has several. */
  private static final int CLIENTS = 8;

  @TempDir Path folder;
  private RangeServer server;
  private Serving serving;

  @BeforeEach
  void begin() throws IOException {
    server = RangeServer.of(folder);
    serving = new Serving(folder);
    serving.resp = true;
  }

  @AfterEach
  void end() throws IOException {
    server.rule(request -> Fault.none());
    serving.close();
    server.close();
  }

  private RemoteOptions options() {
    return RemoteOptions.defaults()
        .withCache(folder.resolve("cache"))
        .withAttempts(1)
        .withDeadline(Duration.ofSeconds(200));
  }

  /** A place on the web server; nothing of it is kept in memory. */
  private Place far(String name) {
    return new Place.Distant(
        HttpOrigin.of(server.uri().resolve(name)), options().withMemoryBytes(0));
  }

  private void serve(String name) throws IOException {
    serving.data = DataSetLocations.single(far(name));
    serving.start();
  }

  private static Map<String, String> records(String value) {
    Map<String, String> records = new TreeMap<>();
    for (int i = 0; i < 600; i++) {
      records.put("k" + i, value);
    }
    return records;
  }

  private String get(String target) throws IOException {
    try (Wire wire = serving.connect()) {
      Response response = wire.get(target);
      return response.status() + " " + response.text();
    }
  }

  private String stats() throws IOException {
    return get("/stats");
  }

  /** What must become true before long. */
  private interface Condition {
    boolean holds() throws Exception;
  }

  private static void await(Condition condition) throws Exception {
    for (int i = 0; i < 12_000 && !condition.holds(); i++) {
      Serving.pause();
    }
    assertThat(condition.holds()).as("holds before long").isTrue();
  }

  private static void delete(Path tree) throws IOException {
    try (Stream<Path> files = Files.walk(tree)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    }
  }

  private void rollBack() {
    CommandRun run = CommandRun.bsdb("rollback", folder.resolve("store").toString());
    assertThat(run.code()).as(run.toString()).isZero();
  }

  @Test
  void whatIsPreloadedIsServedWithoutRequests() throws Exception {
    Serving.publish(folder, 1);
    serving.preload = Preload.ALL;
    serving.data =
        DataSetLocations.single(
            new Place.Distant(
                HttpOrigin.of(server.uri().resolve("store")),
                options().withMemoryBytes(0).withPageBytes(4 << 20)));
    serving.start();
    await(() -> serving.said().contains("version v1: 100 % of"));
    server.forget();
    for (int i = 0; i < 50; i++) {
      assertThat(get("/bsdb/k" + i)).isEqualTo("200 1");
    }
    assertThat(server.answered()).noneMatch(asked -> asked.path().contains("data-"));
  }

  @Test
  void aStoreIsServedAtOnceAndFollowed() throws Exception {
    Serving.publish(folder, 1);
    serve("store");
    try (Wire wire = serving.connect();
        RespWire redis = RespWire.to(serving.respPort())) {
      Response found = wire.get("/bsdb/k7");
      assertThat(found.status()).isEqualTo(200);
      assertThat(found.text()).isEqualTo("1");
      assertThat(found.headers()).containsEntry("bsdb-version", "v1");
      assertThat(wire.get("/bsdb/none").status()).isEqualTo(404);
      String type = "Content-Type: application/json\r\n";
      Response batch = wire.post("/bsdb/", type, "[\"k1\",\"none\",\"k2\"]".getBytes(UTF_8));
      assertThat(batch.text().lines()).hasSize(3).first().asString().contains("\"1\"");
      assertThat(redis.ask("GET", "k7")).isEqualTo("$1\r\n1\r\n");
      assertThat(redis.ask("MGET", "k7", "none")).isEqualTo("*2\r\n$1\r\n1\r\n$-1\r\n");
      assertThat(redis.ask("EXISTS", "k7", "none", "k8")).isEqualTo(":2\r\n");
      assertThat(redis.ask("STRLEN", "k7")).isEqualTo(":1\r\n");
      assertThat(redis.ask("DBSIZE")).isEqualTo(":600\r\n");
      assertThat(redis.ask("SCAN", "0", "COUNT", "1000")).contains("k7");
      Serving.publish(folder, 2);
      await(() -> wire.get("/bsdb/k7").text().equals("2"));
      assertThat(redis.ask("GET", "k7")).isEqualTo("$1\r\n2\r\n");
      rollBack();
      await(() -> wire.get("/bsdb/k7").text().equals("1"));
    }
    assertThat(serving.said()).contains("version v2 is now served");
    String location = server.uri() + "store";
    assertThat(stats())
        .contains("\"directory\":\"" + location + "/v1\"", "\"directory\":\"" + location + "\"")
        .contains("\"current\":\"v1\"", "\"remote\":{\"requests\":", "\"builtAt\":null");
    assertThat(serving.metric("bsdb_remote_requests_total")).isPositive();
    assertThat(serving.metric("bsdb_remote_bytes_total")).isPositive();
    await(() -> serving.metric("bsdb_version_swaps_total") == 2);
  }

  @Test
  void rangesOfAnOrderedDatabaseAreRead() throws Exception {
    Serving.buildOrdered(folder.resolve("rdb"), records("v"));
    serve("rdb");
    assertThat(get("/bsdb/?prefix=k59&limit=100").lines()).hasSize(11);
    assertThat(get("/bsdb/?prefix=k59&count=true")).startsWith("200 ").contains("11");
  }

  @Test
  void aVersionThatCannotBeOpenedKeepsTheOneBefore() throws Exception {
    Serving.publish(folder, 1);
    serve("store");
    server.rule(
        request ->
            request.path().startsWith("store/v2/") ? Fault.none().status(404) : Fault.none());
    Serving.publish(folder, 2);
    await(() -> serving.metric("bsdb_version_refused") == 1);
    assertThat(get("/bsdb/k7")).isEqualTo("200 1");
    assertThat(stats()).contains("\"version\":\"v2\"", server.uri() + "store/v2: ");
    assertThat(serving.said()).contains("version v2 is rejected");
    try (Wire wire = serving.administrate()) {
      Response refused = wire.post("/reload", "", new byte[0]);
      assertThat(refused.status()).isEqualTo(409);
      assertThat(refused.text()).contains(server.uri() + "store/v2: ");
    }
    server.rule(request -> Fault.none());
    await(() -> get("/bsdb/k7").equals("200 2"));
    await(() -> serving.metric("bsdb_version_refused") == 0);
  }

  @Test
  void whileTheServerFailsItIsReported() throws Exception {
    Serving.publish(folder, 1);
    serve("store");
    server.rule(request -> Fault.none().status(503));
    await(() -> stats().contains(server.uri() + "store/CURRENT"));
    assertThat(get("/bsdb/k7")).startsWith("500 ");
    try (RespWire redis = RespWire.to(serving.respPort())) {
      assertThat(redis.ask("GET", "k7")).startsWith("-ERR the lookup failed");
      assertThat(redis.ask("MGET", "k7", "k8")).startsWith("-ERR the lookup failed");
    }
    server.rule(request -> Fault.none());
    await(() -> get("/bsdb/k7").equals("200 1"));
    await(() -> serving.metric("bsdb_version_refused") == 0);
  }

  @Test
  void whatIsKeptIsServedWhileTheServerIsGone() throws Exception {
    Serving.publish(folder, 1);
    Place place =
        new Place.Distant(
            HttpOrigin.of(server.uri().resolve("store")), options().withPageBytes(1 << 20));
    serving.data = DataSetLocations.single(place);
    serving.start();
    assertThat(get("/bsdb/k7")).isEqualTo("200 1");
    server.rule(request -> Fault.none().noAnswer());
    await(() -> serving.metric("bsdb_version_refused") == 1);
    assertThat(get("/bsdb/k7")).isEqualTo("200 1");
    server.rule(request -> Fault.none());
    Serving.publish(folder, 2);
    await(() -> get("/bsdb/k7").equals("200 2"));
  }

  @Test
  void aVersionThatIsRemovedWhileItIsServedGivesWayToTheNext() throws Exception {
    serving.pollElsewhere = Duration.ofHours(1);
    Serving.publish(folder, 1);
    serve("store");
    assertThat(get("/bsdb/k7")).isEqualTo("200 1");
    Serving.publish(folder, 2);
    delete(folder.resolve("store/v1"));
    assertThat(get("/bsdb/k7")).startsWith("500 ");
    await(() -> get("/bsdb/k7").equals("200 2"));
  }

  /** Clients that wait for something, each on a connection of its own. */
  private static final class Waiting implements AutoCloseable {
    final List<Wire> http = new ArrayList<>();
    final List<RespWire> resp = new ArrayList<>();

    @Override
    public void close() throws IOException {
      for (Wire wire : http) {
        wire.close();
      }
      for (RespWire wire : resp) {
        wire.close();
      }
    }
  }

  private Waiting askFar() throws IOException {
    Waiting waiting = new Waiting();
    byte[] keys = "k1\nk2\n".getBytes(UTF_8);
    for (int i = 0; i < CLIENTS; i++) {
      waiting.http.add(serving.connect().send("GET /bsdb/far/k7 HTTP/1.1\r\nHost: x\r\n\r\n"));
      Wire batch = serving.connect();
      waiting.http.add(
          batch
              .send("POST /bsdb/far/ HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\n")
              .send("Content-Length: " + keys.length + "\r\n\r\n")
              .send(keys));
      waiting.resp.add(askFar("GET", "k7"));
      waiting.resp.add(askFar("MGET", "k1", "k2"));
      waiting.resp.add(askFar("SCAN", "0"));
    }
    return waiting;
  }

  private RespWire askFar(String... command) throws IOException {
    RespWire redis = RespWire.to(serving.respPort());
    assertThat(redis.ask("SELECT", "far")).isEqualTo("+OK\r\n");
    return redis.send(RespWire.command(command));
  }

  @Test
  void dataSetsHereDoNotWaitForThoseElsewhere() throws Exception {
    Serving.build(folder.resolve("far"), records("far"));
    Path near = Serving.build(folder.resolve("near"), records("near"));
    Map<String, Place> places = new LinkedHashMap<>();
    places.put("far", far("far"));
    places.put("near", new Place.Here(near, near));
    serving.data = new DataSetLocations(null, places);
    serving.start();
    CountDownLatch stalled = new CountDownLatch(1);
    CountDownLatch released = new CountDownLatch(1);
    server.rule(
        request -> {
          if (request.path().contains("/data-")) {
            stalled.countDown();
            try {
              released.await();
            } catch (InterruptedException e) {
              Thread.currentThread().interrupt();
            }
          }
          return Fault.none();
        });
    try (Waiting waiting = askFar()) {
      stalled.await();
      for (int i = 0; i < CLIENTS; i++) {
        try (Wire wire = serving.connect();
            RespWire redis = RespWire.to(serving.respPort())) {
          assertThat(wire.get("/bsdb/near/k7").text()).isEqualTo("near");
          String type = "Content-Type: text/plain\r\n";
          Response batch = wire.post("/bsdb/near/", type, "k1\nk2".getBytes(UTF_8));
          assertThat(batch.text()).contains("near");
          assertThat(redis.ask("SELECT", "near")).isEqualTo("+OK\r\n");
          assertThat(redis.ask("MGET", "k1", "k2")).isEqualTo("*2\r\n$4\r\nnear\r\n$4\r\nnear\r\n");
          assertThat(redis.ask("SCAN", "0", "COUNT", "1000")).contains("k7");
        }
      }
      released.countDown();
      for (Wire wire : waiting.http) {
        Response answer = wire.read();
        assertThat(answer.status()).isEqualTo(200);
        assertThat(answer.text()).contains("far");
      }
      for (RespWire wire : waiting.resp) {
        assertThat(wire.text()).containsAnyOf("far", "k1");
      }
    } finally {
      released.countDown();
    }
    assertThat(stats()).contains("\"dataset\":\"far\"", "\"store\":null,\"remote\":{");
    assertThat(get("/stats?dataset=near")).contains("\"remote\":null");
    assertThat(serving.metric("bsdb_remote_requests_total{dataset=\"far\"}")).isPositive();
  }
}
