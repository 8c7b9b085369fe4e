package tech.bsdb.tools.serve;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tech.bsdb.BuildOptions;
import tech.bsdb.DatabaseBuilder;
import tech.bsdb.Layout;
import tech.bsdb.OpenOptions;
import tech.bsdb.Sampled;

/** Many commands at once are answered in order, each with what a map would answer. */
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RespPipelineTest {
  private static final long SEED = Long.getLong("bsdb.seed", 11);

  @TempDir Path folder;
  private final Random random = new Random(SEED);
  private final Map<String, byte[]> model = new TreeMap<>();

  private Serving serving(Layout layout) throws IOException {
    Path database = folder.resolve("db");
    BuildOptions options = BuildOptions.defaults().withLayout(layout);
    try (DatabaseBuilder builder = DatabaseBuilder.create(database, options)) {
      for (Map.Entry<String, byte[]> entry : model.entrySet()) {
        builder.add(entry.getKey().getBytes(ISO_8859_1), entry.getValue());
      }
      builder.finish();
    }
    Serving serving = new Serving(database);
    serving.resp = true;
    serving.bodyBytes = 16 << 20;
    return serving;
  }

  private void fill(int count, int longest) {
    for (int i = 0; i < count; i++) {
      byte[] value =
          new byte[random.nextInt(10) > 0 ? random.nextInt(50) : random.nextInt(longest)];
      random.nextBytes(value);
      model.put("k" + i, value);
    }
  }

  /** What the model answers to a command. */
  private byte[] answer(boolean resp3, String... command) {
    byte[] value = command.length > 1 ? model.get(command[1]) : null;
    byte[] none = latin1(resp3 ? "_\r\n" : "$-1\r\n");
    return switch (command[0]) {
      case "GET" -> value == null ? none : RespWire.bulk(value);
      case "STRLEN" -> integer(value == null ? 0 : value.length);
      case "TTL" -> integer(value == null ? -2 : -1);
      case "TYPE" -> latin1(value == null ? "+none\r\n" : "+string\r\n");
      case "GETRANGE" ->
          RespWire.bulk(
              part(
                  value == null ? new byte[0] : value,
                  Integer.parseInt(command[2]),
                  Integer.parseInt(command[3])));
      case "EXISTS" ->
          integer(Arrays.stream(command, 1, command.length).filter(model::containsKey).count());
      case "MGET" -> {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        all.writeBytes(latin1("*" + (command.length - 1) + "\r\n"));
        for (int i = 1; i < command.length; i++) {
          byte[] each = model.get(command[i]);
          all.writeBytes(each == null ? none : RespWire.bulk(each));
        }
        yield all.toByteArray();
      }
      case "HGET" ->
          value == null
              ? none
              : latin1("-WRONGTYPE Operation against a key holding the wrong kind of value\r\n");
      case "PING" -> latin1("+PONG\r\n");
      case "ECHO" -> RespWire.bulk(latin1(command[1]));
      case "DBSIZE" -> integer(model.size());
      case "SET" -> latin1("-READONLY You can't write against a read only replica.\r\n");
      case "CLIENT" -> none;
      default -> throw new IllegalArgumentException(command[0]);
    };
  }

  /** What GETRANGE answers, as Redis describes it. */
  private static byte[] part(byte[] value, int from, int to) {
    if (from < 0 && to < 0 && from > to) {
      return new byte[0];
    }
    int first = Math.max(0, from < 0 ? value.length + from : from);
    int last = Math.max(0, to < 0 ? value.length + to : to);
    int end = Math.min(value.length, last + 1);
    return first < end ? Arrays.copyOfRange(value, first, end) : new byte[0];
  }

  private static byte[] latin1(String text) {
    return text.getBytes(ISO_8859_1);
  }

  private static byte[] integer(long value) {
    return latin1(":" + value + "\r\n");
  }

  private String key() {
    return "k" + random.nextInt(2 * model.size() + 1);
  }

  /** A place in or around a value, counted from its start or its end. */
  private String place() {
    return Integer.toString(random.nextInt(121) - 60);
  }

  private String[] command() {
    return switch (random.nextInt(13)) {
      case 0, 1, 2 -> new String[] {"GET", key()};
      case 3 -> new String[] {"STRLEN", key()};
      case 4 -> new String[] {"TTL", key()};
      case 5 -> new String[] {"TYPE", key()};
      case 6 -> new String[] {"GETRANGE", key(), place(), place()};
      case 7, 8 -> {
        String[] keys = new String[2 + random.nextInt(random.nextInt(20) == 0 ? 600 : 10)];
        Arrays.setAll(keys, i -> key());
        keys[0] = random.nextBoolean() ? "MGET" : "EXISTS";
        yield keys;
      }
      case 9 -> new String[] {"HGET", key(), "f"};
      case 10 -> new String[] {"ECHO", key()};
      case 11 -> new String[] {"SET", key(), "v"};
      default ->
          switch (random.nextInt(4)) {
            case 0 -> new String[] {"DBSIZE"};
            case 1 -> new String[] {"CLIENT", "GETNAME"};
            default -> new String[] {"PING"};
          };
    };
  }

  @Sampled(3)
  @ParameterizedTest
  @CsvSource({
    "BLOCKED, false, AUTO",
    "BLOCKED, true, AUTO",
    "COMPACT, false, MAPPED",
    "COMPACT, true, BUFFERED",
    "COMPRESSED, false, BUFFERED",
    "PACKED, true, MAPPED",
    "PACKED, false, BUFFERED",
    "PACKED_COMPRESSED, true, BUFFERED",
  })
  void pipelinesAreAnsweredInOrder(Layout layout, boolean async, OpenOptions.Engine engine)
      throws Exception {
    fill(500, 200_000);
    try (Serving serving = serving(layout)) {
      serving.async = async;
      serving.open = OpenOptions.defaults().withEngine(engine);
      serving.start();
      for (boolean resp3 : List.of(false, true)) {
        try (RespWire wire = RespWire.to(serving.respPort())) {
          if (resp3) {
            assertThat(wire.ask("HELLO", "3")).startsWith("%");
          }
          pipeline(wire, resp3, 1500);
        }
      }
    }
  }

  /** Sends commands in random pieces from a thread of its own, and compares the answers. */
  private void pipeline(RespWire wire, boolean resp3, int count) throws Exception {
    ByteArrayOutputStream requests = new ByteArrayOutputStream();
    List<String[]> commands = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      String[] command = command();
      commands.add(command);
      requests.writeBytes(RespWire.command(command));
    }
    byte[] bytes = requests.toByteArray();
    Random cuts = new Random(SEED);
    ExecutorService sender = Executors.newSingleThreadExecutor();
    Future<?> sent =
        sender.submit(
            () -> {
              for (int at = 0; at < bytes.length; ) {
                int most = cuts.nextInt(3) == 0 ? 20_000 : 200;
                int piece = Math.min(bytes.length - at, 1 + cuts.nextInt(most));
                wire.send(bytes, at, piece);
                at += piece;
              }
              return null;
            });
    sender.shutdown();
    for (int i = 0; i < count; i++) {
      check(wire, resp3, "seed " + SEED + ", command " + i, commands.get(i));
    }
    sent.get();
  }

  private void check(RespWire wire, boolean resp3, String what, String... command)
      throws IOException {
    byte[] reply = wire.reply();
    if (!Arrays.equals(reply, answer(resp3, command))) {
      String text = new String(reply, ISO_8859_1);
      throw new AssertionError(
          what + ": " + command[0] + ": " + text.substring(0, Math.min(200, text.length())));
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void oneCommandHasManyKeysWithLongValues(boolean async) throws IOException {
    fill(300, 200_000);
    try (Serving serving = serving(Layout.BLOCKED)) {
      serving.async = async;
      serving.start();
      String[] many = new String[10_001];
      Arrays.setAll(many, i -> key());
      many[0] = "MGET";
      try (RespWire wire = RespWire.to(serving.respPort())) {
        wire.send(RespWire.command(many));
        check(wire, false, "seed " + SEED, many);
        assertThat(wire.ask("PING")).isEqualTo("+PONG\r\n");
      }
    }
  }

  @Sampled(3)
  @ParameterizedTest
  @CsvSource({"false, AUTO", "true, AUTO", "false, BUFFERED", "true, BUFFERED"})
  void keysAndValuesHaveTheLengthsThatTheyMayHave(boolean async, OpenOptions.Engine engine)
      throws IOException {
    for (boolean large : List.of(false, true)) {
      model.clear();
      model.put("", latin1("of the empty key"));
      model.put("k".repeat(65_535), latin1("of the longest key"));
      if (large) {
        byte[] value = new byte[3 << 20];
        random.nextBytes(value);
        model.put("large", value);
      }
      Path database = folder.resolve("db" + large);
      Map<byte[], byte[]> records = new TreeMap<>(Arrays::compare);
      model.forEach((key, value) -> records.put(latin1(key), value));
      try (Serving serving = new Serving(Serving.buildBytes(database, records))) {
        serving.resp = true;
        serving.async = async;
        serving.open = OpenOptions.defaults().withEngine(engine);
        serving.start();
        try (RespWire wire = RespWire.to(serving.respPort())) {
          String tooLong = "k".repeat(70_000);
          for (String key : List.of("", "k".repeat(65_535), tooLong, "k".repeat(65_536), "large")) {
            for (String name : List.of("GET", "STRLEN", "MGET", "EXISTS")) {
              wire.send(RespWire.command(name, key));
              check(wire, false, key.length() + " bytes, " + large, name, key);
            }
          }
          String[] mixed = {"MGET", "", tooLong, "large", tooLong, "k".repeat(65_535), "none"};
          wire.send(RespWire.command(mixed));
          check(wire, false, "mixed, " + large, mixed);
        }
      }
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void allAnswersComeHoweverLateTheyAreRead(boolean halfClosed) throws Exception {
    fill(200, 60);
    try (Serving serving = serving(Layout.BLOCKED).start();
        RespWire wire = RespWire.to(serving.respPort())) {
      ByteArrayOutputStream all = new ByteArrayOutputStream();
      List<String[]> commands = new ArrayList<>();
      for (int i = 0; i < 20_000; i++) {
        commands.add(new String[] {"GET", key()});
        all.writeBytes(RespWire.command(commands.get(i)));
      }
      wire.send(all.toByteArray());
      if (halfClosed) {
        wire.shutdownOutput();
      }
      for (int i = 0; i < commands.size(); i++) {
        check(wire, false, "seed " + SEED + ", command " + i, commands.get(i));
      }
      if (!halfClosed) {
        wire.send(RespWire.command("QUIT")).send(RespWire.command("PING"));
        assertThat(wire.text()).isEqualTo("+OK\r\n");
      }
      assertThat(wire.ended()).isTrue();
    }
  }

  @ParameterizedTest
  @CsvSource({"false, AUTO", "false, BUFFERED", "true, AUTO", "true, BUFFERED"})
  void aClientThatSendsNoMoreIsAnswered(boolean async, OpenOptions.Engine engine) throws Exception {
    fill(50, 60);
    try (Serving serving = serving(Layout.BLOCKED)) {
      serving.async = async;
      serving.open = OpenOptions.defaults().withEngine(engine);
      serving.start();
      for (String last : List.of("DBSIZE", "GET", "MGET", "PING")) {
        for (int i = 0; i < 20; i++) {
          String[] first = {"GET", key()};
          String[] end = last.endsWith("GET") ? new String[] {last, key()} : new String[] {last};
          try (RespWire wire = RespWire.to(serving.respPort())) {
            wire.send(RespWire.command(first)).send(RespWire.command(end)).shutdownOutput();
            check(wire, false, last, first);
            check(wire, false, last, end);
            assertThat(wire.ended()).as(last).isTrue();
          }
        }
      }
    }
  }

  @Test
  void commandsThatEndInsideALineAreReadOn() throws IOException {
    fill(50, 60);
    try (Serving serving = serving(Layout.BLOCKED).start();
        RespWire wire = RespWire.to(serving.respPort())) {
      String start = "*2\r\n$4";
      wire.send(latin1(start));
      byte[] echo = new byte[9_000];
      for (int i = 0; i < 300; i++) {
        ByteArrayOutputStream rest = new ByteArrayOutputStream();
        rest.writeBytes(latin1("\r\nECHO\r\n"));
        rest.writeBytes(RespWire.bulk(echo));
        rest.writeBytes(latin1(start));
        wire.send(rest.toByteArray());
        assertThat(wire.reply()).isEqualTo(RespWire.bulk(echo));
      }
    }
  }

  @Test
  void aScanThatFindsNothingEndsItsCallsAllTheSame() throws IOException {
    int records = 250_000;
    Path database = folder.resolve("many");
    try (DatabaseBuilder builder = DatabaseBuilder.create(database, BuildOptions.defaults())) {
      for (int i = 0; i < records; i++) {
        builder.add(latin1("k" + i), new byte[0]);
      }
      builder.finish();
    }
    Serving serving = new Serving(database);
    serving.resp = true;
    try (serving;
        RespWire wire = RespWire.to(serving.start().respPort())) {
      for (String[] none : new String[][] {{"MATCH", "none"}, {"TYPE", "hash"}}) {
        String cursor = "0";
        int calls = 0;
        do {
          String[] lines =
              wire.ask("SCAN", cursor, none[0], none[1], "COUNT", "1000000000").split("\r\n", -1);
          cursor = lines[2];
          calls++;
        } while (!cursor.equals("0"));
        assertThat(calls).isEqualTo(none[0].equals("MATCH") ? 3 : 1); // no key has another type
      }
    }
  }

  @Test
  void aScanVisitsEveryKeyOnce() throws IOException {
    fill(1100, 20);
    try (Serving serving = serving(Layout.BLOCKED).start();
        RespWire wire = RespWire.to(serving.respPort())) {
      for (String count : List.of("1", "3", "10", "511", "512", "1000", "100000")) {
        assertThat(scan(wire, "COUNT", count)).as(count).isEqualTo(model.keySet());
      }
      assertThat(scan(wire, "TYPE", "string")).isEqualTo(model.keySet());
      assertThat(scan(wire, "TYPE", "hash", "COUNT", "100")).isEmpty();
      Set<String> some = new HashSet<>(model.keySet());
      some.removeIf(key -> !key.matches("k[1-3].7"));
      assertThat(scan(wire, "MATCH", "k[1-3]?7", "COUNT", "50")).isEqualTo(some);
      assertThat(model).containsKey(wire.ask("RANDOMKEY").split("\r\n", -1)[1]);
    }
  }

  private static Set<String> scan(RespWire wire, String... options) throws IOException {
    Set<String> keys = new HashSet<>();
    String cursor = "0";
    do {
      String[] command = new String[2 + options.length];
      command[0] = "SCAN";
      command[1] = cursor;
      System.arraycopy(options, 0, command, 2, options.length);
      String[] lines = wire.ask(command).split("\r\n", -1);
      cursor = lines[2];
      for (int i = 5; i < lines.length; i += 2) {
        assertThat(keys.add(lines[i])).as(lines[i]).isTrue();
      }
    } while (!cursor.equals("0"));
    return keys;
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void everyCommandIsAnsweredFromOneVersion(boolean async) throws Exception {
    Path store = Serving.publish(folder, 0);
    try (Serving serving = new Serving(store)) {
      serving.resp = true;
      serving.async = async;
      serving.start();
      try (RespWire wire = RespWire.to(serving.respPort());
          Wire admin = serving.administrate()) {
        String cursor = wire.ask("SCAN", "0").split("\r\n", -1)[2];
        AtomicInteger published = new AtomicInteger();
        ExecutorService client = Executors.newSingleThreadExecutor();
        Future<Integer> seen = client.submit(() -> readUntil(4, published, serving.respPort()));
        client.shutdown();
        for (int version = 1; version <= 4; version++) {
          published.set(version);
          Path unused = Serving.publish(folder, version);
          assertThat(admin.post("/reload", "", new byte[0]).text()).contains("v" + version);
        }
        assertThat(seen.get()).isEqualTo(4);
        assertThat(wire.ask("SCAN", cursor))
            .startsWith("-ERR the cursor belongs to another version");
      }
    }
  }

  /** Reads pipelines until a version is seen; returns that version. */
  private static int readUntil(int last, AtomicInteger published, int port) throws IOException {
    String[] many = new String[601];
    Arrays.setAll(many, i -> "k" + (i - 1));
    many[0] = "MGET";
    byte[] command = RespWire.command(many);
    int seen = 0;
    try (RespWire wire = RespWire.to(port)) {
      while (seen < last) {
        for (int i = 0; i < 5; i++) {
          wire.send(command);
          wire.send(RespWire.command("GET", "k" + i));
        }
        for (int i = 0; i < 5; i++) {
          String text = wire.text();
          int version = text.charAt(text.length() - 3) - '0';
          assertThat(text).isEqualTo("*600\r\n" + ("$1\r\n" + version + "\r\n").repeat(600));
          assertThat(version).isBetween(seen, published.get());
          seen = version;
          int single = wire.text().charAt(4) - '0';
          assertThat(single).isBetween(seen, published.get());
          seen = single;
        }
      }
    }
    return seen;
  }

  @Test
  void transactionsAreAnsweredTogether() throws Exception {
    Path database = Serving.build(folder.resolve("transactions"), Map.of("k", "v", "l", "w"));
    Serving serving = new Serving(database);
    serving.resp = true;
    serving.start();
    try (serving;
        RespWire wire = RespWire.to(serving.respPort())) {
      wire.send(
          (
              // one that is answered
              "MULTI\r\nGET k\r\nMGET l none\r\nEXISTS k k\r\nHGET k f\r\nPING\r\nMULTI\r\nEXEC\r\n"
                  // refused commands
                  + "MULTI\r\nGET\r\nGET k\r\nEXEC\r\n"
                  + "MULTI\r\nSET k v\r\nEXEC\r\n"
                  + "MULTI\r\nSCAN 0\r\nEXEC\r\n"
                  + "MULTI\r\nGET k\r\nEXEC k\r\nEXEC\r\n"
                  // ends of other kinds
                  + "MULTI\r\nGET k\r\nDISCARD\r\nEXEC\r\nDISCARD\r\n"
                  + "MULTI\r\nEXEC\r\nMULTI\r\nRESET\r\nEXEC\r\nQUIT\r\n")
              .getBytes(ISO_8859_1));
      String queued = "+QUEUED\r\n";
      String ok = "+OK\r\n";
      String aborted = "-EXECABORT Transaction discarded because of previous errors.\r\n";
      assertThat(new String(wire.rest(), ISO_8859_1))
          .isEqualTo(
              ok
                  + queued.repeat(5)
                  + "-ERR MULTI calls can not be nested\r\n"
                  + "*5\r\n$1\r\nv\r\n*2\r\n$1\r\nw\r\n$-1\r\n:2\r\n-WRONGTYPE Operation against a"
                  + " key holding the wrong kind of value\r\n+PONG\r\n"
                  + ok
                  + "-ERR wrong number of arguments for 'get' command\r\n"
                  + queued
                  + aborted
                  + ok
                  + "-READONLY You can't write against a read only replica.\r\n"
                  + aborted
                  + ok
                  + "-ERR Command not allowed inside a transaction\r\n"
                  + aborted
                  + ok
                  + queued
                  + "-EXECABORT Transaction discarded because of: wrong number of arguments for"
                  + " 'exec' command\r\n-ERR EXEC without MULTI\r\n"
                  + ok
                  + queued
                  + ok
                  + "-ERR EXEC without MULTI\r\n-ERR DISCARD without MULTI\r\n"
                  + ok
                  + "*0\r\n"
                  + ok
                  + "+RESET\r\n-ERR EXEC without MULTI\r\n"
                  + ok);
    }
  }

  /** As Redis 7.0.15 answers. */
  @Test
  void rareFormsOfCommandsAreAnsweredAsRedisDoes() throws IOException {
    try (Serving serving = serving(Layout.PACKED).start();
        RespWire wire = RespWire.to(serving.respPort())) {
      assertThat(wire.ask("EXEC", "x"))
          .isEqualTo(
              "-EXECABORT Transaction discarded because of: wrong number of arguments for 'exec'"
                  + " command\r\n");
      assertThat(wire.ask("LPOS", "none", "x", "RANK", "1")).isEqualTo("$-1\r\n");
      assertThat(wire.ask("LPOS", "none", "x", "MAXLEN", "5")).isEqualTo("$-1\r\n");
      assertThat(wire.ask("LPOS", "none", "x", "RANK", "1", "count", "2")).isEqualTo("*0\r\n");
      for (String empty : List.of("*0\r\n", "\r\n", "*-1\r\n", "  \r\n", "*0\r\n\n*0\r\n")) {
        wire.send(("CLIENT REPLY SKIP\r\n" + empty + "PING 1\r\nPING 2\r\n").getBytes(US_ASCII));
        assertThat(wire.text() + wire.text()).as(empty).isEqualTo("$1\r\n1\r\n$1\r\n2\r\n");
      }
      wire.send("CLIENT REPLY SKIP\r\n*0\r\n".getBytes(US_ASCII));
      assertThat(wire.ask("PING", "3")).isEqualTo("$1\r\n3\r\n");
      wire.send("*0\r\nCLIENT REPLY SKIP\r\nPING 4\r\n".getBytes(US_ASCII));
      assertThat(wire.ask("PING", "5")).isEqualTo("$1\r\n5\r\n");
    }
  }

  /** What a command's error skips is the rest of that command alone. */
  @Test
  void theOnlyKeyOfATransactionIsFoundBehindAnError() throws IOException {
    model.put("k", latin1("v"));
    try (Serving serving = serving(Layout.PACKED).start()) {
      for (int before = 250; before < 260; before++) { // the error ends a slice of 256 steps
        try (RespWire wire = RespWire.to(serving.respPort())) {
          String queued = "PING\r\n".repeat(before) + "PING a b\r\nMGET k\r\n";
          wire.send(latin1("MULTI\r\n" + queued + "EXEC\r\nQUIT\r\n"));
          assertThat(new String(wire.rest(), ISO_8859_1))
              .as("%d commands before the error", before)
              .isEqualTo(
                  "+OK\r\n"
                      + "+QUEUED\r\n".repeat(before + 2)
                      + ("*" + (before + 2) + "\r\n")
                      + "+PONG\r\n".repeat(before)
                      + "-ERR wrong number of arguments for 'ping' command\r\n"
                      + "*1\r\n$1\r\nv\r\n+OK\r\n");
        }
      }
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"9223372036854775807", "9223372036854775000", "4294967298", "-1", "x", "03"})
  void aWrongLengthBehindACommandThatIsAlikeIsRefused(String length) throws IOException {
    model.put("k", latin1("v"));
    try (Serving serving = serving(Layout.PACKED).start();
        RespWire wire = RespWire.to(serving.respPort())) {
      wire.send(
          latin1("*2\r\n$3\r\nGET\r\n$1\r\nk\r\n*2\r\n$3\r\nGET\r\n$" + length + "\r\nk\r\n"));
      assertThat(new String(wire.rest(), ISO_8859_1))
          .isEqualTo("$1\r\nv\r\n-ERR Protocol error: invalid bulk length\r\n");
    }
  }

  /** Commands that hardly differ from those before them, each followed by what it is answered. */
  private static final String[] NEARLY_ALIKE = {
    "GET k1",
    "$2\r\nv1\r\n",
    "GET k12",
    "$3\r\nv12\r\n",
    "GET none",
    "$-1\r\n",
    "GET k" + "0".repeat(300),
    "$-1\r\n",
    "GET k3",
    "$2\r\nv3\r\n",
    "get k4",
    "$2\r\nv4\r\n",
    "get k5",
    "$2\r\nv5\r\n",
    "STRLEN k10",
    ":3\r\n",
    "STRLEN none",
    ":0\r\n",
    "GETX k1",
    "-ERR unknown command 'GETX', with args beginning with: 'k1' \r\n",
    "GETX k2",
    "-ERR unknown command 'GETX', with args beginning with: 'k2' \r\n",
    "GET",
    "-ERR wrong number of arguments for 'get' command\r\n",
    "GET k6",
    "$2\r\nv6\r\n",
    "GET k6 k7",
    "-ERR wrong number of arguments for 'get' command\r\n",
    "GET k7",
    "$2\r\nv7\r\n",
    "EXISTS k7",
    ":1\r\n",
    "EXISTS k8",
    ":1\r\n",
    "ECHO k7",
    "$2\r\nk7\r\n",
    "ECHO k8",
    "$2\r\nk8\r\n",
    "GET k8",
    "$2\r\nv8\r\n",
    "HLEN none",
    ":0\r\n",
    "HLEN k8",
    "-WRONGTYPE Operation against a key holding the wrong kind of value\r\n",
    "HLEN none",
    ":0\r\n",
    "SET k8",
    "-ERR wrong number of arguments for 'set' command\r\n",
    "MULTI",
    "+OK\r\n",
    "GET k1",
    "+QUEUED\r\n",
    "GET k2",
    "+QUEUED\r\n",
    "EXEC",
    "*2\r\n$2\r\nv1\r\n$2\r\nv2\r\n",
    "GET k9",
    "$2\r\nv9\r\n",
    "GET k10",
    "$3\r\nv10\r\n",
    "MULTI",
    "+OK\r\n",
    "GET k1",
    "+QUEUED\r\n",
    "GETX k1",
    "-ERR unknown command 'GETX', with args beginning with: 'k1' \r\n",
    "EXEC",
    "-EXECABORT Transaction discarded because of previous errors.\r\n",
    "CLIENT REPLY SKIP",
    "",
    "GET k1",
    "",
    "GET k2",
    "$2\r\nv2\r\n",
    "GET k3",
    "$2\r\nv3\r\n",
    "CLIENT REPLY OFF",
    "",
    "GET k1",
    "",
    "GET k2",
    "",
    "CLIENT REPLY ON",
    "+OK\r\n",
    "GET k4",
    "$2\r\nv4\r\n",
    "GET k5",
    "$2\r\nv5\r\n",
    "SELECT 1",
    "-ERR DB index is out of range\r\n",
    "SELECT 0",
    "+OK\r\n",
    "GET k6",
    "$2\r\nv6\r\n"
  };

  /**
   * Reads of single keys in a row are taken together, whatever precedes, separates or follows them,
   * and wherever what has arrived ends.
   */
  @Test
  void commandsThatAreNearlyAlikeAreToldApart() throws IOException {
    for (int i = 0; i < 20; i++) {
      model.put("k" + i, latin1("v" + i));
    }
    ByteArrayOutputStream sent = new ByteArrayOutputStream();
    StringBuilder expected = new StringBuilder();
    for (int i = 0; i < NEARLY_ALIKE.length; i += 2) {
      sent.writeBytes(RespWire.command(NEARLY_ALIKE[i].split(" ", -1)));
      expected.append(NEARLY_ALIKE[i + 1]);
    }
    byte[] bytes = sent.toByteArray();
    try (Serving serving = serving(Layout.PACKED).start();
        RespWire wire = RespWire.to(serving.respPort())) {
      for (int end = 1; end <= bytes.length; end++) {
        wire.send(bytes, 0, end).send(bytes, end, bytes.length - end);
        assertThat(new String(wire.read(expected.length()), ISO_8859_1))
            .as("%d bytes", end)
            .isEqualTo(expected.toString());
      }
      assertThat(wire.ask("PING")).isEqualTo("+PONG\r\n"); // and nothing else before it
    }
  }

  @Test
  void readsInARowMayHaveAnyForm() throws IOException {
    for (int i = 0; i < 20; i++) {
      model.put("k" + i, latin1("v" + i));
    }
    model.put("", latin1("empty"));
    String longest = "l".repeat(65_535);
    model.put(longest, latin1("long"));
    String[][] forms = {
      {"GET k1\r\n", "$2\r\nv1\r\n"},
      {"*2\r\n$6\r\nSTRLEN\r\n$2\r\nk1\r\n", ":2\r\n"},
      {"GET k2\r\n", "$2\r\nv2\r\n"},
      {"*2\r\n$6\r\nSTRLEN\r\n$3\r\nk11\r\n", ":3\r\n"},
      {"*2\r\n$3\r\nGET\r\n$2\r\nk3\r\n", "$2\r\nv3\r\n"},
      {"*2\r\n$3\r\nGET--$2\r\nk4--", "$2\r\nv4\r\n"}, // nobody looks at what ends an argument
      {"*2\r\n$3\r\nGET\r\n$2\r\nk5--", "$2\r\nv5\r\n"},
      {"*2\r-$3\r-GET\r\n$2\r-k6\r\n", "$2\r\nv6\r\n"},
      {"*0\r\n*-1\r\n\r\n*2\r\n$3\r\nGET\r\n$2\r\nk7\r\n", "$2\r\nv7\r\n"},
      {"*2\r\n$3\r\nGET\r\n$0\r\n\r\n", "$5\r\nempty\r\n"},
      {"*2\r\n$3\r\nGET\r\n$65535\r\n" + longest + "\r\n", "$4\r\nlong\r\n"},
      {"*2\r\n$3\r\nGET\r\n$65535\r\n" + longest + "\r\n", "$4\r\nlong\r\n"},
      {"*2\r\n$3\r\nGET\r\n$65536\r\nl" + longest + "\r\n", "$-1\r\n"},
      {"*2\r\n$3\r\nGET\r\n$20000\r\n" + longest.substring(45_535) + "\r\n", "$-1\r\n"},
      {"*2\r\n$3\r\nGET\r\n$2\r\nk8\r\n", "$2\r\nv8\r\n"},
      {"*2\r\n$3\r\nGET\r\n$02\r\nk9\r\n", "-ERR Protocol error: invalid bulk length\r\n"}
    };
    StringBuilder sent = new StringBuilder();
    StringBuilder expected = new StringBuilder();
    for (String[] each : forms) {
      sent.append(each[0]);
      expected.append(each[1]);
    }
    try (Serving serving = serving(Layout.PACKED).start();
        RespWire wire = RespWire.to(serving.respPort())) {
      wire.send(latin1(sent.toString()));
      assertThat(new String(wire.rest(), ISO_8859_1)).isEqualTo(expected.toString());
    }
  }
}
