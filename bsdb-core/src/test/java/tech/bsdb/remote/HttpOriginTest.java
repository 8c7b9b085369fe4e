package tech.bsdb.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tech.bsdb.remote.RangeServer.Fault;
import tech.bsdb.transfer.BusyException;
import tech.bsdb.transfer.RefusedException;

/** Ranges of files of a web server: the right bytes, or an error that says what is wrong. */
@Timeout(300)
class HttpOriginTest {
  private static final String FILE = "data-000";
  private static final int SIZE = 100_000;

  @TempDir Path directory;
  private final byte[] content = new byte[SIZE];
  private RangeServer server;
  private HttpOrigin origin;

  @BeforeEach
  void serve() throws IOException {
    new Random(43).nextBytes(content);
    Files.write(directory.resolve(FILE), content);
    server = RangeServer.of(directory);
    origin = HttpOrigin.of(server.uri());
  }

  @AfterEach
  void close() throws IOException {
    server.close();
  }

  private byte[] read(long from, int length) throws IOException {
    return joined(origin.read(FILE, SIZE, from, length));
  }

  private static byte[] joined(CompletableFuture<byte[]> answer) throws IOException {
    try {
      return answer.get(60, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      Throwable cause = e.getCause();
      while (cause instanceof CompletionException) {
        cause = cause.getCause();
      }
      if (cause instanceof IOException known) {
        throw known;
      }
      throw new AssertionError(cause);
    } catch (InterruptedException | TimeoutException e) {
      throw new AssertionError(e);
    }
  }

  private byte[] range(int from, int length) {
    return Arrays.copyOfRange(content, from, from + length);
  }

  private String url() {
    return server.uri() + FILE;
  }

  /** Fails every request in that way, after one without a fault. */
  private IOException problem(Fault fault) throws IOException {
    assertThat(read(0, 10)).isEqualTo(range(0, 10));
    server.rule(request -> fault);
    return failure();
  }

  private IOException failure() {
    try {
      read(4096, 4096);
      throw new AssertionError("it was read");
    } catch (IOException e) {
      return e;
    }
  }

  @Test
  void readsAnyRangeByOneRequestEach() throws IOException {
    assertThat(read(0, 1)).isEqualTo(range(0, 1));
    assertThat(read(4096, 8192)).isEqualTo(range(4096, 8192));
    assertThat(read(0, SIZE)).isEqualTo(content);
    assertThat(read(SIZE - 1, 1)).isEqualTo(range(SIZE - 1, 1));
    assertThat(server.answered())
        .containsExactly(
            new RangeServer.Answered("GET", FILE, "bytes=0-0", 206),
            new RangeServer.Answered("GET", FILE, "bytes=4096-12287", 206),
            new RangeServer.Answered("GET", FILE, "bytes=0-99999", 206),
            new RangeServer.Answered("GET", FILE, "bytes=99999-99999", 206));
  }

  @Test
  void encodesNames() throws IOException {
    String name = "a b/c%2F+?#ü\u6c34;=&.~x";
    Path file = directory.resolve(name);
    Files.createDirectories(file.getParent());
    Files.write(file, content);
    assertThat(joined(origin.read(name, SIZE, 5, 5))).isEqualTo(range(5, 5));
    assertThat(server.answered()).extracting(RangeServer.Answered::path).containsExactly(name);
    assertThat(origin.location(name)).isEqualTo(server.uri() + name);
    assertThat(origin.location("") + "/").isEqualTo(server.uri().toString());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "http://me:secret@host/x",
        "https://host/x?key=secret",
        "https://host/x#secret",
        "ftp://host/secret",
        "secret",
        "http:///secret",
        "file:/secret"
      })
  void refusesOtherAddressesAndShowsNoSecret(String address) {
    assertThatThrownBy(() -> HttpOrigin.of(URI.create(address)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageNotContaining("secret");
  }

  @Test
  void acceptsBodiesWithoutALengthAndSlowOnes() throws IOException {
    server.rule(request -> Fault.none().noLength());
    assertThat(read(100, 5000)).isEqualTo(range(100, 5000));
    server.rule(request -> Fault.none().dripping(Duration.ofMillis(1)).late(Duration.ofMillis(5)));
    assertThat(read(100, 50)).isEqualTo(range(100, 50));
    server.rule(request -> Fault.none().contentRange("bytes 100-149/*"));
    assertThat(read(100, 50)).isEqualTo(range(100, 50));
  }

  @Test
  void reportsOtherVersions() throws IOException {
    assertThat(problem(Fault.none().tag("\"other\"")))
        .isInstanceOf(ChangedException.class)
        .hasMessage(
            url()
                + ": it was replaced while the database was open; open it again, and publish new"
                + " versions under new names");
    server.rule(request -> Fault.none());
    assertThat(read(5, 5)).as("the first version is there again").isEqualTo(range(5, 5));
    server.rule(request -> Fault.none().tag(""));
    assertThat(read(5, 5)).as("the time is the same").isEqualTo(range(5, 5));
    server.rule(request -> Fault.none().tag("").modified("Sat, 01 Jan 2000 00:00:00 GMT"));
    assertThat(failure()).isInstanceOf(ChangedException.class);
    server.rule(request -> Fault.none().status(412));
    assertThat(failure()).isInstanceOf(ChangedException.class);
  }

  @Test
  void reportsOtherSizes() throws IOException {
    assertThat(problem(Fault.none().size(6000))).isInstanceOf(ChangedException.class); // by its tag
    origin = HttpOrigin.of(server.uri());
    assertThat(failure())
        .isInstanceOf(ChangedException.class)
        .hasMessage(
            url() + ": it was cut short: it has 6000 of 100000 bytes; publish the database again");
    server.rule(request -> Fault.none().size(4096));
    assertThat(failure())
        .isInstanceOf(ChangedException.class)
        .hasMessageContaining("it was cut short: it has no byte 4096");
    server.rule(request -> Fault.none().size(SIZE + 1));
    assertThat(failure())
        .isInstanceOf(ChangedException.class)
        .hasMessageContaining("it was replaced");
  }

  @Test
  void reportsFilesThatAreMissingOrRemovedOrDenied() throws IOException {
    assertThatThrownBy(() -> joined(origin.read("none", SIZE, 0, 1)))
        .isInstanceOf(NoSuchFileException.class)
        .hasMessage(server.uri() + "none: there is no such file");
    IOException removed = problem(Fault.none().status(404));
    assertThat(removed)
        .isInstanceOf(NoSuchFileException.class)
        .hasMessageContaining(url() + ": it was removed while the database was open");
    assertThat(origin.reason(removed)).startsWith("it was removed").doesNotContain("http");
    assertThat(problemOf(403))
        .isInstanceOf(AccessDeniedException.class)
        .hasMessage(url() + ": the server denies access (403)");
    assertThat(problemOf(401)).isInstanceOf(AccessDeniedException.class);
  }

  private IOException problemOf(int status) {
    server.rule(request -> Fault.none().status(status));
    return failure();
  }

  @Test
  void reportsAnswersThatAreNoRanges() throws IOException {
    assertThat(problem(Fault.none().wholeFile()))
        .isInstanceOf(RefusedException.class)
        .hasMessageContaining("the server ignores ranges");
    assertRefused(Fault.none().contentRange(""), "Content-Range is missing");
    assertRefused(Fault.none().contentRange("items 1-2/3"), "Content-Range is items 1-2/3");
    assertRefused(
        Fault.none().contentRange("bytes 0-4095/100000"), "bytes 0-4095 instead of 4096-8191");
    assertRefused(
        Fault.none().contentRange("bytes 4096-8190/100000"), "4096-8190 instead of 4096-8191");
    assertRefused(Fault.none().compressed(), "compresses ranges (gzip)");
    assertRefused(Fault.none().status(400), "the server answered 400");
    assertRefused(Fault.none().status(304), "the server answered 304");
  }

  private void assertRefused(Fault fault, String message) {
    server.rule(request -> fault);
    assertThat(failure()).isInstanceOf(RefusedException.class).hasMessageContaining(message);
  }

  @Test
  void readsOnlyTheStartOfAnUnusableBody() throws IOException {
    byte[] large = new byte[64 << 20];
    Files.write(directory.resolve("large"), large);
    server.rule(request -> Fault.none().wholeFile());
    assertThatThrownBy(() -> joined(origin.read("large", large.length, 0, 10)))
        .isInstanceOf(RefusedException.class);
    server.rule(request -> Fault.none().status(404));
    for (int i = 0; i < 20; i++) {
      assertThat(failure()).isInstanceOf(NoSuchFileException.class);
    }
    assertThat(server.connections()).as("explained failures keep them").isLessThan(10);
  }

  @ParameterizedTest
  @ValueSource(ints = {408, 429, 500, 502, 503, 504})
  void tellsWhenTheServerIsBusy(int status) {
    server.rule(request -> Fault.none().status(status).retryAfter("7"));
    assertThat(failure())
        .isInstanceOfSatisfying(
            BusyException.class, busy -> assertThat(busy.waiting()).hasSeconds(7))
        .hasMessage("the server answered " + status);
  }

  @Test
  void understandsDatesToWaitFor() {
    String date =
        DateTimeFormatter.RFC_1123_DATE_TIME.format(ZonedDateTime.now(ZoneOffset.UTC).plusHours(1));
    server.rule(request -> Fault.none().status(503).retryAfter(date));
    assertThat(((BusyException) failure()).waiting())
        .isBetween(Duration.ofMinutes(50), Duration.ofMinutes(61));
    for (String odd : new String[] {"soon", "-1", "Sat, 01 Jan 2000 00:00:00 GMT", "99999999999"}) {
      server.rule(request -> Fault.none().status(503).retryAfter(odd));
      assertThat(((BusyException) failure()).waiting()).as(odd).isZero();
    }
  }

  @Test
  void failsIfTheAnswerIsCutOrMissingOrNotHttp() {
    for (Fault fault :
        new Fault[] {
          Fault.none().cutAfter(0),
          Fault.none().cutAfter(4095),
          Fault.none().noLength().cutAfter(100),
          Fault.none().noAnswer(),
          Fault.none().garbage()
        }) {
      server.rule(request -> fault);
      IOException failure = failure();
      assertThat(failure).isNotInstanceOf(RefusedException.class);
      assertThat(origin.reason(failure)).isNotBlank();
    }
  }

  @Test
  void followsRedirectsAndShowsNoneOfThem() throws IOException {
    server.rule(
        request ->
            request.path().equals(FILE) && request.numberOfPath() == 1
                ? Fault.none().redirect(server.uri() + "there?key=secret")
                : Fault.none());
    Files.write(directory.resolve("there?key=secret"), content); // the double knows no queries
    assertThat(read(7, 7)).isEqualTo(range(7, 7));
    for (String odd : new String[] {"http://%zz/?secret", "ftp://host/?secret", "http:secret"}) {
      server.rule(request -> Fault.none().redirect(odd));
      IOException failure = failure();
      assertThat(failure).hasMessageNotContaining("secret");
      assertThat(failure.getCause()).isNull();
    }
    server.rule(request -> Fault.none().redirect(server.uri() + FILE));
    assertThat(failure()).hasMessageNotContaining("secret");
  }

  @Test
  void reportsAServerThatIsNotThere() throws IOException {
    try (Socket silent = new Socket()) {
      silent.bind(new InetSocketAddress(0)); // and does not listen
      int port = silent.getLocalPort();
      origin = HttpOrigin.of(URI.create("http://localhost:" + port + "/x"));
      assertThat(origin.reason(failure())).isEqualTo("cannot connect to localhost:" + port);
    }
    origin = HttpOrigin.of(URI.create("http://no-such-host.invalid/x"));
    assertThat(origin.reason(failure())).isEqualTo("there is no host no-such-host.invalid");
  }

  @Test
  void cancellingEndsTheExchange() throws IOException {
    try (ServerSocket listener = new ServerSocket(0)) {
      listener.setSoTimeout(60_000);
      origin = HttpOrigin.of(URI.create("http://localhost:" + listener.getLocalPort()));
      CompletableFuture<byte[]> answer = origin.read(FILE, SIZE, 0, 100);
      try (Socket connection = listener.accept()) {
        connection.setSoTimeout(60_000);
        InputStream in = connection.getInputStream();
        assertThat(in.read()).isEqualTo('G');
        assertThat(answer.cancel(true)).isTrue();
        assertThat(answer).isCompletedExceptionally();
        in.transferTo(OutputStream.nullOutputStream()); // until the client hangs up
      }
    }
  }

  @Test
  void opensStreams() throws IOException {
    try (InputStream whole = origin.open(FILE, 0)) {
      assertThat(whole.readAllBytes()).isEqualTo(content);
    }
    try (InputStream rest = origin.open(FILE, 99_000)) {
      assertThat(rest.read()).isEqualTo(content[99_000] & 0xff);
      assertThat(rest.readAllBytes()).isEqualTo(range(99_001, 999));
      assertThat(rest.read()).isEqualTo(-1);
    }
    try (InputStream none = origin.open(FILE, SIZE)) {
      assertThat(none.read()).isEqualTo(-1);
    }
    assertThat(server.answered())
        .extracting(RangeServer.Answered::status)
        .containsExactly(200, 206, 416);
  }

  @Test
  void streamsMayBeLeftEarly() throws IOException {
    byte[] large = new byte[64 << 20];
    Files.write(directory.resolve("large"), large);
    for (int i = 0; i < 3; i++) {
      try (InputStream in = origin.open("large", 0)) {
        assertThat(in.readNBytes(100)).hasSize(100);
      }
    }
    try (InputStream in = origin.open("large", 0)) {
      assertThat(in.readAllBytes()).isEqualTo(large);
    }
  }

  @Test
  void reportsFilesThatCannotBeOpened() {
    assertThatThrownBy(() -> origin.open("none", 0))
        .isInstanceOf(NoSuchFileException.class)
        .hasMessage(server.uri() + "none: there is no such file");
    server.rule(request -> Fault.none().status(403));
    assertThatThrownBy(() -> origin.open(FILE, 0)).isInstanceOf(AccessDeniedException.class);
    server.rule(request -> Fault.none().wholeFile());
    assertThatThrownBy(() -> origin.open(FILE, 5)).hasMessageContaining("ignores ranges");
    server.rule(request -> Fault.none().contentRange("bytes 0-99999/100000"));
    assertThatThrownBy(() -> origin.open(FILE, 5)).hasMessageContaining("from byte 5 on");
    server.rule(request -> Fault.none().compressed());
    assertThatThrownBy(() -> origin.open(FILE, 0)).hasMessageContaining("compresses");
    server.rule(request -> Fault.none().status(503));
    assertThatThrownBy(() -> origin.open(FILE, 0)).isInstanceOf(BusyException.class);
    server.rule(request -> Fault.none().cutAfter(1000));
    assertThatThrownBy(
            () -> {
              try (InputStream in = origin.open(FILE, 0)) {
                in.readAllBytes();
              }
            })
        .isInstanceOf(IOException.class);
  }
}
