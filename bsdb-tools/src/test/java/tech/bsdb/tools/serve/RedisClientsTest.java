package tech.bsdb.tools.serve;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.KeyValue;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisConnectionException;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.RedisReadOnlyException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.ScanArgs;
import io.lettuce.core.ScanIterator;
import io.lettuce.core.TrackingArgs;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.protocol.ProtocolVersion;
import io.lettuce.core.support.caching.CacheAccessor;
import io.lettuce.core.support.caching.CacheFrontend;
import io.lettuce.core.support.caching.ClientSideCaching;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.Pipeline;
import redis.clients.jedis.RedisProtocol;
import redis.clients.jedis.Response;
import redis.clients.jedis.csc.CacheConfig;
import redis.clients.jedis.exceptions.JedisAccessControlException;
import redis.clients.jedis.exceptions.JedisDataException;
import tech.bsdb.Rounds;
import tech.bsdb.Sampled;
import tech.bsdb.tools.CommandRun;
import tech.bsdb.tools.rows.TypedDatabase;

/** Jedis and Lettuce against a served database. */
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RedisClientsTest {
  /** Instead of two seconds, which a busy machine may take. */
  private static final int PATIENCE_MILLIS = 60_000;

  private static final String TOKEN = "a-token";
  private static final int RECORDS = 20_000;
  private static final int BATCH = 1000;
  private static final int SWAPS = Rounds.of(2);

  @TempDir Path folder;
  private @Nullable Serving serving;

  @AfterEach
  void end() {
    if (serving != null) {
      serving.close();
    }
  }

  private Serving serve(Path directory) throws IOException {
    Serving started = new Serving(directory);
    serving = started;
    started.resp = true;
    started.tokens = Files.writeString(folder.resolve("tokens"), TOKEN + "\n");
    return started.start();
  }

  private Serving serving() {
    if (serving == null) {
      throw new IllegalStateException("not started");
    }
    return serving;
  }

  private static Map<String, String> records() {
    Map<String, String> records = new TreeMap<>();
    records.put("apple", "a fruit");
    for (int i = 1; i < RECORDS; i++) {
      records.put("k" + i, "größer ".repeat(i % 7) + i);
    }
    return records;
  }

  private static List<List<String>> batches(Map<String, String> records) {
    List<String> keys = List.copyOf(records.keySet());
    List<List<String>> batches = new ArrayList<>();
    for (int from = 0; from < keys.size(); from += BATCH) {
      batches.add(keys.subList(from, Math.min(keys.size(), from + BATCH)));
    }
    return batches;
  }

  private static List<String> values(List<String> keys, Map<String, String> records) {
    return keys.stream().map(key -> String.valueOf(records.get(key))).toList();
  }

  private static JedisClientConfig config(RedisProtocol protocol) {
    return DefaultJedisClientConfig.builder()
        .password(TOKEN)
        .protocol(protocol)
        .timeoutMillis(PATIENCE_MILLIS)
        .build();
  }

  private redis.clients.jedis.RedisClient pooled(RedisProtocol protocol) {
    return redis.clients.jedis.RedisClient.builder()
        .hostAndPort("127.0.0.1", serving().respPort())
        .clientConfig(config(protocol))
        .build();
  }

  private RedisURI uri(String token) {
    return RedisURI.builder()
        .withHost("127.0.0.1")
        .withPort(serving().respPort())
        .withPassword(token.toCharArray())
        .build();
  }

  private static void close(RedisClient client) {
    client.shutdown(0, 10, TimeUnit.SECONDS);
  }

  @ParameterizedTest
  @EnumSource(names = {"RESP2", "RESP3"})
  void jedisReadsEverything(RedisProtocol protocol) throws Exception {
    Map<String, String> records = records();
    int port = serve(Serving.build(folder.resolve("db"), records)).respPort();
    try (Jedis jedis = new Jedis("127.0.0.1", port, config(protocol))) {
      assertThat(jedis.ping()).isEqualTo("PONG");
      assertThat(jedis.get("apple")).isEqualTo("a fruit");
      assertThat(jedis.get("absent")).isNull();
      assertThat(jedis.exists("apple", "absent")).isEqualTo(1);
      assertThat(jedis.strlen("apple")).isEqualTo(7);
      assertThat(jedis.getrange("apple", 2, -1)).isEqualTo("fruit");
      assertThat(jedis.ttl("apple")).isEqualTo(-1);
      assertThat(jedis.dbSize()).isEqualTo(RECORDS);
      Pipeline pipeline = jedis.pipelined();
      for (List<String> keys : batches(records)) {
        List<Response<String>> found = keys.stream().map(pipeline::get).toList();
        pipeline.sync();
        assertThat(found.stream().map(Response::get).toList()).isEqualTo(values(keys, records));
      }
      isReadOnly(() -> jedis.set("apple", "x"));
      assertThat(jedis.get("apple")).isEqualTo("a fruit");
    }
    try (redis.clients.jedis.RedisClient client = pooled(protocol)) {
      for (List<String> keys : batches(records)) {
        assertThat(client.mget(keys.toArray(String[]::new))).isEqualTo(values(keys, records));
      }
      assertThat(client.mget("absent", "apple")).containsExactly(null, "a fruit");
      List<String> scanned =
          new ArrayList<>(client.scanIteration(BATCH, "*").collect(new ArrayList<>()));
      assertThat(scanned).hasSize(RECORDS);
      assertThat(new TreeSet<>(scanned)).isEqualTo(records.keySet());
      isReadOnly(() -> client.del("apple"));
    }
    assertThatExceptionOfType(JedisAccessControlException.class)
        .isThrownBy(
            () ->
                new Jedis(
                        "127.0.0.1",
                        port,
                        DefaultJedisClientConfig.builder().password("wrong").build())
                    .close());
  }

  private static void isReadOnly(org.assertj.core.api.ThrowableAssert.ThrowingCallable write) {
    assertThatExceptionOfType(JedisDataException.class)
        .isThrownBy(write)
        .withMessageStartingWith("READONLY");
  }

  @Sampled(2)
  @ParameterizedTest
  @EnumSource
  void lettuceReadsEverything(ProtocolVersion protocol) throws Exception {
    Map<String, String> records = records();
    serve(Serving.build(folder.resolve("db"), records));
    RedisClient client = RedisClient.create(uri(TOKEN));
    client.setOptions(ClientOptions.builder().protocolVersion(protocol).build());
    try (StatefulRedisConnection<String, String> connection = client.connect()) {
      RedisCommands<String, String> redis = connection.sync();
      assertThat(redis.ping()).isEqualTo("PONG");
      assertThat(redis.get("absent")).isNull();
      assertThat(redis.exists("apple", "absent")).isEqualTo(1);
      assertThat(redis.dbsize()).isEqualTo(RECORDS);
      for (List<String> keys : batches(records)) {
        List<RedisFuture<String>> later = keys.stream().map(connection.async()::get).toList();
        List<String> found = new ArrayList<>();
        for (KeyValue<String, String> value : redis.mget(keys.toArray(String[]::new))) {
          found.add(value.getValue());
        }
        assertThat(found).isEqualTo(values(keys, records));
        for (int i = 0; i < found.size(); i++) {
          assertThat(later.get(i).get(1, TimeUnit.MINUTES)).isEqualTo(found.get(i));
        }
      }
      assertThat(redis.mget("absent").get(0).hasValue()).isFalse();
      List<String> scanned =
          ScanIterator.scan(redis, ScanArgs.Builder.limit(BATCH)).stream().toList();
      assertThat(scanned).hasSize(RECORDS);
      assertThat(new TreeSet<>(scanned)).isEqualTo(records.keySet());
      assertThatExceptionOfType(RedisReadOnlyException.class)
          .isThrownBy(() -> redis.set("apple", "x"));
      assertThat(redis.get("apple")).isEqualTo("a fruit");
      assertThatExceptionOfType(RedisConnectionException.class)
          .isThrownBy(() -> client.connect(uri("wrong")).close());
    } finally {
      close(client);
    }
  }

  @Test
  void rowsAreHashes() throws Exception {
    serve(TypedDatabase.build(folder.resolve("db")));
    Map<String, String> apple = new HashMap<>();
    apple.put("id", "1");
    apple.put("unit.price", "1.50");
    apple.put("name", "Apple \"red\"");
    for (RedisProtocol protocol : List.of(RedisProtocol.RESP2, RedisProtocol.RESP3)) {
      try (redis.clients.jedis.RedisClient client = pooled(protocol)) {
        assertThat(client.hgetAll("apple")).isEqualTo(apple);
        assertThat(client.hgetAll("absent")).isEmpty();
        assertThat(client.hget("pear", "id")).isEqualTo("9007199254740992");
        assertThat(client.hmget("pear", "name", "unit.price", "colour"))
            .containsExactly("Pear", null, null);
        assertThat(client.hkeys("pear")).containsExactlyInAnyOrder("id", "name");
        assertThat(client.type("apple")).isEqualTo("hash");
        assertThatExceptionOfType(JedisDataException.class)
            .isThrownBy(() -> client.get("apple"))
            .withMessageStartingWith("WRONGTYPE");
        isReadOnly(() -> client.hset("apple", "name", "x"));
      }
    }
    RedisClient client = RedisClient.create(uri(TOKEN));
    try (StatefulRedisConnection<String, String> connection = client.connect()) {
      RedisCommands<String, String> redis = connection.sync();
      assertThat(redis.hgetall("apple")).isEqualTo(apple);
      assertThat(redis.hvals("pear")).containsExactly("9007199254740992", "Pear");
      assertThat(redis.hlen("pear")).isEqualTo(2);
      assertThatExceptionOfType(RedisCommandExecutionException.class)
          .isThrownBy(() -> redis.get("apple"))
          .withMessageStartingWith("WRONGTYPE");
    } finally {
      close(client);
    }
  }

  private void publish(int version) throws IOException {
    Map<String, String> records = new TreeMap<>();
    for (int i = 0; i < 500; i++) {
      records.put("k" + i, version + "-k" + i);
    }
    Path database = Serving.build(folder.resolve("db" + version), records);
    CommandRun run =
        CommandRun.bsdb(
            "publish",
            database.toString(),
            folder.resolve("store").toString(),
            "--version",
            "v" + version,
            "--keep",
            "1");
    assertThat(run.code()).as(run.toString()).isZero();
  }

  @Test
  void noCallFailsWhenTheVersionIsSwapped() throws Exception {
    publish(0);
    serve(folder.resolve("store"));
    AtomicInteger published = new AtomicInteger();
    AtomicBoolean done = new AtomicBoolean();
    ExecutorService clients = Executors.newFixedThreadPool(3);
    List<Future<Integer>> results = new ArrayList<>();
    RedisClient lettuce = RedisClient.create(uri(TOKEN));
    try (redis.clients.jedis.RedisClient jedis = pooled(RedisProtocol.RESP3);
        StatefulRedisConnection<String, String> connection = lettuce.connect()) {
      String[] keys = new String[500];
      for (int i = 0; i < keys.length; i++) {
        keys[i] = "k" + i;
      }
      results.add(clients.submit(() -> poll(published, done, seen -> whole(jedis.mget(keys)))));
      results.add(clients.submit(() -> poll(published, done, i -> one(jedis.get("k" + i), i))));
      results.add(
          clients.submit(() -> poll(published, done, i -> one(connection.sync().get("k" + i), i))));
      try (Wire admin = serving().administrate()) {
        for (int version = 1; version <= SWAPS; version++) {
          published.set(version);
          publish(version);
          Wire.Response reloaded =
              admin.post("/reload", "Authorization: Bearer " + TOKEN + "\r\n", new byte[0]);
          assertThat(reloaded.text()).contains("\"version\":\"v" + version + "\"");
        }
      } finally {
        done.set(true);
        clients.shutdown();
      }
      for (Future<Integer> result : results) {
        assertThat(result.get(1, TimeUnit.MINUTES)).isEqualTo(SWAPS);
      }
    } finally {
      close(lettuce);
    }
  }

  /** Caches in clients: the server tells them of each new version, a moment after it serves it. */
  @Test
  void cachesOfJedisAndLettuceSeeNewVersions() throws Exception {
    Serving served = serve(Serving.publish(folder, 0));
    RedisClient lettuce = RedisClient.create(uri(TOKEN));
    Map<String, String> kept = new ConcurrentHashMap<>();
    try (var jedis =
            redis.clients.jedis.RedisClient.builder()
                .hostAndPort("127.0.0.1", served.respPort())
                .clientConfig(config(RedisProtocol.RESP3))
                .cacheConfig(CacheConfig.builder().maxSize(1000).build())
                .build();
        StatefulRedisConnection<String, String> connection = lettuce.connect();
        CacheFrontend<String, String> cached =
            ClientSideCaching.enable(
                CacheAccessor.forMap(kept), connection, TrackingArgs.Builder.enabled());
        Wire admin = served.administrate()) {
      for (int version = 0; version <= 3; version++) {
        String value = String.valueOf(version);
        if (version > 0) {
          Path unused = Serving.publish(folder, version);
          assertThat(admin.post("/reload", "", new byte[0]).text()).contains("v" + version);
        }
        for (int i = 0; i < 600; i++) {
          String key = "k" + i;
          while (!value.equals(jedis.get(key)) || !value.equals(cached.get(key))) {
            Thread.onSpinWait(); // until the client has been told
          }
        }
        assertThat(jedis.get("k7")).isEqualTo(value);
        assertThat(kept).hasSize(600).containsValue(value).doesNotContainValue("" + (version - 1));
      }
      assertThat(jedis.getCache().getStats().getHitCount()).isPositive();
    } finally {
      close(lettuce);
    }
  }

  /** Reads until the last version has been seen; versions never go back. */
  private static int poll(
      AtomicInteger published, AtomicBoolean done, ToIntFunction<Integer> versionOfAnswer) {
    int seen = 0;
    for (int i = 0; !done.get() || i == 0; i = (i + 1) % 500) {
      int now = versionOfAnswer.applyAsInt(i);
      assertThat(now).isBetween(seen, published.get());
      seen = now;
    }
    return versionOfAnswer.applyAsInt(7);
  }

  private static int one(@Nullable String value, int key) {
    assertThat(value).endsWith("-k" + key);
    return Integer.parseInt(String.valueOf(value).split("-", 2)[0]);
  }

  private static int whole(List<String> values) {
    int version = one(values.get(0), 0);
    for (int i = 0; i < 500; i++) {
      assertThat(values.get(i)).as("one version in an MGET").isEqualTo(version + "-k" + i);
    }
    return version;
  }

  @Test
  void theExampleInTheDocumentationRuns() throws Exception {
    int port = serve(Serving.build(folder.resolve("db"), records())).respPort();
    URI uri = URI.create("redis://:" + TOKEN + "@127.0.0.1:" + port);
    List<String> seen = new ArrayList<>();
    // begin of the example
    try (var client = redis.clients.jedis.RedisClient.create(uri)) { // redis://:TOKEN@host:port
      seen.add(client.get("apple"));
      seen.addAll(client.mget("apple", "plum")); // null for an absent key
    }
    // end of the example
    assertThat(seen).containsExactly("a fruit", "a fruit", null);
    Path root = Path.of(System.getProperty("basedir", "")).resolve("..");
    String page = Files.readString(root.resolve("docs/REDIS.md"));
    Path self =
        root.resolve("bsdb-tools/src/test/java/tech/bsdb/tools/serve/RedisClientsTest.java");
    String code = Files.readString(self, UTF_8);
    String body = code.substring(code.indexOf("begin of the example\n"));
    body = body.substring(body.indexOf('\n') + 1, body.indexOf("    // end of the example"));
    assertThat(page).contains(body.stripTrailing().stripIndent());
    Path clients = root.resolve("build-support/redis-clients");
    for (String file :
        List.of(
            "python/example.py",
            "node/example.mjs",
            "go/example/main.go",
            "rust/src/bin/example.rs")) {
      assertThat(page).as(file).contains(Files.readString(clients.resolve(file)).strip());
    }
  }
}
