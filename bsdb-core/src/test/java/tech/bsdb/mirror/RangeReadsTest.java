package tech.bsdb.mirror;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.IntFunction;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tech.bsdb.Seeds;
import tech.bsdb.remote.ChangedException;
import tech.bsdb.remote.HttpOrigin;
import tech.bsdb.remote.RangeOrigin;
import tech.bsdb.remote.RangeServer;
import tech.bsdb.remote.RangeServer.Fault;
import tech.bsdb.remote.RemoteOptions;
import tech.bsdb.remote.RemoteTraffic;
import tech.bsdb.transfer.BusyException;
import tech.bsdb.transfer.RefusedException;

/** Attempts, permits, deadlines and hedges: each read ends, with the right bytes or an error. */
@Timeout(300)
class RangeReadsTest {
  private static final String FILE = "data-000";
  private static final int SIZE = 1 << 20;
  private static final int LEARNT = 32;
  private static final Pace QUICK =
      new Pace(Duration.ofMillis(1), Duration.ofMillis(4), Duration.ofSeconds(60), () -> 1);

  private static byte[] content() {
    byte[] content = new byte[SIZE];
    new Random(43).nextBytes(content);
    return content;
  }

  private static final byte[] CONTENT = content();

  private static byte[] range(long from, int length) {
    return Arrays.copyOfRange(CONTENT, (int) from, (int) from + length);
  }

  /** An origin in memory that answers each request, which are counted from 1, as it is told. */
  private static final class Told implements RangeOrigin {
    private final IntFunction<CompletableFuture<byte[]>> answers;
    private final List<Long> asked = new CopyOnWriteArrayList<>();
    private final List<CompletableFuture<byte[]>> given = new CopyOnWriteArrayList<>();
    private int count;

    Told(IntFunction<CompletableFuture<byte[]>> answers) {
      this.answers = answers;
    }

    @Override
    public CompletableFuture<byte[]> read(String file, long size, long from, int length) {
      int number;
      synchronized (this) {
        asked.add(from);
        number = ++count;
      }
      CompletableFuture<byte[]> answer = answers.apply(number);
      given.add(answer);
      return answer;
    }

    /** Answers a request rightly. */
    void answer(int number, int length) {
      given.get(number - 1).complete(range(asked.get(number - 1), length));
    }

    long open() {
      return given.stream().filter(answer -> !answer.isDone()).count();
    }

    @Override
    public InputStream open(String file, long from) {
      return new ByteArrayInputStream(CONTENT);
    }

    @Override
    public String location(String file) {
      return "told://there/" + file;
    }
  }

  private static CompletableFuture<byte[]> failed(Throwable why) {
    return CompletableFuture.failedFuture(why);
  }

  private static RemoteOptions options() {
    return RemoteOptions.defaults().withDeadline(Duration.ofSeconds(60));
  }

  private static byte[] joined(CompletableFuture<byte[]> read) throws IOException {
    try {
      return read.get(60, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof IOException known) {
        throw known;
      }
      throw new AssertionError(e);
    } catch (InterruptedException | TimeoutException e) {
      throw new AssertionError(e);
    }
  }

  private static IOException failure(CompletableFuture<byte[]> read) {
    try {
      joined(read);
      throw new AssertionError("it was read");
    } catch (IOException e) {
      return e;
    }
  }

  /** What passes if a request is repeated. */
  static Stream<Throwable> passing() {
    return Stream.of(
        new IOException("reset"),
        new EOFException("cut"),
        new BusyException("the server answered 503", Duration.ZERO),
        new BusyException("the server answered 429", Duration.ofDays(1)),
        new CancellationException(),
        new CompletionException(new IOException("reset")));
  }

  @ParameterizedTest
  @MethodSource("passing")
  void repeatsWhatMayPass(Throwable failure) throws IOException {
    Told origin =
        new Told(
            number ->
                number < 3 ? failed(failure) : CompletableFuture.completedFuture(range(10, 20)));
    RangeReads reads = new RangeReads(origin, options(), QUICK);
    assertThat(joined(reads.read(FILE, SIZE, 10, 20))).isEqualTo(range(10, 20));
    assertThat(reads.counters()).isEqualTo(new RemoteTraffic(3, 20, 2, 0));
  }

