package tech.bsdb.tools.serve;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.MissingNode;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.yaml.snakeyaml.Yaml;
import tech.bsdb.Database;
import tech.bsdb.tools.PartialSets;
import tech.bsdb.tools.serve.Wire.Response;

/** The description of the API, against itself and against the server. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class OpenApiTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Set<String> METHODS = Set.of("get", "head", "post");

  /** What needs a fault in the server itself. */
  private static final Set<String> NOT_TRIED =
      Set.of("get /metrics 500", "get /stats 500", "get /history 500");

  /** Keywords that say nothing about which values are valid. */
  private static final Set<String> ANNOTATIONS =
      Set.of("description", "examples", "format", "contentEncoding", "default");

  @TempDir Path folder;
  private final JsonNode description = read();
  private final List<Serving> servers = new ArrayList<>();

  @AfterEach
  void end() {
    servers.forEach(Serving::close);
  }

  private static JsonNode read() {
    try (InputStream in = OpenApiTest.class.getResourceAsStream("openapi.yaml")) {
      return JSON.valueToTree(new Yaml().load(Objects.requireNonNull(in, "openapi.yaml")));
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  // --- the document ---

  @Test
  void everyReferenceLeadsSomewhereAndEveryComponentIsUsed() {
    Set<String> referred = new TreeSet<>();
    for (JsonNode reference : description.findValues("$ref")) {
      assertThat(reference.asText()).startsWith("#/");
      assertThat(resolved(reference.asText()).isMissingNode()).as(reference.asText()).isFalse();
      referred.add(reference.asText());
    }
    Set<String> components = new TreeSet<>();
    for (Map.Entry<String, JsonNode> kind : description.get("components").properties()) {
      if (!kind.getKey().equals("securitySchemes")) {
        kind.getValue()
            .fieldNames()
            .forEachRemaining(name -> components.add("#/components/" + kind.getKey() + "/" + name));
      }
    }
    components.remove("#/components/schemas/Answer"); // a line of a batch; no media type has it
    assertThat(referred).containsExactlyElementsOf(components);
  }

  @Test
  void everyOperationIsWhole() {
    assertThat(description.get("openapi").asText()).startsWith("3.1.");
    Set<String> ids = new HashSet<>();
    for (Map.Entry<String, JsonNode> path : description.get("paths").properties()) {
      assertThat(path.getKey()).startsWith("/");
      for (Operation operation : operations(path)) {
        assertThat(ids.add(operation.node.get("operationId").asText())).isTrue();
        assertThat(operation.node.get("summary").asText()).isNotEmpty();
        Set<String> names = new HashSet<>();
        for (JsonNode parameter : operation.parameters()) {
          assertThat(parameter.get("in").asText()).isIn("path", "query", "header");
          assertThat(parameter.get("schema").isObject()).isTrue();
          assertThat(names.add(parameter.get("in").asText() + " " + parameter.get("name").asText()))
              .isTrue();
        }
        assertThat(names.contains("path key")).isEqualTo(path.getKey().contains("{key}"));
        operation
            .responses()
            .forEach(
                (status, response) -> {
                  assertThat(status).isBetween(200, 599);
                  assertThat(response.get("description").asText()).isNotEmpty();
                });
      }
    }
  }

  @Test
  void allParametersAtThePrefixAreListed() {
    List<String> names = new ArrayList<>();
    for (JsonNode parameter : description.at("/paths/~1bsdb~1/get/parameters")) {
      JsonNode resolved = resolve(parameter);
      if (resolved.get("in").asText().equals("query")) {
        names.add(resolved.get("name").asText());
      }
    }
    assertThat(names).isEqualTo(RangeRequest.KNOWN);
  }

  @Test
  void everyExampleIsValid() {
    List<JsonNode> holders = new ArrayList<>();
    for (JsonNode holder : description.findParents("example")) {
      if (holder.has("schema") && !holder.get("schema").path("type").asText().equals("string")) {
        holders.add(holder);
        check(holder.get("schema"), holder.get("example"), holder.toString());
      }
    }
    assertThat(holders).hasSizeGreaterThan(10);
    for (JsonNode schema : description.findParents("examples")) {
      for (JsonNode example : schema.get("examples")) {
        check(schema, example, schema.toString());
      }
    }
  }

  // --- the document against the server ---

  /** A request that must be answered in a certain way where it makes sense. */
  private interface Trial {
    /** The request, or an empty text to hear what the server says first. */
    String request(String method, String target);
  }

  @Test
  void theServerAnswersAsDescribedAndTheDescriptionSaysAllItAnswers() throws Exception {
    Set<String> documented = new TreeSet<>();
    Set<String> seen = new TreeSet<>();
    Serving present = serving("db", Map.of("", "nothing", "k", "v"));
    present.bodyBytes = 1000;
    present.start();
    Serving absent = serving("none", Map.of("other", "v")).start();
    Serving guarded = serving("guarded", Map.of("", "", "k", "v"));
    guarded.tokens = Files.writeString(folder.resolve("tokens"), "secret\nlimited sets=none\n");
    guarded.start();
    Serving slow = serving("slow", Map.of("k", "v"));
    slow.request = Duration.ofSeconds(1);
    slow.start();
    Serving full = serving("full", Map.of("k", "v"));
    full.connections = 1;
    full.start();
    Serving damaged = serving("damaged", Map.of("", "a".repeat(100), "k", "a".repeat(100)));
    damage(damaged.directory);
    damaged.start();
    Path set = Serving.buildSet(folder.resolve("set"), 5, Map.of("", "nothing", "k", "v"));
    Serving other = new Serving(Serving.shardWithout(set, "", "k"));
    servers.add(other);
    other.start();
    Serving drained = serving("drained", Map.of("k", "v")).start();
    try (Wire admin = drained.administrate()) {
      assertThat(admin.post("/drain", "", new byte[0]).status()).isEqualTo(200);
    }
    String batch = "Content-Type: text/plain\r\nContent-Length: 2\r\n\r\nk\n";
    String json = "Content-Type: application/json\r\nContent-Length: ";
    Trial plain =
        (method, target) -> head(method, target) + (method.equals("POST") ? batch : "\r\n");
    Map<String, Trial> trials = new TreeMap<>();
    trials.put("delete", (method, target) -> head("DELETE", target) + "\r\n");
    trials.put("known", (method, target) -> head(method, target) + "If-None-Match: *\r\n\r\n");
    trials.put("encoding", (method, target) -> plain.request(method, target + "?key_encoding=x"));
    trials.put("dataset", (method, target) -> plain.request(method, target + "?dataset=none"));
    trials.put("since", (method, target) -> plain.request(method, target + "?since=yesterday"));
    trials.put("version", (method, target) -> plain.request(method, target + "?version=none"));
    trials.put("notJson", (method, target) -> head(method, target) + json + "2\r\n\r\n[}");
    trials.put("long", (method, target) -> head(method, target) + json + "1001\r\n\r\n");
    trials.put("type", (method, target) -> head(method, target) + "Content-Length: 1\r\n\r\nk");
    trials.put("line", (method, target) -> head(method, target + "?" + "x".repeat(20_000)));
    trials.put("headers", (method, target) -> head(method, target) + "X: " + "x".repeat(20_000));
    trials.put("expect", (method, target) -> head(method, target) + "Expect: more\r\n\r\n");
    trials.put(
        "coding",
        (method, target) -> head(method, target) + "Transfer-Encoding: gzip, chunked\r\n\r\n");
    trials.put("http", (method, target) -> method + " " + target + " HTTP/1.2\r\nHost: x\r\n\r\n");
    trials.put("noHost", (method, target) -> method + " " + target + " HTTP/1.1\r\n\r\n");
    Map<Operation, Wire> late = new LinkedHashMap<>();
    try (Wire only = full.connect()) {
      assertThat(only.get("/healthz").status()).isEqualTo(200); // now there is no room
      for (Map.Entry<String, JsonNode> path : description.get("paths").properties()) {
        for (Operation operation : operations(path)) {
          operation
              .responses()
              .keySet()
              .forEach(status -> documented.add(operation + " " + status));
          String method = operation.method.toUpperCase(Locale.ROOT);
          String target = path.getKey().replace("{key}", "k");
          for (Trial trial : trials.values()) {
            seen.add(tried(operation, present, trial.request(method, target)));
          }
          seen.add(tried(operation, present, plain.request(method, target)));
          for (Serving server : List.of(absent, guarded, damaged, other)) {
            seen.add(tried(operation, server, plain.request(method, target)));
          }
          String limited = "Host: x\r\nAuthorization: Bearer limited\r\n";
          String asked = plain.request(method, target).replace("Host: x\r\n", limited);
          seen.add(tried(operation, guarded, asked));
          seen.add(tried(operation, full, ""));
          late.put(operation, slow.connect().send(method + " " + target + " HTTP/1.1\r\n"));
          if (target.equals("/readyz")) {
            seen.add(tried(operation, drained, plain.request(method, target)));
          }
        }
      }
    }
    for (Map.Entry<Operation, Wire> sent : late.entrySet()) {
      try (Wire wire = sent.getValue()) {
        seen.add(compared(sent.getKey(), wire.read(), "a half of a request"));
      }
    }
    seen.remove("");
    documented.removeAll(NOT_TRIED);
    assertThat(seen).containsAll(documented);
  }

  private Serving serving(String name, Map<String, String> records) throws IOException {
    Serving server = new Serving(Serving.build(folder.resolve(name), records));
    servers.add(server);
    return server;
  }

  private static void damage(Path directory) throws IOException {
    try (var files = Files.list(directory)) {
      Path data = files.filter(file -> file.toString().contains("data")).findFirst().orElseThrow();
      byte[] bytes = Files.readAllBytes(data);
      int changed = 0;
      for (int i = 0; i + 50 < bytes.length; i++) {
        if (bytes[i] == 'a' && bytes[i + 50] == 'a' && bytes[i + 25] == 'a') {
          bytes[i] = 'b';
          changed++;
        }
      }
      assertThat(changed).isPositive();
      Files.write(data, bytes);
    }
  }

  private static String head(String method, String target) {
    return method + " " + target + " HTTP/1.1\r\nHost: x\r\n";
  }

  /**
   * Sends a request on a connection of its own, and compares the answer with the description.
   *
   * @return operation and status, where the operation describes it; empty for what concerns the
   *     connection and is described once for all paths
   */
  private String tried(Operation operation, Serving server, String request) throws IOException {
    Response response;
    try (Wire wire = server.connect()) {
      if (!request.isEmpty()) {
        wire.send(request);
      }
      response = wire.read(request.startsWith("HEAD "));
    }
    return compared(operation, response, request);
  }

  private String compared(Operation operation, Response response, String request)
      throws IOException {
    String what = operation + " " + response.status();
    JsonNode described = operation.responses().get(response.status());
    if (described == null) {
      assertThat(response.status())
          .as(what + " is not described: " + request + response.text())
          .isIn(400, 408, 413, 414, 417, 431, 501, 503, 505);
      assertThat(description.at("/info/description").asText())
          .as("statuses of any path")
          .contains("(" + response.status() + ")");
      return "";
    }
    for (Map.Entry<String, JsonNode> header : described.path("headers").properties()) {
      if (resolve(header.getValue()).path("required").asBoolean()) {
        String value = response.headers().get(header.getKey().toLowerCase(Locale.ROOT));
        assertThat(value).as(what + " " + header.getKey()).isNotNull();
        String pattern = resolve(header.getValue()).at("/schema/pattern").asText(".*");
        assertThat(value).matches(pattern);
      }
    }
    if (described.has("content")) {
      String type = response.headers().get("content-type").replaceFirst(";.*", "");
      assertThat(described.get("content").has(type)).as(what + " " + type).isTrue();
      JsonNode schema = described.get("content").get(type).get("schema");
      if (type.equals("application/json") && schema != null && response.body().length > 0) {
        check(schema, JSON.readTree(response.body()), what);
      }
    }
    return what;
  }

  @Test
  void whatAStoreSaysIsDescribed() throws IOException {
    Path database = Serving.build(folder.resolve("db"), Map.of("k", "v"));
    Path store = folder.resolve("store");
    for (String version : List.of("v1", "v2")) {
      String[] line = {"publish", database.toString(), store.toString(), "--version", version};
      assertThat(tech.bsdb.tools.CommandRun.bsdb(line).code()).isZero();
    }
    Serving server = new Serving(store).start();
    servers.add(server);
    try (Wire wire = server.connect();
        Wire admin = server.administrate()) {
      assertThat(wire.get("/bsdb/k").status()).isEqualTo(200);
      checkPage(wire, "/stats");
      Files.writeString(store.resolve("CURRENT"), "gone\n");
      assertThat(admin.post("/reload", "", new byte[0]).status()).isEqualTo(409);
      checkPage(wire, "/readyz");
      checkPage(wire, "/stats");
    }
  }

  @Test
  void whatAFollowedSourceSaysIsDescribed() throws IOException {
    Path database = Serving.build(folder.resolve("db"), Map.of("k", "v"));
    Serving server = new Serving(folder.resolve("store")).following(database, -1);
    servers.add(server);
    server.start();
    try (Wire wire = server.connect();
        Wire admin = server.administrate()) {
      checkPage(wire, "/stats");
      Files.delete(Database.manifest(database));
      assertThat(admin.post("/follow", "", new byte[0]).status()).isEqualTo(202);
      while (!wire.get("/stats").text().contains("is neither a store nor a database")) {
        Serving.pause();
      }
      checkPage(wire, "/stats");
    }
  }

  @Test
  void whatIsSaidOfRedisClientsIsDescribed() throws IOException {
    Serving server = new Serving(Serving.build(folder.resolve("db"), Map.of("k", "v")));
    server.resp = true;
    servers.add(server.start());
    try (Wire redis = Wire.to(server.respPort());
        Wire wire = server.connect()) {
      redis.send("GET k\r\nSET k v\r\nCLIENT ID\r\nQUIT\r\n");
      assertThat(new String(redis.rest(), UTF_8))
          .startsWith("$1\r\nv\r\n-READONLY")
          .endsWith("\r\n+OK\r\n");
      checkPage(wire, "/stats");
      JsonNode resp = JSON.readTree(wire.get("/stats").body()).get("resp");
      assertThat(resp.get("byCommand").get("client|id").asLong()).isEqualTo(1);
      assertThat(resp.get("errors").get("READONLY").asLong()).isEqualTo(1);
    }
  }

  @Test
  void whatANodeOfAClusterSaysIsDescribed() throws IOException {
    Serving.build(folder.resolve("db"), Map.of("k", "v"));
    try (ServingCluster nodes = new ServingCluster(folder, false, Duration.ofHours(1), node -> {});
        Wire wire = nodes.node("a").connect()) {
      checkPage(wire, "/stats");
      nodes.move(List.of("", "0-10922", "10923-16383"));
      nodes.writeText("{}");
      nodes.node("a").reloadFiles();
      checkPage(wire, "/stats");
      JsonNode cluster = JSON.readTree(wire.get("/stats").body()).get("cluster");
      assertThat(cluster.get("handedOver").asText()).isEqualTo("0-5460");
      assertThat(cluster.get("refused").get("reason").asText()).contains("there are no nodes");
      Response elsewhere = wire.get("/bsdb/foo"); // slot 12182
      assertThat(elsewhere.status()).isEqualTo(421);
      check(description.at("/components/schemas/Error"), JSON.readTree(elsewhere.body()), "421");
    }
  }

  @Test
  void whatASetAndAShardSayIsDescribed() throws IOException {
    Path set = Serving.buildSet(folder.resolve("set"), 3, Map.of("k", "v"));
    Path part = PartialSets.copy(set, folder.resolve("part"), 0, 2);
    for (Path directory : List.of(set, Serving.shardWithout(set, "k"), part)) {
      Serving server = new Serving(directory).start();
      servers.add(server);
      try (Wire wire = server.connect()) {
        checkPage(wire, "/stats");
        JsonNode database = JSON.readTree(wire.get("/stats").body()).get("database");
        assertThat(database.get("shards").asInt()).isEqualTo(3);
        boolean shard = directory.startsWith(set) && !directory.equals(set);
        assertThat(database.get("shard").isNull()).isNotEqualTo(shard);
        assertThat(database.get("heldShards").asText(null))
            .isEqualTo(directory.equals(part) ? "0,2" : null);
        assertThat(database.get("wholeSetId").isNull()).isNotEqualTo(directory.equals(part));
      }
    }
  }

  private void checkPage(Wire wire, String path) throws IOException {
    Response response = wire.get(path);
    assertThat(response.status()).isEqualTo(200);
    String schema = "/get/responses/200/content/application~1json/schema";
    JsonNode expected = description.get("paths").get(path).at(schema);
    check(expected, JSON.readTree(response.body()), path);
  }

  /** The prefix is the only thing that differs. */
  @Test
  void theDescriptionIsServed() throws IOException {
    Serving server = serving("db", Map.of("k", "v")).start();
    try (Wire wire = server.connect();
        InputStream in = OpenApiTest.class.getResourceAsStream("openapi.yaml")) {
      byte[] text = Objects.requireNonNull(in, "openapi.yaml").readAllBytes();
      assertThat(new String(wire.get("/openapi.yaml").body(), UTF_8))
          .isEqualTo(new String(text, UTF_8));
    }
  }

  // --- what OpenAPI means ---

  /** A method of a path. */
  private final class Operation {
    final String method;
    final String path;
    final JsonNode node;

    Operation(String method, String path, JsonNode node) {
      this.method = method;
      this.path = path;
      this.node = node;
    }

    List<JsonNode> parameters() {
      List<JsonNode> all = new ArrayList<>();
      description.get("paths").get(path).path("parameters").forEach(p -> all.add(resolve(p)));
      node.path("parameters").forEach(p -> all.add(resolve(p)));
      return all;
    }

    Map<Integer, JsonNode> responses() {
      Map<Integer, JsonNode> all = new TreeMap<>();
      for (Map.Entry<String, JsonNode> entry : node.get("responses").properties()) {
        all.put(Integer.valueOf(entry.getKey()), resolve(entry.getValue()));
      }
      return all;
    }

    @Override
    public String toString() {
      return method + " " + path;
    }
  }

  private List<Operation> operations(Map.Entry<String, JsonNode> path) {
    List<Operation> all = new ArrayList<>();
    for (Map.Entry<String, JsonNode> entry : path.getValue().properties()) {
      if (!entry.getKey().equals("parameters")) {
        assertThat(entry.getKey()).isIn(METHODS);
        all.add(new Operation(entry.getKey(), path.getKey(), entry.getValue()));
      }
    }
    assertThat(all).isNotEmpty();
    return all;
  }

  private JsonNode resolved(String reference) {
    return reference.startsWith("#/")
        ? description.at(reference.substring(1))
        : MissingNode.getInstance();
  }

  private JsonNode resolve(JsonNode node) {
    return node.has("$ref") ? resolve(resolved(node.get("$ref").asText())) : node;
  }

  /** Whether a value is what a schema says; every keyword that stands there is understood. */
  private void check(JsonNode schema, JsonNode value, String where) {
    Set<String> fields = new TreeSet<>();
    boolean closed = check(schema, value, where, fields);
    if (value.isObject() && closed) {
      Set<String> there = new TreeSet<>();
      value.fieldNames().forEachRemaining(there::add);
      assertThat(fields).as(where + ": fields that are described").containsAll(there);
    }
  }

  /** Gathers the fields that are described; returns whether there may be no others. */
  private boolean check(JsonNode schema, JsonNode value, String where, Set<String> fields) {
    boolean closed = false;
    for (Map.Entry<String, JsonNode> keyword : schema.properties()) {
      JsonNode rule = keyword.getValue();
      switch (keyword.getKey()) {
        case "$ref" -> closed |= check(resolved(rule.asText()), value, where, fields);
        case "type" ->
            assertThat(isOfType(rule, value)).as(where + ": " + value + " is " + rule).isTrue();
        case "const" -> assertThat(value).as(where).isEqualTo(rule);
        case "enum" -> assertThat(rule).as(where).contains(value);
        case "minimum" ->
            assertThat(!value.isNumber() || value.asDouble() >= rule.asDouble()).as(where).isTrue();
        case "maximum" ->
            assertThat(!value.isNumber() || value.asDouble() <= rule.asDouble()).as(where).isTrue();
        case "minLength" ->
            assertThat(value.asText().length()).as(where).isGreaterThanOrEqualTo(rule.asInt());
        case "pattern" ->
            assertThat(!value.isTextual() || value.asText().matches(rule.asText()))
                .as(where + " " + value)
                .isTrue();
        case "required" ->
            rule.forEach(
                name -> assertThat(value.has(name.asText())).as(where + " " + name).isTrue());
        case "properties" -> {
          closed = true;
          for (Map.Entry<String, JsonNode> property : rule.properties()) {
            fields.add(property.getKey());
            if (value.has(property.getKey())) {
              check(
                  property.getValue(),
                  value.get(property.getKey()),
                  where + "/" + property.getKey());
            }
          }
        }
        case "additionalProperties" ->
            value
                .properties()
                .forEach(
                    field -> {
                      fields.add(field.getKey());
                      check(rule, field.getValue(), where + "/" + field.getKey());
                    });
        case "items" -> value.forEach(item -> check(rule, item, where + "[]"));
        case "allOf" -> {
          for (JsonNode each : rule) {
            closed |= check(each, value, where, fields);
          }
        }
        case "anyOf", "oneOf" -> {
          List<String> failures = new ArrayList<>();
          for (JsonNode each : rule) {
            try {
              check(each, value, where);
              each.path("properties").fieldNames().forEachRemaining(fields::add);
            } catch (AssertionError e) {
              failures.add(e.getMessage());
            }
          }
          assertThat(failures).as(where).hasSize(rule.size() - 1);
        }
        default -> assertThat(keyword.getKey()).as(where).isIn(ANNOTATIONS);
      }
    }
    return closed;
  }

  private static boolean isOfType(JsonNode rule, JsonNode value) {
    if (rule.isArray()) {
      for (JsonNode each : rule) {
        if (isOfType(each, value)) {
          return true;
        }
      }
      return false;
    }
    return switch (rule.asText()) {
      case "object" -> value.isObject();
      case "array" -> value.isArray();
      case "string" -> value.isTextual();
      case "integer" -> value.isIntegralNumber();
      case "number" -> value.isNumber();
      case "boolean" -> value.isBoolean();
      case "null" -> value.isNull();
      default -> throw new AssertionError("no type: " + rule);
    };
  }
}
