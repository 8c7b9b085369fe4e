package tech.bsdb.mirror;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tech.bsdb.BuildOptions;
import tech.bsdb.Database;
import tech.bsdb.Seeds;
import tech.bsdb.Truth;
import tech.bsdb.remote.HttpOrigin;
import tech.bsdb.remote.RangeServer;
import tech.bsdb.remote.RangeServer.Fault;
import tech.bsdb.remote.RemoteOptions;

/** Small files are read from a web server as far as it lets them be read. */
@Timeout(value = 240, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SmallTest {
  @TempDir Path directory;
  private Path folder;
  private RangeServer server;
  private final AtomicInteger asked = new AtomicInteger();

  @BeforeEach
  void start() throws IOException {
    folder = Files.createDirectories(directory.resolve("www"));
    server = RangeServer.of(folder);
  }

  @AfterEach
  void stop() throws Exception {
    server.close();
  }

  private RemoteOptions options(int deadlineMillis) {
    return RemoteOptions.defaults()
        .withCache(directory.resolve("cache"))
        .withAttempts(6)
        .withDeadline(Duration.ofMillis(deadlineMillis));
  }

  private String read(String file, RemoteOptions options) throws IOException {
    byte[] read = new Small(HttpOrigin.of(server.uri()), options).read(file, 100);
    return new String(read, StandardCharsets.UTF_8);
  }

  /** From now on, requests for such a file have a fault, and are counted. */
  private void spoil(String file, RangeServer.Rule faults) {
    asked.set(0);
    server.rule(
        request -> {
          if (!request.path().contains(file)) {
            return Fault.none();
          }
          asked.incrementAndGet();
          return faults.faultOf(request);
        });
  }

  /** What does not answer at all, and what stops in the middle of an answer. */
  @Test
  void aServerThatFallsSilentCostsOneDeadline() throws Exception {
    Truth.random(Seeds.random("SmallTest"), 300, 40)
        .build(folder.resolve("rdb"), BuildOptions.defaults());
    for (int stalledAfter : new int[] {-1, 5000}) {
      for (String file : new String[] {"manifest", "index-"}) {
        spoil(file, request -> Fault.none().stalledAfter(stalledAfter));
        assertThatThrownBy(() -> Database.open(server.uri().resolve("rdb"), options(4000)))
            .isInstanceOf(IOException.class)
            .hasMessageStartingWith(server.uri() + "rdb/" + file)
            .hasMessageContaining(": nothing arrived within 4.0 s");
        assertThat(asked.get()).isBetween(1, 2); // a timer may ring a millisecond early
      }
    }
  }

  @Test
  void whatTakesTooLongNamesTheLastFailureBefore() throws Exception {
    Files.writeString(folder.resolve("CURRENT"), "v1");
    spoil(
        "CURRENT",
        request -> request.number() < 3 ? Fault.none().status(503) : Fault.none().stalledAfter(-1));
    assertThatThrownBy(() -> read("CURRENT", options(5000)))
        .isInstanceOf(IOException.class)
        .hasMessage(
            server.uri()
                + "CURRENT: nothing arrived within 5.0 s; the last failure: the server answered"
                + " 503");
  }

  @Test
  void aPauseThatTheServerAsksForIsMade() throws Exception {
    Files.writeString(folder.resolve("CURRENT"), "v1");
    spoil("CURRENT", request -> Fault.none().status(503).retryAfter("3600"));
    assertThatThrownBy(() -> read("CURRENT", options(4000))).hasMessageEndingWith("answered 503");
    assertThat(asked).hasValue(1);
  }

  @Test
  void whatArrivesSlowlyArrives() throws Exception {
    Files.writeString(folder.resolve("CURRENT"), "v123456789abcdef");
    spoil("CURRENT", request -> Fault.none().dripping(Duration.ofMillis(400)));
    assertThat(read("CURRENT", options(5000))).isEqualTo("v123456789abcdef");
    assertThat(asked).hasValue(1);
  }

  @Test
  void whatAnotherAttemptWouldNotChangeIsAskedForOnce() throws Exception {
    Files.writeString(folder.resolve("CURRENT"), "v1");
    spoil("CURRENT", request -> Fault.none().compressed());
    assertThatThrownBy(() -> read("CURRENT", options(60_000)))
        .hasMessage(server.uri() + "CURRENT: the server compresses the file (gzip)");
    assertThat(asked).hasValue(1);
    spoil("CURRENT", request -> Fault.none());
    Files.writeString(folder.resolve("CURRENT"), "v".repeat(101));
    assertThatThrownBy(() -> read("CURRENT", options(60_000)))
        .hasMessage(server.uri() + "CURRENT: it has more than 100 bytes");
    assertThat(asked).hasValue(1);
  }
}
