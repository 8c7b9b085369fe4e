package tech.bsdb.tools.serve;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tech.bsdb.tools.CommandRun;
import tech.bsdb.tools.serve.Wire.Response;

/** A server whose store follows another one. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class FollowingServerTest {
  private static final byte[] NONE = {};

  @TempDir Path folder;
  private Path far;
  private Serving serving;

  @BeforeEach
  void places() throws IOException {
    far = folder.resolve("far");
    offer("v1", 20);
    serving = new Serving(folder.resolve("store")).following(far, 5);
  }

  @AfterEach
  void end() {
    serving.close();
  }

  private void offer(String version, int records) throws IOException {
    Map<String, String> content = new HashMap<>();
    for (int i = 0; i < records; i++) {
      content.put("k" + i, version);
    }
    Path database = Serving.build(folder.resolve(version), content);
    CommandRun run =
        CommandRun.bsdb("publish", database.toString(), far.toString(), "--version", version, "-q");
    assertThat(run.code()).as(run.toString()).isZero();
  }

  private static JsonNode follow(Wire wire) throws IOException {
    return new ObjectMapper().readTree(wire.get("/stats").body()).get("follow");
  }

  private static void look(Wire admin) throws IOException {
    Response asked = admin.post("/follow", "", NONE);
    assertThat(asked.status()).isEqualTo(202);
    assertThat(asked.text()).contains("\"status\":\"asked\"");
  }

  @Test
  void whatTheSourceHasIsPulledAndServed() throws Exception {
    serving.start();
    assertThat(serving.said()).contains("has no version yet: pulling one from " + far);
    try (Wire wire = serving.connect();
        Wire admin = serving.administrate()) {
      assertThat(wire.get("/bsdb/k7").text()).isEqualTo("v1");
      assertThat(serving.metric("bsdb_follow_pulled_timestamp_seconds")).isPositive();
      double fetched = serving.metric("bsdb_follow_fetched_bytes_total");
      assertThat(fetched).isPositive();
      offer("v2", 20);
      look(admin);
      while (!wire.get("/bsdb/k7").text().equals("v2")) {
        Serving.pause();
      }
      while (!follow(wire).get("state").asText().equals("waiting")) {
        Serving.pause();
      }
      JsonNode follow = follow(wire);
      assertThat(follow.get("source").asText()).isEqualTo(far.toString());
      assertThat(follow.get("pulledVersion").asText()).isEqualTo("v2");
      assertThat(follow.get("offeredVersion").asText()).isEqualTo("v2");
      assertThat(follow.get("behind").asBoolean()).isFalse();
      assertThat(follow.get("error").isNull()).isTrue();
      assertThat(serving.metric("bsdb_follow_fetched_bytes_total")).isGreaterThan(fetched);
      assertThat(serving.metric("bsdb_follow_state{state=\"waiting\"}")).isEqualTo(1);
      assertThat(serving.metric("bsdb_follow_state{state=\"failed\"}")).isZero();
      assertThat(serving.metric("bsdb_follow_behind")).isZero();
      assertThat(serving.metric("bsdb_follow_pull_bytes")).isZero();
      assertThat(serving.metric("bsdb_follow_pull_remaining_bytes")).isZero();
      assertThat(serving.metric("bsdb_follow_checked_timestamp_seconds")).isPositive();
      assertThat(serving.metric("bsdb_follow_failures_total")).isZero();
    }
  }

  @Test
  void whatIsRefusedIsToldAndTheOldVersionServes() throws Exception {
    serving.start();
    try (Wire wire = serving.connect();
        Wire admin = serving.administrate()) {
      offer("v2", 10);
      look(admin);
      while (follow(wire).get("failures").asInt() == 0) {
        Serving.pause();
      }
      JsonNode follow = follow(wire);
      assertThat(follow.get("state").asText()).isEqualTo("failed");
      assertThat(follow.get("behind").asBoolean()).isTrue();
      assertThat(follow.get("error").asText()).contains("--max-shrink allows 5 %");
      assertThat(follow.get("nextAt").isTextual()).isTrue();
      assertThat(wire.get("/bsdb/k17").text()).isEqualTo("v1");
      assertThat(wire.get("/readyz").status()).isEqualTo(200);
      assertThat(serving.metric("bsdb_follow_failures_total")).isEqualTo(1);
      assertThat(serving.metric("bsdb_follow_consecutive_failures")).isEqualTo(1);
      assertThat(serving.metric("bsdb_follow_state{state=\"failed\"}")).isEqualTo(1);
      assertThat(serving.metric("bsdb_follow_behind")).isEqualTo(1);
      assertThat(serving.said()).contains("bsdb serve: nothing was pulled from " + far);
    }
  }

  @Test
  void withoutASourceNothingIsSaidAboutOne() throws Exception {
    serving.directory = far;
    serving.follow = null;
    serving.start();
    try (Wire wire = serving.connect();
        Wire admin = serving.administrate()) {
      assertThat(follow(wire).isNull()).isTrue();
      assertThat(admin.get("/metrics").text()).doesNotContain("bsdb_follow");
      assertThat(admin.post("/follow", "", NONE).status()).isEqualTo(404);
    }
  }
}
