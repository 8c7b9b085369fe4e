package tech.bsdb.tools.serve;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tech.bsdb.Rounds;
import tech.bsdb.tools.CommandRun;
import tech.bsdb.tools.serve.Wire.Response;

@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SwapTest {
  private static final int KEYS = 500;
  private static final int SWAPS = Rounds.of(3);

  @TempDir Path folder;
  private Serving serving;

  @AfterEach
  void end() {
    if (serving != null) {
      serving.close();
    }
  }

  /** A version in which every key has the value "n-key". */
  private Path build(int version) throws IOException {
    return Serving.build(folder.resolve("db" + version), records(version));
  }

  /** The same as a set of shards, each version of another number of them. */
  private Path buildSet(int version) throws IOException {
    return Serving.buildSet(folder.resolve("db" + version), 1 + version, records(version));
  }

  private static Map<String, String> records(int version) {
    Map<String, String> records = new TreeMap<>();
    for (int i = 0; i < KEYS; i++) {
      records.put("k" + i, version + "-k" + i);
    }
    return records;
  }

  private void publish(Path database, int version) {
    CommandRun run =
        CommandRun.bsdb(
            "publish", database.toString(), store(), "--version", "v" + version, "--keep", "1");
    assertThat(run.code()).as(run.toString()).isZero();
  }

  private String store() {
    return folder.resolve("store").toString();
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void underLoadEveryAnswerIsOfTheVersionBeforeOrAfter(boolean async) throws Exception {
    publish(build(0), 0);
    serving = new Serving(folder.resolve("store"));
    serving.async = async;
    serving.start();
    AtomicInteger published = new AtomicInteger();
    AtomicBoolean done = new AtomicBoolean();
    ExecutorService clients = Executors.newFixedThreadPool(4);
    List<Future<Integer>> results = new ArrayList<>();
    results.add(clients.submit(() -> single(published, done, 1)));
    results.add(clients.submit(() -> single(published, done, 20)));
    results.add(clients.submit(() -> batches(published, done)));
    results.add(clients.submit(() -> conditional(published, done)));
    try (Wire admin = serving.administrate()) {
      for (int version = 1; version <= SWAPS; version++) {
        Path database = version % 3 == 0 ? build(version) : buildSet(version);
        published.set(version);
        publish(database, version);
        Response reloaded = admin.post("/reload", "", new byte[0]);
        assertThat(reloaded.text()).contains("\"version\":\"v" + version + "\"");
      }
    } finally {
      done.set(true);
      clients.shutdown();
    }
    for (Future<Integer> result : results) {
      assertThat(result.get()).isGreaterThanOrEqualTo(SWAPS); // each saw the last version
    }
    assertThat(serving.metric("bsdb_version_swaps_total")).isEqualTo(SWAPS);
    assertThat(serving.metric("bsdb_lookup_misses_total")).isZero();
    assertThat(serving.metric("bsdb_lookup_errors_total")).isZero();
  }

  /** Single lookups, some of them sent ahead; returns the newest version seen. */
  private int single(AtomicInteger published, AtomicBoolean done, int ahead) throws IOException {
    int seen = 0;
    try (Wire wire = serving.connect()) {
      for (int i = 0; seen < SWAPS || !done.get(); i++) {
        StringBuilder requests = new StringBuilder();
        for (int j = 0; j < ahead; j++) {
          requests.append("GET /bsdb/k").append((i + j) % KEYS);
          requests.append(" HTTP/1.1\r\nHost: x\r\n\r\n");
        }
        wire.send(requests.toString());
        for (int j = 0; j < ahead; j++) {
          Response response = wire.read();
          assertThat(response.status()).isEqualTo(200);
          seen = check(response.text(), (i + j) % KEYS, seen, published);
          assertThat(response.headers()).containsEntry("bsdb-version", "v" + seen);
        }
      }
    }
    return seen;
  }

  private int batches(AtomicInteger published, AtomicBoolean done) throws IOException {
    StringBuilder keys = new StringBuilder();
    for (int i = 0; i < KEYS; i++) {
      keys.append('k').append(i).append('\n');
    }
    int seen = 0;
    try (Wire wire = serving.connect()) {
      while (seen < SWAPS || !done.get()) {
        Response response =
            wire.post(
                "/bsdb/?with=version",
                "Content-Type: text/plain\r\n",
                keys.toString().getBytes(UTF_8));
        assertThat(response.status()).isEqualTo(200);
        String[] lines = response.text().split("\n");
        assertThat(lines).hasSize(1 + KEYS);
        int version = -1;
        for (int i = 0; i < KEYS; i++) {
          String line = lines[1 + i];
          String value = line.substring(line.indexOf("\"value\":\"") + 9, line.length() - 2);
          int now = check(value, i, seen, published);
          assertThat(version == -1 || version == now).as("one version in a batch").isTrue();
          version = now;
        }
        seen = version;
        assertThat(response.headers()).containsEntry("bsdb-version", "v" + version);
        assertThat(lines[0]).startsWith("{\"version\":\"v" + version + "\",");
      }
    }
    return seen;
  }

  /** A client that always sends the last tag: it is told 304 for as long as the version lasts. */
  private int conditional(AtomicInteger published, AtomicBoolean done) throws IOException {
    int seen = 0;
    String tag = "\"none\"";
    try (Wire wire = serving.connect()) {
      for (int i = 0; seen < SWAPS || !done.get(); i++) {
        String demanded = i % 3 == 0 ? "?version=v" + seen : "";
        Response response =
            wire.send(
                    "GET /bsdb/k7"
                        + demanded
                        + " HTTP/1.1\r\nHost: x\r\nIf-None-Match: "
                        + tag
                        + "\r\n\r\n")
                .read();
        String named = response.headers().get("bsdb-version");
        int version = Integer.parseInt(named.substring(1));
        assertThat(version).isBetween(seen, published.get());
        switch (response.status()) {
          case 200 -> {
            assertThat(check(response.text(), 7, seen, published)).isEqualTo(version);
            tag = response.headers().get("etag");
            seen = version;
          }
          case 304 -> assertThat(version).as("nothing changed").isEqualTo(seen);
          case 412 -> {
            assertThat(demanded).isNotEmpty();
            assertThat(version).as("another version is served").isNotEqualTo(seen);
            seen = version;
            tag = "\"none\"";
          }
          default -> throw new AssertionError(response.status() + " " + response.text());
        }
      }
    }
    return seen;
  }

  private static int check(String value, int key, int seen, AtomicInteger published) {
    int dash = value.indexOf('-');
    int version = Integer.parseInt(value.substring(0, dash));
    assertThat(value.substring(dash + 1)).isEqualTo("k" + key);
    assertThat(version).isBetween(seen, published.get());
    return version;
  }

  @Test
  void aDamagedVersionIsRefusedAndTheOneBeforeServes() throws Exception {
    publish(build(0), 0);
    serving = new Serving(folder.resolve("store")).start();
    Path bad = folder.resolve("store").resolve("bad");
    Path good = build(1);
    Files.createDirectory(bad);
    try (var files = Files.list(good);
        Wire wire = serving.connect();
        Wire admin = serving.administrate()) {
      for (Path file : files.toList()) { // half-copied by hand
        byte[] bytes = Files.readAllBytes(file);
        int length = file.toString().contains("data") ? bytes.length / 2 : bytes.length;
        Files.write(bad.resolve(file.getFileName()), java.util.Arrays.copyOf(bytes, length));
      }
      Files.writeString(folder.resolve("store").resolve("CURRENT"), "bad\n");
      Response refused = admin.post("/reload", "", new byte[0]);
      assertThat(refused.status()).isEqualTo(409);
      assertThat(wire.get("/bsdb/k1").text()).isEqualTo("0-k1");
      assertThat(wire.get("/readyz").text())
          .contains("\"status\":\"ready\",\"version\":\"v0\"", "\"refused\":{\"version\":\"bad\"");
      assertThat(wire.get("/stats").text()).contains("\"refused\":{\"version\":\"bad\"");
      assertThat(serving.metric("bsdb_version_refused")).isEqualTo(1);
      while (!serving.said().contains("version bad is rejected")) {
        Serving.pause();
      }
      try (var again = Files.list(good)) { // the copy is completed
        for (Path file : again.toList()) {
          Files.write(bad.resolve(file.getFileName()), Files.readAllBytes(file));
        }
      }
      while (!wire.get("/bsdb/k1").text().equals("1-k1")) {
        Serving.pause();
      }
      assertThat(serving.metric("bsdb_version_refused")).isZero();
    }
  }

  @Test
  void aDamagedDatabaseIsNotPublished() throws Exception {
    publish(build(0), 0);
    Path next = build(1);
    try (var files = Files.list(next)) {
      Path data = files.filter(file -> file.toString().contains("data")).findFirst().orElseThrow();
      try (RandomAccessFile file = new RandomAccessFile(data.toFile(), "rw")) {
        file.seek(5000);
        file.write(file.read() ^ 1);
      }
      CommandRun run = CommandRun.bsdb("publish", next.toString(), store());
      assertThat(run.code()).isEqualTo(2);
      assertThat(run.err()).contains(data.getFileName().toString());
    }
    serving = new Serving(folder.resolve("store")).start();
    try (Wire wire = serving.connect()) {
      assertThat(wire.get("/bsdb/k1").text()).isEqualTo("0-k1");
    }
  }

  @Test
  void aStoreWithoutACurrentVersionIsNotServed() throws IOException {
    Path empty = Files.createDirectory(folder.resolve("empty"));
    Files.writeString(empty.resolve("CURRENT"), "");
    assertThatThrownBy(() -> new Serving(empty).start())
        .isInstanceOf(IOException.class)
        .hasMessageContaining("names no version");
  }
}
