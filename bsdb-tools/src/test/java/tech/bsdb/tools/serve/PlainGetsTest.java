package tech.bsdb.tools.serve;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.HttpHeaders;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tech.bsdb.store.ReloadOptions;
import tech.bsdb.tools.SeedInFailure;
import tech.bsdb.tools.cli.Console;
import tech.bsdb.tools.serve.batch.RequestRefusedException;
import tech.bsdb.tools.serve.client.Connections;
import tech.bsdb.tools.serve.client.Connections.Limits;
import tech.bsdb.tools.serve.client.FailureReports;
import tech.bsdb.tools.serve.client.HeldMemory;
import tech.bsdb.tools.serve.client.Latencies;
import tech.bsdb.tools.serve.client.LookupCounts;
import tech.bsdb.tools.serve.dataset.DataSetLocations;
import tech.bsdb.tools.serve.dataset.DataSets;
import tech.bsdb.tools.serve.telemetry.Route;
import tech.bsdb.tools.serve.telemetry.Telemetry;

/** The straight line against the normal way: the same requests, byte for byte the same answers. */
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class PlainGetsTest {
  private static final long SEED = SeedInFailure.SEED;
  private static final String HEADERS = " HTTP/1.1\r\nHost: x\r\nUser-Agent: this test\r\n\r\n";
  private static final int[] LENGTHS = {0, 1, 9, 10, 1024, 1025, 4096, 4097, 40_000, 65_000};

  @TempDir Path folder;
  private final LookupCounts counts = new LookupCounts(2);
  private final HeldMemory memory = new HeldMemory(1 << 20, 1 << 20);
  private Connections connections;
  private DataSets sets;
  private Requests requests;
  private Routes routes;

  /** A connection, with what was passed on to its decoder. */
  private final class Line {
    private final List<ByteBuf> received = new ArrayList<>();
    private final EmbeddedChannel channel;
    private int passed;

    Line(boolean straight) {
      channel = new EmbeddedChannel(false, false);
      RequestDecoder decoder = new RequestDecoder();
      HttpConnection connection =
          new HttpConnection(
              connections, channel, requests, new RequestReader(routes, null, 1 << 20), decoder);
      ChannelHandler noting =
          new ChannelInboundHandlerAdapter() {
            @Override
            public void channelRead(ChannelHandlerContext ctx, Object message) {
              passed++;
              ctx.fireChannelRead(message);
            }
          };
      if (straight) {
        channel.pipeline().addLast(new PlainGets(connection, requests, null));
      }
      channel.pipeline().addLast(noting, decoder, connection);
      try {
        channel.register();
      } catch (Exception e) {
        throw new AssertionError(e);
      }
    }

    /** Sends bytes; returns the answers. */
    String ask(String latin1) {
      if (channel.isOpen()) {
        ByteBuf sent = Unpooled.copiedBuffer(latin1, ISO_8859_1);
        boolean unused = channel.writeInbound(sent);
        channel.runPendingTasks();
        received.add(sent);
      }
      StringBuilder answers = new StringBuilder();
      for (ByteBuf out = channel.readOutbound(); out != null; out = channel.readOutbound()) {
        answers.append(out.toString(ISO_8859_1));
        out.release();
      }
      return answers.toString().replaceAll("\r\ndate: [^\r]*\r\n", "\r\ndate\r\n");
    }

    /** Has it know the headers that most requests here have. */
    Line used() {
      String unused = ask(get("k9"));
      passed = 0;
      return this;
    }

    boolean takesMore() {
      return channel.isOpen();
    }

    void end() {
      boolean unused = channel.finishAndReleaseAll();
      assertThat(received).allMatch(each -> each.refCnt() == 0);
    }
  }

  @BeforeEach
  void open() throws IOException {
    Map<String, String> records = new TreeMap<>();
    for (int length : LENGTHS) {
      records.put("k" + length, "v".repeat(length));
    }
    records.put("", "of the empty key");
    records.put("a/b;c=d&e+f", "of signs");
    records.put("%41", "of a percent sign");
    open(records);
  }

  private void open(Map<String, String> records) throws IOException {
    Path directory = Serving.build(folder.resolve("db"), records);
    ByteArrayOutputStream said = new ByteArrayOutputStream();
    Console console = new Console(new ByteArrayInputStream(new byte[0]), said, said, false);
    sets =
        new DataSets(
            DataSetLocations.single(directory),
            (name, place) -> place.follow(ReloadOptions.defaults()),
            counts,
            text -> {});
    requests =
        new Requests(
            counts, new FailureReports(console), new Latencies(), null, Telemetry.NONE, "http");
    Duration minute = Duration.ofMinutes(1);
    connections =
        new Connections(
            new Limits(9, 2, 1 << 20, 100, 1 << 20, 1 << 20, minute, minute, minute), memory);
    routes = routes(ValueKind.BYTES, false);
  }

  private Routes routes(ValueKind values, boolean async) {
    KeyRoutes keys =
        new KeyRoutes(
            "/bsdb/",
            new Lookups(
                sets.first(),
                requests,
                Runnable::run,
                async,
                values,
                null,
                UnaryOperator.identity()),
            100,
            Route.keys("/bsdb/", ""),
            Route.keys("/bsdb/", "").oneKey());
    return new Routes() {
      @Override
      public boolean open(RequestTarget target) {
        return false;
      }

      @Override
      public Action action(RequestTarget target, Exchange exchange, HttpHeaders headers)
          throws RequestRefusedException {
        if (!target.path().startsWith("/bsdb/")) {
          return Reply.error(404, "nothing here");
        }
        return keys.action(target, exchange, headers);
      }
    };
  }

  @AfterEach
  void close() {
    assertThat(memory.held()).isZero();
    sets.close();
  }

  private static String get(String key) {
    return "GET /bsdb/" + key + HEADERS;
  }

  private void assertSame(String bytes, boolean straight) {
    Line normal = new Line(false).used();
    Line line = new Line(true).used();
    assertThat(line.ask(bytes)).as(bytes).isEqualTo(normal.ask(bytes));
    assertThat(line.passed == 0).as("straight: " + bytes).isEqualTo(straight);
    assertThat(line.takesMore()).as("open: " + bytes).isEqualTo(normal.takesMore());
    assertThat(line.ask(get("k10"))).as("then: " + bytes).isEqualTo(normal.ask(get("k10")));
    line.end();
    normal.end();
  }

  @Test
  void keysAreAnsweredStraight() {
    for (int length : LENGTHS) {
      assertSame(get("k" + length), true);
    }
    for (String key : List.of("", "absent", "a/b;c=d&e+f", "a".repeat(1024), "k9/")) {
      assertSame(get(key), true);
    }
    assertThat(new Line(true).used().ask(get("a/b;c=d&e+f"))).endsWith("\r\n\r\nof signs");
  }

  @Test
  void everythingElseTakesTheNormalWay() {
    String get = get("k9");
    for (String other :
        List.of(
            get("a".repeat(1025)),
            get("a".repeat(20_000)),
            get("k%39"),
            get("%2541"),
            get("k9#f"),
            get("k9?key_encoding=hex"),
            get("?limit=2"),
            get("k 9"),
            get("k\u00e9"),
            get("k\t9"),
            "HEAD" + get.substring(3),
            "POST" + get.substring(3),
            "get" + get.substring(3),
            "\r\n" + get,
            "GET  /bsdb/k9" + HEADERS,
            "GET http://x/bsdb/k9" + HEADERS,
            "GET /other" + HEADERS,
            get.replace("1.1", "1.0"),
            get.replace("1.1", "1.2"),
            get.replace("\r\n", "\n"),
            get.replace("Host: x\r\n", ""),
            with(get, "Connection: close"),
            with(get, "If-None-Match: *"),
            with(get, "If-Match: \"another\""),
            with(get, "Expect: something"),
            with(get, "Host: y"),
            with(get, "Content-Length: 3") + "abc",
            with(get, "Transfer-Encoding: chunked") + "0\r\n\r\n")) {
      assertSame(other, false);
    }
  }

  private static String with(String request, String header) {
    return request.substring(0, request.length() - 2) + header + "\r\n\r\n";
  }

  @Test
  void requestsWithOtherHeadersAreNotTakenForPlainOnes() {
    String get = get("k9");
    for (String header :
        List.of(
            "Connection: close",
            "If-None-Match: *",
            "If-None-Match: \"a\"",
            "If-Match: *",
            "Expect: 100-continue",
            "Content-Length: 0",
            "Transfer-Encoding: chunked")) {
      String body = header.endsWith("chunked") ? "0\r\n\r\n" : "";
      Line normal = new Line(false);
      Line line = new Line(true);
      for (int i = 0; i < 3; i++) {
        String request = with(get, header) + body;
        assertThat(line.ask(request)).as(header).isEqualTo(normal.ask(request));
      }
      assertThat(line.passed).as(header).isGreaterThanOrEqualTo(normal.passed);
      line.end();
      normal.end();
    }
  }

  @Test
  void aRequestThatEndsWithinWhatLooksLikeHeadersIsNotKept() {
    String two = " HTTP/1.1\r\nHost: x\n\n" + "GET /bsdb/k10" + HEADERS;
    Line normal = new Line(false);
    Line line = new Line(true);
    for (int i = 0; i < 3; i++) {
      assertThat(line.ask("GET /bsdb/k9" + two)).isEqualTo(normal.ask("GET /bsdb/k9" + two));
    }
    line.end();
    normal.end();
  }

  @Test
  void aByteOfDifferenceIsSeen() {
    String get = get("k9");
    for (int at = 0; at < get.length(); at++) {
      for (char other : "a0 :/?%\r\n\t\0\u00ff".toCharArray()) {
        String changed = get.substring(0, at) + other + get.substring(at + 1);
        boolean inKey = at >= 10 && at < 12;
        assertSame(changed, changed.equals(get) || (inKey && "a0:/".indexOf(other) >= 0));
      }
    }
  }

  @Test
  void aRequestMayBeCutAnywhere() {
    String all = get("k9") + get("absent") + get("k1025");
    String expected = new Line(false).ask(all);
    for (int cut = 1; cut < all.length(); cut++) {
      Line line = new Line(true).used();
      String answers = line.ask(all.substring(0, cut)) + line.ask(all.substring(cut));
      assertThat(answers).as("cut at " + cut).isEqualTo(expected);
      assertThat(line.ask(get("k9"))).as("after the cut").endsWith("vvvvvvvvv");
      line.end();
    }
  }

  @Test
  void pipelinedRequestsAreAnsweredInOrder() {
    String post = "POST /bsdb/ HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nk9";
    assertSame(get("k9") + get("k10") + get("nothing") + get("k1"), true);
    assertSame(get("k40000") + get("k9"), true);
    assertSame(get("k40000").repeat(5), false); // more than is written before the client reads
    assertSame(get("k4096").repeat(12), true);
    assertSame(get("k9") + post + get("k10"), false);
    assertSame(get("k9") + with(get("k1"), "Connection: close") + get("k10"), false);
    assertSame(get("k9") + get("k10").substring(0, 30), false);
    assertSame(get("k1").repeat(3000), false); // more than is read at once
  }

  @Test
  void anySequenceOfRequestsIsAnsweredTheSame() {
    Random random = new Random(SEED);
    String[] kinds = {
      get("k9"),
      get("absent"),
      get("k4097"),
      get("k%39"),
      "HEAD" + get("k9").substring(3),
      with(get("k10"), "X: y"),
      with(get("k10"), "X: z"),
      with(get("k1"), "If-None-Match: *"),
      "POST /bsdb/ HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nContent-Length: 4\r\n\r\nk9\nx",
    };
    for (int round = 0; round < 50; round++) {
      StringBuilder all = new StringBuilder();
      for (int i = 0; i < 30; i++) {
        all.append(kinds[random.nextInt(random.nextInt(kinds.length) + 1)]);
      }
      Line normal = new Line(false);
      Line line = new Line(true);
      StringBuilder expected = new StringBuilder();
      StringBuilder answers = new StringBuilder();
      for (int at = 0; at < all.length(); ) {
        int end = Math.min(all.length(), at + 1 + random.nextInt(random.nextInt(2000) + 1));
        expected.append(normal.ask(all.substring(at, end)));
        answers.append(line.ask(all.substring(at, end)));
        at = end;
      }
      assertThat(answers.toString())
          .as("-Dbsdb.seed=%s, round %s", SEED, round)
          .isEqualTo(expected.toString());
      line.end();
      normal.end();
    }
  }

  @Test
  void aLongValueTakesTheNormalWay() throws IOException {
    sets.close();
    Files.move(folder.resolve("db"), folder.resolve("before"));
    open(Map.of("k9", "short", "long", "v".repeat(65_537)));
    assertSame(get("long"), false);
    assertSame(get("k9") + get("long") + get("k9"), false);
  }

  @Test
  void shortValuesNeedNoBudget() throws IOException {
    sets.close();
    Files.move(folder.resolve("db"), folder.resolve("before"));
    open(Map.of("k9", "v".repeat(1024), "k", ""));
    assertSame(get("k9"), true);
    assertSame(get("k") + get("absent"), true);
  }

  @Test
  void countsWhatItAnswers() {
    Line line = new Line(true).used();
    String unused = line.ask(get("k9") + get("absent") + get("k10"));
    assertThat(line.passed).isZero();
    assertThat(requests.byStatus()).isEqualTo(Map.of(200, 3L, 404, 1L));
    assertThat(requests.inFlight()).isZero();
    assertThat(counts.byOutcome()).isEqualTo(Map.of("hits", 3L, "misses", 1L, "errors", 0L));
    requests.latencies().tick();
    assertThat(requests.latencies().total().getTotalCount()).isEqualTo(4);
    line.end();
  }

  @Test
  void theBoundOnLookupsHolds() {
    Line line = new Line(true).used();
    assertThat(counts.enter(2)).isTrue();
    assertThat(line.ask(get("k9"))).startsWith("HTTP/1.1 503 ");
    counts.leave(2);
    assertThat(line.ask(get("k9"))).startsWith("HTTP/1.1 200 ");
    line.end();
  }

  @Test
  void aDrainedConnectionIsClosedAfterItsLastAnswer() {
    Line line = new Line(true).used();
    connections.drain(true);
    assertThat(line.ask(get("k9"))).contains("\r\nconnection: close\r\n");
    assertThat(line.takesMore()).isFalse();
    line.end();
  }

  @Test
  void headersThatChangeEachTimeAreNotKeptForEver() {
    Line line = new Line(true);
    for (int i = 0; i < 20; i++) {
      assertThat(line.ask(with(get("k9"), "Number: " + i))).endsWith("vvvvvvvvv");
    }
    assertThat(line.passed).isEqualTo(20);
    line.end();
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void whatIsNotAnsweredAtOnceIsNotPlain(boolean async) throws Exception {
    routes = routes(ValueKind.BYTES, async);
    Line line = new Line(true).used();
    String answers = line.ask(get("k9"));
    for (int i = 0; i < 1000 && answers.isEmpty(); i++) {
      Thread.sleep(5);
      answers = line.ask("");
    }
    assertThat(answers).startsWith("HTTP/1.1 200 ").endsWith("vvvvvvvvv");
    assertThat(line.passed > 0).isEqualTo(async);
    line.end();
  }

  @Test
  void jsonHasItsOwnTypeAndTag() {
    routes = routes(ValueKind.JSON, false);
    assertSame(get("k9"), true);
    assertSame(get("absent"), true);
    assertSame(get("k9?fields=a"), false);
    assertThat(new Line(true).used().ask(get("k9"))).contains("content-type: application/json");
  }

  @Test
  void aTokenThatWasRemovedIsRejected() throws IOException {
    Serving serving = new Serving(folder.resolve("db"));
    serving.tokens = Files.writeString(folder.resolve("tokens"), "first\n");
    try (serving;
        Wire wire = serving.start().connect()) {
      String get = with(get("k9"), "Authorization: Bearer first");
      assertThat(statuses(wire, get)).containsOnly(200);
      Files.writeString(serving.tokens, "second\n");
      serving.reloadFiles();
      assertThat(statuses(wire, get)).containsOnly(401);
      Files.writeString(serving.tokens, "first\n");
      serving.reloadFiles();
      assertThat(statuses(wire, get)).containsOnly(200);
      assertThat(statuses(wire, get("k9"))).containsOnly(401);
    }
  }

  private static List<Integer> statuses(Wire wire, String request) throws IOException {
    List<Integer> statuses = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      statuses.add(wire.send(request).read().status());
    }
    return statuses;
  }

  @Test
  void dataSetsAreToldApartAndMayBeRemoved() throws IOException {
    Path all = Files.createDirectory(folder.resolve("all"));
    for (String name : List.of("a", "ab")) {
      Path unused = Serving.build(all.resolve(name), Map.of("k", "of " + name, "b/k", "not this"));
    }
    Serving serving = new Serving(all);
    serving.data = DataSetLocations.in(all);
    try (serving;
        Wire wire = serving.start().connect()) {
      for (String name : List.of("a", "a", "ab", "ab", "a")) {
        assertThat(wire.get("/bsdb/" + name + "/k").text()).isEqualTo("of " + name);
      }
      try (Wire admin = serving.administrate()) {
        Files.move(all.resolve("a"), folder.resolve("away"));
        assertThat(admin.post("/reload", "", new byte[0]).status()).isEqualTo(200);
        assertThat(wire.get("/bsdb/a/k").text()).contains("no data set has this name");
        assertThat(wire.get("/bsdb/ab/k").text()).isEqualTo("of ab");
        assertThat(wire.get("/bsdb/ab/k").text()).isEqualTo("of ab");
        Path unused = Serving.build(all.resolve("a"), Map.of("k", "anew"));
        assertThat(admin.post("/reload", "", new byte[0]).status()).isEqualTo(200);
      }
      assertThat(wire.get("/bsdb/a/k").text()).isEqualTo("anew");
      assertThat(wire.get("/bsdb/a/k").text()).isEqualTo("anew");
    }
  }

  @Test
  void anotherVersionAnswersWithItsOwnNameAndTags() throws IOException {
    Path store = Serving.publish(folder, 1);
    try (Serving serving = new Serving(store).start();
        Wire wire = serving.connect();
        Wire admin = serving.administrate()) {
      Wire.Response first = wire.get("/bsdb/k1");
      assertThat(wire.get("/bsdb/k1").headers()).isEqualTo(dated(first, wire.get("/bsdb/k1")));
      Path unused = Serving.publish(folder, 2);
      assertThat(admin.post("/reload", "", new byte[0]).status()).isEqualTo(200);
      Wire.Response second = wire.get("/bsdb/k1");
      assertThat(second.text()).isEqualTo("2");
      assertThat(second.headers()).containsEntry("bsdb-version", "v2");
      assertThat(second.headers().get("etag")).isNotEqualTo(first.headers().get("etag"));
    }
  }

  /** The headers of a response with the date of another. */
  private static Map<String, String> dated(Wire.Response response, Wire.Response other) {
    Map<String, String> headers = new TreeMap<>(response.headers());
    headers.put("date", String.valueOf(other.headers().get("date")));
    return headers;
  }
}
