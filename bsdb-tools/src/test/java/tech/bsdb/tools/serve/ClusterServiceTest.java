package tech.bsdb.tools.serve;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tech.bsdb.KeyRouting;
import tech.bsdb.tools.CommandRun;
import tech.bsdb.tools.PartialSets;
import tech.bsdb.tools.serve.Wire.Response;
import tech.bsdb.tools.serve.dataset.DataSetLocations;

/**
 * Nodes of a cluster: which keys each answers over RESP and HTTP, and what it says of the others.
 */
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ClusterServiceTest {
  private static final int RECORDS = 3_000;
  private static final Duration HOUR = Duration.ofHours(1);

  @TempDir Path folder;
  private final Map<String, String> records = new TreeMap<>();
  private @Nullable ServingCluster cluster;

  @BeforeEach
  void build() throws IOException {
    for (int i = 0; i < RECORDS; i++) {
      records.put("k" + i, "v" + i);
    }
    Serving.build(folder.resolve("db"), records);
  }

  @AfterEach
  void end() {
    if (cluster != null) {
      cluster.close();
    }
  }

  private ServingCluster start(boolean replicas, Duration handover) throws IOException {
    ServingCluster started =
        new ServingCluster(folder, replicas, handover, node -> node.resp = true);
    cluster = started;
    return started;
  }

  private static String bulk(String text) {
    return "$" + text.length() + "\r\n" + text + "\r\n";
  }

  private static String moved(ServingCluster of, String key, String owner) {
    int slot = KeyRouting.slot(key.getBytes(UTF_8));
    return "-MOVED " + slot + " 127.0.0.1:" + of.node(owner).respPort() + "\r\n";
  }

  private static String keyOf(String owner, int from) {
    int i = from;
    while (!ServingCluster.owner("k" + i).equals(owner)) {
      i++;
    }
    return "k" + i;
  }

  @Test
  void eachKeyIsAnsweredByItsNodeAndMovedByTheOthers() throws IOException {
    ServingCluster nodes = start(true, Duration.ZERO);
    for (String name : List.of("a", "b", "c", "a2", "b2", "c2")) {
      String primary = name.substring(0, 1);
      try (RespWire wire = nodes.connect(name)) {
        for (boolean readOnly : new boolean[] {false, true, false}) {
          assertThat(wire.ask(readOnly ? "READONLY" : "READWRITE")).isEqualTo("+OK\r\n");
          for (String key : records.keySet()) {
            wire.send(RespWire.command("GET", key));
          }
          boolean answers = name.length() == 1 || readOnly;
          for (Map.Entry<String, String> each : records.entrySet()) {
            String owner = ServingCluster.owner(each.getKey());
            assertThat(wire.text())
                .isEqualTo(
                    owner.equals(primary) && answers
                        ? bulk(each.getValue())
                        : moved(nodes, each.getKey(), owner));
          }
        }
        wire.ask("READONLY");
        assertThat(wire.ask("RESET")).isEqualTo("+RESET\r\n");
        String key = keyOf(primary, 0);
        assertThat(wire.ask("GET", key))
            .isEqualTo(
                name.length() == 1 ? bulk("v" + key.substring(1)) : moved(nodes, key, primary));
      }
    }
    assertThat(nodes.node("a").metric("bsdb_cluster_slots")).isEqualTo(5461);
    assertThat(nodes.node("a").metric("bsdb_cluster_nodes")).isEqualTo(6);
    assertThat(nodes.node("b").metric("bsdb_resp_errors_total{code=\"MOVED\"}")).isPositive();
    assertThat(nodes.node("b").metric("bsdb_lookup_misses_total")).isZero();
  }

  @Test
  void keysOfACommandMustShareTheirSlot() throws IOException {
    ServingCluster nodes = start(false, Duration.ZERO);
    String own = keyOf("a", 0);
    String foreign = keyOf("b", 0);
    String cross = "-CROSSSLOT Keys in request don't hash to the same slot\r\n";
    try (RespWire wire = nodes.connect("a")) {
      assertThat(wire.ask("MGET", own, "{" + own + "}x", own))
          .isEqualTo(
              "*3\r\n" + bulk("v" + own.substring(1)) + "$-1\r\n" + bulk("v" + own.substring(1)));
      assertThat(wire.ask("MGET", own, foreign)).isEqualTo(cross);
      assertThat(wire.ask("EXISTS", foreign, own)).isEqualTo(cross);
      assertThat(wire.ask("EXISTS", foreign, "{" + foreign + "}x"))
          .isEqualTo(moved(nodes, foreign, "b"));
      assertThat(wire.ask("OBJECT", "ENCODING", foreign)).isEqualTo(moved(nodes, foreign, "b"));
      assertThat(wire.ask("HGET", foreign, "f")).isEqualTo(moved(nodes, foreign, "b"));
      assertThat(wire.ask("GETRANGE", foreign, "x", "y")).isEqualTo(moved(nodes, foreign, "b"));
      assertThat(wire.ask("GET")).startsWith("-ERR wrong number of arguments");
      assertThat(wire.ask("SET", own, "x")).startsWith("-READONLY");
      assertThat(wire.ask("SET", foreign, "x")).isEqualTo(moved(nodes, foreign, "b"));
      assertThat(wire.ask("MSET", own, foreign, "{" + own + "}", "x")).startsWith("-READONLY");
      assertThat(wire.ask("MSET", own, "x", foreign, "x")).isEqualTo(cross);
      assertThat(wire.ask("FLUSHALL")).startsWith("-READONLY");
      assertThat(wire.ask("COMMAND", "INFO", "mset"))
          .startsWith("*1\r\n*10\r\n$4\r\nmset\r\n:-3\r\n*1\r\n+write\r\n:1\r\n:-1\r\n:2\r\n");
      assertThat(wire.ask("COMMAND", "INFO", "mget"))
          .contains("*1\r\n$26\r\nrequest_policy:multi_shard\r\n");
    }
  }

  @Test
  void aTransactionIsOfOneSlot() throws IOException {
    ServingCluster nodes = start(false, Duration.ZERO);
    String own = keyOf("a", 0);
    String other = keyOf("a", Integer.parseInt(own.substring(1)) + 1);
    String foreign = keyOf("b", 0);
    String aborted = "-EXECABORT Transaction discarded because of previous errors.\r\n";
    String queued = "+QUEUED\r\n";
    try (RespWire wire = nodes.connect("a")) {
      assertThat(wire.ask("MULTI")).isEqualTo("+OK\r\n");
      assertThat(wire.ask("GET", own)).isEqualTo(queued);
      assertThat(wire.ask("EXISTS", "{" + own + "}")).isEqualTo(queued);
      assertThat(wire.ask("PING")).isEqualTo(queued);
      assertThat(wire.ask("EXEC"))
          .isEqualTo("*3\r\n" + bulk("v" + own.substring(1)) + ":0\r\n+PONG\r\n");
      wire.ask("MULTI");
      assertThat(wire.ask("GET", foreign)).isEqualTo(moved(nodes, foreign, "b"));
      assertThat(wire.ask("GET", own)).isEqualTo(queued);
      assertThat(wire.ask("EXEC")).isEqualTo(aborted);
      wire.ask("MULTI");
      assertThat(wire.ask("GET", own)).isEqualTo(queued);
      assertThat(wire.ask("GET", other)).isEqualTo(queued);
      assertThat(wire.ask("EXEC")).startsWith("-CROSSSLOT ");
      assertThat(wire.ask("EXEC")).isEqualTo("-ERR EXEC without MULTI\r\n");
      wire.ask("MULTI");
      assertThat(wire.ask("GET", own)).isEqualTo(queued);
      nodes.move(List.of("", "0-10922", "10923-16383"));
      assertThat(wire.ask("EXEC")).isEqualTo(moved(nodes, own, "b"));
      assertThat(wire.ask("EXEC")).isEqualTo("-ERR EXEC without MULTI\r\n");
      assertThat(wire.ask("PING")).isEqualTo("+PONG\r\n");
    }
  }

  @Test
  void theCommandsOfAClusterAreAnsweredAsByRedis() throws IOException {
    ServingCluster nodes = start(true, Duration.ZERO);
    nodes.move(List.of("0-100,200", "101-199,201-16383", ""));
    String a = entry(nodes, "a", "86f7e437faa5a7fce15d1ddcb9eaeaea377667b8", "*0");
    try (RespWire wire = nodes.connect("a2")) {
      String slots = wire.ask("CLUSTER", "SLOTS");
      assertThat(slots)
          .startsWith("*4\r\n*4\r\n:0\r\n:100\r\n" + a)
          .contains("*4\r\n:101\r\n:199\r\n", "*4\r\n:200\r\n:200\r\n" + a, ":201\r\n:16383\r\n");
      assertThat(wire.ask("CLUSTER", "MYID")).startsWith("$40\r\nb9f85daa");
      assertThat(wire.ask("CLUSTER", "KEYSLOT", "foo{hash_tag}")).isEqualTo(":2515\r\n");
      String text = wire.ask("CLUSTER", "NODES");
      assertThat(text.substring(text.indexOf('\n') + 1).lines())
          .hasSize(7)
          .anyMatch(
              line ->
                  line.matches("86f7\\w{36} 127.0.0.1:\\d+@0 master - 0 0 1 connected 0-100 200"))
          .anyMatch(
              line ->
                  line.matches(
                      "b9f8\\w{36} 127.0.0.1:\\d+@0 myself,slave 86f7\\w{36} 0 0 1 connected"))
          .anyMatch(line -> line.matches("84a5\\w{36} 127.0.0.1:\\d+@0 master - 0 0 3 connected"));
      assertThat(wire.ask("CLUSTER", "INFO"))
          .contains("cluster_state:ok\r\n", "cluster_known_nodes:6\r\n", "cluster_size:2\r\n");
      assertThat(wire.ask("CLUSTER", "COUNTKEYSINSLOT", "16384"))
          .isEqualTo("-ERR Invalid slot\r\n");
      assertThat(wire.ask("CLUSTER", "COUNTKEYSINSLOT", "x"))
          .isEqualTo("-ERR value is not an integer or out of range\r\n");
      assertThat(wire.ask("CLUSTER", "MEET", "h", "1"))
          .isEqualTo("-ERR CLUSTER MEET is refused: the topology is a file of the operator\r\n");
      assertThat(wire.ask("CLUSTER", "KEYSLOT"))
          .isEqualTo("-ERR wrong number of arguments for 'cluster|keyslot' command\r\n");
      assertThat(wire.ask("INFO", "replication"))
          .contains("role:slave\r\n", "master_port:" + nodes.node("a").respPort() + "\r\n");
      assertThat(wire.ask("INFO", "server")).contains("redis_mode:cluster\r\n");
      assertThat(wire.ask("INFO", "cluster")).contains("cluster_enabled:1\r\n");
      assertThat(wire.ask("CONFIG", "GET", "cluster-enabled")).contains("$3\r\nyes\r\n");
      assertThat(wire.ask("HELLO", "3"))
          .contains("$4\r\nmode\r\n$7\r\ncluster\r\n$4\r\nrole\r\n$7\r\nreplica\r\n");
      assertThat(wire.ask("CLUSTER", "SLOTS"))
          .contains(entry(nodes, "a", "86f7e437faa5a7fce15d1ddcb9eaeaea377667b8", "%0"));
      String shards = wire.ask("CLUSTER", "SHARDS");
      assertThat(shards)
          .startsWith(
              "*3\r\n%2\r\n$5\r\nslots\r\n*4\r\n:0\r\n:100\r\n:200\r\n:200\r\n$5\r\nnodes\r\n*2\r\n%7\r\n")
          .contains("$4\r\nport\r\n:" + nodes.node("c2").respPort() + "\r\n")
          .contains("%2\r\n$5\r\nslots\r\n*0\r\n");
    }
  }

  private static String entry(ServingCluster nodes, String name, String id, String end) {
    return "*4\r\n"
        + bulk("127.0.0.1")
        + ":"
        + nodes.node(name).respPort()
        + "\r\n"
        + bulk(id)
        + end
        + "\r\n";
  }

  @Test
  void aNodeCountsAndScansTheKeysOfItsSlots() throws IOException {
    ServingCluster nodes = start(true, Duration.ZERO);
    for (String name : List.of("a", "b", "c", "a2")) {
      TreeSet<String> own =
          records.keySet().stream()
              .filter(key -> ServingCluster.owner(key).equals(name.substring(0, 1)))
              .collect(Collectors.toCollection(TreeSet::new));
      try (RespWire wire = nodes.connect(name)) {
        assertThat(wire.ask("DBSIZE")).isEqualTo(":" + own.size() + "\r\n");
        List<String> scanned = new ArrayList<>();
        String cursor = "0";
        do {
          String[] lines = wire.ask("SCAN", cursor, "COUNT", "500").split("\r\n", -1);
          cursor = lines[2];
          for (int i = 5; i < lines.length; i += 2) {
            scanned.add(lines[i]);
          }
        } while (!cursor.equals("0"));
        assertThat(scanned).hasSameSizeAs(own);
        assertThat(new TreeSet<>(scanned)).isEqualTo(own);
        for (int i = 0; i < 50; i++) {
          assertThat(own).contains(wire.ask("RANDOMKEY").split("\r\n", -1)[1]);
        }
        Map<Integer, Integer> bySlot = new HashMap<>();
        own.forEach(key -> bySlot.merge(KeyRouting.slot(key.getBytes(UTF_8)), 1, Integer::sum));
        for (int slot = 0; slot < KeyRouting.SLOTS; slot += 37) {
          assertThat(wire.ask("CLUSTER", "COUNTKEYSINSLOT", String.valueOf(slot)))
              .isEqualTo(":" + bySlot.getOrDefault(slot, 0) + "\r\n");
        }
      }
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void overHttpAnotherNodeIsNamed(boolean async) throws IOException {
    ServingCluster nodes =
        new ServingCluster(folder, true, Duration.ZERO, node -> node.async = async);
    cluster = nodes;
    String own = keyOf("a", 0);
    String foreign = keyOf("b", 0);
    String url = "http://127.0.0.1:" + nodes.node("b").port() + "/bsdb/";
    int slot = KeyRouting.slot(foreign.getBytes(UTF_8));
    for (String name : List.of("a", "a2")) {
      try (Wire wire = nodes.node(name).connect()) {
        assertThat(wire.get("/bsdb/" + own).text()).isEqualTo("v" + own.substring(1));
        Response single = wire.get("/bsdb/" + foreign);
        Response batch = post(wire, own + "\n" + foreign + "\n");
        for (Response refused : List.of(single, batch)) {
          assertThat(refused.status()).isEqualTo(421);
          assertThat(refused.text())
              .isEqualTo(
                  "{\"error\":{\"status\":421,\"message\":\"the key has slot "
                      + slot
                      + " and belongs to node b; ask "
                      + url
                      + "\",\"node\":\"b\",\"url\":\""
                      + url
                      + "\"}}\n");
        }
        assertThat(post(wire, own + "\n").status()).isEqualTo(200);
        assertThat(wire.get("/bsdb/" + own).status()).as("the connection goes on").isEqualTo(200);
        assertThat(wire.get("/stats").text())
            .contains("\"node\":\"" + name + "\",\"primary\":\"a\",\"slots\":\"0-5460\"");
      }
    }
  }

  private static Response post(Wire wire, String keys) throws IOException {
    return wire.post("/bsdb/", "Content-Type: text/plain\r\n", keys.getBytes(UTF_8));
  }

  @Test
  void slotsMoveWithAHandover() throws IOException {
    ServingCluster nodes = start(false, HOUR);
    String key = keyOf("a", 0);
    String value = bulk("v" + key.substring(1));
    try (RespWire a = nodes.connect("a");
        RespWire b = nodes.connect("b")) {
      assertThat(b.ask("GET", key)).isEqualTo(moved(nodes, key, "a"));
      nodes.move(List.of("", "0-10922", "10923-16383"));
      assertThat(a.ask("GET", key)).as("during the handover").isEqualTo(value);
      assertThat(b.ask("GET", key)).isEqualTo(value);
      assertThat(a.ask("CLUSTER", "SLOTS")).startsWith("*2\r\n*3\r\n:0\r\n:10922\r\n");
      assertThat(nodes.node("a").metric("bsdb_cluster_handed_over_slots")).isEqualTo(5461);
      assertThat(nodes.node("a").metric("bsdb_cluster_slots")).isZero();
      assertThat(nodes.node("a").said()).contains("moved away: 0-5460; still answered: 0-5460");
      assertThat(nodes.node("b").said()).contains("new: 0-5460");
    }
  }

  @Test
  void aWrongTopologyIsRefusedWhileTheOldOneServes() throws IOException {
    ServingCluster nodes = start(false, Duration.ZERO);
    String key = keyOf("a", 0);
    nodes.write(List.of("", "0-10922", "10923-16382"));
    try (RespWire wire = nodes.connect("a");
        Wire admin = nodes.node("a").administrate()) {
      Response reloaded = admin.post("/reload", "", new byte[0]);
      assertThat(reloaded.status()).isEqualTo(409);
      assertThat(reloaded.text()).contains("slot 16383 belongs to no node");
      assertThat(wire.ask("GET", key)).isEqualTo(bulk("v" + key.substring(1)));
      assertThat(admin.get("/stats").text()).contains("\"refused\":{", "slot 16383 belongs");
      assertThat(nodes.node("a").metric("bsdb_cluster_topology_refused")).isEqualTo(1);
      nodes.write(List.of("", "0-10922", "10923-16383"));
      assertThat(admin.post("/reload", "", new byte[0]).status()).isEqualTo(200);
      assertThat(wire.ask("GET", key)).isEqualTo(moved(nodes, key, "b"));
      assertThat(nodes.node("a").metric("bsdb_cluster_topology_refused")).isZero();
    }
  }

  /** Nodes with the shards of their slots only: 0 to 4 of 16 are slots 0 to 5119. */
  @Test
  void aNodeMayHoldOnlyTheShardsOfItsSlots() throws IOException {
    Path set = Serving.buildSet(folder.resolve("set"), 16, records);
    Map<String, Path> parts = new LinkedHashMap<>();
    parts.put("a", PartialSets.copy(set, folder.resolve("part-a"), 0, 1, 2, 3, 4, 5));
    parts.put("b", PartialSets.copy(set, folder.resolve("part-b"), 5, 6, 7, 8, 9, 10));
    parts.put("c", PartialSets.copy(set, folder.resolve("part-c"), 10, 11, 12, 13, 14, 15));
    ServingCluster nodes =
        new ServingCluster(folder, false, Duration.ZERO, parts, node -> node.resp = true);
    cluster = nodes;
    nodes.move(List.of("0-6143", "6144-11263", "11264-16383")); // borders of shards
    long sum = 0;
    for (String name : List.of("a", "b", "c")) {
      try (RespWire wire = nodes.connect(name)) {
        sum += Long.parseLong(wire.ask("DBSIZE").strip().substring(1));
        for (Map.Entry<String, String> each : records.entrySet()) {
          String reply = wire.ask("GET", each.getKey());
          assertThat(reply)
              .satisfiesAnyOf(
                  found -> assertThat(found).isEqualTo(bulk(each.getValue())),
                  elsewhere -> assertThat(elsewhere).startsWith("-MOVED "));
        }
      }
    }
    assertThat(sum).isEqualTo(RECORDS);
    nodes.write(List.of("0-6200", "6201-11263", "11264-16383"));
    try (Wire admin = nodes.node("a").administrate();
        RespWire wire = nodes.connect("a")) {
      Response refused = admin.post("/reload", "", new byte[0]);
      assertThat(refused.status()).isEqualTo(409);
      assertThat(refused.text())
          .contains("the data holds only shards 0-5 of 16: slots 6144-6200 are not among them");
      assertThat(wire.ask("CLUSTER", "SLOTS")).contains(":6143\r\n");
    }
    ServingCluster mismatched = nodes;
    assertThatIOException()
        .isThrownBy(
            () ->
                new ServingCluster(
                        Files.createDirectory(folder.resolve("other")),
                        false,
                        Duration.ZERO,
                        Map.of("a", parts.get("b")),
                        node -> node.resp = true)
                    .close())
        .withMessageContaining(
            "node a has slots 0-5460, but the data holds only shards 5-10 of 16");
    assertThat(mismatched.all()).hasSize(3);
  }

  /** The data of a slot that has moved may go before the handover has ended. */
  @Test
  void aNodeWithoutTheDataOfASlotThatHasMovedRedirects() throws IOException {
    Path set = Serving.buildSet(folder.resolve("set"), 16, records);
    Path all = PartialSets.copy(set, folder.resolve("most"), 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10);
    Path fewer = PartialSets.copy(set, folder.resolve("fewer"), 1, 2, 3, 4, 5, 6, 7, 8, 9, 10);
    String store = folder.resolve("store").toString();
    publish(all, store, "v1");
    Map<String, Path> data = Map.of("a", Path.of(store), "b", set, "c", set);
    ServingCluster nodes = new ServingCluster(folder, false, HOUR, data, node -> {});
    cluster = nodes;
    String key = "k0";
    while (KeyRouting.slot(key.getBytes(UTF_8)) > 1023) {
      key = "k" + (Integer.parseInt(key.substring(1)) + 1);
    }
    try (RespWire wire = nodes.connect("a");
        Wire admin = nodes.node("a").administrate()) {
      nodes.move(List.of("1024-5460", "0-1023,5461-10922", "10923-16383"));
      assertThat(wire.ask("GET", key)).isEqualTo(bulk(records.get(key)));
      publish(fewer, store, "v2");
      assertThat(admin.post("/reload", "", new byte[0]).text()).contains("v2");
      assertThat(wire.ask("GET", key)).isEqualTo(moved(nodes, key, "b"));
      assertThat(nodes.node("a").said()).doesNotContain("holds only shards");
      try (Wire http = nodes.node("a").connect()) {
        for (Response each : List.of(http.get("/bsdb/" + key), post(http, key + "\n"))) {
          assertThat(each.status()).isEqualTo(421);
          assertThat(each.text()).contains("\"node\":\"b\"", nodes.node("b").port() + "/bsdb/");
        }
      }
    }
  }

  private static void publish(Path database, String store, String version) {
    CommandRun run =
        CommandRun.bsdb(
            "publish", database.toString(), store, "--version", version, "--allow-key-change");
    assertThat(run.code()).as(run.toString()).isZero();
  }

  @Test
  void aNodeWithoutSlotsHasNoKeys() throws IOException {
    ServingCluster nodes = start(false, HOUR);
    nodes.move(List.of("", "0-10922", "10923-16383"));
    try (RespWire wire = nodes.connect("a")) {
      assertThat(wire.ask("RANDOMKEY")).isEqualTo("$-1\r\n");
      assertThat(wire.ask("SCAN", "0")).isEqualTo("*2\r\n$1\r\n0\r\n*0\r\n");
      assertThat(wire.ask("DBSIZE")).isEqualTo(":0\r\n");
    }
  }

  @Test
  void aDataSetThatIsAddedWithoutTheSlotsOfTheNodeIsReported() throws IOException {
    Path stores = folder.resolve("stores");
    publish(folder.resolve("db"), stores.resolve("first").toString(), "v1");
    ServingCluster nodes =
        new ServingCluster(
            folder, false, Duration.ZERO, node -> node.data = DataSetLocations.in(stores));
    cluster = nodes;
    Path set = Serving.buildSet(folder.resolve("set"), 16, records);
    Path part = PartialSets.copy(set, folder.resolve("part"), 8, 9);
    publish(part, stores.resolve("second").toString(), "v1");
    String own = keyOf("a", 0);
    String foreign = keyOf("c", 0);
    try (Wire admin = nodes.node("a").administrate();
        RespWire wire = nodes.connect("a")) {
      assertThat(admin.post("/reload", "", new byte[0]).status()).isEqualTo(200);
      assertThat(nodes.node("a").said())
          .contains("data set second holds only shards 8-9 of 16: slots 0-5460");
      assertThat(wire.ask("SELECT", "second")).isEqualTo("+OK\r\n");
      assertThat(wire.ask("GET", own)).startsWith("-CLUSTERDOWN ");
      assertThat(wire.ask("GET", foreign)).isEqualTo(moved(nodes, foreign, "c"));
      nodes.move(List.of("", "0-10922", "10923-16383")); // loses what it lacks
      assertThat(wire.ask("GET", own)).isEqualTo(moved(nodes, own, "b"));
    }
  }

  @Test
  void severalDataSetsShareATopology() throws IOException {
    Map<String, String> others = new TreeMap<>();
    records.forEach((key, value) -> others.put(key, "other-" + value));
    Path second = Serving.build(folder.resolve("second"), others);
    Map<String, Path> sets = new LinkedHashMap<>();
    sets.put("first", folder.resolve("db"));
    sets.put("second", second);
    ServingCluster nodes =
        new ServingCluster(
            folder, false, Duration.ZERO, node -> node.data = DataSetLocations.named(sets));
    cluster = nodes;
    String key = keyOf("b", 0);
    try (RespWire a = nodes.connect("a");
        RespWire b = nodes.connect("b");
        Wire http = nodes.node("a").connect()) {
      assertThat(b.ask("GET", key)).isEqualTo(bulk("v" + key.substring(1)));
      assertThat(b.ask("SELECT", "1")).isEqualTo("+OK\r\n");
      assertThat(b.ask("GET", key)).isEqualTo(bulk("other-v" + key.substring(1)));
      assertThat(a.ask("SELECT", "second")).isEqualTo("+OK\r\n");
      assertThat(a.ask("GET", key)).isEqualTo(moved(nodes, key, "b"));
      assertThat(http.get("/bsdb/second/" + key).text())
          .contains("http://127.0.0.1:" + nodes.node("b").port() + "/bsdb/second/\"");
    }
  }

  @Test
  void aServerAloneSaysThatItHasNoCluster() throws IOException {
    try (Serving alone = new Serving(folder.resolve("db"))) {
      alone.resp = true;
      alone.start();
      try (RespWire wire = RespWire.to(alone.respPort());
          Wire http = alone.connect()) {
        for (String command : List.of("SLOTS", "SHARDS", "NODES", "INFO", "MYID")) {
          assertThat(wire.ask("CLUSTER", command))
              .isEqualTo("-ERR This instance has cluster support disabled\r\n");
        }
        assertThat(wire.ask("CLUSTER", "COUNTKEYSINSLOT", "1"))
            .isEqualTo("-ERR This instance has cluster support disabled\r\n");
        assertThat(wire.ask("DBSIZE")).isEqualTo(":" + RECORDS + "\r\n");
        assertThat(http.get("/stats").text()).contains("\"cluster\":null");
      }
    }
  }
}
