package tech.bsdb.tools.serve;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tech.bsdb.KeyRouting;
import tech.bsdb.Rounds;
import tech.bsdb.tools.serve.cluster.Cluster.ClusterOptions;

/**
 * Whatever clients send, the server answers others and forgets them. {@code -Dbsdb.rounds=} sends
 * more requests, and {@code -Dbsdb.seed=} others.
 */
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RespFuzzTest {
  private static final int REQUESTS = Rounds.of(2_000);
  private static final long SEED = Long.getLong("bsdb.seed", 7);
  private static final List<String> WORDS =
      List.of(
              "GET MGET EXISTS TYPE TTL STRLEN GETRANGE HGETALL HGET HMGET HKEYS OBJECT ENCODING PING"
                  + " CLUSTER SLOTS SHARDS NODES MYID KEYSLOT COUNTKEYSINSLOT READONLY READWRITE MULTI EXEC"
                  + " ECHO HELLO AUTH CLIENT SETNAME GETNAME INFO COMMAND DOCS CONFIG SCAN MATCH COUNT"
                  + " TYPE DBSIZE RANDOMKEY SELECT RESET QUIT SET DEL k1 k2 long none 0 1 2 3 -1 10"
                  + " 9223372036854775807 * [a-z] ? \\")
          .stream()
          .flatMap(words -> Arrays.stream(words.split(" ", -1)))
          .toList();

  @TempDir Path folder;

  /** A node of a cluster that has the slots of k1 and long, but not that of k2. */
  private ClusterOptions member() throws IOException {
    int slot = KeyRouting.slot("k2".getBytes(UTF_8));
    Path file =
        Files.writeString(
            folder.resolve("topology.json"),
            """
            {"nodes": [
              {"name": "a", "host": "h", "resp": 1, "slots": "0-%d,%d-16383"},
              {"name": "b", "host": "h", "resp": 2, "slots": "%d"}
            ]}
            """
                .formatted(slot - 1, slot + 1, slot));
    return new ClusterOptions(file, "a", Duration.ZERO);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void nothingThatIsSentHarmsTheServer(boolean inCluster) throws IOException {
    Map<byte[], byte[]> records = new TreeMap<>(Arrays::compare);
    records.put("k1".getBytes(UTF_8), "value".getBytes(UTF_8));
    records.put("k2".getBytes(UTF_8), new byte[0]);
    records.put("long".getBytes(UTF_8), new byte[100_000]);
    Random random = new Random(SEED);
    try (Serving serving = new Serving(Serving.buildBytes(folder.resolve("db"), records))) {
      serving.resp = true;
      serving.cluster = inCluster ? member() : null;
      serving.start();
      int sent = 0;
      while (sent < REQUESTS / 2) {
        int count = 1 + random.nextInt(400);
        sent += count;
        send(serving.respPort(), random, count);
      }
      try (RespWire wire = RespWire.to(serving.respPort())) {
        assertThat(wire.ask("PING")).as("seed %d", SEED).isEqualTo("+PONG\r\n");
        assertThat(wire.ask("GET", "k1")).isEqualTo("$5\r\nvalue\r\n");
        assertThat(wire.ask("GET", "k2")).startsWith(inCluster ? "-MOVED " : "$0\r\n");
      }
      while (serving.memory().held() > 0 || serving.metric("bsdb_resp_connections") > 0) {
        Serving.pause(); // the test's timeout bounds it
      }
      assertThat(serving.said()).doesNotContain("failed");
    }
  }

  /** Sends requests on one connection; the server may close it at any of them. */
  private static void send(int port, Random random, int count) throws IOException {
    boolean mutated = random.nextInt(4) > 0;
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    for (int i = 0; i < count; i++) {
      byte[] request = request(random);
      all.writeBytes(mutated && random.nextInt(20) == 0 ? mutate(request, random) : request);
    }
    byte[] bytes = all.toByteArray();
    boolean reads = random.nextInt(4) > 0;
    try (RespWire wire = RespWire.to(port)) {
      Thread reader = null;
      if (reads) {
        reader = new Thread(() -> drain(wire));
        reader.setDaemon(true);
        reader.start();
      }
      try {
        int most = reads ? bytes.length : Math.min(bytes.length, 2000);
        for (int at = 0; at < most; ) {
          int piece = Math.min(most - at, 1 + random.nextInt(5000));
          wire.send(bytes, at, piece);
          at += piece;
        }
        if (reads) {
          wire.shutdownOutput();
          reader.join(60_000);
          assertThat(reader.isAlive()).as("the connection ends").isFalse();
        }
      } catch (IOException closed) {
        // the server has had enough
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private static void drain(RespWire wire) {
    try {
      byte[] unused = wire.rest();
    } catch (IOException reset) {
      // the connection has ended
    }
  }

  private static byte[] request(Random random) {
    int arguments = 1 + (random.nextInt(10) == 0 ? random.nextInt(40) : random.nextInt(5));
    byte[][] words = new byte[arguments][];
    for (int i = 0; i < arguments; i++) {
      words[i] = word(random);
    }
    if (random.nextInt(6) == 0) {
      ByteArrayOutputStream line = new ByteArrayOutputStream();
      for (byte[] word : words) {
        line.writeBytes(word);
        line.write(' ');
      }
      line.writeBytes("\r\n".getBytes(UTF_8));
      return line.toByteArray();
    }
    return RespWire.command(words);
  }

  private static byte[] word(Random random) {
    if (random.nextInt(12) > 0) {
      String word = WORDS.get(random.nextInt(WORDS.size()));
      return word.getBytes(ISO_8859_1);
    }
    byte[] bytes = new byte[random.nextInt(30)];
    random.nextBytes(bytes);
    return bytes;
  }

  private static byte[] mutate(byte[] request, Random random) {
    int at = random.nextInt(request.length);
    byte[] changed = request.clone();
    switch (random.nextInt(6)) {
      case 0 -> changed[at] = (byte) random.nextInt(256);
      case 1 -> changed[at] ^= (byte) (1 << random.nextInt(8));
      case 2 -> changed = Arrays.copyOf(request, at);
      case 3 -> changed = Arrays.copyOfRange(request, at, request.length);
      case 4 -> {
        String text = new String(request, ISO_8859_1);
        String length = List.of("-1", "0", "99999999999", "536870912", "+1", "01").get(at % 6);
        changed = text.replaceFirst("[0-9]+\r", length + "\r").getBytes(ISO_8859_1);
      }
      default -> changed = ("*3\r\n*2\r\n" + "*1\r\n".repeat(at)).getBytes(ISO_8859_1);
    }
    return changed;
  }
}
