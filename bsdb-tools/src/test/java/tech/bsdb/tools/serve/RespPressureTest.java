package tech.bsdb.tools.serve;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.handler.ssl.util.InsecureTrustManagerFactory;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tech.bsdb.OpenOptions;
import tech.bsdb.tools.rows.AvroRows;
import tech.bsdb.tools.rows.RowSchema;
import tech.bsdb.tools.rows.TypedDatabase;
import tech.bsdb.tools.serve.client.Credentials.TlsFiles;

/** What Redis clients get that ask for too much, take nothing, or may not ask. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RespPressureTest {
  private static final int MIB = 1 << 20;
  private static final byte[] GET_LARGE = RespWire.command("GET", "large");

  @TempDir Path folder;

  private static byte[] value(int bytes, int seed) {
    byte[] value = new byte[bytes];
    new Random(seed).nextBytes(value);
    return value;
  }

  private Serving serving() throws IOException {
    Map<byte[], byte[]> records = new TreeMap<>(Arrays::compare);
    records.put("large".getBytes(UTF_8), value(MIB, 1));
    records.put("small".getBytes(UTF_8), "value".getBytes(UTF_8));
    Serving serving = new Serving(Serving.buildBytes(folder.resolve("db"), records));
    serving.resp = true;
    return serving;
  }

  /** A client that takes little of what it does not read. */
  private static RespWire slow(int port) throws IOException {
    Socket socket = new Socket();
    socket.setReceiveBufferSize(16 << 10);
    socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
    return new RespWire(socket);
  }

  private static byte[] times(int count, byte[] bytes) {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    for (int i = 0; i < count; i++) {
      all.writeBytes(bytes);
    }
    return all.toByteArray();
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aClientThatReadsNothingIsCutOff(boolean async) throws Exception {
    try (Serving serving = serving()) {
      serving.async = async;
      serving.request = Duration.ofSeconds(1);
      serving.start();
      try (RespWire idle = slow(serving.respPort());
          RespWire other = RespWire.to(serving.respPort())) {
        idle.send(times(200, GET_LARGE));
        for (int i = 0; i < 100; i++) {
          assertThat(other.ask("GET", "small")).isEqualTo("$5\r\nvalue\r\n");
        }
        awaitConnections(serving, 1);
        assertThat(serving.memory().peak()).isLessThan(8L * MIB);
        assertThat(other.ask("PING")).isEqualTo("+PONG\r\n");
      }
      awaitNothingHeld(serving);
    }
  }

  private static void awaitConnections(Serving serving, int count) throws IOException {
    while (serving.metric("bsdb_resp_connections") > count) { // the test's timeout bounds it
      Serving.pause();
    }
  }

  private static void awaitNothingHeld(Serving serving) {
    while (serving.memory().held() > 0) { // the test's timeout bounds it
      Serving.pause();
    }
  }

  @Test
  void aClientThatReadsSlowlyGetsEverything() throws IOException {
    try (Serving serving = serving().start();
        RespWire wire = slow(serving.respPort())) {
      wire.send(times(20, GET_LARGE));
      byte[] expected = RespWire.bulk(value(MIB, 1));
      for (int i = 0; i < 20; i++) {
        assertThat(Arrays.equals(wire.reply(), expected)).isTrue();
      }
      assertThat(wire.ask("PING")).isEqualTo("+PONG\r\n"); // what it took is recorded by now
      assertThat(serving.metric("bsdb_resp_command_duration_seconds{quantile=\"0.999\"}"))
          .isLessThan(120);
    }
  }

  /** A server of many long keys, 20 MB in all, whose values are the name of the version. */
  private Serving manyKeys(String version) throws Exception {
    Map<String, String> records = new TreeMap<>();
    for (int i = 0; i < 20_000; i++) {
      records.put(version + i + "-".repeat(1000), version);
    }
    Path database = Serving.build(folder.resolve(version), records);
    Serving.publish(database, folder.resolve("store"), version);
    Serving serving = new Serving(folder.resolve("store"));
    serving.resp = true;
    return serving;
  }

  private static void assertAllKeys(RespWire wire, String version) throws IOException {
    assertThat(new String(wire.read(8), UTF_8)).isEqualTo("*20000\r\n");
    assertRestOfKeys(wire, version);
  }

  private static void assertRestOfKeys(RespWire wire, String version) throws IOException {
    Set<String> keys = new HashSet<>();
    for (int i = 0; i < 20_000; i++) {
      String key = new String(wire.reply(), UTF_8);
      assertThat(key).contains("\r\n" + version).endsWith("-\r\n");
      keys.add(key);
    }
    assertThat(keys).hasSize(20_000);
  }

  @Test
  void allKeysAreSentAsTheClientTakesThem() throws Exception {
    try (Serving serving = manyKeys("a").start();
        RespWire wire = slow(serving.respPort())) {
      wire.send(RespWire.command("KEYS", "*"));
      wire.send(RespWire.command("PING"));
      wire.send(RespWire.command("KEYS", "*"));
      assertAllKeys(wire, "a");
      assertThat(new String(wire.reply(), UTF_8)).isEqualTo("+PONG\r\n");
      assertAllKeys(wire, "a");
      assertThat(serving.memory().peak()).isLessThan(8L * MIB);
    }
  }

  @Test
  void allKeysAreOfOneVersion() throws Exception {
    try (Serving serving = manyKeys("a").start();
        RespWire wire = slow(serving.respPort());
        RespWire other = RespWire.to(serving.respPort())) {
      wire.send(RespWire.command("KEYS", "*"));
      assertThat(new String(wire.read(8), UTF_8)).isEqualTo("*20000\r\n");
      String gone = "a1" + "-".repeat(1000);
      assertThat(other.ask("GET", gone)).isEqualTo("$1\r\na\r\n");
      manyKeys("b").close();
      while (!other.ask("GET", gone).equals("$-1\r\n")) { // the test's timeout bounds it
        Serving.pause();
      }
      assertRestOfKeys(wire, "a");
      other.send(RespWire.command("KEYS", "*"));
      assertAllKeys(other, "b");
    }
  }

  @Test
  void aClientThatLeavesEndsItsKeys() throws Exception {
    try (Serving serving = manyKeys("a").start()) {
      for (int i = 0; i < 20; i++) {
        try (RespWire wire = slow(serving.respPort())) {
          wire.send(RespWire.command("KEYS", "*"));
          wire.read(50_000 * i % 999_983);
        }
      }
      awaitConnections(serving, 0);
      awaitNothingHeld(serving);
    }
  }

  @Test
  void aLongReplyIsNotSentToWhoWantsNone() throws IOException {
    try (Serving serving = serving().start();
        RespWire wire = RespWire.to(serving.respPort())) {
      for (int length : new int[] {10, 70_000, 1_000_000}) {
        wire.send(RespWire.command("CLIENT", "REPLY", "SKIP"));
        wire.send(RespWire.command("ECHO", "e".repeat(length)));
        assertThat(wire.ask("GET", "small")).isEqualTo("$5\r\nvalue\r\n");
      }
    }
  }

  @Test
  void halfACommandIsNotWaitedForForLong() throws IOException {
    try (Serving serving = serving()) {
      serving.request = Duration.ofMillis(300);
      serving.start();
      for (String half : List.of("*2\r\n$3\r\nGET\r\n", "*1\r\n$4", "PIN", "*1\r\n$4\r\nPI")) {
        try (RespWire wire = RespWire.to(serving.respPort())) {
          assertThat(wire.ask("PING")).isEqualTo("+PONG\r\n");
          wire.send(half.getBytes(US_ASCII));
          assertThat(wire.rest()).as(half).isEmpty();
        }
      }
    }
  }

  @Test
  void longRepliesToShortCommandsAreBounded() throws Exception {
    try (Serving serving = serving()) {
      serving.request = Duration.ofSeconds(1);
      serving.start();
      try (RespWire idle = slow(serving.respPort())) {
        idle.send(times(4_000, "COMMAND\r\n".getBytes(US_ASCII)));
        while (serving.metric("bsdb_resp_connections") > 0) { // the test's timeout bounds it
          assertThat(serving.memory().held()).isLessThan(4L * MIB);
          Serving.pause();
        }
      }
      awaitNothingHeld(serving);
    }
  }

  @Test
  void anIdleConnectionStaysOpenForTheIdleTime() throws Exception {
    try (Serving serving = serving()) {
      serving.request = Duration.ofMillis(200);
      serving.start();
      try (RespWire wire = RespWire.to(serving.respPort())) {
        assertThat(wire.ask("PING")).isEqualTo("+PONG\r\n");
        Thread.sleep(600);
        assertThat(wire.ask("PING")).isEqualTo("+PONG\r\n");
      }
    }
  }

  @Test
  void commandsThatAreTooLongAreRefused() throws IOException {
    try (Serving serving = serving()) {
      serving.bodyBytes = 10_000;
      serving.start();
      try (RespWire wire = RespWire.to(serving.respPort())) {
        String echo = wire.ask("ECHO", "a".repeat(9_000));
        assertThat(echo).hasSize(9_009);
        wire.send(RespWire.command("ECHO", "a".repeat(20_000)));
        assertThat(new String(wire.rest(), ISO_8859_1))
            .startsWith("-ERR Protocol error: the command is longer than 10000 bytes")
            .contains("--max-body")
            .hasLineCount(1);
      }
      try (RespWire wire = RespWire.to(serving.respPort())) {
        wire.send(("*100000\r\n" + "$1\r\na\r\n".repeat(500)).getBytes(US_ASCII));
        assertThat(new String(wire.rest(), ISO_8859_1)).contains("--max-body");
      }
      awaitNothingHeld(serving);
    }
  }

  @Test
  void moreKeysThanTheLimitAreRefused() throws IOException {
    try (Serving serving = serving()) {
      serving.batchKeys = 3;
      serving.start();
      try (RespWire wire = RespWire.to(serving.respPort())) {
        assertThat(wire.ask("EXISTS", "small", "small", "a")).isEqualTo(":2\r\n");
        assertThat(wire.ask("MGET", "a", "b", "c", "d"))
            .startsWith("-ERR 4 keys")
            .contains("batch");
        assertThat(wire.ask("PING")).isEqualTo("+PONG\r\n");
      }
    }
  }

  @Test
  void connectionsBeyondTheLimitAreTold() throws IOException {
    try (Serving serving = serving()) {
      serving.connections = 2;
      serving.start();
      try (RespWire first = RespWire.to(serving.respPort());
          RespWire second = RespWire.to(serving.respPort())) {
        assertThat(first.ask("PING") + second.ask("PING")).isEqualTo("+PONG\r\n+PONG\r\n");
        try (RespWire third = RespWire.to(serving.respPort())) {
          assertThat(new String(third.rest(), ISO_8859_1))
              .isEqualTo("-ERR max number of clients reached\r\n");
        }
        assertThat(second.ask("QUIT")).isEqualTo("+OK\r\n");
        assertThat(second.ended()).isTrue();
        awaitConnections(serving, 1);
        try (RespWire third = RespWire.to(serving.respPort())) {
          assertThat(third.ask("PING")).isEqualTo("+PONG\r\n");
        }
      }
    }
  }

  @Test
  void lookupsBeyondTheLimitAreRefused() throws IOException {
    try (Serving serving = serving()) {
      serving.inFlight = 1;
      serving.open = OpenOptions.defaults().withEngine(OpenOptions.Engine.BUFFERED);
      serving.start();
      try (RespWire wire = RespWire.to(serving.respPort())) {
        String[] many = new String[2000];
        Arrays.fill(many, "small");
        many[0] = "EXISTS";
        byte[] pipeline = times(50, RespWire.command(many));
        boolean refused = false;
        while (!refused) { // the test's timeout bounds it
          try (RespWire busy = RespWire.to(serving.respPort())) {
            busy.send(pipeline).shutdownOutput();
            for (int i = 0; i < 20 && !refused; i++) {
              String reply = wire.ask("GET", "small");
              refused = reply.startsWith("-BUSY ");
              assertThat(refused || reply.equals("$5\r\nvalue\r\n")).as(reply).isTrue();
            }
            assertThat(new String(busy.rest(), ISO_8859_1)).matches("(:1999\r\n|-BUSY .*\r\n)*");
          }
        }
        assertThat(wire.ask("GET", "small")).isEqualTo("$5\r\nvalue\r\n");
        assertThat(serving.metric("bsdb_resp_errors_total{code=\"BUSY\"}")).isPositive();
      }
    }
  }

  @Test
  void theCommandsOfATransactionAreHeldUntilTheyAreAnswered() throws IOException {
    try (Serving serving = serving().start()) {
      try (RespWire wire = RespWire.to(serving.respPort())) {
        assertThat(wire.ask("MULTI")).isEqualTo("+OK\r\n");
        for (int i = 1; i <= 20; i++) {
          assertThat(wire.ask("ECHO", "a".repeat(10_000))).isEqualTo("+QUEUED\r\n");
          assertThat(wire.ask("PING")).isEqualTo("+QUEUED\r\n"); // the one before is settled
          assertThat(serving.memory().held()).isGreaterThan(10_000L * i);
        }
        assertThat(wire.ask("EXEC")).startsWith("*40\r\n").hasSizeGreaterThan(200_000);
        awaitNothingHeld(serving);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"DISCARD", "RESET", "EXEC", "GET"})
  void theCommandsOfATransactionThatEndsAreNotHeld(String last) throws IOException {
    try (Serving serving = serving().start();
        RespWire wire = RespWire.to(serving.respPort())) {
      assertThat(wire.ask("MULTI")).isEqualTo("+OK\r\n");
      assertThat(wire.ask("ECHO", "a".repeat(100_000))).isEqualTo("+QUEUED\r\n");
      assertThat(wire.ask("PING")).isEqualTo("+QUEUED\r\n");
      assertThat(serving.memory().held()).isGreaterThan(100_000);
      assertThat(wire.ask(last)).isNotEmpty();
      awaitNothingHeld(serving);
    }
  }

  @Test
  void keysBehindAnErrorCountNeitherAsPresentNorAsAbsent() throws IOException {
    try (Serving serving = serving().start();
        RespWire wire = RespWire.to(serving.respPort())) {
      assertThat(wire.ask("SDIFF", "small", "large", "none")).startsWith("-WRONGTYPE");
      assertThat(wire.ask("EXISTS", "small", "none")).isEqualTo(":1\r\n");
      assertThat(serving.metric("bsdb_lookup_hits_total")).isEqualTo(2);
      assertThat(serving.metric("bsdb_lookup_misses_total")).isEqualTo(1);
    }
  }

  @Test
  void connectionsThatComeAndGoAreNotTakenFromThoseOverHttp() throws Exception {
    try (Serving serving = serving().start();
        Wire admin = serving.administrate()) {
      AtomicBoolean ends = new AtomicBoolean();
      CompletableFuture<Void> coming =
          CompletableFuture.runAsync(
              () -> {
                while (!ends.get()) {
                  try (RespWire one = RespWire.to(serving.respPort());
                      RespWire two = RespWire.to(serving.respPort())) {
                    assertThat(one).isNotEqualTo(two);
                  } catch (IOException e) {
                    throw new UncheckedIOException(e);
                  }
                }
              });
      for (int i = 0; i < 1000; i++) {
        assertThat(admin.get("/stats").text()).doesNotContainPattern("\"connections\": *-");
      }
      ends.set(true);
      coming.get();
    }
  }

  @Test
  void whatAConnectionKeepsIsShort() throws IOException {
    String name = "n".repeat(1024);
    String prefix = "p".repeat(8000);
    try (Serving serving = serving().start();
        RespWire wire = RespWire.to(serving.respPort())) {
      assertThat(wire.ask("HELLO", "3", "SETNAME", name)).startsWith("%7\r\n");
      assertThat(wire.ask("CLIENT", "SETNAME", name)).isEqualTo("+OK\r\n");
      assertThat(wire.ask("CLIENT", "SETINFO", "LIB-NAME", name)).isEqualTo("+OK\r\n");
      String[] tracking = {"CLIENT", "TRACKING", "ON", "BCAST", "PREFIX", prefix, "PREFIX", prefix};
      assertThat(wire.ask(tracking)).isEqualTo("+OK\r\n");
      String tooLong = " cannot be longer than 1024 bytes.\r\n";
      assertThat(wire.ask("HELLO", "3", "SETNAME", name + "n")).endsWith(tooLong);
      assertThat(wire.ask("CLIENT", "SETNAME", name + "n")).endsWith(tooLong);
      assertThat(wire.ask("CLIENT", "SETINFO", "LIB-NAME", name + "n")).endsWith(tooLong);
      assertThat(wire.ask("CLIENT", "SETINFO", "LIB-VER", name + "n")).endsWith(tooLong);
      tracking[5] = prefix + prefix;
      assertThat(wire.ask(tracking)).isEqualTo("-ERR the prefixes are longer than 16384 bytes\r\n");
      assertThat(wire.ask("CLIENT", "GETNAME")).contains(name);
    }
  }

  @Test
  void commandsThatAreAnsweredAreNotHeld() throws IOException {
    try (Serving serving = serving().start();
        RespWire wire = RespWire.to(serving.respPort())) {
      for (String[] command : new String[][] {{"PING"}, {"GET", "small"}, {"DBSIZE"}, {"NONE"}}) {
        wire.send(times(2000, RespWire.command(command)));
        for (int i = 0; i < 2000; i++) {
          assertThat(wire.text()).isNotEmpty();
        }
        assertThat(wire.ask("ECHO", "a".repeat(100_000))).startsWith("$100000\r\n");
        awaitNothingHeld(serving);
      }
    }
  }

  @Test
  void namesThatRepeatDoNotMakeRepliesLong() throws IOException {
    try (Serving serving = serving().start();
        RespWire wire = RespWire.to(serving.respPort())) {
      for (String[] command :
          new String[][] {
            {"COMMAND", "INFO"}, {"COMMAND", "DOCS"}, {"CONFIG", "GET"}, {"INFO", "x"}
          }) {
        String[] many = Arrays.copyOf(command, 1001);
        Arrays.fill(many, 2, many.length, "get");
        assertThat(wire.ask(many)).isEqualTo("-ERR 1001 arguments are more than 1000\r\n");
        assertThat(wire.ask(Arrays.copyOf(many, 1000))).doesNotStartWith("-");
      }
    }
  }

  @Test
  void fieldsThatRepeatDoNotMakeRepliesLong() throws IOException {
    RowSchema schema =
        AvroRows.schema("{\"name\":\"a\",\"type\":\"string\"},{\"name\":\"b\",\"type\":\"int\"}");
    byte[] row = AvroRows.row(schema, "a".repeat(100_000), 7);
    Path rows = TypedDatabase.build(folder.resolve("rows"), schema.json(), Map.of("k", row));
    try (Serving serving = new Serving(rows)) {
      serving.resp = true;
      serving.start();
      try (RespWire wire = RespWire.to(serving.respPort())) {
        String[] many = new String[22];
        Arrays.fill(many, "a");
        many[0] = "HMGET";
        many[1] = "k";
        assertThat(wire.ask(Arrays.copyOf(many, 12))).startsWith("*10\r\n$100000\r\naaa");
        assertThat(wire.ask(many))
            .isEqualTo(
                "-ERR fields that are asked for again would add 1900000 bytes to the reply, which"
                    + " is more than 1048576\r\n");
        byte[] few = RespWire.command(Arrays.copyOf(many, 12));
        wire.send(times(200, few));
        for (int i = 0; i < 200; i++) {
          assertThat(wire.reply()).hasSizeGreaterThan(1_000_000);
        }
        assertThat(wire.ask("HGET", "k", "b")).isEqualTo("$1\r\n7\r\n");
      }
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void theEndWaitsForNoLookupThatWasGivenUp(boolean async) throws IOException {
    Path database = serving().directory;
    for (int i = 0; i < 5; i++) {
      RespWire[] busy = new RespWire[8];
      Serving serving = new Serving(database);
      try (serving) {
        serving.resp = true;
        serving.async = async;
        serving.drain = Duration.ZERO;
        serving.open = OpenOptions.defaults().withEngine(OpenOptions.Engine.BUFFERED);
        serving.start();
        byte[] pipeline = times(2000, RespWire.command("MGET", "large", "small"));
        for (int b = 0; b < busy.length; b++) {
          busy[b] = slow(serving.respPort());
          busy[b].send(pipeline);
        }
        assertThat(Arrays.equals(busy[0].read(3), "*2\r".getBytes(US_ASCII))).isTrue();
      }
      assertThat(serving.said()).doesNotContain("still");
      for (RespWire each : busy) {
        each.close();
      }
    }
  }

  @Test
  void aClientThatReadsNothingKeepsNoLookupsInFlight() throws IOException {
    try (Serving serving = serving()) {
      serving.inFlight = 10;
      serving.start();
      try (RespWire idle = slow(serving.respPort());
          RespWire wire = RespWire.to(serving.respPort())) {
        idle.send(times(100, GET_LARGE));
        while (serving.memory().held() == 0) {
          Serving.pause(); // the test's timeout bounds it
        }
        while (serving.metric("bsdb_lookups_in_flight") > 0) {
          Serving.pause(); // the test's timeout bounds it
        }
        assertThat(wire.ask("GET", "small")).isEqualTo("$5\r\nvalue\r\n");
        assertThat(Arrays.equals(idle.reply(), RespWire.bulk(value(MIB, 1)))).isTrue();
      }
    }
  }

  @Test
  void tokensAreAskedForAndTakenBack() throws IOException {
    try (Serving serving = serving()) {
      Path tokens = Files.writeString(folder.resolve("tokens"), "first\nsecond\n");
      serving.tokens = tokens;
      serving.start();
      try (RespWire first = RespWire.to(serving.respPort());
          RespWire second = RespWire.to(serving.respPort())) {
        assertThat(first.ask("GET", "small")).startsWith("-NOAUTH ");
        assertThat(first.ask("AUTH", "third")).startsWith("-WRONGPASS ");
        assertThat(first.ask("AUTH", "first")).isEqualTo("+OK\r\n");
        assertThat(second.ask("HELLO", "3", "AUTH", "default", "second")).startsWith("%7\r\n");
        assertThat(first.ask("GET", "small")).isEqualTo("$5\r\nvalue\r\n");
        Files.writeString(tokens, "second\nthird\n");
        serving.reloadFiles();
        assertThat(first.ask("GET", "small")).startsWith("-NOAUTH ");
        assertThat(second.ask("GET", "small")).isEqualTo("$5\r\nvalue\r\n");
        assertThat(first.ask("AUTH", "first")).startsWith("-WRONGPASS ");
        assertThat(first.ask("AUTH", "default", "third")).isEqualTo("+OK\r\n");
        assertThat(first.ask("GET", "small")).isEqualTo("$5\r\nvalue\r\n");
      }
    }
  }

  /** Within a transaction a client cannot authenticate, so it must get out of it. */
  @Test
  void aTransactionWhoseTokenIsTakenBackEndsWithItsExec() throws IOException {
    try (Serving serving = serving()) {
      Path tokens = Files.writeString(folder.resolve("tokens"), "first\n");
      serving.tokens = tokens;
      serving.start();
      try (RespWire wire = RespWire.to(serving.respPort())) {
        assertThat(wire.ask("AUTH", "first")).isEqualTo("+OK\r\n");
        assertThat(wire.ask("MULTI")).isEqualTo("+OK\r\n");
        assertThat(wire.ask("GET", "small")).isEqualTo("+QUEUED\r\n");
        Files.writeString(tokens, "second\n");
        serving.reloadFiles();
        assertThat(wire.ask("GET", "small")).startsWith("-NOAUTH ");
        assertThat(wire.ask("EXEC"))
            .isEqualTo(
                "-EXECABORT Transaction discarded because of: NOAUTH Authentication required.\r\n");
        assertThat(wire.ask("AUTH", "second")).isEqualTo("+OK\r\n");
        assertThat(wire.ask("GET", "small")).isEqualTo("$5\r\nvalue\r\n");
      }
    }
  }

  @Test
  void afterItsTokenIsTakenBackAClientIsAStrangerAgain() throws IOException {
    try (Serving serving = serving()) {
      Path tokens = Files.writeString(folder.resolve("tokens"), "first\n");
      serving.tokens = tokens;
      serving.start();
      try (RespWire wire = RespWire.to(serving.respPort())) {
        assertThat(wire.ask("AUTH", "first")).isEqualTo("+OK\r\n");
        assertThat(wire.ask("ECHO", "a".repeat(20_000))).hasSize(20_010);
        Files.writeString(tokens, "second\n");
        serving.reloadFiles();
        assertThat(wire.ask("PING")).startsWith("-NOAUTH ");
        wire.send(times(3, RespWire.command("GET", "small")));
        for (int i = 0; i < 3; i++) {
          assertThat(wire.text()).startsWith("-NOAUTH ");
        }
        wire.send(RespWire.command("ECHO", "a".repeat(20_000)));
        assertThat(new String(wire.rest(), ISO_8859_1)).contains("unauthenticated bulk length");
      }
    }
  }

  @Test
  void encryptedConnectionsAreServed() throws Exception {
    try (Serving serving = serving()) {
      serving.tls = certificate();
      serving.start();
      SSLContext trusting = SSLContext.getInstance("TLS");
      trusting.init(null, InsecureTrustManagerFactory.INSTANCE.getTrustManagers(), null);
      try (RespWire wire =
          new RespWire(
              trusting
                  .getSocketFactory()
                  .createSocket(InetAddress.getLoopbackAddress(), serving.respPort()))) {
        assertThat(wire.ask("GET", "small")).isEqualTo("$5\r\nvalue\r\n");
        wire.send(times(3, GET_LARGE));
        for (int i = 0; i < 3; i++) {
          assertThat(Arrays.equals(wire.reply(), RespWire.bulk(value(MIB, 1)))).isTrue();
        }
        assertThat(wire.ask("QUIT")).isEqualTo("+OK\r\n");
        assertThat(wire.ended()).isTrue();
      }
      try (RespWire plain = RespWire.to(serving.respPort())) {
        plain.send(RespWire.command("GET", "small"));
        assertThat(new String(plain.rest(), ISO_8859_1)).doesNotContain("value");
      }
    }
  }

  /** Made by the JDK's keytool, so that nothing secret is in the tree. */
  private TlsFiles certificate() throws Exception {
    Path store = folder.resolve("keys.p12");
    Process keytool =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                "-genkeypair",
                "-alias",
                "server",
                "-keyalg",
                "EC",
                "-dname",
                "CN=localhost",
                "-storepass",
                "secret",
                "-keystore",
                store.toString(),
                "-storetype",
                "PKCS12")
            .redirectErrorStream(true)
            .start();
    String said = new String(keytool.getInputStream().readAllBytes(), UTF_8);
    assertThat(keytool.waitFor()).as(said).isZero();
    var keys = java.security.KeyStore.getInstance(store.toFile(), "secret".toCharArray());
    return new TlsFiles(
        pem("CERTIFICATE", keys.getCertificate("server").getEncoded()),
        pem("PRIVATE KEY", keys.getKey("server", "secret".toCharArray()).getEncoded()));
  }

  private Path pem(String kind, byte[] bytes) throws IOException {
    String text = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(bytes);
    return Files.writeString(
        folder.resolve(kind.charAt(0) + ".pem"),
        "-----BEGIN " + kind + "-----\n" + text + "\n-----END " + kind + "-----\n");
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void atTheEndAPipelineIsAnsweredWhole(boolean async) throws Exception {
    try (Serving serving = serving()) {
      serving.async = async;
      serving.start();
      try (RespWire busy = slow(serving.respPort());
          RespWire idle = RespWire.to(serving.respPort())) {
        assertThat(idle.ask("PING")).isEqualTo("+PONG\r\n");
        busy.send(times(30, GET_LARGE));
        byte[] expected = RespWire.bulk(value(MIB, 1));
        assertThat(Arrays.equals(busy.reply(), expected)).isTrue(); // the pipeline has arrived
        Thread ending = new Thread(serving::close);
        ending.start();
        assertThat(idle.ended()).isTrue();
        for (int i = 1; i < 30; i++) {
          assertThat(Arrays.equals(busy.reply(), expected)).isTrue();
        }
        assertThat(busy.ended()).isTrue();
        ending.join();
      }
    }
  }

  /** Flips a bit in the middle of the data of a database. */
  private static void damage(Path database) throws IOException {
    try (var files = Files.list(database)) {
      Path data =
          files
              .filter(file -> file.getFileName().toString().contains("data"))
              .findFirst()
              .orElseThrow();
      try (RandomAccessFile file = new RandomAccessFile(data.toFile(), "rw")) {
        file.seek(file.length() / 2);
        int was = file.read();
        file.seek(file.length() / 2);
        file.write(was ^ 1);
      }
    }
  }

  @Test
  void damageInTheMiddleOfAllKeysEndsTheConnection() throws Exception {
    manyKeys("a").close();
    damage(folder.resolve("store/a"));
    try (Serving serving = new Serving(folder.resolve("store"))) {
      serving.resp = true;
      serving.start();
      try (RespWire wire = RespWire.to(serving.respPort());
          RespWire other = RespWire.to(serving.respPort())) {
        wire.send(RespWire.command("KEYS", "*"));
        assertThat(new String(wire.read(8), UTF_8)).isEqualTo("*20000\r\n");
        assertThat(wire.rest().length).isBetween(1_000_000, 19_000_000);
        assertThat(other.ask("PING")).isEqualTo("+PONG\r\n");
        awaitConnections(serving, 1);
      }
      awaitNothingHeld(serving);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aDamagedValueIsAnErrorAndItsNeighboursAreAnswered(boolean async) throws IOException {
    Map<byte[], byte[]> records = new TreeMap<>(Arrays::compare);
    for (int i = 0; i < 400; i++) {
      records.put(("k" + i).getBytes(UTF_8), value(5000, i));
    }
    Path database = Serving.buildBytes(folder.resolve("db"), records);
    damage(database);
    try (Serving serving = new Serving(database)) {
      serving.resp = true;
      serving.async = async;
      serving.start();
      try (RespWire wire = RespWire.to(serving.respPort())) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (int i = 0; i < 400; i++) {
          all.writeBytes(RespWire.command("GET", "k" + i));
        }
        wire.send(all.toByteArray());
        int wrong = 0;
        for (int i = 0; i < 400; i++) {
          byte[] reply = wire.reply();
          if (reply[0] == '-') {
            assertThat(new String(reply, ISO_8859_1)).startsWith("-ERR the lookup failed");
            wrong++;
          } else {
            assertThat(Arrays.equals(reply, RespWire.bulk(value(5000, i)))).isTrue();
          }
        }
        assertThat(wrong).isBetween(1, 20);
      }
    }
  }
}