  @Test
  void repeatsAnswersOfAnotherLength() throws IOException {
    Told origin =
        new Told(
            number ->
                CompletableFuture.completedFuture(
                    number == 1 ? null : number == 2 ? new byte[19] : range(10, 20)));
    RangeReads reads = new RangeReads(origin, options(), QUICK);
    assertThat(joined(reads.read(FILE, SIZE, 10, 20))).isEqualTo(range(10, 20));
  }

  @Test
  void givesUpAfterTheLastAttempt() {
    RangeReads reads =
        new RangeReads(
            new Told(number -> failed(new IOException("reset " + number))),
            options().withAttempts(4),
            QUICK);
    assertThat(failure(reads.read(FILE, SIZE, 10, 20)))
        .hasMessageMatching("told://there/data-000: gave up after 4 attempts in [0-9.]+ s: reset 4")
        .hasRootCauseMessage("reset 4");
    RangeReads once =
        new RangeReads(
            new Told(number -> failed(new IOException("reset"))), options().withAttempts(1), QUICK);
    assertThat(failure(once.read(FILE, SIZE, 10, 20))).hasMessage("told://there/data-000: reset");
  }

  /** What stays if a request is repeated. */
  static Stream<Throwable> lasting() {
    return Stream.of(
        new NoSuchFileException("told://there/data-000"),
        new AccessDeniedException("told://there/data-000"),
        new ChangedException("told://there/data-000: it was replaced"),
        new RefusedException("the server ignores ranges"),
        new IllegalStateException("a mistake"),
        new StackOverflowError("a mistake"));
  }

  @ParameterizedTest
  @MethodSource("lasting")
  void doesNotRepeatWhatStays(Throwable failure) {
    for (boolean atOnce : new boolean[] {false, true}) {
      Told origin =
          new Told(
              number -> {
                if (atOnce && failure instanceof RuntimeException thrown) {
                  throw thrown;
                }
                if (atOnce && failure instanceof Error thrown) {
                  throw thrown;
                }
                return failed(failure);
              });
      RangeReads reads = new RangeReads(origin, options(), QUICK);
      IOException reported = failure(reads.read(FILE, SIZE, 10, 20));
      assertThat(reported).hasMessageStartingWith("told://there/data-000");
      assertThat(reported == failure || reported.getMessage().contains(failure.getMessage()))
          .isTrue();
      assertThat(reads.counters().requests()).isEqualTo(1);
    }
  }

  @Test
  void surviveAnOriginThatAnswersNullOrHasNoWords() {
    RangeOrigin odd =
        new RangeOrigin() {
          @Override
          @SuppressWarnings("NullAway")
          public CompletableFuture<byte[]> read(String file, long size, long from, int length) {
            return null;
          }

          @Override
          public InputStream open(String file, long from) {
            throw new UnsupportedOperationException();
          }

          @Override
          public String location(String file) {
            throw new UnsupportedOperationException();
          }
        };
    RangeReads reads = new RangeReads(odd, options(), QUICK);
    assertThat(failure(reads.read(FILE, SIZE, 10, 20))).hasMessageStartingWith(FILE);
  }

