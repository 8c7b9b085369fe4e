package tech.bsdb.tools.serve;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
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
import tech.bsdb.tools.HttpServer;
import tech.bsdb.tools.serve.Wire.Response;

/** What the service does when clients ask for more than it has memory for, or take nothing. */
@Timeout(value = 240, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class PressureTest {
  private static final int MIB = 1 << 20;
  private static final String LARGE = "GET /bsdb/large HTTP/1.1\r\nHost: x\r\n\r\n";

  @TempDir Path folder;

  /** Values that do not shrink, and that are text: half of what is random. */
  private static byte[] value(int bytes, int seed) {
    byte[] value = new byte[bytes];
    new Random(seed).nextBytes(value);
    for (int i = 0; i < bytes; i++) {
      value[i] = (byte) (' ' + 1 + (value[i] & 63));
    }
    return value;
  }

  private Path build(int largest, Layout layout) throws IOException {
    Map<byte[], byte[]> records = new TreeMap<>(Arrays::compare);
    records.put("large".getBytes(UTF_8), value(largest, 1));
    records.put("middle".getBytes(UTF_8), value(60_000, 2));
    records.put("small".getBytes(UTF_8), "value".getBytes(UTF_8));
    Path directory = folder.resolve("db");
    BuildOptions options = BuildOptions.defaults().withLayout(layout);
    try (DatabaseBuilder builder = DatabaseBuilder.create(directory, options)) {
      for (Map.Entry<byte[], byte[]> record : records.entrySet()) {
        builder.add(record.getKey(), record.getValue());
      }
      builder.finish();
    }
    return directory;
  }

  /** A client with an address of its own, which takes little of what it does not read. */
  private static Wire client(int port, int address) throws IOException {
    Socket socket = new Socket();
    socket.setReceiveBufferSize(16 << 10);
    socket.bind(
        new InetSocketAddress(InetAddress.getByAddress(new byte[] {127, 0, 0, (byte) address}), 0));
    socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
    return new Wire(socket);
  }

  /** The rest waits for room in the socket when nothing else of it is awaited any more. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void whoSendsNothingMoreGetsAllAnswers(boolean async) throws IOException {
    int answers = 1000; // more than are read ahead
    try (Serving serving = new Serving(build(MIB, Layout.PACKED))) {
      serving.async = async;
      serving.start();
      try (Wire client = serving.connect()) {
        client.send(LARGE.replace("large", "middle").repeat(answers));
        client.shutdownOutput();
        for (int i = 0; i < 100 || serving.memory().held() == 0; i++) {
          Serving.pause();
        }
        for (int i = 0; i < answers; i++) {
          assertThat(client.read().body()).isEqualTo(value(60_000, 2));
        }
        assertThat(client.ended()).isTrue();
      }
    }
  }

  @Sampled(4)
  @ParameterizedTest
  @CsvSource({
    "BLOCKED, true, BUFFERED",
    "BLOCKED, false, BUFFERED",
    "BLOCKED, true, MAPPED",
    "COMPRESSED, true, BUFFERED",
    "COMPRESSED, false, MAPPED",
    "PACKED, true, BUFFERED",
    "PACKED, false, MAPPED",
    "PACKED_COMPRESSED, true, BUFFERED",
    "PACKED_COMPRESSED, false, MAPPED"
  })
  void valuesAreReservedBeforeTheyAreRead(Layout layout, boolean async, OpenOptions.Engine engine)
      throws IOException {
    try (Serving serving = new Serving(build(2 * MIB, layout))) {
      serving.async = async;
      serving.open = OpenOptions.defaults().withDataEngine(engine);
      serving.heldBytes = 16 * MIB;
      serving.clientBytes = 16 * MIB;
      serving.start();
      List<Wire> clients = new ArrayList<>();
      try (Wire small = serving.connect()) {
        for (int i = 0; i < 40; i++) {
          Wire client = client(serving.port(), 1);
          clients.add(client);
          client.send(i % 2 == 0 ? LARGE : LARGE + LARGE);
        }
        for (int i = 0; i < 100; i++) {
          assertThat(small.get("/bsdb/small").text()).isEqualTo("value");
        }
        int whole = 0;
        for (int i = 0; i < 40; i++) {
          for (int answer = 0; answer < (i % 2 == 0 ? 1 : 2); answer++) {
            Response response = clients.get(i).read();
            assertThat(response.status()).isIn(200, 503);
            if (response.status() == 200) {
              assertThat(response.body()).isEqualTo(value(2 * MIB, 1));
              whole++;
            } else {
              assertThat(response.headers()).containsEntry("retry-after", "1");
            }
          }
        }
        assertThat(whole).isPositive();
        assertThat(serving.memory().peak()).isBetween(2L * MIB, 16L * MIB);
        while (serving.metric("bsdb_http_held_bytes") != 0) {
          Serving.pause();
        }
        assertThat(serving.metric("bsdb_lookups_in_flight")).isZero();
        assertThat(serving.metric("bsdb_lookup_errors_total")).isZero();
        Response again = small.get("/bsdb/large");
        assertThat(again.body()).isEqualTo(value(2 * MIB, 1));
      } finally {
        for (Wire client : clients) {
          client.close();
        }
      }
    }
  }

  @ParameterizedTest
  @CsvSource({"true, text/plain", "false, application/vnd.bsdb.frames"})
  void batchesReserveTheirValuesAndWaitForMemory(boolean async, String accept) throws Exception {
    try (Serving serving = new Serving(build(MIB, Layout.BLOCKED))) {
      serving.async = async;
      serving.heldBytes = 16 * MIB;
      serving.clientBytes = 16 * MIB;
      serving.start();
      List<Wire> clients = new ArrayList<>();
      try {
        byte[] body = "large\nsmall\n".repeat(10).getBytes(UTF_8);
        for (int i = 0; i < 20; i++) {
          Wire client = client(serving.port(), 1);
          clients.add(client);
          client.sendBatch("content-type: text/plain\r\naccept: " + accept + "\r\n", body);
        }
        try (Wire small = serving.connect()) {
          for (int i = 0; i < 50; i++) {
            assertThat(small.get("/bsdb/small").text()).isEqualTo("value");
          }
        }
        List<Thread> readers = new ArrayList<>();
        List<Object> seen = new ArrayList<>();
        for (Wire client : clients) {
          Thread reader =
              new Thread(
                  () -> {
                    Object result;
                    try {
                      Response response = client.read();
                      result = response.status() == 200 ? response.body().length : "busy";
                    } catch (IOException | RuntimeException e) {
                      result = e;
                    }
                    synchronized (seen) {
                      seen.add(result);
                    }
                  });
          readers.add(reader);
          reader.start();
        }
        for (Thread reader : readers) {
          reader.join();
        }
        int frames = 10 * (4 + MIB + 4 + 5);
        List<Object> whole = seen.stream().filter(result -> !"busy".equals(result)).toList();
        assertThat(whole)
            .isNotEmpty()
            .allSatisfy(
                length ->
                    assertThat(length)
                        .isInstanceOfSatisfying(
                            Integer.class,
                            bytes -> assertThat(bytes).isGreaterThanOrEqualTo(frames)));
        assertThat(serving.memory().peak()).isBetween((long) MIB, 16L * MIB);
        while (serving.metric("bsdb_http_held_bytes") != 0) {
          Serving.pause();
        }
        assertThat(serving.metric("bsdb_lookups_in_flight")).isZero();
      } finally {
        for (Wire client : clients) {
          client.close();
        }
      }
    }
  }

  @Test
  void whoNeverReadsLeavesRoomForOtherClients() throws IOException {
    try (Serving serving = new Serving(build(8 * MIB, Layout.BLOCKED))) {
      serving.async = true;
      serving.heldBytes = 64 * MIB;
      serving.clientBytes = 16 * MIB;
      serving.start();
      List<Wire> clients = new ArrayList<>();
      try (Wire other = client(serving.port(), 2);
          Wire same = client(serving.port(), 1)) {
        for (int i = 0; i < 9; i++) {
          Wire client = client(serving.port(), 1);
          clients.add(client);
          client.send(LARGE);
        }
        while (metricOrZero(serving, "bsdb_http_requests_total{status=\"200\"}")
                + metricOrZero(serving, "bsdb_http_requests_total{status=\"503\"}")
            < 9) {
          Serving.pause();
        }
        assertThat(serving.metric("bsdb_http_held_bytes")).isLessThanOrEqualTo(16.1 * MIB);
        for (int i = 0; i < 3; i++) {
          Response large = other.get("/bsdb/large");
          assertThat(large.status()).isEqualTo(200);
          assertThat(large.body()).isEqualTo(value(8 * MIB, 1));
          assertThat(same.get("/bsdb/small").text()).isEqualTo("value");
        }
        assertThat(same.get("/bsdb/large").status()).isEqualTo(503);
        assertThat(serving.metric("bsdb_http_held_refusals_total{bound=\"client\"}")).isPositive();
        assertThat(serving.memory().clients()).isEqualTo(2);
      } finally {
        for (Wire client : clients) {
          client.close();
        }
      }
      while (serving.memory().clients() > 0 || serving.memory().held() > 0) {
        Serving.pause();
      }
    }
  }

  private static double metricOrZero(Serving serving, String name) throws IOException {
    try {
      return serving.metric(name);
    } catch (AssertionError none) {
      return 0;
    }
  }

  /** What is cut at the limit, and what was begun half of it later, differ by half of it. */
  @Test
  void whoTakesNothingIsCutWhenTheTimeIsOver() throws Exception {
    try (Serving serving = new Serving(build(16 * MIB, Layout.BLOCKED))) {
      serving.request = Duration.ofSeconds(4);
      serving.start();
      try (Wire stuck = client(serving.port(), 1)) {
        assertThat(stuck.get("/bsdb/small").text()).isEqualTo("value");
        stuck.send(LARGE);
        while (serving.metric("bsdb_http_held_bytes") == 0) {
          Serving.pause();
        }
        TimeUnit.SECONDS.sleep(2);
        try (Wire slow = client(serving.port(), 2)) {
          slow.send("GET /bsdb/small HT");
          assertThat(slow.read().status()).isEqualTo(408);
          assertThat(serving.metric("bsdb_http_held_bytes")).isZero();
          assertThat(serving.metric("bsdb_http_connections")).isLessThanOrEqualTo(1);
        }
      }
    }
  }

  @Test
  void pipelinedAnswersThatAreNotTakenCount() throws Exception {
    int requests = 300;
    try (Serving serving = new Serving(build(60_000, Layout.BLOCKED))) {
      serving.async = true;
      serving.heldBytes = 2 * MIB;
      serving.clientBytes = MIB;
      serving.inFlight = 20 * requests + 1; // only memory may refuse
      serving.start();
      List<Wire> clients = new ArrayList<>();
      List<Thread> senders = new ArrayList<>();
      try (Wire other = client(serving.port(), 2)) {
        for (int i = 0; i < 20; i++) {
          Wire client = client(serving.port(), 1);
          clients.add(client);
          Thread sender =
              new Thread(
                  () -> {
                    try {
                      client.send("GET /bsdb/middle HTTP/1.1\r\nHost: x\r\n\r\n".repeat(requests));
                    } catch (IOException cut) {
                      // seen by whoever reads
                    }
                  });
          senders.add(sender);
          sender.start();
        }
        while (metricOrZero(serving, "bsdb_http_held_refusals_total{bound=\"client\"}") == 0) {
          Serving.pause();
        }
        for (int i = 0; i < 20; i++) {
          Response response = other.get("/bsdb/middle");
          assertThat(response.status()).as(response.text()).isEqualTo(200);
        }
        byte[] expected = value(60_000, 2);
        for (Wire client : clients) {
          for (int i = 0; i < requests; i++) {
            Response response = client.read();
            assertThat(response.status()).isIn(200, 503);
            if (response.status() == 200) {
              assertThat(response.body()).isEqualTo(expected);
            }
          }
        }
        for (Thread sender : senders) {
          sender.join();
        }
        assertThat(serving.memory().peak()).isLessThanOrEqualTo(5L * MIB / 2); // with their heads
      } finally {
        for (Wire client : clients) {
          client.close();
        }
      }
    }
  }

  @Tag("nightly")
  @Test
  void aSmallHeapIsEnough() throws Exception {
    withSmallHeap("-Xmx64m", 4, 150, 2);
  }

  @Test
  @Tag("long")
  void aSmallHeapIsEnoughForAThousandConnections() throws Exception {
    withSmallHeap("-Xmx256m", 8, 1000, 60);
  }

  private void withSmallHeap(String heap, int mib, int connections, int seconds) throws Exception {
    Path directory = build(mib * MIB, Layout.BLOCKED);
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                heap,
                "-XX:+UseParallelGC",
                "-XX:+ExitOnOutOfMemoryError",
                "-Dotel.sdk.disabled=true", // part of its jars are on the class path of tests
                "-cp",
                System.getProperty(
                    "surefire.test.class.path", System.getProperty("java.class.path")),
                HttpServer.class.getName(),
                "-A",
                "127.0.0.1",
                "-p",
                "0",
                "-d",
                directory.toString(),
                "-async",
                "-kd")
            .redirectErrorStream(true)
            .start();
    List<Wire> clients = new ArrayList<>();
    try (BufferedReader said =
        new BufferedReader(new InputStreamReader(process.getInputStream(), UTF_8))) {
      int port = port(said);
      for (int i = 0; i < connections; i++) {
        clients.add(client(port, 1 + i % 8));
      }
      long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
      int refused = 0;
      int rounds = 0;
      try (Wire small = client(port, 1)) {
        do {
          for (Wire client : clients) {
            client.send(LARGE);
          }
          for (int i = 0; i < 50; i++) {
            assertThat(small.get("/bsdb/small").text()).isEqualTo("value");
          }
          for (Wire client : clients) {
            Response response = client.read();
            assertThat(response.status()).isIn(200, 503);
            refused += response.status() == 503 ? 1 : 0;
          }
          rounds++;
        } while (System.nanoTime() < end);
        assertThat(refused).isPositive().isLessThan(rounds * connections);
        assertThat(small.get("/metrics").text()).contains("\nbsdb_lookup_errors_total 0.0\n");
      }
      assertThat(process.isAlive()).isTrue();
    } finally {
      for (Wire client : clients) {
        client.close();
      }
      process.destroy();
      if (!process.waitFor(60, TimeUnit.SECONDS)) {
        process.destroyForcibly();
      }
    }
  }

  private static int port(BufferedReader said) throws IOException {
    StringBuilder all = new StringBuilder();
    for (String line = said.readLine(); line != null; line = said.readLine()) {
      all.append(line).append('\n');
      int at = line.indexOf("on http://127.0.0.1:");
      if (at >= 0) {
        int from = at + "on http://127.0.0.1:".length();
        return Integer.parseInt(line.substring(from, line.indexOf('/', from)));
      }
    }
    throw new AssertionError("the server did not start:\n" + all);
  }
}
