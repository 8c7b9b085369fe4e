package tech.bsdb.tools.serve;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tech.bsdb.BuildOptions;
import tech.bsdb.Layout;
import tech.bsdb.OpenOptions;
import tech.bsdb.OpenOptions.Engine;
import tech.bsdb.Sampled;
import tech.bsdb.tools.serve.Wire.Response;

@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class BatchTest {
  private static final String JSON = "Content-Type: application/json; charset=utf-8\r\n";
  private static final String TEXT = "content-type: Text/Plain\r\n";

  @TempDir Path folder;
  private Serving serving;

  @AfterEach
  void end() {
    serving.close();
  }

  private void serve(Map<String, String> records, Engine engine, boolean async) throws IOException {
    serving = new Serving(Serving.build(folder.resolve("db"), records));
    serving.open = OpenOptions.defaults().withEngine(engine);
    serving.async = async;
    serving.start();
  }

  @Test
  void answersInTheOrderAsked() throws IOException {
    serve(Map.of("a", "1", "ü\"\n", "2\t", "", "none"), Engine.AUTO, false);
    try (Wire wire = serving.connect()) {
      Response response =
          wire.post(
              "/bsdb/", JSON, "[\"a\", \"x\",\"\\u00fc\\\"\\n\", \"a\", \"\"]".getBytes(UTF_8));
      assertThat(response.status()).isEqualTo(200);
      assertThat(response.headers()).containsEntry("content-type", "application/x-ndjson");
      assertThat(new String(response.body(), UTF_8))
          .isEqualTo(
              """
              {"key":"a","value":"1"}
              {"key":"x","value":null}
              {"key":"ü\\"\\n","value":"2\\t"}
              {"key":"a","value":"1"}
              {"key":"","value":"none"}
              """);
      assertThat(wire.post("/bsdb/", TEXT, "a\r\n\nx\n".getBytes(UTF_8)).text())
          .isEqualTo(
              """
              {"key":"a","value":"1"}
              {"key":"","value":"none"}
              {"key":"x","value":null}
              """);
      assertThat(wire.post("/bsdb/", JSON, "[]".getBytes(UTF_8)).body()).isEmpty();
      assertThat(wire.post("/bsdb/", TEXT, new byte[0]).body()).isEmpty();
      assertThat(wire.post("/bsdb/?key_encoding=hex", TEXT, "61\n62".getBytes(UTF_8)).text())
          .isEqualTo("{\"key\":\"a\",\"value\":\"1\"}\n{\"key\":\"b\",\"value\":null}\n");
    }
  }

  @Test
  void bytesThatAreNoTextComeInBase64() throws IOException {
    Map<byte[], byte[]> records = new TreeMap<>(Arrays::compare);
    records.put(new byte[] {(byte) 0xff}, new byte[] {0, (byte) 0xfe});
    serving = new Serving(Serving.buildBytes(folder.resolve("db"), records)).start();
    try (Wire wire = serving.connect()) {
      assertThat(
              wire.post("/bsdb/?key_encoding=base64url", JSON, "[\"_w\"]".getBytes(UTF_8)).text())
          .isEqualTo("{\"key\":{\"base64\":\"/w==\"},\"value\":{\"base64\":\"AP4=\"}}\n");
      assertThat(wire.post("/bsdb/", TEXT, new byte[] {(byte) 0xff}).text())
          .isEqualTo("{\"key\":{\"base64\":\"/w==\"},\"value\":{\"base64\":\"AP4=\"}}\n");
    }
  }

  @ParameterizedTest
  @CsvSource({
    "'[\"a\"', application/json, 400",
    "'{\"a\":1}', application/json, 400",
    "'[1]', application/json, 400",
    "'[\"a\"] x', application/json, 400",
    "'', application/json, 400",
    "'[\"\\ud800\"]', application/json, 400",
    "a, application/xml, 415",
    "a, '', 415",
    "'1\n2\n3\n4\n5\n6\n7\n8\n9\n0\n1', text/plain, 413",
  })
  void otherBodiesAreRefused(String body, String type, int status) throws IOException {
    serving = new Serving(Serving.build(folder.resolve("db"), Map.of("a", "1")));
    serving.batchKeys = 10;
    serving.start();
    try (Wire wire = serving.connect()) {
      Response response =
          wire.post("/bsdb/", "Content-Type: " + type + "\r\n", body.getBytes(UTF_8));
      assertThat(response.status()).isEqualTo(status);
      assertThat(response.text()).startsWith("{\"error\":{\"status\":" + status);
    }
  }

  @Sampled(3)
  @ParameterizedTest
  @CsvSource({
    "AUTO, false, false",
    "AUTO, true, false",
    "DIRECT, false, false",
    "DIRECT, true, true",
    "BUFFERED, true, false"
  })
  void manyKeysAreAnsweredInPieces(Engine engine, boolean async, boolean frames)
      throws IOException {
    Map<String, String> records = new TreeMap<>();
    for (int i = 0; i < 20_000; i++) {
      records.put("k" + i, "v" + i);
    }
    serve(records, engine, async);
    Random random = new Random(3);
    StringBuilder body = new StringBuilder();
    int[] asked = random.ints(12_000, 0, 24_000).toArray();
    for (int number : asked) {
      body.append('k').append(number).append('\n');
    }
    String accept = frames ? "Accept: application/vnd.bsdb.frames\r\n" : "";
    try (Wire wire = serving.connect()) {
      for (int round = 0; round < 3; round++) {
        Response response = wire.post("/bsdb/", TEXT + accept, body.toString().getBytes(UTF_8));
        assertThat(response.status()).isEqualTo(200);
        if (frames) {
          compareFrames(ByteBuffer.wrap(response.body()), asked, records);
        } else {
          String[] lines = response.text().split("\n");
          assertThat(lines).hasSameSizeAs(asked);
          for (int i = 0; i < asked.length; i++) {
            String value = records.get("k" + asked[i]);
            assertThat(lines[i])
                .isEqualTo(
                    "{\"key\":\"k"
                        + asked[i]
                        + "\",\"value\":"
                        + (value == null ? "null" : "\"" + value + "\"")
                        + "}");
          }
        }
      }
    }
    long hits = Arrays.stream(asked).filter(number -> number < 20_000).count();
    assertThat(serving.metric("bsdb_lookup_hits_total")).isEqualTo(3.0 * hits);
    assertThat(serving.metric("bsdb_lookup_misses_total")).isEqualTo(3.0 * (12_000 - hits));
    assertThat(serving.metric("bsdb_lookups_in_flight")).isZero();
  }

  private static void compareFrames(ByteBuffer frames, int[] asked, Map<String, String> records) {
    for (int number : asked) {
      String value = records.get("k" + number);
      int length = frames.getInt();
      assertThat(length).isEqualTo(value == null ? -1 : value.length());
      if (value != null) {
        byte[] bytes = new byte[length];
        frames.get(bytes);
        assertThat(new String(bytes, UTF_8)).isEqualTo(value);
      }
    }
    assertThat(frames.hasRemaining()).isFalse();
  }

  @Tag("nightly")
  @Test
  void anAnswerLargerThanTheHeapIsStreamed() throws IOException {
    byte[] large = new byte[4 << 20];
    Arrays.fill(large, (byte) 'x');
    Map<byte[], byte[]> records = new TreeMap<>(Arrays::compare);
    records.put(new byte[] {'k'}, large);
    serving = new Serving(Serving.buildBytes(folder.resolve("db"), records)).start();
    int keys = 400; // 1.6 GB, in a heap of 1 GB
    try (Wire wire = serving.connect()) {
      byte[] body = "k\n".repeat(keys).getBytes(UTF_8);
      String head =
          "POST /bsdb/ HTTP/1.0\r\nAccept: application/vnd.bsdb.frames\r\n"
              + TEXT
              + "Content-Length: "
              + body.length
              + "\r\n\r\n";
      wire.send(head).send(body);
      long expected = keys * (4L + large.length);
      wire.skipHead();
      assertThat(wire.skipRest()).isEqualTo(expected);
    }
  }

  @ParameterizedTest
  @CsvSource({"gzip", "GZIP", "x-gzip", "deflate", "br", "zstd", "'identity, gzip'", "unknown"})
  void anEncodedBodyIsRefused(String coding) throws IOException {
    serveLarge(10);
    serving.start();
    byte[] body = "s\n".getBytes(UTF_8);
    try (Wire wire = serving.connect()) {
      Response refused = wire.post("/bsdb/", TEXT + "Content-Encoding: " + coding + "\r\n", body);
      assertThat(refused.status()).isEqualTo(415);
      assertThat(refused.headers())
          .containsEntry("accept-encoding", "identity")
          .containsEntry("connection", "close");
    }
    try (Wire wire = serving.connect()) {
      assertThat(wire.post("/bsdb/", TEXT + "Content-Encoding: Identity\r\n", body).text())
          .isEqualTo("{\"key\":\"s\",\"value\":\"v\"}\n");
    }
  }

  private void serveLarge(int bytes) throws IOException {
    Map<byte[], byte[]> records = new TreeMap<>(Arrays::compare);
    records.put(new byte[] {'k'}, "v".repeat(bytes).getBytes(UTF_8));
    records.put(new byte[] {'s'}, new byte[] {'v'});
    BuildOptions apart = BuildOptions.defaults().withLayout(Layout.BLOCKED); // not in one bin
    serving = new Serving(Serving.buildBytes(folder.resolve("db"), records, apart));
  }

  @Test
  void beyondTheLimitOfLookupsTheAnswerIs503() throws Exception {
    serveLarge(2 << 20);
    serving.inFlight = 1;
    serving.start();
    AtomicBoolean enough = new AtomicBoolean();
    try (Wire other = serving.connect();
        Wire wire = serving.connect()) {
      byte[] body = "k\n".repeat(20).getBytes(UTF_8);
      CompletableFuture<Void> batches =
          CompletableFuture.runAsync(
              () -> {
                try {
                  while (!enough.get()) {
                    assertThat(wire.post("/bsdb/", TEXT, body).status()).isIn(200, 503);
                  }
                } catch (IOException e) {
                  throw new UncheckedIOException(e);
                }
              });
      Response busy = other.get("/bsdb/k");
      while (busy.status() == 200) {
        busy = other.get("/bsdb/k");
      }
      assertThat(busy.status()).isEqualTo(503);
      assertThat(busy.headers()).containsEntry("retry-after", "1");
      enough.set(true);
      batches.join();
      assertThat(other.get("/bsdb/k").status()).isEqualTo(200);
    }
  }

  @Test
  void besideAVeryLongValueShortOnesAreAnsweredInOrder() throws IOException {
    serveLarge(8 << 20);
    serving.start();
    try (Wire wire = serving.connect()) {
      StringBuilder keys = new StringBuilder();
      for (int i = 0; i < 700; i++) {
        keys.append(i == 300 ? "k\n" : i % 2 == 0 ? "s\n" : "absent\n");
      }
      List<String> lines =
          wire.post("/bsdb/", TEXT, keys.toString().getBytes(UTF_8)).text().lines().toList();
      assertThat(lines).hasSize(700);
      for (int i = 0; i < 700; i++) {
        String line = lines.get(i);
        if (i == 300) {
          assertThat(line).startsWith("{\"key\":\"k\"").hasSizeGreaterThan(8 << 20);
        } else {
          assertThat(line)
              .isEqualTo(
                  i % 2 == 0
                      ? "{\"key\":\"s\",\"value\":\"v\"}"
                      : "{\"key\":\"absent\",\"value\":null}");
        }
      }
    }
  }

  @Test
  void whoDoesNotReadItsAnswerLeavesTheLookupsToOthers() throws IOException {
    serveLarge(2 << 20);
    serving.inFlight = 1;
    serving.start();
    try (Wire wire = serving.connect();
        Wire other = serving.connect()) {
      wire.sendBatch(TEXT, "k\n".repeat(40).getBytes(UTF_8));
      while (serving.metric("bsdb_http_held_bytes") == 0) {
        Serving.pause(); // until it has begun
      }
      while (other.get("/bsdb/s").status() != 200) {
        Serving.pause(); // until it waits for its client
      }
      for (int i = 0; i < 100; i++) {
        assertThat(other.get("/bsdb/s").status()).isEqualTo(200);
      }
      Response batch = wire.read();
      assertThat(batch.text().lines()).hasSize(40);
    }
    assertThat(serving.metric("bsdb_lookups_in_flight")).isZero();
  }

  @Test
  void bodiesBeyondTheMemoryForThemAreRefused() throws IOException {
    serveLarge(1);
    serving.heldBytes = 1 << 20;
    serving.start();
    byte[] body = ("x".repeat(99) + "\n").repeat(7_000).getBytes(UTF_8);
    String head = "POST /bsdb/ HTTP/1.1\r\nHost: x\r\n" + TEXT + "Content-Length: 1000000\r\n\r\n";
    try (Wire wire = serving.connect()) {
      wire.send(head).send(body); // and not the rest
      while (serving.metric("bsdb_http_held_bytes") < body.length) {
        Serving.pause();
      }
      try (Wire other = serving.connect()) {
        assertThat(other.get("/bsdb/s").status()).isEqualTo(200);
        other.sendBatch(TEXT, body);
        assertThat(other.read().status()).isEqualTo(503);
      }
    }
    awaitNothingHeld();
    try (Wire other = serving.connect()) {
      assertThat(other.post("/bsdb/", TEXT, body).status()).isEqualTo(200);
    }
    awaitNothingHeld(); // the client may have its answer before the server counts that
  }

  private void awaitNothingHeld() throws IOException {
    while (serving.metric("bsdb_http_held_bytes") != 0) {
      Serving.pause();
    }
  }

  @Test
  void whereManyShortKeysStandCountsAsHeld() throws Exception {
    serveLarge(1);
    serving.heldBytes = 1 << 20;
    serving.start();
    int keys = 50_000;
    byte[] body = "\n".repeat(keys).getBytes(UTF_8);
    String head = "POST /bsdb/ HTTP/1.1\r\nHost: x\r\n" + TEXT + "Content-Length: 100000\r\n\r\n";
    try (Wire wire = serving.connect()) {
      wire.send(head).send(body); // and not the rest
      for (int i = 0; i < 100 && serving.metric("bsdb_http_held_bytes") < 9 * keys; i++) {
        TimeUnit.MILLISECONDS.sleep(50);
      }
      assertThat(serving.metric("bsdb_http_held_bytes")).isGreaterThanOrEqualTo(9 * keys);
      try (Wire other = serving.connect()) {
        other.sendBatch(TEXT, body);
        assertThat(other.read().status()).isEqualTo(503);
      }
    }
    awaitNothingHeld();
    try (Wire other = serving.connect()) {
      assertThat(other.post("/bsdb/", TEXT, body).status()).isEqualTo(200);
      assertThat(other.post("/bsdb/", TEXT, new byte[0]).status()).isEqualTo(200);
    }
    awaitNothingHeld(); // the client may have its answer before the server counts that
  }

  @Test
  void largeValuesBeyondTheMemoryForAnswersAreRefused() throws IOException {
    serveLarge(32 << 20);
    serving.heldBytes = 1 << 20;
    serving.start();
    try (Wire other = serving.connect()) {
      try (Wire wire = serving.connect()) {
        wire.send("GET /bsdb/k HTTP/1.1\r\nHost: x\r\n\r\n"); // and take nothing of the answer
        while (serving.metric("bsdb_http_held_bytes") == 0) {
          Serving.pause();
        }
        assertThat(other.get("/bsdb/k").status()).isEqualTo(503);
        assertThat(other.get("/bsdb/s").status()).isEqualTo(200);
        assertThat(wire.read().status()).isEqualTo(200);
      }
      while (serving.metric("bsdb_http_held_bytes") != 0) {
        Serving.pause();
      }
      assertThat(other.get("/bsdb/k").status()).isEqualTo(200);
    }
  }

  @Tag("nightly")
  @Test
  void bodiesThatWaitBehindAnotherRequestAreNotAllTakenIn() throws Exception {
    serveLarge(2 << 20);
    serving.heldBytes = 24 << 20;
    serving.start();
    int batches = 60;
    byte[] body = ("x".repeat(999) + "\n").repeat(1_000).getBytes(UTF_8);
    try (Wire wire = serving.connect()) {
      CompletableFuture<Void> sender =
          CompletableFuture.runAsync(
              () -> {
                try {
                  wire.sendBatch(TEXT, "k\n".repeat(40).getBytes(UTF_8));
                  for (int i = 0; i < batches; i++) {
                    wire.sendBatch(TEXT, body);
                  }
                } catch (IOException e) {
                  throw new UncheckedIOException(e);
                }
              });
      while (serving.metric("bsdb_http_held_bytes") < 2_500_000) {
        Serving.pause();
      }
      Thread.sleep(500); // for what should not come
      assertThat(wire.read().text().lines()).hasSize(40);
      for (int i = 0; i < batches; i++) {
        assertThat(wire.read().text().lines()).hasSize(1_000);
      }
      sender.join();
    }
  }
}
