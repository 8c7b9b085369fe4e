package tech.bsdb.tools.serve;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import redis.clients.jedis.exceptions.JedisAccessControlException;
import tech.bsdb.tools.CommandRun;
import tech.bsdb.tools.serve.Wire.Response;
import tech.bsdb.tools.serve.dataset.DataSetLocations;

/** What tokens with settings may do, over HTTP and the protocol of Redis. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ScopesTest {
  private static final String TOKENS =
      """
      all
      items name=shop sets=items
      keyless name=reader sets=users allow=get
      scanner sets=us* allow=scan,keys
      counter sets=users,1*
      monitor name=prometheus sets=none allow=metrics
      """;
  private static final String NO_KEYS =
      "-NOPERM this user has no permissions to access one of the keys used as arguments\r\n";
  private static final String NO_SET =
      "-NOPERM this user has no permissions to access this data set\r\n";
  private static final String OK = "+OK\r\n";
  private static final String USERS = "$8\r\nof users\r\n";
  private static final String NO_LONGER =
      "-NOPERM ACLs rules changed between the moment the transaction was accumulated and the EXEC"
          + " call. This command is no longer allowed for the following reason: no permission to"
          + " execute the command or subcommand\r\n";

  @TempDir Path folder;
  private Serving serving;

  /** Users have the number 0, items 1. */
  @BeforeEach
  void start() throws IOException {
    Map<String, Path> directories = new LinkedHashMap<>();
    for (String name : List.of("users", "items")) {
      directories.put(
          name, Serving.buildOrdered(folder.resolve(name), Map.of("k", "of " + name, "l", "")));
    }
    serving = new Serving(folder);
    serving.data = DataSetLocations.named(directories);
    serving.resp = true;
    serving.tokens = Files.writeString(folder.resolve("tokens"), TOKENS);
    serving.start();
  }

  @AfterEach
  void end() {
    serving.close();
  }

  private void reload(String tokens) throws IOException {
    Files.writeString(folder.resolve("tokens"), tokens);
    serving.reloadFiles();
  }

  private static Response get(Wire wire, String token, String target) throws IOException {
    return wire.send(
            "GET " + target + " HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + token + "\r\n\r\n")
        .read();
  }

  private static Response post(Wire wire, String token, String target) throws IOException {
    String headers = "Authorization: Bearer " + token + "\r\nContent-Type: text/plain\r\n";
    return wire.post(target, headers, "k\n".getBytes(US_ASCII));
  }

  private static void assertForbidden(Response response, String why) {
    assertThat(response.status()).as(response.text()).isEqualTo(403);
    assertThat(response.headers().get("www-authenticate"))
        .isEqualTo("Bearer realm=\"bsdb\", error=\"insufficient_scope\"");
    assertThat(response.text())
        .isEqualTo("{\"error\":{\"status\":403,\"message\":\"" + why + "\"}}\n");
  }

  @Test
  void overHttpAClientReadsTheDataSetsOfItsScope() throws IOException {
    try (Wire wire = serving.connect()) {
      String forbidden = "this client may not read this data set";
      for (int i = 0; i < 3; i++) { // the later ones would be answered without decoding
        assertThat(get(wire, "all", "/bsdb/users/k").text()).isEqualTo("of users");
        assertThat(get(wire, "items", "/bsdb/items/k").text()).isEqualTo("of items");
        assertForbidden(get(wire, "items", "/bsdb/users/k"), forbidden);
      }
      String there = get(wire, "items", "/bsdb/users/none").text();
      for (String target :
          List.of("/bsdb/orders/none", "/bsdb/users", "/bsdb/", "/bsdb/users/?limit=1")) {
        Response response = get(wire, "items", target);
        assertForbidden(response, forbidden);
        assertThat(response.text()).as("the same, whether or not it exists").isEqualTo(there);
      }
      assertThat(get(wire, "items", "/bsdb/items/none").status()).isEqualTo(404);
      assertThat(get(wire, "scanner", "/bsdb/usage/k").text())
          .contains("the data sets are: users\"");
      assertThat(get(wire, "all", "/bsdb/orders/k").text()).contains("users, items");
      assertForbidden(post(wire, "items", "/bsdb/users/"), forbidden);
    }
    try (Wire wire = serving.connect()) {
      assertThat(post(wire, "items", "/bsdb/items/").text()).contains("of items");
    }
  }

  @Test
  void overHttpAClientDoesWhatItIsPermitted() throws IOException {
    try (Wire wire = serving.connect()) {
      String range = "/bsdb/users/?prefix=k";
      assertThat(get(wire, "keyless", "/bsdb/users/k").text()).isEqualTo("of users");
      assertForbidden(get(wire, "keyless", range), "this client lacks the permission \\\"scan\\\"");
      assertThat(get(wire, "scanner", range).text()).contains("of users");
      assertForbidden(
          get(wire, "scanner", "/bsdb/users/k"), "this client lacks the permission \\\"get\\\"");
      for (String page : List.of("/", "/metrics", "/stats", "/history", "/openapi.yaml")) {
        assertThat(get(wire, "monitor", page).status()).as(page).isEqualTo(200);
        assertThat(get(wire, "all", page).status()).as(page).isEqualTo(200);
        assertForbidden(
            get(wire, "items", page), "this client lacks the permission \\\"metrics\\\"");
      }
      assertForbidden(get(wire, "monitor", range), "this client may not read this data set");
      assertThat(get(wire, "items", "/else").status()).isEqualTo(404);
      assertThat(get(wire, "wrong", "/bsdb/users/k").status()).isEqualTo(401);
      assertForbidden(
          post(wire, "scanner", "/bsdb/users/"), "this client lacks the permission \\\"get\\\"");
    }
  }

  @Test
  void probesNameDataSetsToThoseWhoMayReadThem() throws IOException {
    try (Wire wire = serving.connect();
        Wire admin = serving.administrate()) {
      assertThat(wire.get("/readyz").text()).contains("\"ready\"").doesNotContain("users", "items");
      assertThat(get(wire, "wrong", "/readyz").text()).doesNotContain("users", "items");
      assertThat(get(wire, "items", "/readyz").text()).contains("items").doesNotContain("users");
      assertThat(get(wire, "all", "/readyz").text()).contains("items", "users");
      assertThat(admin.get("/readyz").text()).contains("items", "users");
      reload("all\n");
      assertThat(wire.get("/readyz").text()).as("as before scopes").contains("items", "users");
    }
  }

  @Test
  void openConnectionsFollowTheFile() throws IOException {
    try (Wire wire = serving.connect();
        RespWire redis = RespWire.to(serving.respPort())) {
      for (int i = 0; i < 3; i++) {
        assertThat(get(wire, "keyless", "/bsdb/users/k").status()).isEqualTo(200);
      }
      assertThat(redis.ask("AUTH", "keyless")).isEqualTo(OK);
      assertThat(redis.ask("MULTI")).isEqualTo(OK);
      assertThat(redis.ask("GET", "k")).isEqualTo("+QUEUED\r\n");
      reload("keyless sets=orders,\n");
      assertThat(serving.said()).contains("the new tokens are rejected", "tokens: line 1: sets=");
      assertThat(get(wire, "keyless", "/bsdb/users/k").status()).isEqualTo(200);
      reload("keyless sets=items allow=get\n");
      assertThat(get(wire, "keyless", "/bsdb/users/k").status()).isEqualTo(403);
      assertThat(redis.ask("EXEC")).isEqualTo("*1\r\n" + NO_LONGER);
      assertThat(redis.ask("GET", "k")).isEqualTo(NO_KEYS);
      reload("keyless\n");
      assertThat(get(wire, "keyless", "/bsdb/users/k").status()).isEqualTo(200);
      assertThat(redis.ask("GET", "k")).isEqualTo(USERS);
    }
  }

  @Test
  void redisClientsReadTheDataSetsOfTheirScope() throws IOException {
    try (RespWire wire = RespWire.to(serving.respPort())) {
      assertThat(wire.ask("AUTH", "items")).isEqualTo(OK);
      assertThat(wire.ask("GET", "k")).as("of data set 0").isEqualTo(NO_KEYS);
      assertThat(wire.ask("WATCH", "k")).isEqualTo(NO_KEYS);
      assertThat(wire.ask("SCAN", "0")).isEqualTo(NO_SET);
      assertThat(wire.ask("DBSIZE")).isEqualTo(NO_SET);
      for (String outside : List.of("users", "orders", "0", "7", "-1", "99999999999")) {
        assertThat(wire.ask("SELECT", outside)).as(outside).isEqualTo(NO_SET);
      }
      assertThat(wire.ask("SELECT", "items")).isEqualTo(OK);
      wire.send(RespWire.command("GET", "k"))
          .send(RespWire.command("MGET", "k", "x"))
          .send(RespWire.command("SELECT", "0"))
          .send(RespWire.command("EXISTS", "k", "l"))
          .send(RespWire.command("AUTH", "keyless"))
          .send(RespWire.command("GET", "k"))
          .send(RespWire.command("GET", "k"))
          .send(RespWire.command("SELECT", "0"))
          .send(RespWire.command("GET", "k"))
          .send(RespWire.command("SCAN", "0"));
      assertThat(wire.text()).isEqualTo("$8\r\nof items\r\n");
      assertThat(wire.text()).isEqualTo("*2\r\n$8\r\nof items\r\n$-1\r\n");
      assertThat(wire.text()).as("items stay selected").isEqualTo(NO_SET);
      assertThat(wire.text()).isEqualTo(":2\r\n");
      assertThat(wire.text()).isEqualTo(OK);
      assertThat(wire.text()).isEqualTo(NO_KEYS);
      assertThat(wire.text()).isEqualTo(NO_KEYS);
      assertThat(wire.text()).isEqualTo(OK);
      assertThat(wire.text()).isEqualTo(USERS);
      assertThat(wire.text()).isEqualTo(refused("scan"));
      assertThat(wire.ask("AUTH", "all")).isEqualTo(OK);
      assertThat(wire.ask("SELECT", "7")).isEqualTo("-ERR DB index is out of range\r\n");
      assertThat(wire.ask("RESET")).isEqualTo("+RESET\r\n");
      assertThat(wire.ask("GET", "k")).startsWith("-NOAUTH ");
    }
    try (RespWire wire = RespWire.to(serving.respPort())) {
      assertThat(wire.ask("AUTH", "scanner")).isEqualTo(OK);
      assertThat(wire.ask("SELECT", "usage")).startsWith("-ERR no data set is named 'usage'");
      assertThat(wire.ask("AUTH", "counter")).isEqualTo(OK);
      assertThat(wire.ask("SELECT", "1"))
          .as("as if there were one")
          .isEqualTo(wire.ask("SELECT", "17"));
    }
  }

  private static String refused(String command) {
    return "-NOPERM this user has no permissions to run the '" + command + "' command\r\n";
  }

  @Test
  void redisClientsGiveTheCommandsThatTheyArePermitted() throws IOException {
    try (RespWire wire = RespWire.to(serving.respPort())) {
      assertThat(wire.ask("AUTH", "scanner")).isEqualTo(OK);
      assertThat(wire.ask("KEYS", "k*")).isEqualTo("*1\r\n$1\r\nk\r\n");
      assertThat(wire.ask("DBSIZE")).isEqualTo(":2\r\n");
      for (String[] denied :
          List.of(
              new String[] {"GET", "k"},
              new String[] {"MGET", "k", "l"},
              new String[] {"OBJECT", "ENCODING", "k"},
              new String[] {"SINTERCARD", "1", "k"},
              new String[] {"SET", "k", "v"},
              new String[] {"INFO"},
              new String[] {"CLIENT", "LIST"},
              new String[] {"CONFIG", "GET", "databases"})) {
        String name = denied[0].toLowerCase(java.util.Locale.ROOT);
        boolean container = List.of("object", "client", "config").contains(name);
        assertThat(wire.ask(denied))
            .isEqualTo(
                refused(
                    container ? name + "|" + denied[1].toLowerCase(java.util.Locale.ROOT) : name));
      }
      for (String open : List.of("PING", "TIME", "COMMAND", "ROLE", "LASTSAVE")) {
        assertThat(wire.ask(open)).as(open).doesNotStartWith("-");
      }
      assertThat(wire.ask("ACL", "WHOAMI")).isEqualTo("$7\r\ndefault\r\n");
      assertThat(wire.ask("AUTH", "reader", "keyless")).isEqualTo(OK);
      assertThat(wire.ask("ACL", "WHOAMI")).isEqualTo("$6\r\nreader\r\n");
      assertThat(wire.ask("CLIENT", "INFO")).contains(" user=reader ").doesNotContain("keyless");
      assertThat(wire.ask("AUTH", "shop", "keyless")).startsWith("-WRONGPASS ");
      assertThat(wire.ask("AUTH", "", "all")).startsWith("-WRONGPASS ");
      assertThat(wire.ask("MULTI")).isEqualTo(OK);
      assertThat(wire.ask("KEYS", "*")).isEqualTo(refused("keys"));
      assertThat(wire.ask("GET", "k")).isEqualTo("+QUEUED\r\n");
      assertThat(wire.ask("EXEC")).startsWith("-EXECABORT ");
      assertThat(wire.ask("HELLO", "3", "AUTH", "prometheus", "monitor")).startsWith("%7\r\n");
      assertThat(wire.ask("INFO", "keyspace")).contains("db0", "db1");
      assertThat(wire.ask("GET", "k")).isEqualTo(refused("get"));
    }
    assertThat(serving.metric("bsdb_resp_errors_total{code=\"NOPERM\"}")).isEqualTo(10);
  }

  @Test
  void jedisIsToldInItsOwnWay() {
    String at = "127.0.0.1:" + serving.respPort();
    try (var jedis =
        redis.clients.jedis.RedisClient.create(URI.create("redis://shop:items@" + at + "/1"))) {
      assertThat(jedis.get("k")).isEqualTo("of items");
      assertThatThrownBy(() -> jedis.info()).isInstanceOf(JedisAccessControlException.class);
    }
  }

  @Tag("nightly")
  @Test
  void lettuceIsToldInItsOwnWay() {
    String at = "127.0.0.1:" + serving.respPort();
    RedisClient lettuce = RedisClient.create(RedisURI.create("redis://reader:keyless@" + at));
    try (StatefulRedisConnection<String, String> connection = lettuce.connect()) {
      assertThat(connection.sync().get("k")).isEqualTo("of users");
      assertThatThrownBy(() -> connection.sync().select(1))
          .isInstanceOf(RedisCommandExecutionException.class)
          .hasMessageStartingWith("NOPERM ");
      assertThat(connection.sync().get("k")).isEqualTo("of users");
    } finally {
      lettuce.shutdown(0, 0, java.util.concurrent.TimeUnit.SECONDS);
    }
  }

  @Test
  void theAccessLogNamesClientsByTheirNamesAlone() throws IOException {
    serving.close();
    Path log = folder.resolve("access.log");
    serving.accessLog = log.toString();
    serving.start();
    try (Wire wire = serving.connect()) {
      get(wire, "keyless", "/bsdb/users/k");
      get(wire, "items", "/bsdb/users/k");
      get(wire, "all", "/bsdb/users/k");
      get(wire, "wrong", "/bsdb/users/k");
      wire.get("/healthz");
    }
    serving.close();
    assertThat(Files.readAllLines(log))
        .satisfiesExactly(
            line -> assertThat(line).matches(".* 200 8 \\d+ reader"),
            line -> assertThat(line).matches(".* 403 \\d+ \\d+ shop"),
            line -> assertThat(line).matches(".* 200 8 \\d+"),
            line -> assertThat(line).matches(".* 401 \\d+ \\d+"),
            line -> assertThat(line).matches(".* 200 \\d+ \\d+"));
  }

  @Test
  void aMalformedLineEndsTheStart() throws IOException {
    Path tokens = Files.writeString(folder.resolve("bad"), "good\nsecret sets=users allow=put\n");
    CommandRun run =
        CommandRun.bsdb(
            "serve", "-d", "users=" + folder.resolve("users"), "--token-file", tokens.toString());
    assertThat(run.code()).as(run.toString()).isEqualTo(2);
    assertThat(run.err())
        .contains(tokens + ": line 2: allow= takes words separated by commas: get, scan, keys, met")
        .doesNotContain("secret");
  }
}
