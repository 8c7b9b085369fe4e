package tech.bsdb.tools.serve;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tech.bsdb.tools.serve.Wire.Response;

@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ProtocolTest {
  private static final String GET = "GET /bsdb/k HTTP/1.1\r\nHost: x\r\n";
  private static final String POST =
      "POST /bsdb/ HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\n";

  @TempDir Path folder;
  private Serving serving;

  @BeforeEach
  void build() throws IOException {
    serving = new Serving(Serving.build(folder.resolve("db"), Map.of("k", "value")));
  }

  @AfterEach
  void end() {
    serving.close();
  }

  @ParameterizedTest
  @CsvSource({
    "'GET /bsdb/k HTTP/1.1\r\n\r\n', 400",
    "'GET /bsdb/k HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n', 400",
    "'GET /bsdb/k HTTP/1.1\r\nHost: a b\r\n\r\n', 400",
    "'GET /bsdb/k HTTP/1.1\r\nHost: x\r\nFoo : x\r\n\r\n', 400",
    "'GET /bsdb/k HTTP/1.1\r\nHost: x\r\nF(o: x\r\n\r\n', 400",
    "'GET /bsdb/k HTTP/2.0\r\nHost: x\r\n\r\n', 505",
    "'GET /bsdb/k HTTP/9\r\nHost: x\r\n\r\n', 400",
    "'GET\r\n\r\n', 400",
    "'\u0016\u0003\u0001\u0002\r\n\r\n', 400",
    "'POST /bsdb/ HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n', 400",
    "'POST /bsdb/ HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nk', 400",
    "'POST /bsdb/ HTTP/1.1\r\nHost: x\r\nContent-Length: -3\r\n\r\nk', 400",
    "'POST /bsdb/ HTTP/1.1\r\nHost: x\r\nContent-Length: 3x\r\n\r\nk', 400",
    "'POST /bsdb/ HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: xchunked\r\n\r\n', 501",
    "'POST /bsdb/ HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n', 501",
    "'POST /bsdb/ HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked, gzip\r\n\r\n', 501",
    "'POST /bsdb/ HTTP/1.1\r\nHost: x\r\ntransfer-encoding: GZIP\r\n\r\n', 501",
    "'POST /bsdb/ HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: identity\r\n\r\n', 501",
    "'POST /bsdb/ HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\nTransfer-Encoding: Chunked\r\n\r\n', 501",
    "'POST /bsdb/ HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: Chunked\r\nTransfer-Encoding: x;q=\"1\"\r\n\r\n', 501",
    "'POST /bsdb/ HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: \r\n\r\n', 400",
    "'POST /bsdb/ HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked, chunked\r\n\r\n', 400",
    "'POST /bsdb/ HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n', 400",
    "'POST /bsdb/ HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: \u000bchunked\r\n\r\n', 400",
    "'POST /bsdb/ HTTP/1.1\r\nHost: x\r\nTransfer-Encoding : chunked\r\n\r\n', 400",
    "'POST /bsdb/ HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: gzip\r\n\r\n', 400",
    "'POST /bsdb/ HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: gzip, chunked\r\n\r\n', 400",
    "'POST /bsdb/ HTTP/1.0\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n', 400",
    "'POST /bsdb/ HTTP/1.0\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n', 400",
    "'POST /bsdb/ HTTP/1.1\r\nHost: x\r\nExpect: tea\r\nContent-Length: 3\r\n\r\n', 417",
    "'POST /bsdb/ HTTP/1.1\r\nHost: x\r\nContent-Length: 1048577\r\n\r\n', 413",
  })
  void whatIsMalformedOrTooMuchIsRefusedAndTheConnectionEnds(String request, int status)
      throws IOException {
    serving.start();
    try (Wire wire = serving.connect()) {
      // behind it, one that must not be answered
      Response response = wire.send(request + GET + "\r\n").read();
      assertThat(response.status()).isEqualTo(status);
      assertThat(response.headers()).containsEntry("connection", "close");
      assertThat(response.text()).startsWith("{\"error\":{\"status\":" + status).endsWith("}}\n");
      assertThat(wire.ended()).isTrue();
    }
  }

  @ParameterizedTest
  @CsvSource({"7990, 0, 404", "0, 8192, 200", "17000, 0, 414", "0, 17000, 431", "5000000, 0, 414"})
  void lengthsOfLinesAreBounded(int line, int header, int status) throws IOException {
    serving.start();
    try (Wire wire = serving.connect()) {
      String request =
          "GET /bsdb/k"
              + "y".repeat(line)
              + " HTTP/1.1\r\nHost: x\r\nFoo: "
              + "z".repeat(header)
              + "\r\n\r\n";
      assertThat(wire.send(request).read().status()).isEqualTo(status);
    }
  }

  @Test
  void anEndlessLineIsRefusedBeforeItEnds() throws IOException {
    serving.start();
    try (Wire wire = serving.connect()) {
      assertThat(wire.send("GET /" + "y".repeat(20_000)).read().status()).isEqualTo(414);
    }
    try (Wire wire = serving.connect()) {
      assertThat(wire.send(GET + "Foo: " + "y".repeat(20_000)).read().status()).isEqualTo(431);
    }
  }

  @Test
  void aBodyIsRefusedAsSoonAsItIsTooLarge() throws IOException {
    serving.start();
    try (Wire wire = serving.connect()) {
      wire.send(POST + "Transfer-Encoding: chunked\r\n\r\n");
      String piece = "8000\r\n" + "k".repeat(0x7FFF) + "\n\r\n"; // few keys, many bytes
      for (int i = 0; i < 33; i++) {
        wire.send(piece);
      }
      Response response = wire.read();
      assertThat(response.status()).isEqualTo(413);
      assertThat(response.text()).contains("the body is larger than");
    }
  }

  @ParameterizedTest
  @CsvSource({"false, true", "true, false"})
  void oldClientsAreServed(boolean keepAlive, boolean ends) throws IOException {
    serving.start();
    try (Wire wire = serving.connect()) {
      String request =
          "GET /bsdb/k HTTP/1.0\r\n" + (keepAlive ? "Connection: keep-alive\r\n" : "") + "\r\n";
      Response response = wire.send(request).read();
      assertThat(response.text()).isEqualTo("value");
      assertThat(response.headers()).containsEntry("connection", ends ? "close" : "keep-alive");
      if (ends) {
        assertThat(wire.ended()).isTrue();
      } else {
        assertThat(wire.send(request).read().text()).isEqualTo("value");
      }
    }
  }

  @Test
  void aConnectionEndsWhenTheClientAsks() throws IOException {
    serving.start();
    try (Wire wire = serving.connect()) {
      Response response = wire.send(GET + "Connection: close\r\n\r\n" + GET + "\r\n").read();
      assertThat(response.text()).isEqualTo("value");
      assertThat(response.headers()).containsEntry("connection", "close");
      assertThat(wire.ended()).isTrue();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"http://host:80/bsdb/k", "HTTP://h/bsdb/k?", "https://h/bsdb/%6B"})
  void targetsMayBeAbsolute(String target) throws IOException {
    serving.start();
    try (Wire wire = serving.connect()) {
      assertThat(wire.get(target).text()).isEqualTo("value");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"host:80", "http://", "http:///bsdb/k", "ftp://h/bsdb/k", "bsdb/k"})
  void otherTargetsAreRefused(String target) throws IOException {
    serving.start();
    try (Wire wire = serving.connect()) {
      assertThat(wire.get(target).status()).isIn(400, 404);
      assertThat(wire.get("/bsdb/k").text()).isEqualTo("value");
    }
  }

  @Test
  void bodiesOfAllKindsAreTaken() throws IOException {
    serving.start();
    String answer = "{\"key\":\"k\",\"value\":\"value\"}\n";
    try (Wire wire = serving.connect()) {
      wire.send(POST + "Transfer-Encoding: chunked\r\n\r\n1;a=b\r\nk\r\n");
      wire.send("1\r\n\n\r\n1\r\nk\r\n0\r\nTrailer: x\r\n\r\n");
      assertThat(wire.read().text()).isEqualTo(answer + answer);
      assertThat(
              wire.send(POST + "Content-Length: 1\r\nExpect: 100-continue\r\n\r\n").read().status())
          .isEqualTo(100);
      assertThat(wire.send("k").read().text()).isEqualTo(answer);
      // a GET may have a body, which counts for nothing
      assertThat(wire.send(GET + "Content-Length: 5\r\n\r\nhello").read().text())
          .isEqualTo("value");
      assertThat(
              wire.send(GET + "Transfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n0\r\n\r\n")
                  .read()
                  .text())
          .isEqualTo("value");
      assertThat(wire.send(POST + "Transfer-Encoding: chunked\r\n\r\nzz\r\nk\r\n").read().status())
          .isEqualTo(400);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void whoHasSaidAllIsAnswered(boolean async) throws IOException {
    serving.async = async;
    serving.start();
    try (Wire wire = serving.connect()) {
      wire.send((GET + "\r\n").repeat(20));
      wire.shutdownOutput();
      for (int i = 0; i < 20; i++) {
        assertThat(wire.read().text()).isEqualTo("value");
      }
      assertThat(wire.ended()).isTrue();
    }
    try (Wire wire = serving.connect()) {
      wire.send(POST + "Content-Length: 10\r\n\r\nk");
      wire.shutdownOutput();
      assertThat(wire.read().status()).isEqualTo(400);
      assertThat(wire.ended()).isTrue();
    }
  }

  @Test
  void whoIsTooSlowIsCutOff() throws IOException {
    serving.request = Duration.ofSeconds(1);
    serving.start();
    try (Wire head = serving.connect();
        Wire body = serving.connect();
        Wire second = serving.connect();
        Wire line = serving.connect();
        Wire idle = serving.connect()) {
      head.send("GET /bsdb/k HTTP/1.1\r\nHo");
      body.send(POST + "Content-Length: 10\r\n\r\nk");
      assertThat(second.get("/bsdb/k").text()).isEqualTo("value");
      second.send("GET /bs");
      line.send("GET /bsdb/k HTTP/1.1\r\nHost: x\r\n\r\nGET /bsdb/k HTTP/1.1\r\n");
      assertThat(line.read().text()).isEqualTo("value");
      for (Wire wire : new Wire[] {head, body, second, line}) {
        assertThat(wire.read().status()).isEqualTo(408);
        assertThat(wire.ended()).isTrue();
      }
      assertThat(idle.get("/bsdb/k").text()).isEqualTo("value"); // nothing was due from it
    }
  }

  @Test
  void idleConnectionsAreEnded() throws IOException {
    serving.idle = Duration.ofSeconds(1);
    serving.request = Duration.ofSeconds(1);
    serving.start();
    try (Wire never = serving.connect();
        Wire once = serving.connect()) {
      assertThat(once.get("/bsdb/k").text()).isEqualTo("value");
      assertThat(never.ended()).isTrue();
      assertThat(once.ended()).isTrue();
    }
  }

  @Test
  void aClientThatTakesNoAnswersHoldsNoMemory() throws IOException {
    serving.close();
    serving = new Serving(Serving.build(folder.resolve("big"), Map.of("k", "v".repeat(1 << 20))));
    serving.request = Duration.ofSeconds(2);
    serving.start();
    try (Wire wire = serving.connect()) {
      assertThat(wire.get("/bsdb/k").status()).isEqualTo(200); // so that it is surely connected
      String requests = (GET + "\r\n").repeat(2000); // 2 GB of answers, in a heap of 1 GB
      Thread sender =
          new Thread(
              () -> {
                try {
                  wire.send(requests);
                } catch (IOException cutOff) {
                  // as it should be
                }
              });
      sender.start();
      while (serving.metric("bsdb_http_connections") > 0) {
        Serving.pause(); // until it is cut off
      }
      assertThat(serving.metric("bsdb_http_requests_total{status=\"200\"}")).isLessThan(200);
    }
    try (Wire wire = serving.connect()) {
      assertThat(wire.get("/bsdb/k").body()).hasSize(1 << 20);
    }
  }

  @Test
  void beyondTheLimitOfConnectionsTheAnswerIs503() throws IOException {
    serving.connections = 2;
    serving.start();
    try (Wire first = serving.connect();
        Wire second = serving.connect()) {
      assertThat(first.get("/bsdb/k").status()).isEqualTo(200);
      assertThat(second.get("/bsdb/k").status()).isEqualTo(200);
      try (Wire third = serving.connect()) {
        Response refused = third.read();
        assertThat(refused.status()).isEqualTo(503);
        assertThat(refused.headers()).containsEntry("retry-after", "1");
        assertThat(third.ended()).isTrue();
      }
      assertThat(first.get("/bsdb/k").status()).isEqualTo(200);
    }
  }
}