  @Test
  void endsAtTheDeadlineIfNoAnswerEverComes() throws Exception {
    Told origin = new Told(number -> new CompletableFuture<>());
    RangeReads reads =
        new RangeReads(
            origin, options().withDeadline(Duration.ofMillis(300)).withRequests(2), QUICK);
    List<CompletableFuture<byte[]>> all = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      all.add(reads.read(FILE, SIZE, i, 20));
    }
    for (CompletableFuture<byte[]> read : all) {
      assertThat(failure(read))
          .hasMessageStartingWith("told://there/data-000: no answer within 0.3 s (");
    }
    while (origin.open() > 0) { // the timer gives them up
      TimeUnit.MILLISECONDS.sleep(1);
    }
    CompletableFuture<byte[]> next = reads.read(FILE, SIZE, 0, 20);
    origin.answer(origin.given.size(), 20); // there are permits again
    assertThat(next.getNow(new byte[0])).isEqualTo(range(0, 20));
  }

  @Test
  void deadlineNamesTheLastFailure() {
    Told origin =
        new Told(
            number -> number == 1 ? failed(new IOException("reset")) : new CompletableFuture<>());
    RangeReads reads = new RangeReads(origin, options().withDeadline(Duration.ofSeconds(3)), QUICK);
    assertThat(failure(reads.read(FILE, SIZE, 10, 20)))
        .hasMessage(
            "told://there/data-000: no answer within 3.0 s (attempts: 2; the last failure: reset)");
  }

  @Test
  void repeatsARequestThatTakesTooLong() throws IOException {
    Told origin =
        new Told(
            number ->
                number < 3
                    ? new CompletableFuture<>()
                    : CompletableFuture.completedFuture(range(10, 20)));
    Pace impatient =
        new Pace(Duration.ofMillis(1), Duration.ofMillis(4), Duration.ofMillis(50), () -> 1);
    RangeReads reads = new RangeReads(origin, options(), impatient);
    assertThat(joined(reads.read(FILE, SIZE, 10, 20))).isEqualTo(range(10, 20));
    assertThat(origin.open()).isZero();
    RangeReads none =
        new RangeReads(
            new Told(number -> new CompletableFuture<>()), options().withAttempts(2), impatient);
    assertThat(failure(none.read(FILE, SIZE, 10, 20)))
        .hasMessageContaining("gave up after 2 attempts")
        .hasMessageContaining("no answer within 0.1 s");
  }

  @Test
  void waitsAsLongAsTheServerAsks() throws IOException {
    Duration wait = Duration.ofMillis(200);
    Told origin =
        new Told(
            number ->
                number == 1
                    ? failed(new BusyException("the server answered 503", wait))
                    : CompletableFuture.completedFuture(range(10, 20)));
    RangeReads reads = new RangeReads(origin, options(), QUICK);
    long start = System.nanoTime();
    assertThat(joined(reads.read(FILE, SIZE, 10, 20))).isEqualTo(range(10, 20));
    assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(wait.toNanos());
  }

  @Test
  void keepsTheLimitAndTheOrder() {
    Told origin = new Told(number -> new CompletableFuture<>());
    RangeReads reads = new RangeReads(origin, options().withRequests(3), QUICK);
    List<CompletableFuture<byte[]>> all = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      all.add(reads.read(FILE, SIZE, i, 20));
    }
    for (int i = 0; i < 100; i++) {
      assertThat(origin.asked).hasSize(Math.min(100, i + 3));
      origin.answer(i + 1, 20);
      assertThat(all.get(i).getNow(new byte[0])).isEqualTo(range(i, 20));
    }
    assertThat(origin.asked).isSorted();
  }

  @Test
  void cancelledReadsGiveUpTheirRequestOrTheirTurn() {
    Told origin = new Told(number -> new CompletableFuture<>());
    RangeReads reads = new RangeReads(origin, options().withRequests(1), QUICK);
    CompletableFuture<byte[]> first = reads.read(FILE, SIZE, 1, 20);
    CompletableFuture<byte[]> second = reads.read(FILE, SIZE, 2, 20);
    CompletableFuture<byte[]> third = reads.read(FILE, SIZE, 3, 20);
    assertThat(second.cancel(true)).isTrue();
    assertThat(first.cancel(true)).isTrue();
    assertThat(origin.given.get(0)).isCancelled();
    assertThat(origin.asked).containsExactly(1L, 3L);
    origin.answer(2, 20);
    assertThat(third.getNow(new byte[0])).isEqualTo(range(3, 20));
  }

  @Test
  void aLongQueueThatIsAnsweredAtOnceNeedsNoDeepStack() {
    CompletableFuture<byte[]> first = new CompletableFuture<>();
    Told origin =
        new Told(number -> number == 1 ? first : CompletableFuture.completedFuture(range(0, 1)));
    RangeReads reads = new RangeReads(origin, options().withRequests(1), QUICK);
    List<CompletableFuture<byte[]>> all = new ArrayList<>();
    for (int i = 0; i < 20_000; i++) {
      all.add(reads.read(FILE, SIZE, 0, 1));
    }
    first.complete(range(0, 1));
    for (CompletableFuture<byte[]> read : all) {
      assertThat(read.getNow(new byte[0])).isEqualTo(range(0, 1));
    }
  }

  /**
   * Answers as many reads as it takes until the usual duration is known, of which none is hedged.
   */
  private static void learn(RangeReads reads, Told origin) {
    for (int i = 0; i < LEARNT; i++) {
      CompletableFuture<byte[]> read = reads.read(FILE, SIZE, 0, 20);
      origin.answer(i + 1, 20);
      assertThat(read).isCompleted();
    }
  }

  private static void await(Told origin, int requests) throws InterruptedException {
    while (origin.given.size() < requests) {
      TimeUnit.MILLISECONDS.sleep(1);
    }
  }

  @Test
  void hedgesASlowReadAndTakesTheFirstAnswer() throws Exception {
    for (boolean hedgeWins : new boolean[] {true, false}) {
      Told origin = new Told(number -> new CompletableFuture<>());
      RangeReads reads = new RangeReads(origin, options().withHedged(true), QUICK);
      learn(reads, origin);
      CompletableFuture<byte[]> slow = reads.read(FILE, SIZE, 7, 20);
      await(origin, LEARNT + 2);
      origin.answer(hedgeWins ? LEARNT + 2 : LEARNT + 1, 20);
      assertThat(joined(slow)).isEqualTo(range(7, 20));
      CompletableFuture<byte[]> loser = origin.given.get(hedgeWins ? LEARNT : LEARNT + 1);
      while (!loser.isDone()) { // the timer gives it up
        TimeUnit.MILLISECONDS.sleep(1);
      }
      assertThat(loser).isCancelled();
      assertThat(reads.counters())
          .isEqualTo(new RemoteTraffic(LEARNT + 2, (LEARNT + 1) * 20, 0, 1));
    }
  }

  @Test
  void aHedgedReadOutlivesTheFailureOfOneRequest() throws Exception {
    Told origin = new Told(number -> new CompletableFuture<>());
    RangeReads reads = new RangeReads(origin, options().withHedged(true), QUICK);
    learn(reads, origin);
    CompletableFuture<byte[]> slow = reads.read(FILE, SIZE, 7, 20);
    await(origin, LEARNT + 2);
    origin.given.get(LEARNT).completeExceptionally(new IOException("reset"));
    assertThat(slow).isNotDone();
    origin.given.get(LEARNT + 1).completeExceptionally(new IOException("reset"));
    await(origin, LEARNT + 3);
    origin.answer(LEARNT + 3, 20);
    assertThat(joined(slow)).isEqualTo(range(7, 20));
    assertThat(reads.counters()).isEqualTo(new RemoteTraffic(LEARNT + 3, (LEARNT + 1) * 20, 1, 1));
  }

  @Test
  void hedgesOneOfTwentyReadsAtMostAndOnlyWithFreePermits() throws Exception {
    Told origin = new Told(number -> new CompletableFuture<>());
    RangeReads reads = new RangeReads(origin, options().withHedged(true).withRequests(40), QUICK);
    learn(reads, origin);
    int large = 100_000; // such reads are not hedged
    for (int i = 0; i < 39; i++) {
      CompletableFuture<byte[]> unused = reads.read(FILE, SIZE, i, large);
    }
    CompletableFuture<byte[]> last = reads.read(FILE, SIZE, 7, 20); // takes the last permit
    TimeUnit.MILLISECONDS.sleep(50);
    assertThat(reads.counters().hedges()).isZero();
    for (int i = 0; i < 39; i++) {
      origin.answer(LEARNT + 1 + i, large);
    }
    origin.answer(LEARNT + 40, 20);
    assertThat(joined(last)).isEqualTo(range(7, 20));
    for (int i = 0; i < 20; i++) {
      CompletableFuture<byte[]> unused = reads.read(FILE, SIZE, i, 20);
    }
    int most = (LEARNT + 40 + 20) / 20;
    await(origin, LEARNT + 40 + 20 + most);
    TimeUnit.MILLISECONDS.sleep(50);
    assertThat(reads.counters().hedges()).isEqualTo(most);
  }

  @Test
  void readsRightlyFromAServerThatFails(@TempDir Path directory) throws IOException {
    Files.write(directory.resolve(FILE), CONTENT);
    SplittableRandom random = Seeds.random("RangeReadsTest");
    Map<Integer, Integer> faults = new ConcurrentHashMap<>();
    for (int i = 0; i < 10_000; i++) {
      faults.put(i, random.nextInt(1000));
    }
    try (RangeServer server = RangeServer.of(directory)) {
      server.rule(
          request -> {
            int fault = faults.get(request.number());
            return fault < 10
                ? Fault.none().status(503)
                : fault == 10 ? Fault.none().cutAfter(100) : Fault.none();
          });
      RangeReads reads =
          new RangeReads(
              HttpOrigin.of(server.uri()), options().withRequests(32).withHedged(true), QUICK);
      List<CompletableFuture<byte[]>> all = new ArrayList<>();
      long[] from = random.longs(2000, 0, SIZE - 4096).toArray();
      for (long start : from) {
        all.add(reads.read(FILE, SIZE, start, 4096));
      }
      for (int i = 0; i < from.length; i++) {
        assertThat(joined(all.get(i))).isEqualTo(range(from[i], 4096));
      }
      assertThat(server.mostAtOnce()).isLessThanOrEqualTo(32);
      assertThat(server.answered())
          .allSatisfy(answered -> assertThat(answered.method()).isEqualTo("GET"));
    }
  }

  @Test
  void asksOnceForARead(@TempDir Path directory) throws IOException {
    Files.write(directory.resolve(FILE), CONTENT);
    try (RangeServer server = RangeServer.of(directory)) {
      RangeReads reads = new RangeReads(HttpOrigin.of(server.uri()), options(), QUICK);
      List<CompletableFuture<byte[]>> all = new ArrayList<>();
      for (int i = 0; i < 300; i++) {
        all.add(reads.read(FILE, SIZE, i * 1000L, 1000));
      }
      for (int i = 0; i < 300; i++) {
        assertThat(joined(all.get(i))).isEqualTo(range(i * 1000L, 1000));
      }
      assertThat(server.answered())
          .hasSize(300)
          .allSatisfy(
              answered ->
                  assertThat(answered)
                      .extracting("method", "path", "status")
                      .containsExactly("GET", FILE, 206));
      assertThat(reads.counters()).isEqualTo(new RemoteTraffic(300, 300_000, 0, 0));
    }
  }

  /** Faults of a server that pass, and those that stay. */
  @Test
  void eachFaultGivesTheBytesOrANamedError(@TempDir Path directory) throws IOException {
    Files.write(directory.resolve(FILE), CONTENT);
    try (RangeServer server = RangeServer.of(directory)) {
      Pace impatient =
          new Pace(Duration.ofMillis(1), Duration.ofMillis(4), Duration.ofMillis(500), () -> 1);
      Fault[] passing = {
        Fault.none().status(408),
        Fault.none().status(429).retryAfter("0"),
        Fault.none().status(500),
        Fault.none().status(502),
        Fault.none().status(503).retryAfter("99999"),
        Fault.none().status(503).retryAfter("Fri, 31 Dec 9999 23:59:59 GMT"),
        Fault.none().status(504),
        Fault.none().cutAfter(0),
        Fault.none().cutAfter(4095),
        Fault.none().noLength().cutAfter(17),
        Fault.none().noAnswer(),
        Fault.none().garbage(),
        Fault.none().stalledAfter(-1),
        Fault.none().stalledAfter(100),
        Fault.none().dripping(Duration.ofMillis(10)),
        Fault.none().late(Duration.ofSeconds(5))
      };
      for (Fault fault : passing) {
        server.rule(request -> request.number() == 1 ? fault : Fault.none());
        RangeReads reads = new RangeReads(HttpOrigin.of(server.uri()), options(), impatient);
        assertThat(joined(reads.read(FILE, SIZE, 4096, 4096))).isEqualTo(range(4096, 4096));
      }
      Fault[] staying = {
        Fault.none().status(400),
        Fault.none().status(401),
        Fault.none().status(403),
        Fault.none().status(404),
        Fault.none().status(412),
        Fault.none().status(416),
        Fault.none().contentRange("bytes 0-4095/" + SIZE),
        Fault.none().contentRange("bytes 4096-8191/" + (SIZE + 1)),
        Fault.none().wholeFile(),
        Fault.none().size(5000),
        Fault.none().compressed()
      };
      for (Fault fault : staying) {
        server.forget();
        server.rule(request -> fault);
        RangeReads reads = new RangeReads(HttpOrigin.of(server.uri()), options(), QUICK);
        assertThatThrownBy(() -> joined(reads.read(FILE, SIZE, 4096, 4096)))
            .isInstanceOf(IOException.class)
            .hasMessageStartingWith(server.uri() + FILE + ": ");
        assertThat(reads.counters().requests()).isEqualTo(1);
      }
    }
  }
}
