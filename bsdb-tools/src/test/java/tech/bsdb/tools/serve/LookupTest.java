package tech.bsdb.tools.serve;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tech.bsdb.OpenOptions;
import tech.bsdb.OpenOptions.Engine;
import tech.bsdb.tools.serve.Wire.Response;

@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class LookupTest {
  @TempDir Path folder;

  private Serving serving() throws IOException {
    return new Serving(
        Serving.build(
            folder.resolve("db"),
            Map.of(
                "apple", "red",
                "a/b//c", "slashes",
                "a+b", "plus",
                "a b", "blank",
                "100%", "percent",
                "empty", "",
                "käse", "gelb",
                "", "nameless",
                "..", "dots")));
  }

  @Tag("jdk")
  @ParameterizedTest
  @CsvSource({
    "apple, red",
    "%61pp%6C%65, red",
    "a/b//c, slashes",
    "a%2Fb%2f/c, slashes",
    "a+b, plus",
    "a%2Bb, plus",
    "a%20b, blank",
    "100%25, percent",
    "empty, ''",
    "k%C3%A4se, gelb",
    "k\u00c3\u00a4se, gelb",
    "'', nameless",
    "'?', nameless",
    ".., dots",
    "apple?, red",
    "apple?unknown=1, red",
    "apple?key_encoding=text, red",
    "6170706C65?key_encoding=hex, red",
    "6170706c65?key_encoding=%68ex, red",
    "YXBwbGU?key_encoding=base64url, red",
    "YXBwbGU%3D?key_encoding=base64url, red",
  })
  void findsTheValue(String target, String value) throws IOException {
    try (Serving serving = serving().start();
        Wire wire = serving.connect()) {
      Response response = wire.get("/bsdb/" + target);
      assertThat(response.status()).isEqualTo(200);
      assertThat(response.text()).isEqualTo(value);
      assertThat(response.headers()).containsEntry("content-type", "application/octet-stream");
      assertThat(response.headers()).containsEntry("content-length", value.length() + "");
      assertThat(response.headers()).containsKey("date");
    }
  }

  @ParameterizedTest
  @CsvSource({
    "/bsdb/pear, 404",
    "/bsdb/APPLE, 404",
    "/bsdb/%FF%00, 404",
    "/bsdb/apple%2525, 404",
    "/bsdb, 404",
    "/other/apple, 404",
    "//bsdb/apple, 404",
    "/bsdbapple, 404",
    "/bsdb/a%, 400",
    "/bsdb/a%4, 400",
    "/bsdb/a%4g, 400",
    "/bsdb/apple#x, 400",
    "/bsdb/apple?key_encoding=rot13, 400",
    "/bsdb/apple?key_encoding=hex, 400",
    "/bsdb/617?key_encoding=hex, 400",
    "/bsdb/YX!?key_encoding=base64url, 400",
    "/bsdb/apple?key_encoding=text&key_encoding=text, 400",
    "/bsdb/apple?fields=a, 400",
  })
  void answersWithAnErrorAndGoesOn(String target, int status) throws IOException {
    try (Serving serving = serving().start();
        Wire wire = serving.connect()) {
      Response response = wire.get(target);
      assertThat(response.status()).isEqualTo(status);
      assertThat(response.headers()).containsEntry("content-type", "application/json");
      assertThat(response.text())
          .startsWith("{\"error\":{\"status\":" + status + ",\"message\":\"")
          .endsWith("\"}}\n");
      assertThat(wire.get("/bsdb/apple").text()).isEqualTo("red");
    }
  }

  @Test
  void headIsGetWithoutTheBody() throws IOException {
    try (Serving serving = serving().start();
        Wire wire = serving.connect()) {
      Response found = wire.send("HEAD /bsdb/apple HTTP/1.1\r\nHost: x\r\n\r\n").read(true);
      assertThat(found.status()).isEqualTo(200);
      assertThat(found.headers()).containsEntry("content-length", "3");
      Response absent = wire.send("HEAD /bsdb/pear HTTP/1.1\r\nHost: x\r\n\r\n").read(true);
      assertThat(absent.status()).isEqualTo(404);
      assertThat(wire.get("/bsdb/apple").text()).isEqualTo("red");
    }
  }

  @ParameterizedTest
  @CsvSource({
    "PUT, /bsdb/apple, 'GET, HEAD, OPTIONS', 405",
    "POST, /bsdb/apple, 'GET, HEAD, OPTIONS', 405",
    "DELETE, /bsdb/, 'GET, HEAD, POST, OPTIONS', 405",
    "POST, /stats, 'GET, HEAD, OPTIONS', 405",
    "BREW, /, 'GET, HEAD, OPTIONS', 405",
    "GET, *, 'GET, HEAD, POST, OPTIONS', 405",
    "OPTIONS, *, 'GET, HEAD, POST, OPTIONS', 200",
    "OPTIONS, /, 'GET, HEAD, OPTIONS', 200",
    "OPTIONS, /healthz, 'GET, HEAD, OPTIONS', 200",
    "OPTIONS, /bsdb/absent, 'GET, HEAD, OPTIONS', 200",
    "OPTIONS, /bsdb/, 'GET, HEAD, POST, OPTIONS', 200",
  })
  void allowedMethodsAreNamed(String method, String target, String allowed, int status)
      throws IOException {
    try (Serving serving = serving().start();
        Wire wire = serving.connect()) {
      String request = method + " " + target + " HTTP/1.";
      Response response = wire.send(request + "1\r\nHost: x\r\n\r\n").read();
      assertThat(response.status()).isEqualTo(status);
      assertThat(response.headers()).containsEntry("allow", allowed);
      if (status == 200) {
        assertThat(response.headers()).containsEntry("content-length", "0");
      }
      assertThat(wire.get("/bsdb/apple").text()).isEqualTo("red");
      response = wire.send(request + "0\r\n\r\n").read();
      assertThat(response.status()).isEqualTo(status);
      assertThat(wire.ended()).isTrue();
    }
  }

  @Test
  void optionsOfUnknownPathsAre404() throws IOException {
    try (Serving serving = serving().start();
        Wire wire = serving.connect()) {
      assertThat(wire.send("OPTIONS /none HTTP/1.1\r\nHost: x\r\n\r\n").read().status())
          .isEqualTo(404);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void largeValuesComeWhole(boolean async) throws IOException {
    Map<byte[], byte[]> records = new TreeMap<>(Arrays::compare);
    Random random = new Random(1);
    for (int length : new int[] {65_535, 65_536, 65_537, 300_000, 20_000_000}) {
      byte[] value = new byte[length];
      random.nextBytes(value);
      records.put(("k" + length).getBytes(UTF_8), value);
    }
    Serving serving = new Serving(Serving.buildBytes(folder.resolve("large"), records));
    serving.async = async;
    try (Serving started = serving.start();
        Wire wire = started.connect()) {
      for (int round = 0; round < 2; round++) {
        for (Map.Entry<byte[], byte[]> record : records.entrySet()) {
          Response response = wire.get("/bsdb/" + new String(record.getKey(), UTF_8));
          assertThat(Arrays.equals(response.body(), record.getValue())).isTrue();
        }
      }
    }
  }

  @ParameterizedTest
  @CsvSource({"AUTO, false", "AUTO, true", "DIRECT, true", "BUFFERED, true", "BUFFERED, false"})
  void pipelinedRequestsAreAnsweredInOrder(Engine engine, boolean async) throws IOException {
    Map<String, String> records = new TreeMap<>();
    for (int i = 0; i < 5000; i++) {
      records.put("k" + i, "value-" + i);
    }
    Serving serving = new Serving(Serving.build(folder.resolve("many"), records));
    serving.async = async;
    serving.open = OpenOptions.defaults().withEngine(engine);
    try (Serving started = serving.start();
        Wire wire = started.connect()) {
      StringBuilder requests = new StringBuilder();
      for (int i = 0; i < 3000; i++) {
        requests.append("GET /bsdb/k").append(i * 2).append(" HTTP/1.1\r\nHost: x\r\n\r\n");
        if (i % 500 == 499) {
          requests.append("GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n");
          requests.append(
              "POST /bsdb/ HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\n"
                  + "Content-Length: 2\r\n\r\nk1");
        }
      }
      Thread sender = new Thread(() -> sendAll(wire, requests.toString()));
      sender.start();
      for (int i = 0; i < 3000; i++) {
        Response response = wire.read();
        assertThat(response.status()).isEqualTo(i * 2 < 5000 ? 200 : 404);
        if (i * 2 < 5000) {
          assertThat(response.text()).isEqualTo("value-" + i * 2);
        }
        if (i % 500 == 499) {
          assertThat(wire.read().text()).contains("\"ready\"");
          assertThat(wire.read().text()).isEqualTo("{\"key\":\"k1\",\"value\":\"value-1\"}\n");
        }
      }
    }
  }

  @Tag("nightly")
  @Test
  void pipelinedLargeValuesWaitForTheClient() throws IOException {
    int requests = 60; // 1.4 GB, in a heap of 1 GB
    try (Serving serving = large(24 << 20)) {
      serving.async = true;
      try (Wire wire = serving.start().connect()) {
        wire.send("GET /bsdb/k HTTP/1.1\r\nHost: x\r\n\r\n".repeat(requests));
        for (int i = 0; i < requests; i++) {
          Response response = wire.read();
          assertThat(response.status()).isEqualTo(200);
          assertThat(response.body()).hasSize(24 << 20);
        }
      }
    }
  }

  @Test
  void theLastAnswerOfAConnectionWaitsForASlowClient() throws Exception {
    try (Serving serving = large(32 << 20).start();
        Wire wire = serving.connect()) {
      wire.send("GET /bsdb/k HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
      Thread.sleep(2_500); // longer than the server waits once all is sent
      assertThat(wire.read().body()).hasSize(32 << 20);
      assertThat(wire.ended()).isTrue();
    }
  }

  private Serving large(int bytes) throws IOException {
    return new Serving(Serving.build(folder.resolve("large"), Map.of("k", "v".repeat(bytes))));
  }

  private static void sendAll(Wire wire, String requests) {
    try {
      wire.send(requests);
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }

  @Test
  void jsonValuesAreAnsweredAsSuch() throws IOException {
    Serving serving =
        new Serving(
            Serving.build(
                folder.resolve("json"),
                Map.of(
                    "a", "{\"id\": 12345678901234567890, \"n\":\"x\",\n\"z\":[1.10]}", "b", "7")));
    serving.json = true;
    try (Serving started = serving.start();
        Wire wire = started.connect()) {
      Response whole = wire.get("/bsdb/a");
      assertThat(whole.headers()).containsEntry("content-type", "application/json");
      assertThat(whole.text()).contains("\n\"z\"");
      assertThat(wire.get("/bsdb/a?fields=z,id").text())
          .isEqualTo("{\"id\":12345678901234567890,\"z\":[1.10]}");
      assertThat(wire.get("/bsdb/a?fields=none").text()).isEqualTo("{}");
      assertThat(wire.get("/bsdb/b?fields=id").status()).isEqualTo(400);
      assertThat(wire.post("/bsdb/", "Content-Type: text/plain\r\n", "a\nb".getBytes(UTF_8)).text())
          .isEqualTo(
              """
              {"key":"a","value":{"id":12345678901234567890,"n":"x","z":[1.10]}}
              {"key":"b","value":7}
              """);
    }
  }
}
