package tech.bsdb.dist;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tech.bsdb.Rounds;
import tech.bsdb.Seeds;

/** {@code scripts/bsdb serve} as a process, asked by the JDK's client. */
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ServeIT {
  private static final String BSDB =
      Path.of(System.getProperty("bsdb.root")).resolve("scripts/bsdb").toString();
  private static final Pattern SERVING = Pattern.compile("http://127\\.0\\.0\\.1:(\\d+)/bsdb/");

  private static final String TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
  private static final String PARENT = "00f067aa0ba902b7";

  @TempDir Path folder;
  private final HttpClient client = HttpClient.newHttpClient();

  static List<Path> javas() {
    return CommandLineIT.newest();
  }

  @ParameterizedTest
  @MethodSource("javas")
  void publishServeRollBackAndEnd(Path java) throws Exception {
    publish(java, 1);
    Path loaded = folder.resolve("loaded");
    ProcessBuilder builder = builder(java, serve());
    builder
        .environment()
        .merge("BSDB_JAVA_OPTS", " -Xlog:class+load:file=" + loaded, String::concat);
    Process server = start(builder);
    try {
      int port = port(server);
      assertThat(get(port, "/bsdb/key-7").body()).isEqualTo("1-7");
      assertThat(get(port, "/bsdb/none").statusCode()).isEqualTo(404);
      assertThat(post(port, "key-1\nnone\n"))
          .isEqualTo("{\"key\":\"key-1\",\"value\":\"1-1\"}\n{\"key\":\"none\",\"value\":null}\n");
      publish(java, 2);
      awaitValue(port, "2-7");
      assertThat(run(java, "rollback", path("store")).out()).isEqualTo("v1\n");
      awaitValue(port, "1-7");
      assertThat(get(port, "/metrics").body()).contains("bsdb_version_swaps_total 2.0\n");

      endsWithWholeAnswers(server, port);
    } finally {
      server.destroyForcibly().waitFor();
    }
    String said = Files.readString(folder.resolve("stderr"));
    assertThat(said.lines())
        .as(said)
        .allMatch(line -> line.startsWith("bsdb serve: "))
        .last()
        .isEqualTo("bsdb serve: ended");
    assertThat(loaded)
        .content()
        .contains("tech.bsdb.tools.serve.telemetry.Telemetry ")
        .doesNotContain("OpenTelemetryRecorder", " io.opentelemetry");
  }

  /** SIGTERM while requests that were sent ahead are being answered. */
  private void endsWithWholeAnswers(Process server, int port) throws Exception {
    int requests = 5000;
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      String all = "GET /bsdb/key-5 HTTP/1.1\r\nHost: x\r\n\r\n".repeat(requests);
      Thread sender = new Thread(() -> send(socket, all));
      sender.start();
      InputStream in = socket.getInputStream();
      byte[] first = in.readNBytes(1000);
      server.destroy();
      String answers = new String(first, UTF_8) + new String(in.readAllBytes(), UTF_8);
      // whole ones, one after another; the last says that it is the last
      String each = "HTTP/1\\.1 200 OK\r\n(?:[a-z-]+: [^\r]*\r\n)+\r\n1-5";
      assertThat(answers.replaceAll(each, "")).isEmpty();
      assertThat(answers).contains("\r\nconnection: close\r\n");
      assertThat(server.waitFor(120, TimeUnit.SECONDS)).isTrue();
      assertThat(server.exitValue()).isEqualTo(143);
      sender.join();
    }
  }

  private static void send(Socket socket, String requests) {
    try {
      socket.getOutputStream().write(requests.getBytes(UTF_8));
    } catch (IOException ended) {
      // the server said that it would not read the rest
    }
  }

  /** A store near by stands for a distant one, but the jars for those must be there. */
  @ParameterizedTest
  @MethodSource("javas")
  void aFollowedSourceIsPulledAndServed(Path java) throws Exception {
    String here = path("here");
    assertThat(run(java, "serve", "-d", here, "--follow=nosuch://host/store"))
        .satisfies(run -> assertThat(run.code()).isEqualTo(2))
        .satisfies(run -> assertThat(run.err()).contains("no file system for nosuch:"));
    publish(java, 1);
    String[] line = {
      "serve",
      "-d",
      here,
      "--follow",
      path("store"),
      "--follow-interval",
      "1",
      "-A",
      "127.0.0.1",
      "-p",
      "0"
    };
    Process server = start(java, line);
    try {
      int port = port(server);
      assertThat(get(port, "/bsdb/key-7").body()).isEqualTo("1-7");
      publish(java, 2);
      awaitValue(port, "2-7");
      server.destroy();
      assertThat(server.waitFor(120, TimeUnit.SECONDS)).isTrue();
      assertThat(server.exitValue()).isEqualTo(143);
    } finally {
      server.destroyForcibly().waitFor();
    }
    assertThat(Files.readString(folder.resolve("stderr")))
        .contains("bsdb serve: pulled v2 in " + here, "bsdb serve: ended");
  }

  /** Tokens are read again and the access log is opened anew; the process goes on. */
  @ParameterizedTest
  @MethodSource("javas")
  void hangUpReloads(Path java) throws Exception {
    publish(java, 1);
    Path tokens = Files.writeString(folder.resolve("tokens"), "first\n");
    Path log = folder.resolve("access.log");
    String[] line = {
      "serve",
      "-d",
      path("store"),
      "-A",
      "127.0.0.1",
      "-p",
      "0",
      "--token-file",
      tokens.toString(),
      "--access-log",
      log.toString()
    };
    ProcessBuilder builder = builder(java, line);
    builder.command().addAll(0, List.of("env", "--default-signal=HUP")); // whoever ignores it here
    Process server =
        builder
            .redirectOutput(folder.resolve("stdout").toFile())
            .redirectError(folder.resolve("stderr").toFile())
            .start();
    try {
      int port = port(server);
      assertThat(status(port, "first")).isEqualTo(200);
      Files.writeString(tokens, "second\n");
      Files.move(log, folder.resolve("access.log.1"));
      hangUp(server);
      while (status(port, "second") != 200) {
        Thread.sleep(20);
      }
      do { // the log is opened anew after the tokens are in use
        assertThat(status(port, "first")).isEqualTo(401);
        Thread.sleep(20);
      } while (!Files.exists(log) || !Files.readString(log).contains(" 401 "));
      Files.writeString(tokens, "not one token\n");
      hangUp(server);
      while (!Files.readString(folder.resolve("stderr")).contains("the new tokens are rejected")) {
        Thread.sleep(20);
      }
      assertThat(status(port, "second")).isEqualTo(200);
      server.destroy();
      assertThat(server.waitFor()).isEqualTo(143);
    } finally {
      server.destroyForcibly().waitFor();
    }
    assertThat(Files.readString(folder.resolve("stderr")).lines())
        .allMatch(said -> said.startsWith("bsdb serve: "));
  }

  private static void hangUp(Process server) throws Exception {
    Process kill = new ProcessBuilder("kill", "-HUP", String.valueOf(server.pid())).start();
    assertThat(kill.waitFor()).isZero();
  }

  private int status(int port, String token) throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/bsdb/key-7"))
            .header("authorization", "Bearer " + token)
            .build();
    return client.send(request, BodyHandlers.ofString()).statusCode();
  }

  /** The SDK, set up by the environment alone, sends at the end what it has not sent before. */
  @ParameterizedTest
  @MethodSource("javas")
  void openTelemetryOnTheClassPathSendsToAReceiver(Path java) throws Exception {
    publish(java, 1);
    Map<String, byte[]> received = new ConcurrentHashMap<>();
    HttpServer receiver =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    receiver.createContext(
        "/",
        exchange -> {
          received.put(
              exchange.getRequestURI().getPath(), exchange.getRequestBody().readAllBytes());
          exchange.sendResponseHeaders(200, -1);
          exchange.close();
        });
    receiver.start();
    try {
      ProcessBuilder builder = builder(java, serve());
      String jars =
          Arrays.stream(System.getProperty("java.class.path").split(":", -1))
              .filter(jar -> jar.matches(".*/(opentelemetry|okhttp|okio|kotlin)-[^/]*"))
              .collect(Collectors.joining(":"));
      Path another = folder.resolve("cluster/META-INF/native");
      Files.createDirectories(another);
      for (String processor : List.of("x86_64", "aarch_64")) { // what a cluster's Netty has
        Path library = another.resolve("libnetty_transport_native_epoll_" + processor + ".so");
        Files.writeString(library, "of another version");
      }
      builder
          .environment()
          .putAll(
              Map.of(
                  "BSDB_CLASSPATH",
                  jars + ":" + path("cluster"),
                  "OTEL_EXPORTER_OTLP_ENDPOINT",
                  "http://127.0.0.1:" + receiver.getAddress().getPort(),
                  "OTEL_EXPORTER_OTLP_PROTOCOL",
                  "http/protobuf",
                  "OTEL_BSP_SCHEDULE_DELAY",
                  "600000",
                  "OTEL_METRIC_EXPORT_INTERVAL",
                  "600000"));
      traced(builder);
    } finally {
      receiver.stop(0);
    }
    if (System.getProperty("os.name").equals("Linux")) {
      assertThat(folder.resolve("stderr")).content().contains("(epoll, ");
    }
    List<byte[]> spans = nested(received.get("/v1/traces"), 1, 2, 2);
    byte[] span =
        spans.stream()
            .filter(each -> text(nested(each, 5).get(0)).equals("GET /bsdb/{key}"))
            .findFirst()
            .orElseThrow();
    assertThat(HexFormat.of().formatHex(nested(span, 1).get(0))).isEqualTo(TRACE);
    assertThat(HexFormat.of().formatHex(nested(span, 4).get(0))).isEqualTo(PARENT);
    assertThat(spans).noneMatch(each -> text(each).contains("key-7"));
    assertThat(nested(received.get("/v1/metrics"), 1, 2, 2))
        .extracting(metric -> text(nested(metric, 1).get(0)))
        .contains("http.server.request.duration", "bsdb_lookup_hits", "bsdb_database_info");
  }

  private String[] serve() {
    return new String[] {"serve", "-d", path("store"), "-A", "127.0.0.1", "-p", "0"};
  }

  /** Sends a request of a trace to a server, and ends the server. */
  private void traced(ProcessBuilder builder) throws Exception {
    Process server = start(builder);
    try {
      HttpRequest request =
          HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port(server) + "/bsdb/key-7"))
              .header("traceparent", "00-" + TRACE + "-" + PARENT + "-01")
              .build();
      assertThat(client.send(request, BodyHandlers.ofString()).body()).isEqualTo("1-7");
      server.destroy();
      assertThat(server.waitFor()).isEqualTo(143);
    } finally {
      server.destroyForcibly().waitFor();
    }
    assertThat(Files.readString(folder.resolve("stderr")).lines())
        .allMatch(line -> line.startsWith("bsdb serve: "));
  }

  /**
   * Returns the messages in a message of Protocol Buffers, by the numbers of the fields to them.
   */
  private static List<byte[]> nested(byte[] message, int... fields) {
    List<byte[]> found = List.of(message);
    for (int field : fields) {
      found = found.stream().flatMap(each -> ofField(each, field)).toList();
    }
    return found;
  }

  private static Stream<byte[]> ofField(byte[] message, int field) {
    Stream.Builder<byte[]> found = Stream.builder();
    ByteBuffer in = ByteBuffer.wrap(message);
    while (in.hasRemaining()) {
      int tag = (int) number(in);
      switch (tag & 7) {
        case 0 -> number(in);
        case 1 -> in.getLong();
        case 5 -> in.getInt();
        default -> {
          byte[] bytes = new byte[(int) number(in)];
          in.get(bytes);
          if (tag >>> 3 == field) {
            found.add(bytes);
          }
        }
      }
    }
    return found.build();
  }

  private static long number(ByteBuffer in) {
    long number = 0;
    int shift = 0;
    byte next;
    do {
      next = in.get();
      number |= (next & 0x7fL) << shift;
      shift += 7;
    } while (next < 0);
    return number;
  }

  private static String text(byte[] bytes) {
    return new String(bytes, UTF_8);
  }

  @ParameterizedTest
  @MethodSource("javas")
  void aStartThatCannotSucceedSaysWhy(Path java) throws Exception {
    publish(java, 1);
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      String port = String.valueOf(taken.getLocalPort());
      Run run = run(java, "serve", "-d", path("store"), "-A", "127.0.0.1", "-p", port);
      assertThat(run.code()).isEqualTo(2);
      assertThat(run.err()).contains("127.0.0.1:" + port, "-p").hasLineCount(1);
    }
    List<String[]> mistakes =
        List.of(
            new String[] {"serve", "-d", path("missing")},
            new String[] {
              "serve", "-d", path("store"), "--tls-cert", path("missing"), "--tls-key", path("x")
            },
            new String[] {"serve", "-d", path("store"), "--token-file", path("missing")},
            new String[] {"serve", "-d", path("store"), "-p", "70000"},
            new String[] {"serve", "-d", path("store"), "-A", "no.such.host.invalid", "-p", "0"},
            new String[] {"serve", "-d", path("store"), "-a", "-p", "0"},
            new String[] {"serve", "-d", path("store"), "-json", "-p", "0"},
            new String[] {"publish", path("missing"), path("store")},
            new String[] {"rollback", path("store"), "v9"});
    for (String[] line : Rounds.some(mistakes, 4, Seeds.random("ServeIT"))) {
      Run run = run(java, line);
      assertThat(run.code()).as(run.toString()).isEqualTo(2);
      assertThat(run.out()).isEmpty();
      assertThat(run.err().lines())
          .as(run.toString())
          .hasSizeBetween(1, 2)
          .noneMatch(l -> l.startsWith("\tat "));
    }
    assertThat(run(java, "versions", path("store")).out()).isEqualTo("v1\tcurrent\n");
  }

  /** Publishes a version in which key-N has the value VERSION-N. */
  private void publish(Path java, int version) throws Exception {
    Path records = folder.resolve("records" + version + ".txt");
    Files.writeString(
        records,
        IntStream.range(0, 1000)
            .mapToObj(i -> "key-" + i + " " + version + "-" + i + "\n")
            .collect(Collectors.joining()));
    Path database = folder.resolve("db" + version);
    assertThat(run(java, "build", "-q", "-i", records.toString(), "-o", database.toString()).code())
        .isZero();
    Run published =
        run(java, "publish", database.toString(), path("store"), "--version", "v" + version);
    assertThat(published.code()).as(published.toString()).isZero();
    assertThat(published.out()).isEqualTo("v" + version + "\n");
  }

  private void awaitValue(int port, String value) throws Exception {
    HttpResponse<String> response = get(port, "/bsdb/key-7");
    while (!response.body().equals(value)) { // the time limit of the test ends this
      assertThat(response.statusCode()).isEqualTo(200);
      Thread.sleep(20);
      response = get(port, "/bsdb/key-7");
    }
  }

  private HttpResponse<String> get(int port, String target) throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + target)).build();
    return client.send(request, BodyHandlers.ofString());
  }

  private String post(int port, String keys) throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/bsdb/"))
            .header("content-type", "text/plain")
            .POST(BodyPublishers.ofString(keys))
            .build();
    return client.send(request, BodyHandlers.ofString()).body();
  }

  private int port(Process server) throws Exception {
    while (true) {
      String said = Files.readString(folder.resolve("stderr"));
      Matcher serving = SERVING.matcher(said);
      if (serving.find()) {
        return Integer.parseInt(serving.group(1));
      }
      assertThat(server.isAlive()).as(said).isTrue();
      Thread.sleep(20);
    }
  }

  private String path(String name) {
    return folder.resolve(name).toString();
  }

  /** What a process printed and returned. */
  private record Run(int code, String out, String err) {}

  private Run run(Path java, String... line) throws Exception {
    Path out = folder.resolve("run.out");
    Path err = folder.resolve("run.err");
    Process process =
        builder(java, line).redirectOutput(out.toFile()).redirectError(err.toFile()).start();
    process.getOutputStream().close();
    return new Run(process.waitFor(), Files.readString(out), Files.readString(err));
  }

  private Process start(Path java, String... line) throws IOException {
    return start(builder(java, line));
  }

  private Process start(ProcessBuilder builder) throws IOException {
    return builder
        .redirectOutput(folder.resolve("stdout").toFile())
        .redirectError(folder.resolve("stderr").toFile())
        .start();
  }

  private static ProcessBuilder builder(Path java, String... line) {
    List<String> command = new ArrayList<>(List.of(BSDB));
    command.addAll(List.of(line));
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.environment().put("JAVA_HOME", java.toString());
    return builder;
  }
}
