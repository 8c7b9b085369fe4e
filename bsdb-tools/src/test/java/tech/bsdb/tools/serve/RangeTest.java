package tech.bsdb.tools.serve;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URLEncoder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tech.bsdb.BuildOptions;
import tech.bsdb.Database;
import tech.bsdb.Layout;
import tech.bsdb.OpenOptions;
import tech.bsdb.OpenOptions.Engine;
import tech.bsdb.tools.PartialSets;
import tech.bsdb.tools.rows.TypedDatabase;
import tech.bsdb.tools.serve.Wire.Response;
import tech.bsdb.tools.serve.dataset.DataSetLocations;

/** Ranges of keys over HTTP. */
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RangeTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final BuildOptions ORDERED = BuildOptions.defaults().withOrderedKeys(true);
  private static final Map<String, String> FRUIT =
      Map.of(
          "apple", "red", "apple:1", "a", "apple:2", "", "pear", "green", "a+b", "plus", "a b",
          "blank", "é", "ü", "", "nothing");

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
    return started.start();
  }

  private Serving serveFruit() throws IOException {
    return serve(Serving.buildOrdered(folder.resolve("db"), FRUIT));
  }

  /** Keys that begin alike, of any bytes. */
  private static NavigableMap<byte[], byte[]> records(int count, int longest) {
    Random random = new Random(5);
    NavigableMap<byte[], byte[]> records = new TreeMap<>(Arrays::compareUnsigned);
    records.put(new byte[0], "of the empty key".getBytes(UTF_8));
    while (records.size() < count) {
      byte[] key = new byte[1 + random.nextInt(6)];
      random.nextBytes(key);
      key[0] &= 3;
      if (random.nextBoolean()) {
        key[key.length - 1] = (byte) 0xFF;
      }
      byte[] value = new byte[random.nextInt(longest)];
      Arrays.fill(value, (byte) ('a' + random.nextInt(26)));
      records.put(key, value);
    }
    return records;
  }

  private static String hex(byte[] key) {
    return HexFormat.of().formatHex(key);
  }

  /** The lines of records with keys in hex. */
  private static List<String> lines(Map<byte[], byte[]> records) {
    return records.entrySet().stream()
        .map(
            each ->
                "{\"key\":\""
                    + hex(each.getKey())
                    + "\",\"value\":\""
                    + new String(each.getValue(), UTF_8)
                    + "\"}")
        .toList();
  }

  private static List<String> lines(Response page) {
    String text = new String(page.body(), UTF_8);
    assertThat(page.status()).as(text).isEqualTo(200);
    assertThat(page.headers())
        .containsEntry("content-type", "application/x-ndjson")
        .containsKey("bsdb-version")
        .doesNotContainKey("etag");
    return text.lines().toList();
  }

  @ParameterizedTest
  @CsvSource({
    "AUTO, BLOCKED, false, false, 7",
    "MAPPED, PACKED, false, true, 100",
    "BUFFERED, COMPRESSED, true, false, 300",
    "MEMORY, PACKED_COMPRESSED, true, true, 10000"
  })
  void pagesAreTheWhole(Engine engine, Layout layout, boolean async, boolean reverse, int limit)
      throws IOException {
    NavigableMap<byte[], byte[]> records = records(1500, 40);
    Serving server =
        new Serving(Serving.buildBytes(folder.resolve("db"), records, ORDERED.withLayout(layout)));
    serving = server;
    server.open = OpenOptions.defaults().withEngine(engine);
    server.async = async;
    server.start();
    List<String> all = new ArrayList<>();
    try (Wire wire = server.connect()) {
      String query = "/bsdb/?key_encoding=hex&reverse=" + reverse + "&limit=" + limit;
      String version = wire.get(query).headers().get("bsdb-version");
      List<String> page = lines(wire.get(query));
      all.addAll(page);
      while (page.size() == limit) {
        String last = page.get(limit - 1).replaceFirst(".\"key\":\"([0-9a-f]*)\".*", "$1");
        page = lines(wire.get(query + "&version=" + version + "&after=" + last));
        assertThat(page).hasSizeLessThanOrEqualTo(limit);
        all.addAll(page);
      }
    }
    assertThat(all).isEqualTo(lines(reverse ? records.descendingMap() : records));
    int again = Math.min(limit, records.size());
    assertThat(server.metric("bsdb_lookup_hits_total")).isEqualTo(records.size() + again);
    assertThat(server.metric("bsdb_lookup_misses_total")).isZero();
    assertThat(server.metric("bsdb_lookups_in_flight")).isZero();
  }

  @Test
  void boundsArePutTogether() throws IOException {
    NavigableMap<byte[], byte[]> records = records(800, 3);
    List<byte[]> keys = new ArrayList<>(records.keySet());
    Serving server = serve(Serving.buildBytes(folder.resolve("db"), records, ORDERED));
    Random random = new Random(9);
    try (Wire wire = server.connect()) {
      for (int i = 0; i < 300; i++) {
        NavigableMap<byte[], byte[]> expected = records;
        StringBuilder query = new StringBuilder("limit=10000&key_encoding=hex");
        boolean reverse = random.nextBoolean();
        if (reverse) {
          query.append("&reverse=true");
        }
        if (random.nextInt(3) == 0) {
          byte[] key = keys.get(random.nextInt(keys.size()));
          byte[] prefix = Arrays.copyOf(key, random.nextInt(Math.min(3, key.length + 1)));
          query.append("&prefix=").append(hex(prefix));
          NavigableMap<byte[], byte[]> those = new TreeMap<>(Arrays::compareUnsigned);
          expected.forEach(
              (each, value) -> {
                if (hex(each).startsWith(hex(prefix))) {
                  those.put(each, value);
                }
              });
          expected = those;
        }
        for (String bound : List.of("from", "to", "after")) {
          if (random.nextInt(3) == 0) {
            byte[] key = keys.get(random.nextInt(keys.size()));
            if (random.nextInt(4) == 0) {
              key = Arrays.copyOf(key, key.length + 1);
            }
            query.append('&').append(bound).append('=').append(hex(key));
            boolean upper = bound.equals("to") || (bound.equals("after") && reverse);
            NavigableMap<byte[], byte[]> whole =
                upper ? records.headMap(key, false) : records.tailMap(key, bound.equals("from"));
            expected = new TreeMap<>(expected);
            expected.keySet().retainAll(whole.keySet());
          }
        }
        String target = "/bsdb/?" + query;
        List<String> whole = lines(reverse ? expected.descendingMap() : expected);
        assertThat(lines(wire.get(target))).as(target).isEqualTo(whole);
        assertThat(lines(wire.get(target + "&keys_only=true")))
            .as(target)
            .isEqualTo(whole.stream().map(line -> line.replaceFirst(",\"value\".*", "}")).toList());
        Response count = wire.get(target.replace("limit=10000", "limit=1") + "&count=true");
        assertThat(count.text()).as(target).isEqualTo("{\"count\":" + expected.size() + "}");
        assertThat(count.headers())
            .containsEntry("content-type", "application/json")
            .containsKey("bsdb-version");
      }
    }
  }

  @Test
  void textIsWrittenAsInABatch() throws IOException {
    try (Wire wire = serveFruit().connect()) {
      assertThat(new String(wire.get("/bsdb/?prefix=apple").body(), UTF_8))
          .isEqualTo(
              """
              {"key":"apple","value":"red"}
              {"key":"apple:1","value":"a"}
              {"key":"apple:2","value":""}
              """);
      assertThat(lines(wire.get("/bsdb/?prefix=a%2Bb")))
          .containsExactly("{\"key\":\"a+b\",\"value\":\"plus\"}");
      assertThat(lines(wire.get("/bsdb/?prefix=a+b")))
          .containsExactly("{\"key\":\"a b\",\"value\":\"blank\"}");
      assertThat(lines(wire.get("/bsdb/?from=%C3")))
          .containsExactly("{\"key\":\"é\",\"value\":\"ü\"}");
      assertThat(lines(wire.get("/bsdb/?after=apple%3A2&limit=1&keys_only=true")))
          .containsExactly("{\"key\":\"pear\"}");
      assertThat(lines(wire.get("/bsdb/?after=&to=apple%00&keys_only=true")))
          .as("an empty key is a bound like any other")
          .containsExactly("{\"key\":\"a b\"}", "{\"key\":\"a+b\"}", "{\"key\":\"apple\"}");
      assertThat(lines(wire.get("/bsdb/?to="))).isEmpty();
      assertThat(lines(wire.get("/bsdb/?from=x&to=b"))).isEmpty();
      String batch = FRUIT.keySet().stream().sorted().collect(Collectors.joining("\n"));
      byte[] asked = batch.getBytes(UTF_8);
      assertThat(wire.get("/bsdb/?limit=100").body())
          .isEqualTo(wire.post("/bsdb/", "Content-Type: text/plain\r\n", asked).body());
    }
  }

  @Test
  void keysAreGivenAndReturnedInTheSameEncoding() throws IOException {
    NavigableMap<byte[], byte[]> records = new TreeMap<>(Arrays::compareUnsigned);
    records.put(new byte[] {0, (byte) 0xFF}, "0".getBytes(UTF_8));
    records.put(new byte[] {(byte) 0xFB, (byte) 0xFF}, "1".getBytes(UTF_8));
    Serving server = serve(Serving.buildBytes(folder.resolve("db"), records, ORDERED));
    try (Wire wire = server.connect()) {
      assertThat(lines(wire.get("/bsdb/?prefix=%FB")))
          .containsExactly("{\"key\":{\"base64\":\"+/8=\"},\"value\":\"1\"}");
      for (byte[] key : records.keySet()) {
        String base64 = Base64.getUrlEncoder().withoutPadding().encodeToString(key);
        for (String given : List.of(base64, base64 + "%3D")) {
          assertThat(
                  lines(wire.get("/bsdb/?key_encoding=base64url&keys_only=true&prefix=" + given)))
              .containsExactly("{\"key\":\"" + base64 + "\"}");
        }
        assertThat(lines(wire.get("/bsdb/?key_encoding=hex&keys_only=true&prefix=" + hex(key))))
            .containsExactly("{\"key\":\"" + hex(key) + "\"}");
      }
    }
  }

  @Test
  void withoutARangeItIsTheEmptyKey() throws IOException {
    try (Wire wire = serveFruit().connect()) {
      for (String query : List.of("", "?", "?&", "?key_encoding=hex", "?&key_encoding=text&")) {
        assertThat(wire.get("/bsdb/" + query).text()).as(query).isEqualTo("nothing");
      }
      assertThat(wire.get("/bsdb/apple?limit=0&prefix=%zz&prefx=a").text()).isEqualTo("red");
    }
  }

  @Test
  void unknownParametersAreRefused() throws IOException {
    try (Wire wire = serveFruit().connect()) {
      for (String query :
          List.of("limt=1&prefix=a", "prefix=a&limt=1", "count=true&limt", "limt=", "li%6dt=1")) {
        isRefused(
            wire.get("/bsdb/?" + query),
            400,
            "unknown parameter limt; the parameters here are prefix, from, to, after, limit,"
                + " reverse, keys_only, count, key_encoding, fields, version");
        assertThat(head(wire, "/bsdb/?" + query).status()).as(query).isEqualTo(400);
      }
      isRefused(wire.get("/bsdb/?Limit=1"), 400, "unknown parameter Limit;");
      isRefused(wire.get("/bsdb/?prefix=a&=1"), 400, "unknown parameter ;");
      isRefused(wire.get("/bsdb/?with=version"), 400, "unknown parameter with;");
      isRefused(wire.get("/bsdb/?%22%0a=1"), 400, "unknown parameter \\\\x22\\\\x0a;");
      isRefused(wire.get("/bsdb/?prefix=a&%zz=1"), 400, "a percent sign");
      assertThat(
              wire.post("/bsdb/?limt=1", "Content-Type: text/plain\r\n", "pear".getBytes(UTF_8))
                  .text())
          .isEqualTo("{\"key\":\"pear\",\"value\":\"green\"}\n");
    }
  }

  private static void isRefused(Response response, int status, String words) {
    assertThat(response.text()).contains("\"status\":" + status).contains(words);
    assertThat(response.status()).isEqualTo(status);
    assertThat(response.headers()).containsEntry("content-type", "application/json");
  }

  @Test
  void whatIsMalformedIsRefused() throws IOException {
    Serving server = new Serving(Serving.buildOrdered(folder.resolve("db"), FRUIT));
    serving = server;
    server.batchKeys = 20_000;
    server.start();
    try (Wire wire = server.connect()) {
      for (String limit : List.of("0", "-1", "10001", "99999999999", "x", "", "1.5", "%2B5")) {
        isRefused(wire.get("/bsdb/?limit=" + limit), 400, "limit must be a number from 1 to 10000");
      }
      isRefused(wire.get("/bsdb/?reverse=yes"), 400, "reverse must be true or false");
      isRefused(wire.get("/bsdb/?count="), 400, "count must be true or false");
      isRefused(wire.get("/bsdb/?keys_only=1"), 400, "keys_only must be true or false");
      isRefused(wire.get("/bsdb/?prefix=a&prefix=b"), 400, "the parameter prefix is given twice");
      isRefused(wire.get("/bsdb/?prefix=%zz"), 400, "a percent sign");
      isRefused(wire.get("/bsdb/?after=abc&key_encoding=hex"), 400, "the key is not hex");
      isRefused(wire.get("/bsdb/?from=a&key_encoding=x"), 400, "key_encoding must be one of");
      isRefused(wire.get("/bsdb/?from=a&fields=x"), 400, "started without -json");
      assertThat(wire.get("/bsdb/?limit=10000").status()).isEqualTo(200);
      assertThat(wire.send("DELETE /bsdb/?limit=1 HTTP/1.1\r\nHost: x\r\n\r\n").read().headers())
          .containsEntry("allow", "GET, HEAD, POST, OPTIONS");
    }
    server.close();
    server = new Serving(server.directory);
    serving = server;
    server.batchKeys = 5;
    server.start();
    try (Wire wire = server.connect()) {
      isRefused(wire.get("/bsdb/?limit=6"), 400, "limit must be a number from 1 to 5");
      assertThat(lines(wire.get("/bsdb/?prefix="))).hasSize(5);
    }
  }

  @Test
  void withoutAnOrderTheBuildOptionIsNamed() throws IOException {
    Path approximate =
        Serving.buildBytes(
            folder.resolve("approximate"),
            records(10, 5),
            BuildOptions.defaults().withApproximateWidth(8));
    Path set = Serving.buildSet(folder.resolve("set"), 3, FRUIT);
    Path plain = Serving.build(folder.resolve("db"), FRUIT);
    for (Path directory : List.of(approximate, set, plain)) {
      try (Serving server = new Serving(directory).start();
          Wire wire = server.connect()) {
        for (String query : List.of("prefix=a", "limit=5", "count=true", "keys_only=true")) {
          Response refused = wire.get("/bsdb/?" + query);
          isRefused(refused, 400, "bsdb build --ordered");
          assertThat(refused.headers()).containsKey("bsdb-version");
        }
        assertThat(wire.get("/bsdb/?limit=5&version=other").status()).isEqualTo(412);
        assertThat(server.metric("bsdb_lookups_in_flight")).isZero();
      }
    }
  }

  private static Response head(Wire wire, String target) throws IOException {
    return wire.send("HEAD " + target + " HTTP/1.1\r\nHost: x\r\n\r\n").read(true);
  }

  @Test
  void headHasTheHeadersOfGet() throws IOException {
    NavigableMap<byte[], byte[]> records = records(1000, 40);
    Serving server = serve(Serving.buildBytes(folder.resolve("db"), records, ORDERED));
    try (Wire wire = server.connect()) {
      for (String query :
          List.of("limit=1", "limit=256", "limit=900", "to=", "count=true", "limit=0")) {
        Response got = wire.get("/bsdb/?" + query);
        Response head = head(wire, "/bsdb/?" + query);
        assertThat(head.status()).isEqualTo(got.status());
        Map<String, String> expected = new TreeMap<>(got.headers());
        Map<String, String> actual = new TreeMap<>(head.headers());
        expected.remove("date");
        actual.remove("date");
        assertThat(actual).as(query).isEqualTo(expected);
      }
      assertThat(wire.get("/bsdb/").text()).isEqualTo("of the empty key");
    }
    try (Wire old = server.connect()) {
      old.send("GET /bsdb/?limit=900&key_encoding=hex HTTP/1.0\r\n\r\n").skipHead();
      assertThat(new String(old.rest(), UTF_8).lines().toList())
          .isEqualTo(lines(records).subList(0, 900));
    }
    try (Wire old = server.connect()) {
      old.send("HEAD /bsdb/?limit=900 HTTP/1.0\r\n\r\n").skipHead();
      assertThat(old.ended()).isTrue();
    }
    try (Wire both = server.connect()) {
      both.send("GET /bsdb/?limit=900&keys_only=true HTTP/1.1\r\nHost: x\r\n\r\n");
      both.send("HEAD /bsdb/?limit=900 HTTP/1.1\r\nHost: x\r\n\r\n");
      both.send("GET /bsdb/?limit=2&keys_only=true HTTP/1.1\r\nHost: x\r\n\r\n");
      assertThat(lines(both.read())).hasSize(900);
      assertThat(both.read(true).headers()).containsEntry("transfer-encoding", "chunked");
      assertThat(lines(both.read())).hasSize(2);
    }
  }

  private void publish(Path database, String version) {
    Serving.publish(database, folder.resolve("store"), version);
  }

  @Test
  void aVersionThatHasChangedEndsThePages() throws IOException {
    publish(Serving.buildOrdered(folder.resolve("one"), FRUIT), "v1");
    try (Serving server = new Serving(folder.resolve("store")).start();
        Wire wire = server.connect();
        Wire admin = server.administrate()) {
      Response first = wire.get("/bsdb/?limit=2&version=v1");
      assertThat(lines(first)).hasSize(2);
      assertThat(first.headers()).containsEntry("bsdb-version", "v1");
      publish(Serving.buildOrdered(folder.resolve("two"), Map.of("a", "b")), "v2");
      admin.post("/reload", "", new byte[0]);
      for (String query : List.of("limit=2", "count=true")) {
        Response next = wire.get("/bsdb/?version=v1&after=a+b&" + query);
        isRefused(next, 412, "version v1 was requested, but version v2 is served");
        assertThat(next.headers()).containsEntry("bsdb-version", "v2");
      }
      assertThat(lines(wire.get("/bsdb/?version=v2&limit=2"))).hasSize(1);
      publish(Serving.build(folder.resolve("three"), FRUIT), "v3");
      admin.post("/reload", "", new byte[0]);
      isRefused(wire.get("/bsdb/?limit=2"), 400, "bsdb build --ordered");
    }
  }

  /** A client that takes little of what it does not read. */
  private static Wire slow(int port) throws IOException {
    Socket socket = new Socket();
    socket.setReceiveBufferSize(16 << 10);
    socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
    return new Wire(socket);
  }

  private static Path buildLarge(Path directory, int seed) throws IOException {
    NavigableMap<byte[], byte[]> records = new TreeMap<>(Arrays::compareUnsigned);
    Random random = new Random(seed);
    for (int i = 0; i < 2000; i++) {
      byte[] value = new byte[20_000];
      Arrays.fill(value, (byte) ('a' + random.nextInt(26)));
      records.put(String.format("k%04d", i).getBytes(UTF_8), value);
    }
    return Serving.buildBytes(directory, records, ORDERED);
  }

  private static List<String> expected(Path database) throws IOException {
    List<String> lines = new ArrayList<>();
    try (Database open = Database.open(database)) {
      for (int i = 0; i < 2000; i++) {
        String key = String.format("k%04d", i);
        byte[] value = open.get(key.getBytes(UTF_8));
        lines.add("{\"key\":\"" + key + "\",\"value\":\"" + new String(value, UTF_8) + "\"}");
      }
    }
    return lines;
  }

  /** 40 MB, to which the client turns only after the version has been replaced. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void whoReadsSlowlyHoldsLittleAndKeepsItsVersion(boolean reverse) throws IOException {
    Path one = buildLarge(folder.resolve("one"), 1);
    publish(one, "v1");
    Serving server = new Serving(folder.resolve("store"));
    serving = server;
    server.start();
    Wire given = slow(server.port());
    try (Wire slow = slow(server.port());
        Wire wire = server.connect();
        Wire admin = server.administrate()) {
      String target = "/bsdb/?limit=10000&reverse=" + reverse;
      slow.send("GET " + target + " HTTP/1.1\r\nHost: x\r\n\r\n");
      given.send("GET " + target + " HTTP/1.1\r\nHost: x\r\n\r\n");
      while (server.metric("bsdb_lookup_hits_total") == 0
          || server.metric("bsdb_lookups_in_flight") > 0) {
        Serving.pause(); // until both wait for their clients
      }
      assertThat(server.memory().held()).isLessThan(8L << 20);
      assertThat(lines(wire.get("/bsdb/?limit=3&keys_only=true"))).hasSize(3);
      publish(buildLarge(folder.resolve("two"), 2), "v2");
      admin.post("/reload", "", new byte[0]);
      assertThat(wire.get("/bsdb/k0000").headers()).containsEntry("bsdb-version", "v2");
      given.close();
      Response response = slow.read();
      assertThat(response.headers()).containsEntry("bsdb-version", "v1");
      List<String> lines = new ArrayList<>(expected(one));
      if (reverse) {
        Collections.reverse(lines);
      }
      assertThat(lines(response)).isEqualTo(lines);
      assertThat(server.memory().peak()).isLessThan(16L << 20);
      while (server.memory().held() > 0) {
        Serving.pause();
      }
      assertThat(server.metric("bsdb_lookups_in_flight")).isZero();
    }
  }

  /** The memory is enough for the slices of both workers; others wait, or are told to try again. */
  @Test
  void pagesReserveTheirValuesAndWaitForMemory() throws Exception {
    Path one = buildLarge(folder.resolve("db"), 1);
    Serving server = new Serving(one);
    serving = server;
    server.heldBytes = 16 << 20;
    server.clientBytes = 16 << 20;
    server.start();
    List<String> lines = expected(one).subList(0, 300);
    List<Thread> readers = new ArrayList<>();
    List<Object> seen = Collections.synchronizedList(new ArrayList<>());
    for (int i = 0; i < 8; i++) {
      Thread reader =
          new Thread(
              () -> {
                try (Wire wire = slow(server.port())) {
                  Response response = wire.get("/bsdb/?limit=300");
                  boolean whole = response.status() == 200 && lines(response).equals(lines);
                  seen.add(whole ? "whole" : response.status());
                } catch (IOException | RuntimeException | AssertionError e) {
                  seen.add(e);
                }
              });
      readers.add(reader);
      reader.start();
    }
    for (Thread reader : readers) {
      reader.join();
    }
    assertThat(seen)
        .hasSize(8)
        .contains("whole")
        .allMatch(each -> each.equals("whole") || each.equals(503));
    assertThat(server.memory().peak()).isLessThanOrEqualTo(16L << 20);
    while (server.memory().held() > 0) {
      Serving.pause();
    }
    assertThat(server.metric("bsdb_lookups_in_flight")).isZero();
    assertThat(server.metric("bsdb_lookup_errors_total")).isZero();
  }

  @Test
  void typedRowsAreObjects() throws IOException {
    Path database =
        TypedDatabase.build(
            folder.resolve("db"),
            ORDERED.withValueSchema(TypedDatabase.SCHEMA.json()),
            TypedDatabase.fruit());
    Serving server = new Serving(database);
    serving = server;
    server.json = true;
    server.start();
    try (Wire wire = server.connect()) {
      assertThat(lines(wire.get("/bsdb/?prefix=p")))
          .containsExactly(
              "{\"key\":\"pear\",\"value\":{\"id\":9007199254740992,\"unit.price\":null,"
                  + "\"name\":\"Pear\"}}",
              "{\"key\":\"plum\",\"value\":{\"id\":-3,\"unit.price\":-0.05,\"name\":\"\"}}");
      assertThat(lines(wire.get("/bsdb/?prefix=pl&fields=id")))
          .containsExactly("{\"key\":\"plum\",\"value\":{\"id\":-3}}");
      isRefused(wire.get("/bsdb/?prefix=p&fields=x"), 400, "no column \\\"x\\\"");
    }
  }

  @Test
  void jsonValuesAreCopied() throws IOException {
    Path database =
        Serving.buildOrdered(
            folder.resolve("db"), Map.of("a", "{\"n\": 1.50, \"m\":2}", "b", "[1, 2]"));
    Serving server = new Serving(database);
    serving = server;
    server.json = true;
    server.start();
    try (Wire wire = server.connect()) {
      assertThat(lines(wire.get("/bsdb/?limit=5")))
          .containsExactly(
              "{\"key\":\"a\",\"value\":{\"n\":1.50,\"m\":2}}", "{\"key\":\"b\",\"value\":[1,2]}");
      assertThat(lines(wire.get("/bsdb/?limit=5&fields=n")))
          .containsExactly(
              "{\"key\":\"a\",\"value\":{\"n\":1.50}}",
              "{\"key\":\"b\",\"error\":\"the value is not a JSON object\"}");
    }
  }

  private static Map<String, String> numbered(int count) {
    Map<String, String> records = new TreeMap<>();
    for (int i = 0; i < count; i++) {
      records.put("k" + i, "v" + i);
    }
    return records;
  }

  private static List<String> textLines(Iterable<String> keys) {
    List<String> lines = new ArrayList<>();
    keys.forEach(
        key -> lines.add("{\"key\":\"" + key + "\",\"value\":\"v" + key.substring(1) + "\"}"));
    return lines;
  }

  @Test
  void aSetMergesItsShardsAndAPartHasItsOwnKeys() throws IOException {
    Map<String, String> records = numbered(1000);
    NavigableMap<byte[], byte[]> bytes = new TreeMap<>(Arrays::compareUnsigned);
    records.forEach((key, value) -> bytes.put(key.getBytes(UTF_8), value.getBytes(UTF_8)));
    Path set = Serving.buildBytes(folder.resolve("set"), bytes, ORDERED.withShards(4));
    Path part = PartialSets.copy(set, folder.resolve("part"), 1, 3);
    Path shard = Serving.shardWithout(set, "k0");
    for (Path directory : List.of(set, part, shard)) {
      List<String> own = Serving.ownKeys(directory, List.copyOf(records.keySet()));
      assertThat(own).hasSizeBetween(100, directory.equals(set) ? 1000 : 700);
      try (Serving server = new Serving(directory).start();
          Wire wire = server.connect()) {
        assertThat(lines(wire.get("/bsdb/?limit=1000"))).isEqualTo(textLines(own));
        assertThat(wire.get("/bsdb/?count=true").text())
            .isEqualTo("{\"count\":" + own.size() + "}");
      }
    }
  }

  @Test
  void aNodeAnswersTheKeysOfItsSlots() throws IOException {
    Map<String, String> records = numbered(900);
    Serving.buildOrdered(folder.resolve("db"), records);
    try (ServingCluster nodes =
        new ServingCluster(folder, false, Duration.ofHours(1), node -> {})) {
      for (String node : List.of("a", "b", "c")) {
        List<String> own =
            records.keySet().stream()
                .filter(key -> ServingCluster.owner(key).equals(node))
                .toList();
        assertThat(own).hasSizeBetween(100, 500);
        try (Wire wire = nodes.node(node).connect()) {
          assertThat(lines(wire.get("/bsdb/?limit=1000"))).isEqualTo(textLines(own));
          assertThat(lines(wire.get("/bsdb/?limit=10&after=" + own.get(20))))
              .isEqualTo(textLines(own.subList(21, 31)));
          assertThat(wire.get("/bsdb/?count=true").text())
              .isEqualTo("{\"count\":" + own.size() + "}");
        }
      }
      nodes.move(List.of("", "0-10922", "10923-16383"));
      try (Wire wire = nodes.node("a").connect()) {
        assertThat(lines(wire.get("/bsdb/?limit=1000"))).isEmpty();
        assertThat(wire.get("/bsdb/?count=true").text()).isEqualTo("{\"count\":0}");
      }
    }
  }

  @Test
  void eachDataSetHasItsRanges() throws IOException {
    Path users = Serving.buildOrdered(folder.resolve("users"), Map.of("u1", "Ann"));
    Path items = Serving.build(folder.resolve("items"), Map.of("i1", "pen"));
    Serving server = new Serving(users);
    serving = server;
    server.data = DataSetLocations.named(Map.of("users", users, "items", items));
    server.start();
    try (Wire wire = server.connect()) {
      assertThat(lines(wire.get("/bsdb/users/?prefix=u")))
          .containsExactly("{\"key\":\"u1\",\"value\":\"Ann\"}");
      isRefused(wire.get("/bsdb/items/?prefix=i"), 400, "bsdb build --ordered");
    }
  }

  /** Behind the last chunk of a page that is cut, nothing comes. */
  @Test
  void damageIsAnErrorOrCutsThePage() throws IOException {
    Path database = Serving.buildBytes(folder.resolve("db"), records(20_000, 30), ORDERED);
    Path order = damage(database, "order");
    Serving server = serve(database);
    try (Wire wire = server.connect()) {
      for (String more : List.of("", "&keys_only=true", "&count=true")) {
        isRefused(
            wire.get("/bsdb/?from=01ff&key_encoding=hex" + more),
            500,
            "the order of the keys could not be read; the server's log says why");
      }
      assertThat(wire.get("/bsdb/").text()).isEqualTo("of the empty key");
      wire.send("GET /bsdb/?limit=10000 HTTP/1.1\r\nHost: x\r\n\r\n").skipHead();
      assertThat(new String(wire.rest(), UTF_8))
          .contains("{\"key\":")
          .doesNotEndWith("\r\n0\r\n\r\n");
    }
    assertThat(server.metric("bsdb_lookup_errors_total")).isEqualTo(4);
    assertThat(server.said()).contains(order.getFileName().toString());
  }

  /** Damages the pages in the middle of a database's file; returns the file. */
  private static Path damage(Path database, String name) throws IOException {
    Path damaged;
    try (var files = Files.list(database)) {
      damaged =
          files.filter(file -> file.getFileName().toString().contains(name)).findFirst().get();
    }
    byte[] bytes = Files.readAllBytes(damaged);
    for (int at = bytes.length / 3; at < bytes.length / 2; at += 4096) {
      bytes[at] ^= 1;
    }
    Files.write(damaged, bytes);
    return damaged;
  }

  @Test
  void damagedValuesAreToldFromADamagedOrder() throws IOException {
    Path database = Serving.buildBytes(folder.resolve("db"), records(20_000, 30), ORDERED);
    Path data = damage(database, "data");
    try (Serving server = new Serving(database).start();
        Wire wire = server.connect()) {
      isRefused(wire.get("/bsdb/?limit=9&from=%01%80"), 500, "the value could not be read");
      assertThat(lines(wire.get("/bsdb/?limit=5000&keys_only=true"))).hasSize(5000);
      assertThat(wire.get("/bsdb/?count=true").text()).isEqualTo("{\"count\":20000}");
      assertThat(server.said()).contains(data.getFileName().toString());
    }
  }

  @Test
  void anEmptyDatabaseHasEmptyPages() throws IOException {
    Serving server = serve(Serving.buildOrdered(folder.resolve("db"), Map.of()));
    try (Wire wire = server.connect()) {
      assertThat(lines(wire.get("/bsdb/?limit=5"))).isEmpty();
      assertThat(wire.get("/bsdb/?count=true").text()).isEqualTo("{\"count\":0}");
    }
  }

  @Test
  void aKeyOfJsonIsTheNextBound() throws IOException {
    List<String> seen = new ArrayList<>();
    try (Wire wire = serveFruit().connect()) {
      String after = "";
      while (true) {
        List<String> page = lines(wire.get("/bsdb/?limit=1&keys_only=true" + after));
        if (page.isEmpty()) {
          break;
        }
        JsonNode line = JSON.readTree(page.get(0));
        seen.add(line.get("key").asText());
        after = "&after=" + URLEncoder.encode(line.get("key").asText(), UTF_8);
      }
    }
    assertThat(seen).isEqualTo(FRUIT.keySet().stream().sorted().toList());
  }
}
