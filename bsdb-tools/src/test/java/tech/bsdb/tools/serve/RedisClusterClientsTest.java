package tech.bsdb.tools.serve;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.nio.file.StandardCopyOption.REPLACE_EXISTING;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.lettuce.core.ReadFrom;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.RedisReadOnlyException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import redis.clients.jedis.ClusterPipeline;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.Response;
import redis.clients.jedis.exceptions.JedisDataException;
import tech.bsdb.KeyRouting;
import tech.bsdb.Rounds;
import tech.bsdb.tools.CommandRun;

/**
 * Jedis and Lettuce as clients of a cluster. {@code -Dbsdb.rounds=} changes slots and versions more
 * often.
 */
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RedisClusterClientsTest {
  /** Instead of two seconds, which a busy machine may take. */
  private static final int PATIENCE_MILLIS = 60_000;

  private static final int MOVES = Rounds.of(1);
  private static final int SWAPS = Rounds.of(2);

  /** Long enough for every node to read the topology, even on a busy machine. */
  private static final Duration HANDOVER = Duration.ofSeconds(3);

  private static final String TOKEN = "a-token";
  private static final int RECORDS = 3_000;
  private static final int BATCH = 500;

  @TempDir Path folder;
  private @Nullable ServingCluster cluster;

  @AfterEach
  void end() {
    if (cluster != null) {
      cluster.close();
    }
  }

  private ServingCluster start(Path data) throws IOException {
    Path tokens = Files.writeString(folder.resolve("tokens"), TOKEN + "\n");
    ServingCluster started =
        new ServingCluster(
            folder,
            true,
            HANDOVER,
            node -> {
              node.directory = data;
              node.tokens = tokens;
            });
    cluster = started;
    return started;
  }

  private static Map<String, String> records(String version) {
    Map<String, String> records = new TreeMap<>();
    for (int i = 0; i < RECORDS; i++) {
      records.put("k" + i, version + " of k" + i);
    }
    return records;
  }

  private static redis.clients.jedis.RedisClusterClient jedis(ServingCluster of, String token) {
    JedisClientConfig config =
        DefaultJedisClientConfig.builder().password(token).timeoutMillis(PATIENCE_MILLIS).build();
    return redis.clients.jedis.RedisClusterClient.builder()
        .nodes(Set.of(new HostAndPort("127.0.0.1", of.node("b").respPort())))
        .clientConfig(config)
        .build();
  }

  private static RedisClusterClient lettuce(ServingCluster of) {
    RedisURI uri =
        RedisURI.builder()
            .withHost("127.0.0.1")
            .withPort(of.node("c").respPort())
            .withPassword(TOKEN.toCharArray())
            .withTimeout(Duration.ofMillis(PATIENCE_MILLIS))
            .build();
    return RedisClusterClient.create(uri);
  }

  private static void close(RedisClusterClient client) {
    client.shutdown(0, 10, TimeUnit.SECONDS);
  }

  @Test
  void jedisReadsEverything() throws IOException {
    Map<String, String> records = records("v");
    ServingCluster nodes = start(Serving.build(folder.resolve("db"), records));
    try (redis.clients.jedis.RedisClusterClient jedis = jedis(nodes, TOKEN)) {
      for (Map.Entry<String, String> each : records.entrySet()) {
        assertThat(jedis.get(each.getKey())).isEqualTo(each.getValue());
      }
      assertThat(jedis.get("absent")).isNull();
      assertThat(jedis.mget("k1", "{k1}absent")).containsExactly("v of k1", null);
      try (ClusterPipeline pipeline = jedis.pipelined()) {
        Map<String, Response<String>> found = new TreeMap<>();
        records.keySet().forEach(key -> found.put(key, pipeline.get(key)));
        pipeline.sync();
        found.forEach((key, value) -> assertThat(value.get()).isEqualTo(records.get(key)));
      }
      // Jedis scans replicas, too, as it does with Redis, so a key comes twice.
      assertThat(jedis.scanIteration(BATCH, "*").collect(new TreeSet<>()))
          .isEqualTo(records.keySet());
      assertThat(jedis.dbSize()).isEqualTo(RECORDS);
      assertThatExceptionOfType(JedisDataException.class)
          .isThrownBy(() -> jedis.set("k1", "x"))
          .withMessageStartingWith("READONLY");
    }
    assertThatExceptionOfType(RuntimeException.class)
        .isThrownBy(() -> jedis(nodes, "wrong").get("k1"));
  }

  @Test
  void lettuceReadsEverythingFromPrimariesAndReplicas() throws Exception {
    Map<String, String> records = records("v");
    ServingCluster nodes = start(Serving.build(folder.resolve("db"), records));
    RedisClusterClient client = lettuce(nodes);
    try (StatefulRedisClusterConnection<String, String> connection = client.connect()) {
      for (ReadFrom from : List.of(ReadFrom.UPSTREAM, ReadFrom.REPLICA)) {
        connection.setReadFrom(from);
        List<RedisFuture<String>> later =
            records.keySet().stream().map(connection.async()::get).toList();
        List<String> found = new ArrayList<>();
        for (RedisFuture<String> each : later) {
          found.add(each.get(1, TimeUnit.MINUTES));
        }
        assertThat(found).containsExactlyElementsOf(records.values());
        List<String> keys = List.copyOf(records.keySet());
        for (int i = 0; i < RECORDS; i += BATCH) {
          List<String> some = keys.subList(i, i + BATCH);
          assertThat(connection.sync().mget(some.toArray(String[]::new)))
              .allSatisfy(each -> assertThat(each.getValue()).isEqualTo("v of " + each.getKey()));
        }
      }
      assertThat(connection.sync().get("absent")).isNull();
      assertThat(connection.sync().dbsize()).isEqualTo(RECORDS);
      assertThat(connection.sync().clusterMyId()).hasSize(40);
      assertThat(connection.sync().clusterCountKeysInSlot(KeyRouting.slot("k1".getBytes(UTF_8))))
          .isLessThanOrEqualTo(5);
      assertThatExceptionOfType(RedisReadOnlyException.class)
          .isThrownBy(() -> connection.sync().set("k1", "x"));
    } finally {
      close(client);
    }
    for (String name : List.of("a2", "b2", "c2")) {
      assertThat(answered(nodes.node(name))).as(name + " has answered").isPositive();
    }
  }

  private static double answered(Serving node) throws IOException {
    try (Wire wire = node.administrate()) {
      String page = wire.get("/metrics").text();
      return page.lines()
          .filter(line -> line.startsWith("bsdb_lookup_hits_total "))
          .mapToDouble(line -> Double.parseDouble(line.split(" ", 2)[1]))
          .sum();
    }
  }

  private void publish(String version) throws IOException {
    Path database = Serving.build(folder.resolve(version), records(version));
    CommandRun run =
        CommandRun.bsdb(
            "publish",
            database.toString(),
            folder.resolve("store").toString(),
            "--version",
            version);
    assertThat(run.code()).as(run.toString()).isZero();
  }

  /** Reads until it is told to end; returns how often. */
  private interface Reader {
    void read(List<String> keys) throws Exception;
  }

  private static int poll(AtomicBoolean done, long seed, Reader reader) throws Exception {
    Random random = new Random(seed);
    int calls = 0;
    do {
      List<String> keys = random.ints(20, 0, RECORDS).mapToObj(i -> "k" + i).toList();
      reader.read(keys);
      calls++;
    } while (!done.get());
    return calls;
  }

  private static void isRight(String key, @Nullable String value) {
    assertThat(value).isIn("v1 of " + key, "v2 of " + key);
  }

  @Test
  void noCallFailsWhileSlotsMoveAndVersionsAreSwapped() throws Exception {
    publish("v1");
    publish("v2");
    ServingCluster nodes = start(folder.resolve("store"));
    AtomicBoolean done = new AtomicBoolean();
    ExecutorService clients = Executors.newFixedThreadPool(3);
    RedisClusterClient lettuce = lettuce(nodes);
    List<Future<Integer>> results = new ArrayList<>();
    try (redis.clients.jedis.RedisClusterClient jedis = jedis(nodes, TOKEN);
        StatefulRedisClusterConnection<String, String> connection = lettuce.connect()) {
      results.add(
          clients.submit(
              () -> poll(done, 1, keys -> keys.forEach(key -> isRight(key, jedis.get(key))))));
      results.add(
          clients.submit(
              () ->
                  poll(
                      done,
                      2,
                      keys -> {
                        for (String key : keys) {
                          isRight(key, connection.sync().get(key));
                        }
                      })));
      results.add(
          clients.submit(
              () ->
                  poll(
                      done,
                      3,
                      keys ->
                          connection
                              .sync()
                              .mget(keys.toArray(String[]::new))
                              .forEach(each -> isRight(each.getKey(), each.getValue())))));
      try {
        disturb(nodes, results);
      } finally {
        done.set(true);
        clients.shutdown();
      }
      for (Future<Integer> result : results) {
        assertThat(result.get(2, TimeUnit.MINUTES)).isPositive();
      }
    } finally {
      close(lettuce);
    }
    for (String name : List.of("a", "b", "c")) {
      assertThat(nodes.node(name).said()).doesNotContain("failed", "stays as it is");
    }
  }

  /** Moves slots and swaps versions, until a client fails or all is done. */
  private void disturb(ServingCluster nodes, List<Future<Integer>> clients) throws Exception {
    Random random = new Random(4);
    int swapped = 0;
    for (int move = 1; move <= MOVES; move++) {
      int first = 1 + random.nextInt(8_000);
      int second = first + 1 + random.nextInt(8_000);
      List<String> slots =
          new ArrayList<>(
              List.of(
                  "0-" + (first - 1),
                  first + "-" + (second - 1),
                  second + "-" + (KeyRouting.SLOTS - 1)));
      Collections.shuffle(slots, random);
      nodes.write(slots); // each node finds it at its own time
      for (; swapped < SWAPS * move / MOVES; swapped++) {
        Path next =
            Files.writeString(folder.resolve("CURRENT"), swapped % 2 == 0 ? "v1\n" : "v2\n");
        Files.move(next, folder.resolve("store/CURRENT"), REPLACE_EXISTING);
        waitFor(nodes, "bsdb_version_swaps_total", swapped, clients);
      }
      waitFor(nodes, "bsdb_cluster_topology_changes_total", move, clients); // 1 came with the ports
      long until = System.nanoTime() + HANDOVER.plusMillis(500).toNanos();
      while (System.nanoTime() - until < 0) {
        clients.forEach(RedisClusterClientsTest::hasNotFailed);
        Serving.pause();
      }
    }
  }

  private static void hasNotFailed(Future<Integer> client) {
    if (client.isDone()) {
      try {
        client.get();
      } catch (InterruptedException | ExecutionException e) {
        throw new AssertionError("a client has failed", e);
      }
    }
  }

  /** Waits until each node has counted more than this. */
  private static void waitFor(
      ServingCluster nodes, String metric, int more, List<Future<Integer>> clients)
      throws IOException {
    for (Serving node : nodes.all()) {
      while (node.metric(metric) <= more) {
        clients.forEach(RedisClusterClientsTest::hasNotFailed);
        Serving.pause();
      }
    }
  }
}
