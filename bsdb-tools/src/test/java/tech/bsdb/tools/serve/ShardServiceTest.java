package tech.bsdb.tools.serve;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tech.bsdb.OpenOptions;
import tech.bsdb.OpenOptions.Engine;
import tech.bsdb.tools.CommandRun;
import tech.bsdb.tools.PartialSets;
import tech.bsdb.tools.serve.Wire.Response;

/** A server of one shard alone refuses the keys of others, a server of the set has all. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ShardServiceTest {
  private static final String JSON = "Content-Type: application/json\r\n";
  private static final String TEXT = "Content-Type: text/plain\r\n";

  /** More keys than a server looks up at once. */
  private static final int MANY = 2_000;

  @TempDir Path folder;
  private final Map<String, String> records = new TreeMap<>();
  private Path set;
  private Path shard;
  private List<String> own;
  private Serving serving;

  @BeforeEach
  void build() throws IOException {
    for (int i = 0; i < 1_000; i++) {
      records.put("k" + i, "v" + i);
    }
    set = Serving.buildSet(folder.resolve("set"), 4, records);
    shard = Serving.shardWithout(set, "k0");
    own = Serving.ownKeys(shard, List.copyOf(records.keySet()));
    assertThat(own).hasSizeBetween(100, 400);
  }

  @AfterEach
  void end() {
    if (serving != null) {
      serving.close();
    }
  }

  private void serve(Path directory, boolean async) throws IOException {
    serving = new Serving(directory);
    serving.async = async;
    serving.start();
  }

  private static void assertMisdirected(Response response) {
    assertThat(response.status()).as(response.text()).isEqualTo(421);
    assertThat(response.headers())
        .containsEntry("content-type", "application/json")
        .containsKey("bsdb-version")
        .doesNotContainKeys("etag", "transfer-encoding");
    assertThat(response.text())
        .startsWith("{\"error\":{\"status\":421,\"message\":\"the key \\\"")
        .contains(" and belongs to shard ")
        .doesNotContain("\"key\":", "v0");
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aShardHasItsOwnKeysAndRefusesOthers(boolean async) throws IOException {
    serve(shard, async);
    try (Wire wire = serving.connect()) {
      for (String key : own.subList(0, 20)) {
        Response found = wire.get("/bsdb/" + key);
        assertThat(found.status()).isEqualTo(200);
        assertThat(found.text()).isEqualTo(records.get(key));
      }
      String absent = "{" + own.get(0) + "}absent"; // the slot of the text in braces
      assertThat(wire.get("/bsdb/" + absent).status()).isEqualTo(404);
      for (String foreign : List.of("k0", "{k0}absent")) {
        assertMisdirected(wire.get("/bsdb/" + foreign));
        assertThat(wire.send(get("HEAD", foreign, "")).read(true).status()).isEqualTo(421);
        for (String condition : List.of("If-Match: *", "If-None-Match: *", "If-Match: \"x\"")) {
          assertMisdirected(wire.send(get("GET", foreign, condition + "\r\n")).read());
        }
      }
    }
    assertThat(serving.metric("bsdb_lookup_hits_total")).isEqualTo(20);
    assertThat(serving.metric("bsdb_lookup_misses_total")).isEqualTo(1);
    assertThat(serving.metric("bsdb_lookup_errors_total")).isZero();
    assertThat(serving.metric("bsdb_http_requests_total{status=\"421\"}")).isEqualTo(10);
    assertThat(serving.metric("bsdb_lookups_in_flight")).isZero();
    assertThat(serving.said()).doesNotContain("k0").doesNotContain("Exception");
  }

  private static String get(String method, String key, String headers) {
    return method + " /bsdb/" + key + " HTTP/1.1\r\nHost: x\r\n" + headers + "\r\n";
  }

  @ParameterizedTest
  @CsvSource({
    "AUTO, false, false",
    "AUTO, true, true",
    "MAPPED, true, false",
    "BUFFERED, false, true",
    "BUFFERED, true, false",
    "MEMORY, false, true"
  })
  void aBatchWithAKeyOfAnotherShardIsRefusedWhole(Engine engine, boolean async, boolean json)
      throws IOException {
    serving = new Serving(shard);
    serving.async = async;
    serving.open = OpenOptions.defaults().withEngine(engine);
    serving.start();
    List<String> many = IntStream.range(0, MANY).mapToObj(i -> own.get(i % own.size())).toList();
    try (Wire wire = serving.connect()) {
      Response all = post(wire, many, json);
      assertThat(all.status()).isEqualTo(200);
      assertThat(all.text()).isEqualTo(answer(many));
      for (List<String> keys : List.of(List.of("k0"), List.of(own.get(0), "k0"), plus(many))) {
        assertMisdirected(post(wire, keys, json));
      }
      List<String> few = own.subList(0, 2); // on the same connection
      assertThat(post(wire, few, json).text()).isEqualTo(answer(few));
      assertThat(post(wire, List.of(), json).status()).isEqualTo(200);
    }
    assertThat(serving.metric("bsdb_lookup_hits_total")).isEqualTo(MANY + 2);
    assertThat(serving.metric("bsdb_lookup_misses_total")).isZero();
    assertThat(serving.metric("bsdb_lookup_errors_total")).isZero();
    assertThat(serving.metric("bsdb_lookups_in_flight")).isZero();
    while (serving.memory().held() > 0) {
      Serving.pause();
    }
  }

  private static List<String> plus(List<String> keys) {
    List<String> more = new ArrayList<>(keys);
    more.add("k0");
    return more;
  }

  private static Response post(Wire wire, List<String> keys, boolean json) throws IOException {
    String body =
        json
            ? keys.stream()
                .collect(Collectors.joining("\",\"", "[\"", "\"]"))
                .replace("[\"\"]", "[]")
            : keys.stream().map(key -> key + "\n").collect(Collectors.joining());
    return wire.post("/bsdb/", json ? JSON : TEXT, body.getBytes(UTF_8));
  }

  private String answer(List<String> keys) {
    return keys.stream()
        .map(key -> "{\"key\":\"" + key + "\",\"value\":\"" + records.get(key) + "\"}\n")
        .collect(Collectors.joining());
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aSetHasTheKeysOfAllShards(boolean async) throws IOException {
    serve(set, async);
    List<String> all = new ArrayList<>(records.keySet());
    Collections.reverse(all);
    try (Wire wire = serving.connect()) {
      assertThat(wire.get("/bsdb/k0").text()).isEqualTo("v0");
      assertThat(wire.get("/bsdb/absent").status()).isEqualTo(404);
      assertThat(post(wire, all, true).text()).isEqualTo(answer(all));
      assertThat(wire.get("/stats").text())
          .contains("\"records\":1000,", "\"shard\":null,", "\"shards\":4,");
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aPartialSetHasTheKeysOfItsShards(boolean async) throws IOException {
    Path part = PartialSets.copy(set, folder.resolve("part"), 1, 3);
    List<String> held = Serving.ownKeys(part, List.copyOf(records.keySet()));
    List<String> others = new ArrayList<>(records.keySet());
    others.removeAll(held);
    assertThat(held).hasSizeBetween(300, 700);
    serve(part, async);
    try (Wire wire = serving.connect()) {
      assertThat(post(wire, held, true).text()).isEqualTo(answer(held));
      for (String foreign : others.subList(0, 5)) {
        assertMisdirected(wire.get("/bsdb/" + foreign));
        List<String> batch = new ArrayList<>(held);
        batch.add(foreign);
        assertMisdirected(post(wire, batch, true));
        assertMisdirected(post(wire, List.of(foreign), false));
      }
      assertThat(wire.get("/bsdb/" + held.get(0)).text()).isEqualTo(records.get(held.get(0)));
      assertThat(wire.get("/bsdb/{" + held.get(0) + "}absent").status()).isEqualTo(404);
      assertThat(wire.get("/stats").text())
          .contains("\"records\":" + held.size() + ",")
          .contains("\"shard\":null,\"shards\":4,\"heldShards\":\"1,3\",\"wholeSetId\":\"");
    }
    assertThat(serving.metric("bsdb_lookup_errors_total")).isZero();
    assertThat(serving.metric("bsdb_http_requests_total{status=\"421\"}")).isEqualTo(15);
  }

  @Test
  void theShardInAStoreMayBecomeTheSetAndBack() throws IOException {
    String store = folder.resolve("store").toString();
    publish(shard, store, "v1");
    serve(Path.of(store), false);
    try (Wire wire = serving.connect();
        Wire admin = serving.administrate()) {
      assertMisdirected(wire.get("/bsdb/k0"));
      publish(set, store, "v2");
      admin.post("/reload", "", new byte[0]);
      assertThat(wire.get("/bsdb/k0").text()).isEqualTo("v0");
      assertThat(wire.get("/stats").text()).contains("\"shard\":null,\"shards\":4,");
      assertThat(CommandRun.bsdb("rollback", store).out()).isEqualTo("v1\n");
      admin.post("/reload", "", new byte[0]);
      assertMisdirected(wire.get("/bsdb/k0"));
      assertThat(wire.get("/bsdb/" + own.get(0)).status()).isEqualTo(200);
    }
  }

  private static void publish(Path database, String store, String version) {
    CommandRun run = CommandRun.bsdb("publish", database.toString(), store, "--version", version);
    assertThat(run.code()).as(run.toString()).isZero();
  }
}
