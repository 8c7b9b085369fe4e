package tech.bsdb.tools.serve;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tech.bsdb.BuildOptions;
import tech.bsdb.Layout;
import tech.bsdb.tools.CommandRun;
import tech.bsdb.tools.rows.AvroRows;
import tech.bsdb.tools.rows.RowSchema;
import tech.bsdb.tools.rows.TypedDatabase;
import tech.bsdb.tools.serve.Wire.Response;

/** Typed rows over HTTP. */
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ServedRowsTest {
  private static final String APPLE =
      "{\"id\":1,\"unit.price\":1.50,\"name\":\"Apple \\\"red\\\"\"}";
  private static final String KEYS = "Content-Type: text/plain\r\n";

  @TempDir Path folder;
  private @Nullable Serving serving;

  @AfterEach
  void end() {
    if (serving != null) {
      serving.close();
    }
  }

  private Wire serve(Path database, boolean json, boolean async) throws IOException {
    Serving started = new Serving(database);
    started.json = json;
    started.async = async;
    serving = started;
    return started.start().connect();
  }

  private static void is(Response response, int status, String type, String body) {
    assertThat(new String(response.body(), UTF_8)).isEqualTo(body);
    assertThat(response.status()).isEqualTo(status);
    assertThat(response.headers()).containsEntry("content-type", type);
  }

  private static void isObject(Response response, String body) {
    is(response, 200, "application/json", body);
  }

  private static void isRefused(Response response, int status, String words) {
    assertThat(response.text()).contains("\"status\":" + status).contains(words);
    assertThat(response.status()).isEqualTo(status);
    assertThat(response.headers()).containsEntry("content-type", "application/json");
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aValueIsAnObject(boolean async) throws Exception {
    try (Wire wire = serve(TypedDatabase.build(folder.resolve("db")), true, async)) {
      isObject(wire.get("/bsdb/apple"), APPLE);
      isObject(
          wire.get("/bsdb/pear?fields=name,id"), "{\"id\":9007199254740992,\"name\":\"Pear\"}");
      isObject(wire.get("/bsdb/plum?fields=unit.price"), "{\"unit.price\":-0.05}");
      assertThat(wire.get("/bsdb/none").status()).isEqualTo(404);
      assertThat(wire.get("/bsdb/none?fields=id").status()).isEqualTo(404);
      for (String key : new String[] {"apple", "none"}) {
        isRefused(
            wire.get("/bsdb/" + key + "?fields=id,colour"),
            400,
            "fields: no column \\\"colour\\\"; the columns are id, unit.price, name");
      }
      isRefused(wire.get("/bsdb/apple?fields="), 400, "fields has an empty name");
      assertThat(wire.send("HEAD /bsdb/apple HTTP/1.1\r\nHost: x\r\n\r\n").read(true).headers())
          .containsEntry("content-length", String.valueOf(APPLE.length()));
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aBatchHasObjects(boolean async) throws Exception {
    try (Wire wire = serve(TypedDatabase.build(folder.resolve("db")), true, async)) {
      byte[] keys = "apple\nnone\nplum".getBytes(UTF_8);
      is(
          wire.post("/bsdb/", KEYS, keys),
          200,
          "application/x-ndjson",
          "{\"key\":\"apple\",\"value\":"
              + APPLE
              + "}\n{\"key\":\"none\",\"value\":null}\n"
              + "{\"key\":\"plum\",\"value\":{\"id\":-3,\"unit.price\":-0.05,\"name\":\"\"}}\n");
      is(
          wire.post("/bsdb/?fields=id", KEYS, keys),
          200,
          "application/x-ndjson",
          """
          {"key":"apple","value":{"id":1}}
          {"key":"none","value":null}
          {"key":"plum","value":{"id":-3}}
          """);
      isRefused(wire.post("/bsdb/?fields=x", KEYS, keys), 400, "no column \\\"x\\\"");
      byte[] row = TypedDatabase.fruit().get("apple");
      assertThat(
              wire.post(
                      "/bsdb/",
                      KEYS + "Accept: application/vnd.bsdb.frames\r\n",
                      "apple".getBytes(UTF_8))
                  .body())
          .endsWith(row)
          .hasSize(4 + row.length);
      isObject(wire.get("/bsdb/apple"), APPLE);
    }
  }

  @Test
  void manyRowsComeInPieces() throws Exception {
    Map<String, byte[]> rows = new HashMap<>();
    StringBuilder keys = new StringBuilder();
    StringBuilder lines = new StringBuilder();
    for (int i = 0; i < 2_000; i++) {
      rows.put("k" + i, AvroRows.row(TypedDatabase.SCHEMA, (long) i, null, "n".repeat(i % 300)));
      keys.append("k").append(i).append('\n');
      lines.append("{\"key\":\"k").append(i).append("\",\"value\":{\"id\":").append(i);
      lines.append(",\"unit.price\":null,\"name\":\"").append("n".repeat(i % 300)).append("\"}}\n");
    }
    Path database = TypedDatabase.build(folder.resolve("db"), TypedDatabase.SCHEMA.json(), rows);
    try (Wire wire = serve(database, true, false)) {
      assertThat(wire.post("/bsdb/", KEYS, keys.toString().getBytes(UTF_8)).text())
          .isEqualTo(lines.toString());
    }
  }

  @Test
  void withoutJsonItIsBytes() throws Exception {
    try (Wire wire = serve(TypedDatabase.build(folder.resolve("db")), false, false)) {
      Response value = wire.get("/bsdb/apple");
      assertThat(value.body()).isEqualTo(TypedDatabase.fruit().get("apple"));
      assertThat(value.headers()).containsEntry("content-type", "application/octet-stream");
      isRefused(wire.get("/bsdb/apple?fields=id"), 400, "started without -json");
    }
  }

  @Test
  void safeIntegersAreAnOption() throws Exception {
    Serving started = new Serving(TypedDatabase.build(folder.resolve("db")));
    started.safeIntegers = true;
    serving = started;
    try (Wire wire = started.start().connect()) {
      isObject(wire.get("/bsdb/pear?fields=id"), "{\"id\":\"9007199254740992\"}");
      assertThat(wire.post("/bsdb/?fields=id", KEYS, "pear".getBytes(UTF_8)).text())
          .isEqualTo("{\"key\":\"pear\",\"value\":{\"id\":\"9007199254740992\"}}\n");
    }
    CommandRun alone =
        CommandRun.bsdb("serve", "-d", started.directory.toString(), "--json-safe-integers");
    assertThat(alone.code()).isEqualTo(2);
    assertThat(alone.err()).contains("--json-safe-integers is for values as JSON; add -json");
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aValueThatIsNoRowIsAnErrorInItsPlace(boolean async) throws Exception {
    Map<String, byte[]> values = new HashMap<>();
    for (int i = 0; i < 100; i++) {
      values.put("a" + i, TypedDatabase.fruit().get("apple"));
    }
    try (Wire wire = serve(damaged(values), true, async)) {
      isRefused(
          wire.get("/bsdb/z"),
          500,
          "the value is not a row of the database's schema: its bytes end too early");
      assertThat(wire.post("/bsdb/?fields=id", KEYS, "z\na1".getBytes(UTF_8)).text())
          .isEqualTo(
              """
              {"key":"z","error":"the value is not a row of the database's schema: its bytes end too early"}
              {"key":"a1","value":{"id":1}}
              """);
      isObject(wire.get("/bsdb/a1?fields=id"), "{\"id\":1}");
    }
  }

  /** A damaged value after those that are looked at when the server starts. */
  private Path damaged(Map<String, byte[]> values) throws IOException {
    Map<String, byte[]> sorted = new java.util.TreeMap<>(values);
    sorted.put("z", new byte[] {2});
    BuildOptions inInputOrder =
        BuildOptions.defaults()
            .withLayout(Layout.BLOCKED)
            .withValueSchema(TypedDatabase.SCHEMA.json());
    return TypedDatabase.build(folder.resolve("db"), inInputOrder, sorted);
  }

  @Test
  void theFirstValuesAreLookedAtWhenItStarts() throws Exception {
    Path damaged = damaged(Map.of());
    assertThatExceptionOfType(IOException.class)
        .isThrownBy(() -> serve(damaged, true, false))
        .withMessage(
            "-json: key \"z\": the value is not a row of the database's schema: its bytes end too"
                + " early; leave -json out");
    Path foreign = TypedDatabase.build(folder.resolve("foreign"), "\"int\"", Map.of());
    assertThatExceptionOfType(IOException.class)
        .isThrownBy(() -> serve(foreign, true, false))
        .withMessageContaining("the stored schema is invalid");
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void theSchemaIsThatOfTheVersion(boolean async) throws Exception {
    RowSchema other = AvroRows.schema("{\"name\":\"colour\",\"type\":\"string\"}");
    publish(TypedDatabase.build(folder.resolve("1")), "1");
    try (Wire wire = serve(folder.resolve("store"), true, async)) {
      isObject(wire.get("/bsdb/apple"), APPLE);
      publish(
          TypedDatabase.build(
              folder.resolve("2"), other.json(), Map.of("apple", AvroRows.row(other, "red"))),
          "2");
      isObject(wire.get("/bsdb/apple?fields=colour"), "{\"colour\":\"red\"}");
      isRefused(wire.get("/bsdb/apple?fields=id"), 400, "the columns are colour");
      isRefused(wire.post("/bsdb/?fields=id", KEYS, new byte[] {'a'}), 400, "columns are colour");
      byte[] text = "{\"id\": 7}".getBytes(UTF_8);
      publish(
          TypedDatabase.build(folder.resolve("3"), BuildOptions.defaults(), Map.of("apple", text)),
          "3");
      isObject(wire.get("/bsdb/apple"), "{\"id\": 7}");
      isObject(wire.get("/bsdb/apple?fields=id,colour"), "{\"id\":7}");
      assertThat(wire.post("/bsdb/", KEYS, "apple".getBytes(UTF_8)).text())
          .isEqualTo("{\"key\":\"apple\",\"value\":{\"id\":7}}\n");
      publish(TypedDatabase.build(folder.resolve("4"), "no schema", TypedDatabase.fruit()), "4");
      isRefused(wire.get("/bsdb/apple"), 500, "the stored schema is invalid");
      isRefused(wire.post("/bsdb/", KEYS, new byte[] {'a'}), 500, "the stored schema is invalid");
      publish(TypedDatabase.build(folder.resolve("5")), "5");
      isObject(wire.get("/bsdb/apple"), APPLE);
      assertThat(wire.post("/bsdb/?fields=id", KEYS, "apple".getBytes(UTF_8)).text())
          .isEqualTo("{\"key\":\"apple\",\"value\":{\"id\":1}}\n");
    }
  }

  /** Publishes a version, and waits until it is the one that is served. */
  private void publish(Path database, String version) throws IOException {
    String store = folder.resolve("store").toString();
    CommandRun run = CommandRun.bsdb("publish", database.toString(), store, "--version", version);
    assertThat(run.code()).as(run.toString()).isZero();
    if (serving == null) {
      return;
    }
    try (Wire admin = serving.administrate()) {
      assertThat(admin.post("/reload", "", new byte[0]).status()).isEqualTo(200);
    }
  }
}
