package tech.bsdb.tools.serve;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tech.bsdb.store.ReloadOptions;
import tech.bsdb.tools.cli.Console;
import tech.bsdb.tools.serve.Wire.Response;
import tech.bsdb.tools.serve.client.FailureReports;
import tech.bsdb.tools.serve.client.Latencies;
import tech.bsdb.tools.serve.client.LookupCounts;
import tech.bsdb.tools.serve.dataset.DataSetLocations;
import tech.bsdb.tools.serve.dataset.DataSets;
import tech.bsdb.tools.serve.telemetry.Telemetry;

@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class HistoryTest {
  private static final Instant START = Instant.parse("2026-11-22T09:00:00Z");
  private static final ObjectMapper JSON = new ObjectMapper();

  @TempDir Path folder;
  private Path directory;

  @BeforeEach
  void build() throws IOException {
    directory = Serving.build(folder.resolve("db"), Map.of("k", "v"));
  }

  @Test
  void keepsTheLastHourAndNoMore() throws IOException {
    ByteArrayOutputStream said = new ByteArrayOutputStream();
    Console console = new Console(new ByteArrayInputStream(new byte[0]), said, said, false);
    Latencies latencies = new Latencies();
    Requests requests =
        new Requests(
            new LookupCounts(100),
            new FailureReports(console),
            latencies,
            null,
            Telemetry.NONE,
            "http");
    try (DataSets sets =
        new DataSets(
            DataSetLocations.single(directory),
            (name, place) -> place.follow(ReloadOptions.defaults()),
            requests.lookups(),
            text -> {})) {
      String[] version = {"v0"};
      History history = new History(requests, sets, () -> version[0]);
      assertThat(samples(history, null)).isEmpty();
      long nanos = System.nanoTime();
      for (int i = 1; i <= 400; i++) {
        requests.lookups().found(10L * i, 5);
        requests.lookups().error(1);
        latencies.record(i * 1_000_000L, 1);
        latencies.tick();
        version[0] = "v" + i;
        nanos += 10_000_000_000L;
        history.sample(START.plusSeconds(10L * i), nanos);
      }
      JsonNode all = samples(history, null);
      assertThat(all).hasSize(360);
      assertThat(all.get(0).get("at").asText()).isEqualTo(START.plusSeconds(410).toString());
      JsonNode last = all.get(359);
      assertThat(last.get("at").asText()).isEqualTo(START.plusSeconds(4000).toString());
      assertThat(last.get("version").asText()).isEqualTo("v400");
      assertThat(last.get("hits").asDouble()).isEqualTo(400);
      assertThat(last.get("misses").asDouble()).isEqualTo(0.5);
      assertThat(last.get("errors").asDouble()).isEqualTo(0.1);
      assertThat(last.get("count").asLong()).as("the window has ten ticks").isEqualTo(10);
      assertThat(last.get("maxSeconds").asDouble()).isBetween(0.39, 0.41);
      assertThat(samples(history, START.plusSeconds(3990))).hasSize(1);
      assertThat(samples(history, START.plusSeconds(3989))).hasSize(2);
      assertThat(samples(history, START.plus(Duration.ofDays(1)))).isEmpty();
    }
  }

  private static JsonNode samples(History history, @Nullable Instant since) throws IOException {
    return JSON.readTree(Pages.json(200, history.after(since)).body()).get("samples");
  }

  @Test
  void isServedBesideTheFigures() throws IOException {
    try (Serving serving = new Serving(directory).start();
        Wire wire = serving.connect();
        Wire admin = serving.administrate()) {
      for (Wire each : new Wire[] {wire, admin}) {
        Response history = each.get("/history");
        assertThat(history.status()).isEqualTo(200);
        assertThat(history.headers()).containsEntry("content-type", "application/json");
        JsonNode all = JSON.readTree(history.body());
        assertThat(all.get("intervalSeconds").asInt()).isEqualTo(10);
        assertThat(all.get("samples").isArray()).isTrue();
        assertThat(each.get("/history?since=2026-11-22T09:00:00Z").status()).isEqualTo(200);
      }
      assertThat(wire.get("/history?since=yesterday").status()).isEqualTo(400);
      while (JSON.readTree(wire.get("/history").body()).get("samples").isEmpty()) {
        Serving.pause();
      }
      JsonNode first = JSON.readTree(wire.get("/history").body()).get("samples").get(0);
      assertThat(first.get("version").asText()).matches("[0-9a-f]{32}");
    }
  }
}
