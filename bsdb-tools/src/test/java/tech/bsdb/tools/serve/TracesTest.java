package tech.bsdb.tools.serve;

import static io.opentelemetry.sdk.testing.assertj.OpenTelemetryAssertions.equalTo;
import static io.opentelemetry.sdk.testing.assertj.OpenTelemetryAssertions.satisfies;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanId;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.sdk.metrics.data.DoublePointData;
import io.opentelemetry.sdk.metrics.data.HistogramPointData;
import io.opentelemetry.sdk.metrics.data.MetricData;
import io.opentelemetry.sdk.testing.assertj.OpenTelemetryAssertions;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.data.StatusData;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
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
import tech.bsdb.tools.serve.dataset.DataSetLocations;
import tech.bsdb.tools.serve.telemetry.Recording;

/** What OpenTelemetry is told, with and without a parent, and that no key is in it. */
@Timeout(60)
class TracesTest {
  private static final String TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
  private static final String PARENT = "00f067aa0ba902b7";
  private static final String TRACEPARENT = "traceparent: 00-" + TRACE + "-" + PARENT + "-01\r\n";
  private static final AttributeKey<String> ROUTE = AttributeKey.stringKey("http.route");
  private static final AttributeKey<Long> STATUS =
      AttributeKey.longKey("http.response.status_code");

  @TempDir Path folder;
  private final Recording recording = new Recording();
  private Serving serving;

  @BeforeEach
  void open() throws IOException {
    serving =
        new Serving(
            Serving.buildOrdered(
                folder.resolve("db"), Map.of("secret-a", "1", "secret-b", "2", "secret-c", "3")));
    serving.telemetry = recording.telemetry();
  }

  @AfterEach
  void close() {
    serving.close();
  }

  private static String get(String target, String headers) {
    return "GET " + target + " HTTP/1.1\r\nHost: store.example:81\r\n" + headers + "\r\n";
  }

  /** The spans of requests that have ended. */
  private List<SpanData> spans() {
    return recording.spans().stream().filter(span -> span.getKind() == SpanKind.SERVER).toList();
  }

