package tech.bsdb.tools.serve;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Redis clients that keep values, or watch keys, are told when another version is served. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RespTrackingTest {
  private static final String INVALID = ">2\r\n$10\r\ninvalidate\r\n";
  private static final String ALL_INVALID = INVALID + "_\r\n";
  private static final String OK = "+OK\r\n";

  @TempDir Path folder;

  private void swapTo(int version, Wire admin) throws IOException {
    Path unused = Serving.publish(folder, version);
    assertThat(admin.post("/reload", "", new byte[0]).text()).contains("v" + version);
  }

  private Serving serve(boolean async) throws IOException {
    Serving serving = new Serving(Serving.publish(folder, 0));
    serving.resp = true;
    serving.async = async;
    return serving.start();
  }

  private static RespWire tracking(Serving serving, String... options) throws IOException {
    RespWire wire = RespWire.to(serving.respPort());
    assertThat(wire.ask("HELLO", "3")).startsWith("%7");
    String[] command = new String[3 + options.length];
    command[0] = "CLIENT";
    command[1] = "TRACKING";
    command[2] = "ON";
    System.arraycopy(options, 0, command, 3, options.length);
    assertThat(wire.ask(command)).isEqualTo(OK);
    return wire;
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "BCAST", "BCAST PREFIX k", "OPTIN", "OPTOUT", "NOLOOP", "NOLOOP BCAST"})
  void everyModeIsToldOfEveryVersion(String options) throws IOException {
    try (Serving serving = serve(false);
        Wire admin = serving.administrate();
        RespWire wire =
            tracking(serving, options.isEmpty() ? new String[0] : options.split(" ", -1));
        RespWire plain = RespWire.to(serving.respPort())) {
      for (int version = 1; version <= 2; version++) {
        swapTo(version, admin);
        boolean named = version > 1 && !options.contains("BCAST");
        assertThat(wire.text()).isEqualTo(named ? INVALID + "*1\r\n$2\r\nk7\r\n" : ALL_INVALID);
        assertThat(wire.ask("GET", "k7")).isEqualTo("$1\r\n" + version + "\r\n");
      }
      assertThat(plain.ask("GET", "k7")).isEqualTo("$1\r\n2\r\n");
    }
  }

  /** As by Redis: Lettuce does not understand that everything is. */
  @Test
  void keysThatWereReadAreNamed() throws IOException {
    try (Serving serving = serve(false);
        Wire admin = serving.administrate();
        RespWire wire = RespWire.to(serving.respPort())) {
      assertThat(wire.ask("HELLO", "3")).startsWith("%7");
      assertThat(wire.ask("GET", "k0")).isEqualTo("$1\r\n0\r\n");
      wire.send("CLIENT TRACKING ON\r\nMGET k1 none\r\n".getBytes(US_ASCII));
      assertThat(wire.text() + wire.text()).isEqualTo(OK + "*2\r\n$1\r\n0\r\n_\r\n");
      assertThat(wire.ask("STRLEN", "k1")).isEqualTo(":1\r\n");
      for (String key : new String[] {"k2", "k3", "k4"}) {
        wire.send(RespWire.command("GET", key));
      }
      assertThat(wire.text() + wire.text() + wire.text()).isEqualTo("$1\r\n0\r\n".repeat(3));
      swapTo(1, admin);
      assertThat(wire.text())
          .startsWith(INVALID + "*5\r\n")
          .contains("$2\r\nk1\r\n", "$4\r\nnone\r\n", "$2\r\nk3\r\n", "$2\r\nk4\r\n");
      swapTo(2, admin);
      assertThat(wire.text()).isEqualTo(ALL_INVALID);
    }
  }

  /** Such as redis-py, which takes seconds to find thousands of keys in its cache. */
  @Test
  void clientsThatUnderstandItAreToldThatAllKeysAreInvalid() throws IOException {
    try (Serving serving = serve(false);
        Wire admin = serving.administrate();
        RespWire other = RespWire.to(serving.respPort());
        RespWire lettuce = RespWire.to(serving.respPort())) {
      for (RespWire wire : new RespWire[] {other, lettuce}) {
        assertThat(wire.ask("HELLO", "3")).startsWith("%7");
        String name = wire == lettuce ? "Lettuce" : "redis-py";
        assertThat(wire.ask("CLIENT", "SETINFO", "LIB-NAME", name)).isEqualTo(OK);
        assertThat(wire.ask("CLIENT", "TRACKING", "ON")).isEqualTo(OK);
        assertThat(wire.ask("GET", "k1")).isEqualTo("$1\r\n0\r\n");
      }
      swapTo(1, admin);
      assertThat(other.text()).isEqualTo(ALL_INVALID);
      assertThat(lettuce.text()).isEqualTo(INVALID + "*1\r\n$2\r\nk1\r\n");
    }
  }

  @Test
  void nobodyElseIsTold() throws IOException {
    try (Serving serving = serve(false);
        Wire admin = serving.administrate();
        RespWire off = tracking(serving);
        RespWire reset = tracking(serving);
        RespWire older = tracking(serving);
        RespWire resp2 = RespWire.to(serving.respPort())) {
      assertThat(off.ask("CLIENT", "TRACKING", "OFF")).isEqualTo(OK);
      assertThat(reset.ask("RESET")).isEqualTo("+RESET\r\n");
      assertThat(older.ask("HELLO", "2")).startsWith("*14");
      assertThat(resp2.ask("CLIENT", "TRACKING", "ON"))
          .startsWith("-ERR CLIENT TRACKING needs RESP3");
      swapTo(1, admin);
      for (RespWire each : new RespWire[] {off, reset, older, resp2}) {
        assertThat(each.ask("GET", "k1")).isEqualTo("$1\r\n1\r\n");
      }
    }
  }

  /** Behind the word that nothing is valid, no value of an older version comes. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void noValueIsStaleAfterASwap(boolean async) throws Exception {
    int last = 6;
    try (Serving serving = serve(async);
        Wire admin = serving.administrate();
        RespWire wire = tracking(serving)) { // before the first swap, of which it is told
      ExecutorService client = Executors.newSingleThreadExecutor();
      Future<Integer> told = client.submit(() -> readUntil(last, wire));
      client.shutdown();
      for (int version = 1; version <= last; version++) {
        swapTo(version, admin);
      }
      assertThat(told.get()).isEqualTo(last);
    }
  }

  private static int readUntil(int last, RespWire wire) throws IOException {
    byte[] pipeline = "GET k1\r\nMGET k2 k3\r\nGET k4\r\n".repeat(20).getBytes(US_ASCII);
    int told = 0;
    while (told < last) {
      wire.send(pipeline);
      for (int replies = 0; replies < 60; ) {
        String text = wire.text();
        if (text.startsWith(INVALID)) {
          told++;
        } else {
          assertThat(text.charAt(text.length() - 3) - '0').isGreaterThanOrEqualTo(told);
          replies++;
        }
      }
    }
    return told;
  }

  @Test
  void aTransactionThatWatchesEndsWithItsVersion() throws IOException {
    try (Serving serving = serve(false);
        Wire admin = serving.administrate();
        RespWire wire = RespWire.to(serving.respPort());
        RespWire unwatched = RespWire.to(serving.respPort())) {
      for (RespWire each : new RespWire[] {wire, unwatched}) {
        assertThat(each.ask("WATCH", "k1", "none")).isEqualTo(OK);
      }
      assertThat(unwatched.ask("UNWATCH")).isEqualTo(OK);
      swapTo(1, admin);
      for (RespWire each : new RespWire[] {wire, unwatched}) {
        assertThat(each.ask("MULTI")).isEqualTo(OK);
        assertThat(each.ask("GET", "k1")).isEqualTo("+QUEUED\r\n");
        assertThat(each.ask("GET", "k2")).isEqualTo("+QUEUED\r\n");
      }
      assertThat(wire.ask("EXEC")).isEqualTo("*-1\r\n");
      assertThat(unwatched.ask("EXEC")).isEqualTo("*2\r\n$1\r\n1\r\n$1\r\n1\r\n");
      // it has forgotten what it watched
      wire.send("MULTI\r\nGET k1\r\nEXEC\r\n".getBytes(US_ASCII));
      assertThat(wire.text() + wire.text() + wire.text())
          .isEqualTo("+OK\r\n+QUEUED\r\n*1\r\n$1\r\n1\r\n");
    }
  }

  @Test
  void clientsAreListed() throws IOException {
    try (Serving serving = serve(false);
        RespWire one = RespWire.to(serving.respPort())) {
      assertThat(one.ask("CLIENT", "SETNAME", "first")).isEqualTo(OK);
      try (RespWire two = tracking(serving)) {
        assertThat(two.ask("CLIENT", "LIST"))
            .containsPattern("id=1 .* name=first .* flags=N .* redir=-1 resp=2 ")
            .containsPattern("id=2 .* flags=t .* cmd=client\\|list .* redir=0 resp=3 ");
        assertThat(two.ask("CLIENT", "LIST", "ID", "2", "77"))
            .contains("id=2 ")
            .doesNotContain("id=1 ");
        assertThat(two.ask("CLIENT", "TRACKINGINFO"))
            .isEqualTo(
                "%3\r\n$5\r\nflags\r\n~1\r\n$2\r\non\r\n$8\r\nredirect\r\n:0\r\n$8\r\nprefixes\r\n*0\r\n");
      }
    }
  }

  @ParameterizedTest
  @CsvSource({
    "EVAL return 0, ERR EVAL is refused: the server runs no scripts",
    "SUBSCRIBE a, ERR SUBSCRIBE is refused: nothing is ever published",
    "CLIENT KILL 1.1.1.1:1, ERR CLIENT KILL is refused: clients cannot disturb others",
    "CONFIG SET maxmemory 1, ERR CONFIG SET is refused: settings are those of the command line",
    "SHUTDOWN, ERR SHUTDOWN is refused: the server is ended by its operator"
  })
  void whatIsRefusedHasAReason(String command, String reply) throws IOException {
    try (Serving serving = serve(false);
        RespWire wire = RespWire.to(serving.respPort())) {
      assertThat(wire.ask(command.split(" ", -1))).isEqualTo("-" + reply + "\r\n");
      assertThat(wire.ask("CLIENT", "HELP"))
          .contains("+TRACKING\r\n")
          .contains("+HELP\r\n")
          .doesNotContain("+KILL");
    }
  }

  @Test
  void commandsAreListedAndTheirKeysFound() throws IOException {
    try (Serving serving = serve(false);
        RespWire wire = RespWire.to(serving.respPort())) {
      assertThat(wire.ask("COMMAND", "LIST"))
          .contains("\r\nget\r\n")
          .contains("\r\nclient|kill\r\n");
      assertThat(wire.ask("COMMAND", "LIST", "FILTERBY", "PATTERN", "GETR*"))
          .isEqualTo("*1\r\n$8\r\ngetrange\r\n");
      assertThat(wire.ask("COMMAND", "LIST", "filterby", "aclcat", "bitmap"))
          .contains("getbit")
          .doesNotContain("getrange");
      assertThat(wire.ask("COMMAND", "LIST", "FILTERBY", "MODULE", "m")).isEqualTo("*0\r\n");
      assertThat(wire.ask("COMMAND", "LIST", "FILTERBY", "NAME", "m"))
          .isEqualTo("-ERR syntax error\r\n");
      assertThat(wire.ask("COMMAND", "LIST", "get")).isEqualTo("-ERR syntax error\r\n");
      assertThat(wire.ask("COMMAND", "GETKEYSANDFLAGS", "MGET", "a", "b"))
          .isEqualTo(
              "*2\r\n*2\r\n$1\r\na\r\n*2\r\n+RO\r\n+access\r\n*2\r\n$1\r\nb\r\n*2\r\n+RO\r\n+access\r\n");
      assertThat(wire.ask("COMMAND", "GETKEYSANDFLAGS", "PING", "a"))
          .isEqualTo("-ERR The command has no key arguments\r\n");
      assertThat(wire.ask("FUNCTION", "STATS"))
          .isEqualTo("*4\r\n$14\r\nrunning_script\r\n$-1\r\n$7\r\nengines\r\n*0\r\n");
    }
  }

  @Test
  void allKeysAreReturnedUnlessThereAreTooMany() throws IOException {
    try (Serving serving = serve(false);
        RespWire wire = RespWire.to(serving.respPort())) {
      assertThat(wire.ask("KEYS", "*")).startsWith("*600\r\n");
      assertThat(wire.ask("KEYS", "k1?")).startsWith("*10\r\n");
      assertThat(wire.ask("KEYS", "none*")).isEqualTo("*0\r\n");
    }
    Map<String, String> many = new TreeMap<>();
    String filler = "x".repeat(450);
    for (int i = 0; i < 10_001; i++) {
      many.put("k" + i, "");
      many.put(filler + i, "");
    }
    Serving serving = new Serving(Serving.build(folder.resolve("many"), many));
    serving.resp = true;
    try (serving;
        RespWire wire = RespWire.to(serving.start().respPort())) {
      assertThat(wire.ask("KEYS", "*")).startsWith("*20002\r\n").hasSizeGreaterThan(20_002 * 10);
      assertThat(wire.ask("KEYS", "**"))
          .startsWith("-ERR KEYS with a pattern")
          .contains("use SCAN");
      assertThat(wire.ask("KEYS", "k*")).startsWith("*10001\r\n");
      assertThat(wire.ask("KEYS", "k1234")).isEqualTo("*1\r\n$5\r\nk1234\r\n");
    }
  }
}
