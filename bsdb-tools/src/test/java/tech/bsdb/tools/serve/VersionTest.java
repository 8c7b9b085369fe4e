package tech.bsdb.tools.serve;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tech.bsdb.Database;
import tech.bsdb.tools.CommandRun;
import tech.bsdb.tools.serve.Wire.Response;

/** Which version answered, and what a request may make of it. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class VersionTest {
  private static final String TEXT = "Content-Type: text/plain\r\n";

  @TempDir Path folder;
  private Path database;
  private Serving serving;

  @BeforeEach
  void build() throws IOException {
    database =
        Serving.build(
            folder.resolve("db"),
            Map.of("", "nothing", "k", "{\"a\":1,\"b\":2}", "l", "{\"a\":3}", "e", ""));
    publish(database, "v1");
    serving = new Serving(folder.resolve("store"));
  }

  @AfterEach
  void end() {
    serving.close();
  }

  private void publish(Path from, String version) {
    CommandRun run =
        CommandRun.bsdb(
            "publish", from.toString(), folder.resolve("store").toString(), "--version", version);
    assertThat(run.code()).as(run.toString()).isZero();
  }

  private static Response get(Wire wire, String target, String headers) throws IOException {
    return wire.send("GET " + target + " HTTP/1.1\r\nHost: x\r\n" + headers + "\r\n").read();
  }

  private static Response head(Wire wire, String target, String headers) throws IOException {
    return wire.send("HEAD " + target + " HTTP/1.1\r\nHost: x\r\n" + headers + "\r\n").read(true);
  }

  private static Response ask(Wire wire, String query, String headers, String keys)
      throws IOException {
    return wire.post("/bsdb/" + query, TEXT + headers, keys.getBytes(UTF_8));
  }

  private static String tag(Response response) {
    assertThat(response.headers()).containsKey("etag");
    String tag = response.headers().get("etag");
    assertThat(tag).matches("\"[!#-~]+\""); // strong
    return tag;
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void everyAnswerOfALookupNamesTheVersion(boolean async) throws IOException {
    serving.async = async;
    serving.start();
    try (Wire wire = serving.connect()) {
      String frames = "Accept: application/vnd.bsdb.frames\r\n";
      List<Response> answers =
          List.of(
              get(wire, "/bsdb/k", ""),
              get(wire, "/bsdb/e", ""),
              get(wire, "/bsdb/", ""),
              get(wire, "/bsdb/absent", ""),
              get(wire, "/bsdb/6b?key_encoding=hex", ""),
              head(wire, "/bsdb/k", ""),
              head(wire, "/bsdb/absent", ""),
              ask(wire, "", "", "k\nabsent\n"),
              ask(wire, "", frames, "k\nabsent\n"),
              ask(wire, "", "", ""),
              ask(wire, "", "", "k\n".repeat(1000)), // in pieces
              get(wire, "/bsdb/k?version=v0", ""));
      for (Response answer : answers) {
        assertThat(answer.headers()).containsEntry("bsdb-version", "v1");
      }
      assertThat(answers.get(0).status()).isEqualTo(200);
      assertThat(answers.get(3).status()).isEqualTo(404);
      assertThat(tag(answers.get(5))).isEqualTo(tag(answers.get(0)));
      assertThat(tag(answers.get(6))).isEqualTo(tag(answers.get(3)));
      assertThat(get(wire, "/healthz", "").headers()).doesNotContainKey("bsdb-version");
    }
  }

  @Test
  void aSingleDatabaseIsNamedByItsId() throws IOException {
    serving.directory = database;
    serving.start();
    try (Wire wire = serving.connect()) {
      String id = Database.statistics(database).databaseId();
      assertThat(get(wire, "/bsdb/k", "").headers()).containsEntry("bsdb-version", id);
      assertThat(tag(get(wire, "/bsdb/k", ""))).contains(id);
      assertThat(get(wire, "/bsdb/k?version=" + id, "").status()).isEqualTo(200);
      assertThat(get(wire, "/bsdb/k?version=v1", "").status()).isEqualTo(412);
    }
  }

  @Test
  void everyRepresentationHasATagOfItsOwn() throws IOException {
    Set<String> tags = new HashSet<>();
    serving.start();
    String raw;
    try (Wire wire = serving.connect()) {
      raw = tag(get(wire, "/bsdb/k", ""));
      for (String key : List.of("k", "l", "e", "", "absent")) {
        tags.add(tag(get(wire, "/bsdb/" + key, "")));
      }
      assertThat(tag(get(wire, "/bsdb/%6b", ""))).isEqualTo(raw);
    }
    serving.close();
    for (boolean safe : List.of(false, true)) {
      serving = new Serving(folder.resolve("store"));
      serving.directory = jsonOnly();
      serving.json = true;
      serving.safeIntegers = safe;
      serving.start();
      try (Wire wire = serving.connect()) {
        for (String target : List.of("k", "k?fields=a", "k?fields=b", "k?fields=a,b", "l")) {
          tags.add(tag(get(wire, "/bsdb/" + target, "")));
        }
        assertThat(tag(get(wire, "/bsdb/k?fields=b,a", "")))
            .isEqualTo(tag(get(wire, "/bsdb/k?fields=a,b", "")));
      }
      serving.close();
    }
    assertThat(tags).hasSize(5 + 2 * 5);
    serving = new Serving(folder.resolve("store")).start();
    try (Wire wire = serving.connect()) {
      assertThat(tag(get(wire, "/bsdb/k", ""))).as("after a restart").isEqualTo(raw);
    }
  }

  private Path jsonOnly() throws IOException {
    Path directory = folder.resolve("json");
    return directory.toFile().exists()
        ? directory
        : Serving.build(directory, Map.of("k", "{\"a\":1,\"b\":2}", "l", "{\"a\":3}"));
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void whatTheClientHasIsNotSentAgain(boolean async) throws Exception {
    serving.async = async;
    serving.start();
    try (Wire wire = serving.connect();
        Wire admin = serving.administrate()) {
      Response first = get(wire, "/bsdb/k", "");
      String tag = tag(first);
      for (String known : List.of(tag, "W/" + tag, "\"x\", " + tag, "\"x\",W/" + tag + ", \"y\"")) {
        double hits = serving.metric("bsdb_lookup_hits_total");
        Response same = get(wire, "/bsdb/k", "If-None-Match: " + known + "\r\n");
        assertThat(same.status()).as(known).isEqualTo(304);
        assertThat(same.body()).isEmpty();
        assertThat(same.headers())
            .containsEntry("etag", tag)
            .containsEntry("bsdb-version", "v1")
            .doesNotContainKey("content-length")
            .doesNotContainKey("content-type");
        assertThat(head(wire, "/bsdb/k", "If-None-Match: " + known + "\r\n").status())
            .isEqualTo(304);
        assertThat(serving.metric("bsdb_lookup_hits_total")).as("nothing is read").isEqualTo(hits);
      }
      assertThat(
              get(wire, "/bsdb/k", "If-None-Match: \"x\"\r\nIf-None-Match: " + tag + "\r\n")
                  .status())
          .isEqualTo(304);
      assertThat(get(wire, "/bsdb/k", "If-None-Match: *\r\n").status()).isEqualTo(304);
      assertThat(get(wire, "/bsdb/absent", "If-None-Match: *\r\n").status()).isEqualTo(404);
      for (String other : List.of("\"x\"", tag.replace("\"", ""), "", "\"" + tag.substring(2))) {
        Response sent = get(wire, "/bsdb/k", "If-None-Match: " + other + "\r\n");
        assertThat(sent.status()).as(other).isEqualTo(200);
        assertThat(sent.body()).isEqualTo(first.body());
      }
      assertThat(get(wire, "/bsdb/l", "If-None-Match: " + tag + "\r\n").status()).isEqualTo(200);
      String absent = tag(get(wire, "/bsdb/absent", ""));
      assertThat(get(wire, "/bsdb/absent", "If-None-Match: " + absent + "\r\n").status())
          .as("what is absent is not unchanged")
          .isEqualTo(404);
      publish(Serving.build(folder.resolve("next"), Map.of("k", "new")), "v2");
      assertThat(admin.post("/reload", "", new byte[0]).status()).isEqualTo(200);
      Response newer = get(wire, "/bsdb/k", "If-None-Match: " + tag + "\r\n");
      assertThat(newer.text()).isEqualTo("new");
      assertThat(newer.headers()).containsEntry("bsdb-version", "v2");
      assertThat(tag(newer)).isNotEqualTo(tag);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aVersionMayBeDemanded(boolean async) throws IOException {
    serving.async = async;
    serving.start();
    String id = Database.statistics(database).databaseId();
    try (Wire wire = serving.connect()) {
      for (String served : List.of("v1", id)) {
        assertThat(get(wire, "/bsdb/k?version=" + served, "").status()).isEqualTo(200);
        assertThat(get(wire, "/bsdb/absent?version=" + served, "").status()).isEqualTo(404);
        assertThat(ask(wire, "?version=" + served, "", "k\n").status()).isEqualTo(200);
      }
      double hits = serving.metric("bsdb_lookup_hits_total");
      for (String other : List.of("v0", "v", "V1", "", "0".repeat(32))) {
        List<Response> refused =
            List.of(
                get(wire, "/bsdb/k?version=" + other, ""),
                get(wire, "/bsdb/absent?version=" + other, ""),
                get(wire, "/bsdb/k?version=" + other, "If-None-Match: *\r\n"),
                ask(wire, "?version=" + other, "", "k\n"),
                ask(wire, "?version=" + other, "", "k\n".repeat(1000)));
        for (Response answer : refused) {
          assertThat(answer.status()).as(other).isEqualTo(412);
          assertThat(answer.headers()).containsEntry("bsdb-version", "v1");
          assertThat(answer.text()).contains("\"status\":412", "v1");
        }
        assertThat(head(wire, "/bsdb/k?version=" + other, "").status()).isEqualTo(412);
      }
      assertThat(serving.metric("bsdb_lookup_hits_total")).isEqualTo(hits);
      assertThat(get(wire, "/bsdb/k?version=v1&version=v1", "").status()).isEqualTo(400);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aRepresentationMayBeDemanded(boolean async) throws IOException {
    serving.async = async;
    serving.start();
    try (Wire wire = serving.connect()) {
      String tag = tag(get(wire, "/bsdb/k", ""));
      for (String good : List.of(tag, "\"x\", " + tag, "*")) {
        assertThat(get(wire, "/bsdb/k", "If-Match: " + good + "\r\n").status()).isEqualTo(200);
      }
      for (String bad : List.of("\"x\"", "W/" + tag, tag(get(wire, "/bsdb/l", "")))) {
        Response refused = get(wire, "/bsdb/k", "If-Match: " + bad + "\r\n");
        assertThat(refused.status()).as(bad).isEqualTo(412);
        assertThat(refused.headers()).containsEntry("bsdb-version", "v1");
        assertThat(tag(refused)).isEqualTo(tag);
        assertThat(head(wire, "/bsdb/k", "If-Match: " + bad + "\r\n").status()).isEqualTo(412);
        assertThat(get(wire, "/bsdb/absent", "If-Match: " + bad + "\r\n").status()).isEqualTo(404);
      }
      assertThat(
              get(wire, "/bsdb/k", "If-Match: " + tag + "\r\nIf-None-Match: " + tag + "\r\n")
                  .status())
          .isEqualTo(304);
      assertThat(get(wire, "/bsdb/k", "If-Match: \"x\"\r\nIf-None-Match: " + tag + "\r\n").status())
          .isEqualTo(412);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aBatchSaysItsVersionFirstIfItIsAskedTo(boolean async) throws IOException {
    serving.async = async;
    serving.start();
    String id = Database.statistics(database).databaseId();
    String line = "{\"version\":\"v1\",\"id\":\"" + id + "\"}\n";
    String frames = "Accept: application/vnd.bsdb.frames\r\n";
    try (Wire wire = serving.connect()) {
      assertThat(ask(wire, "?with=version", "", "e\n").text())
          .isEqualTo(line + "{\"key\":\"e\",\"value\":\"\"}\n");
      assertThat(ask(wire, "?with=version", "", "").text()).isEqualTo(line);
      String[] many = ask(wire, "?with=version", "", "e\n".repeat(1000)).text().split("\n");
      assertThat(many).hasSize(1001);
      assertThat(many[0] + "\n").isEqualTo(line);
      assertThat(List.of(many).subList(1, 1001)).containsOnly("{\"key\":\"e\",\"value\":\"\"}");
      ByteBuffer framed = ByteBuffer.wrap(ask(wire, "?with=version", frames, "e\nno\n").body());
      byte[] name = new byte[framed.getInt()];
      framed.get(name);
      assertThat(new String(name, UTF_8)).isEqualTo("v1");
      assertThat(framed.getInt()).isZero();
      assertThat(framed.getInt()).isEqualTo(-1);
      assertThat(framed.hasRemaining()).isFalse();
      Response unknown = ask(wire, "?with=something", "", "e\n");
      assertThat(unknown.status()).isEqualTo(400);
      assertThat(unknown.text()).contains("with", "version");
    }
  }
}