  private static <T> @Nullable T of(SpanData span, AttributeKey<T> key) {
    return span.getAttributes().get(key);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aRequestIsAChild(boolean async) throws IOException {
    serving.async = async;
    serving.start();
    try (Wire wire = serving.connect()) {
      String headers = TRACEPARENT + "tracestate: a=1\r\nTracestate: b=2\r\nUser-Agent: wire\r\n";
      assertThat(wire.send(get("/bsdb/secret-a?fields", headers)).read().status()).isEqualTo(400);
      assertThat(wire.send(get("/bsdb/secret-a", headers)).read().text()).isEqualTo("1");
    }
    List<SpanData> spans = spans();
    assertThat(spans).hasSize(2);
    assertThat(of(spans.get(0), STATUS)).isEqualTo(400);
    assertThat(spans.get(0).getStatus()).isEqualTo(StatusData.unset());
    OpenTelemetryAssertions.assertThat(spans.get(1))
        .hasName("GET /bsdb/{key}")
        .hasKind(SpanKind.SERVER)
        .hasTraceId(TRACE)
        .hasParentSpanId(PARENT)
        .hasStatus(StatusData.unset())
        .hasEnded()
        .hasAttributesSatisfyingExactly(
            equalTo(AttributeKey.stringKey("http.request.method"), "GET"),
            equalTo(AttributeKey.stringKey("url.scheme"), "http"),
            equalTo(AttributeKey.stringKey("url.path"), "/bsdb/{key}"),
            equalTo(ROUTE, "/bsdb/{key}"),
            equalTo(STATUS, 200),
            equalTo(AttributeKey.stringKey("server.address"), "store.example"),
            equalTo(AttributeKey.longKey("server.port"), 81),
            equalTo(AttributeKey.stringKey("client.address"), "127.0.0.1"),
            equalTo(AttributeKey.stringKey("user_agent.original"), "wire"),
            equalTo(AttributeKey.stringKey("network.protocol.version"), "1.1"),
            satisfies(AttributeKey.stringKey("bsdb.version"), id -> id.isNotEmpty()),
            equalTo(AttributeKey.longKey("bsdb.keys.asked"), 1),
            equalTo(AttributeKey.longKey("bsdb.keys.found"), 1));
    assertThat(spans.get(1).getSpanContext().getTraceState().asMap())
        .isEqualTo(Map.of("a", "1", "b", "2"));
    assertThat(spans.toString()).doesNotContain("secret");
  }

  @ParameterizedTest
  @CsvSource({
    "GET /bsdb/secret-x, GET /bsdb/{key}, 404, 1, 0",
    "HEAD /bsdb/secret-a, HEAD /bsdb/{key}, 200, 1, 1",
    "GET /bsdb/?prefix=secret, GET /bsdb/, 200, 3, 3",
    "GET /bsdb/?prefix=secret&count=true, GET /bsdb/, 200, 0, 0",
    "GET /bsdb/?secret=1, GET /bsdb/, 400, , ",
    "PUT /bsdb/secret-a, PUT /bsdb/{key}, 405, , ",
    "SECRET /bsdb/secret-a, HTTP /bsdb/{key}, 405, , ",
    "GET /secret, GET, 404, , ",
    "GET /healthz, GET /healthz, 200, , ",
    "GET /bsdb/%, GET /bsdb/{key}, 400, , ",
    "GET secret, GET, 400, , ",
  })
  void spansAreNamedByRoutes(
      String request, String name, long status, @Nullable Long asked, @Nullable Long found)
      throws IOException {
    serving.start();
    try (Wire wire = serving.connect()) {
      wire.send(request + " HTTP/1.1\r\nHost: [::1]\r\n\r\n");
      assertThat(wire.read(request.startsWith("HEAD")).status()).isEqualTo((int) status);
    }
    SpanData span = spans().get(0);
    assertThat(span.getName()).isEqualTo(name);
    assertThat(span.getParentSpanId()).isEqualTo(SpanId.getInvalid());
    assertThat(span.getStatus()).isEqualTo(StatusData.unset());
    assertThat(of(span, STATUS)).isEqualTo(status);
    assertThat(of(span, AttributeKey.stringKey("server.address"))).isEqualTo("::1");
    assertThat(of(span, AttributeKey.longKey("server.port"))).isNull();
    assertThat(of(span, AttributeKey.longKey("bsdb.keys.asked"))).isEqualTo(asked);
    assertThat(of(span, AttributeKey.longKey("bsdb.keys.found"))).isEqualTo(found);
    String method = of(span, AttributeKey.stringKey("http.request.method"));
    assertThat(method)
        .isEqualTo(request.startsWith("SECRET") ? "_OTHER" : request.replaceFirst(" .*", ""));
    assertThat(span.toString()).doesNotContain("secret");
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void batchesOfNamedDataSetsCountTheirKeys(boolean async) throws IOException {
    serving.data = DataSetLocations.named(Map.of("users", serving.directory));
    serving.async = async;
    serving.start();
    try (Wire wire = serving.connect()) {
      byte[] body = "secret-a\nsecret-x\nsecret-c\n".getBytes(UTF_8);
      String headers = TRACEPARENT + "Content-Type: text/plain\r\n";
      assertThat(wire.post("/bsdb/users/", headers, body).status()).isEqualTo(200);
      assertThat(wire.get("/bsdb/users/secret-b").status()).isEqualTo(200);
      assertThat(wire.get("/bsdb/secrets/secret-b").status()).isEqualTo(404);
    }
    List<SpanData> spans = spans();
    assertThat(spans)
        .extracting(SpanData::getName)
        .containsExactly("POST /bsdb/{dataset}/", "GET /bsdb/{dataset}/{key}", "GET");
    SpanData batch = spans.get(0);
    assertThat(batch.getParentSpanId()).isEqualTo(PARENT);
    assertThat(of(batch, AttributeKey.stringKey("bsdb.dataset"))).isEqualTo("users");
    assertThat(of(batch, AttributeKey.longKey("bsdb.keys.asked"))).isEqualTo(3);
    assertThat(of(batch, AttributeKey.longKey("bsdb.keys.found"))).isEqualTo(2);
    assertThat(spans.toString()).doesNotContain("secret");
  }

  /** Each of them has its own parent, and its own outcome, in whatever order they become ready. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void pipelinedRequestsDoNotMix(boolean async) throws IOException {
    serving.async = async;
    serving.start();
    int requests = 600;
    try (Wire wire = serving.connect()) {
      StringBuilder all = new StringBuilder();
      for (int i = 0; i < requests; i++) {
        String parent =
            i % 5 == 4 ? "" : "traceparent: 00-%032x-%016x-01\r\n".formatted(i + 1, i + 1);
        all.append(get("/bsdb/secret-" + (i % 3 == 0 ? "x" : "a"), parent));
      }
      wire.send(all.toString());
      for (int i = 0; i < requests; i++) {
        assertThat(wire.read().status()).isEqualTo(i % 3 == 0 ? 404 : 200);
      }
    }
    List<SpanData> spans = spans();
    assertThat(spans).hasSize(requests);
    for (int i = 0; i < requests; i++) {
      SpanData span = spans.get(i);
      assertThat(of(span, STATUS)).isEqualTo(i % 3 == 0 ? 404 : 200);
      if (i % 5 == 4) {
        assertThat(span.getParentSpanContext().isValid()).isFalse();
      } else {
        assertThat(span.getTraceId()).isEqualTo("%032x".formatted(i + 1));
        assertThat(span.getParentSpanId()).isEqualTo("%016x".formatted(i + 1));
      }
    }
    assertThat(spans).extracting(SpanData::getSpanId).doesNotHaveDuplicates();
    assertThat(Span.current().getSpanContext().isValid()).isFalse();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "traceparent: 00-" + TRACE + "-" + PARENT + "-01-more\r\n",
        "traceparent: ff-" + TRACE + "-" + PARENT + "-01\r\n",
        "traceparent: 00-" + TRACE + "-0000000000000000-01\r\n",
        "traceparent: 00-4BF92F3577B34DA6A3CE929D0E0E4736-" + PARENT + "-01\r\n",
        TRACEPARENT + TRACEPARENT,
        "traceparent:\r\n",
      })
  void aMalformedParentIsIgnored(String header) throws IOException {
    serving.start();
    try (Wire wire = serving.connect()) {
      assertThat(wire.send(get("/bsdb/secret-a", header + "tracestate: a=1\r\n")).read().status())
          .isEqualTo(200);
    }
    SpanData span = spans().get(0);
    assertThat(span.getParentSpanContext().isValid()).isFalse();
    assertThat(span.getTraceId()).isNotEqualTo(TRACE);
    assertThat(span.getSpanContext().getTraceState().isEmpty()).isTrue();
  }

  @Test
  void anUnsampledParentIsNotRecorded() throws IOException {
    serving.start();
    try (Wire wire = serving.connect()) {
      String parent = "traceparent: 00-" + TRACE + "-" + PARENT + "-00\r\n";
      assertThat(wire.send(get("/bsdb/secret-a", parent)).read().status()).isEqualTo(200);
    }
    assertThat(spans()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void failuresOfTheServerAreErrors(boolean async) throws IOException {
    Map<String, String> records = new TreeMap<>();
    IntStream.range(0, 2000).forEach(i -> records.put("secret-" + i, "v".repeat(500)));
    serving.directory = Serving.build(folder.resolve("damaged"), records);
    serving.open = OpenOptions.defaults().withEngine(Engine.DIRECT);
    serving.async = async;
    damage(serving.directory);
    serving.start();
    int failed = 0;
    try (Wire wire = serving.connect()) {
      for (int i = 0; i < 100; i++) {
        failed += wire.send(get("/bsdb/secret-" + i, TRACEPARENT)).read().status() == 500 ? 1 : 0;
      }
      byte[] batch = String.join("\n", records.keySet()).getBytes(UTF_8);
      assertThat(wire.post("/bsdb/", "Content-Type: text/plain\r\n", batch).status())
          .isEqualTo(500);
      failed++;
    }
    List<SpanData> errors = spans().stream().filter(span -> of(span, STATUS) == 500).toList();
    assertThat(errors).hasSize(failed).hasSizeGreaterThan(1);
    assertThat(errors)
        .allSatisfy(
            span -> {
              assertThat(span.getStatus()).isEqualTo(StatusData.error());
              assertThat(of(span, AttributeKey.stringKey("error.type")))
                  .isEqualTo("tech.bsdb.error.CorruptDatabaseException");
              assertThat(span.toString()).doesNotContain("secret");
            });
    assertThat(serving.said()).contains(" trace_id=" + TRACE + ": ");
  }

  /** Damages most blocks of values. */
  private static void damage(Path database) throws IOException {
    try (var files = Files.list(database)) {
      for (Path data : files.filter(file -> file.toString().contains("data")).toList()) {
        byte[] bytes = Files.readAllBytes(data);
        for (int at = bytes.length / 4; at < bytes.length * 3 / 4; at += 512) {
          bytes[at] ^= 1;
        }
        Files.write(data, bytes);
      }
    }
  }

  @Test
  void whatIsNotAnsweredEndsWithoutAStatus() throws IOException {
    Map<String, String> records = new TreeMap<>();
    IntStream.range(0, 200).forEach(i -> records.put("secret-" + i, "v".repeat(100_000)));
    serving.directory = Serving.build(folder.resolve("large"), records);
    serving.start();
    try (Wire wire = serving.connect()) {
      byte[] batch = String.join("\n", records.keySet()).getBytes(UTF_8);
      wire.sendBatch(TRACEPARENT + "Content-Type: text/plain\r\n", batch);
      wire.skipHead();
      wire.send(get("/bsdb/secret-1", TRACEPARENT)); // behind it, and never begun
    }
    while (spans().size() < 2) {
      Serving.pause();
    }
    assertThat(spans())
        .allSatisfy(
            span -> {
              assertThat(of(span, STATUS)).isNull();
              assertThat(of(span, AttributeKey.stringKey("error.type")))
                  .isEqualTo("connection_closed");
              assertThat(span.getStatus()).isEqualTo(StatusData.error());
            });
  }

  @Test
  void requestsOfConnectionsThatAreCutAtTheEndAreSent() throws Exception {
    serving.drain = Duration.ZERO;
    serving.start();
    List<Wire> wires = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      Wire wire = serving.connect();
      wires.add(wire);
      wire.get("/bsdb/secret-a");
      wire.send("POST /bsdb/ HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\n");
      wire.send("Expect: 100-continue\r\nContent-Length: 9\r\n\r\n");
      wire.skipHead(); // of 100 Continue: the request is known
    }
    serving.close();
    assertThat(recording.sent())
        .extracting(span -> of(span, AttributeKey.stringKey("error.type")))
        .filteredOn("connection_closed"::equals)
        .hasSize(20);
    for (Wire wire : wires) {
      wire.close();
    }
  }

  @Test
  void metricsHaveTheNamesOfThePage() throws IOException {
    serving.resp = true;
    serving.start();
    try (Wire wire = serving.connect()) {
      for (String key : List.of("secret-a", "secret-b", "secret-x")) {
        wire.get("/bsdb/" + key);
      }
      wire.get("/secret");
    }
    Map<String, MetricData> metrics =
        recording.metrics().stream()
            .collect(Collectors.toMap(MetricData::getName, Function.identity()));
    assertThat(sum(metrics, "bsdb_lookup_hits")).isEqualTo(2);
    assertThat(sum(metrics, "bsdb_lookup_misses")).isEqualTo(1);
    assertThat(metrics.get("bsdb_lookup_hits").getDoubleSumData().isMonotonic()).isTrue();
    assertThat(metrics.get("bsdb_http_requests").getDoubleSumData().getPoints())
        .extracting(at -> at.getAttributes().get(AttributeKey.stringKey("status")) + at.getValue())
        .containsExactlyInAnyOrder("2002.0", "4042.0");
    assertThat(metrics.get("bsdb_database_records").getDoubleGaugeData().getPoints())
        .extracting(DoublePointData::getValue)
        .containsExactly(3.0);
    assertThat(metrics.get("bsdb_database_size_bytes").getUnit()).isEqualTo("By");
    assertThat(metrics)
        .containsKeys(
            "bsdb_database_info", "bsdb_resp_command_duration_seconds", "jvm_memory_used_bytes");
    try (Wire wire = serving.connect()) {
      assertThat(wire.get("/metrics").text().lines().filter(line -> !line.startsWith("#")))
          .map(line -> line.replaceFirst("[{ ].*", "").replaceFirst("_total$", ""))
          .filteredOn(name -> !name.startsWith("bsdb_http_request_duration_seconds_"))
          .contains("jvm_gc_collection_seconds_sum", "bsdb_resp_command_duration_seconds_count")
          .isSubsetOf(metrics.keySet());
    }
    MetricData durations = metrics.get("http.server.request.duration");
    assertThat(durations.getUnit()).isEqualTo("s");
    assertThat(durations.getHistogramData().getPoints())
        .extracting(HistogramPointData::getCount, at -> at.getAttributes().get(ROUTE))
        .containsExactlyInAnyOrder(
            org.assertj.core.groups.Tuple.tuple(2L, "/bsdb/{key}"),
            org.assertj.core.groups.Tuple.tuple(1L, "/bsdb/{key}"),
            org.assertj.core.groups.Tuple.tuple(1L, null));
    assertThat(metrics.values().toString()).doesNotContain("secret");
  }

  private static double sum(Map<String, MetricData> metrics, String name) {
    return metrics.get(name).getDoubleSumData().getPoints().stream()
        .mapToDouble(DoublePointData::getValue)
        .sum();
  }

  @Test
  void swapsAreSpansAndTheEndSendsWhatIsLeft() throws Exception {
    serving.directory = Serving.publish(folder, 1);
    serving.start();
    Serving.publish(folder, 2);
    AttributeKey<String> version = AttributeKey.stringKey("bsdb.version");
    while (recording.spans().stream().noneMatch(span -> "v2".equals(of(span, version)))) {
      Serving.pause();
    }
    List<SpanData> spans = recording.spans();
    assertThat(spans).extracting(SpanData::getName).containsOnly("open version");
    assertThat(spans).extracting(SpanData::getKind).containsOnly(SpanKind.INTERNAL);
    assertThat(recording.isClosed()).isFalse();
    serving.close();
    assertThat(recording.isClosed()).isTrue();
  }

  @Test
  void theAccessLogHasTheTraceOfEachSpan() throws IOException {
    Path log = folder.resolve("access.log");
    serving.accessLog = log.toString();
    serving.start();
    try (Wire wire = serving.connect()) {
      wire.send(get("/bsdb/secret-a", TRACEPARENT)).read();
      wire.get("/bsdb/secret-a");
    }
    serving.close();
    List<SpanData> spans = spans();
    assertThat(spans).hasSize(2);
    assertThat(Files.readAllLines(log))
        .satisfiesExactly(
            line -> assertThat(line).endsWith(" trace_id=" + TRACE),
            line -> assertThat(line).endsWith(" trace_id=" + spans.get(1).getTraceId()));
  }
}
