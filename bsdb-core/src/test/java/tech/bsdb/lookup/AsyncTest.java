package tech.bsdb.lookup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.channels.CompletionHandler;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import tech.bsdb.BuildOptions;
import tech.bsdb.Database;
import tech.bsdb.Layout;
import tech.bsdb.Leaks;
import tech.bsdb.OpenOptions;
import tech.bsdb.Rounds;
import tech.bsdb.Seeds;
import tech.bsdb.Truth;
import tech.bsdb.read.AsyncReader;

/** Answers that come later: each exactly once, whatever handlers do and whenever it is closed. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class AsyncTest {
  private static final int COUNT = 3000;

  @TempDir Path directory;
  private final SplittableRandom random = Seeds.random("AsyncTest");
  private Truth truth;
  private Path target;

  @BeforeEach
  void build() throws Exception {
    truth = Truth.random(random, COUNT, 60).add(Truth.utf8("large"), Truth.bytes(random, 3 << 20));
    target = directory.resolve("db");
    truth.build(target, BuildOptions.defaults().withLayout(Layout.BLOCKED));
  }

  @AfterEach
  void nothingIsLeft() throws Exception {
    Leaks.assertNone(directory);
  }

  private Database open(OpenOptions.Engine engine) throws IOException {
    return Database.open(target, OpenOptions.defaults().withEngine(engine));
  }

  @ParameterizedTest
  @MethodSource("tech.bsdb.Offered#engines")
  void everyFutureEndsWithItsValue(OpenOptions.Engine engine) throws Exception {
    try (Database database = open(engine)) {
      for (int round = 0; round < 2; round++) { // the second one finds pages touched
        List<CompletableFuture<byte[]>> futures = new ArrayList<>();
        for (Truth.Entry record : truth.records()) {
          futures.add(database.getAsync(record.key()));
          futures.add(database.getAsync(Truth.bytes(random, 40)));
        }
        for (int i = 0; i < truth.records().size(); i++) {
          Truth.same(futures.get(2 * i).get(), truth.records().get(i).value(), "value");
          assertThat(futures.get(2 * i + 1).get()).isNull();
        }
      }
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void everyHandlerIsCalledExactlyOnce(boolean direct) throws Exception {
    int asked = 2 * truth.records().size();
    AtomicIntegerArray calls = new AtomicIntegerArray(asked);
    AtomicInteger wrong = new AtomicInteger();
    CountDownLatch all = new CountDownLatch(asked);
    try (AsyncReader reader = new AsyncReader(target.toFile(), false, direct, direct)) {
      for (int i = 0; i < asked; i++) {
        Truth.Entry record = truth.records().get(i / 2);
        byte[] key = i % 2 == 0 ? record.key() : Truth.bytes(random, 40);
        byte[] expected = i % 2 == 0 ? record.value() : null;
        reader.asyncGet(
            key,
            i,
            new CompletionHandler<byte[], Integer>() {
              @Override
              public void completed(byte[] value, Integer number) {
                if (!Arrays.equals(value, expected)) {
                  wrong.incrementAndGet();
                }
                calls.incrementAndGet(number);
                all.countDown();
              }

              @Override
              public void failed(Throwable why, Integer number) {
                wrong.incrementAndGet();
                calls.incrementAndGet(number);
                all.countDown();
              }
            });
      }
      all.await();
    }
    assertThat(wrong.get()).isZero();
    for (int i = 0; i < asked; i++) {
      assertThat(calls.get(i)).isEqualTo(1);
    }
  }

  @ParameterizedTest
  @MethodSource("tech.bsdb.Offered#engines")
  void handlersMayAskAgainWithoutEnd(OpenOptions.Engine engine) throws Exception {
    int chains = 40;
    int links = 500;
    AtomicReference<Throwable> failure = new AtomicReference<>();
    CountDownLatch ended = new CountDownLatch(chains);
    try (Database database = open(engine)) {
      for (int chain = 0; chain < chains; chain++) {
        follow(database, chain, links, ended, failure);
      }
      ended.await();
    }
    assertThat(failure.get()).isNull();
  }

  private void follow(
      Database database,
      int at,
      int left,
      CountDownLatch ended,
      AtomicReference<Throwable> failure) {
    if (left == 0) {
      ended.countDown();
      return;
    }
    Truth.Entry record = truth.records().get(at % COUNT);
    CompletableFuture<byte[]> unused =
        database
            .getAsync(record.key())
            .whenComplete(
                (value, why) -> {
                  if (why != null || !Arrays.equals(value, record.value())) {
                    failure.compareAndSet(null, why == null ? new AssertionError("wrong") : why);
                    ended.countDown();
                  } else {
                    follow(database, at + 37, left - 1, ended, failure);
                  }
                });
  }

  @ParameterizedTest
  @MethodSource("tech.bsdb.Offered#engines")
  void handlersThatBlockHoldUpNoRead(OpenOptions.Engine engine) throws Exception {
    CountDownLatch release = new CountDownLatch(1);
    try (Database database = open(engine)) {
      CompletableFuture<Boolean> released = new CompletableFuture<>();
      byte[] key = truth.records().get(0).key();
      Thread blocked =
          new Thread(
              () -> {
                CompletableFuture<Void> unused =
                    database
                        .getAsync(key)
                        .thenAccept(
                            value -> {
                              try {
                                released.complete(release.await(60, TimeUnit.SECONDS));
                              } catch (InterruptedException e) {
                                released.complete(false);
                              }
                            });
              });
      blocked.start();
      for (Truth.Entry record : truth.records().subList(0, 300)) {
        Truth.same(database.getAsync(record.key()).get(), record.value(), "value");
        Truth.same(database.get(record.key()), record.value(), "value");
      }
      release.countDown();
      assertThat(released.get()).isTrue();
      blocked.join();
    }
  }

  @Test
  void handlersThatThrowDisturbNobody() throws Exception {
    try (AsyncReader reader = new AsyncReader(target.toFile(), false, true, true)) {
      Thread.UncaughtExceptionHandler before = Thread.getDefaultUncaughtExceptionHandler();
      AtomicInteger thrown = new AtomicInteger();
      Thread.setDefaultUncaughtExceptionHandler((thread, e) -> thrown.incrementAndGet());
      try {
        int asked = 300;
        CountDownLatch called = new CountDownLatch(asked);
        for (int i = 0; i < asked; i++) {
          reader.asyncGet(
              truth.records().get(i).key(),
              "",
              new CompletionHandler<byte[], String>() {
                @Override
                public void completed(byte[] value, String attachment) {
                  called.countDown();
                  throw new IllegalStateException("on purpose");
                }

                @Override
                public void failed(Throwable why, String attachment) {}
              });
        }
        called.await();
        while (thrown.get() < asked) {
          Thread.onSpinWait();
        }
      } finally {
        Thread.setDefaultUncaughtExceptionHandler(before);
      }
    }
  }

  /** Throws what the compiler does not let through. */
  @SuppressWarnings("unchecked")
  private static <T extends Throwable> void sneak(Throwable thrown) throws T {
    throw (T) thrown;
  }

  /** Handlers may throw checked exceptions, and whoever hears of them may throw, too. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void handlersThatThrowAnythingDisturbNobody(boolean direct) throws Exception {
    Thread.UncaughtExceptionHandler before = Thread.getDefaultUncaughtExceptionHandler();
    Thread.setDefaultUncaughtExceptionHandler(
        (thread, thrown) -> AsyncTest.<RuntimeException>sneak(new IOException("again")));
    int asked = 600;
    AtomicInteger called = new AtomicInteger();
    CountDownLatch answered = new CountDownLatch(asked);
    CompletionHandler<byte[], String> handler =
        new CompletionHandler<>() {
          private void end() {
            called.incrementAndGet();
            answered.countDown();
            AsyncTest.<RuntimeException>sneak(new java.util.concurrent.TimeoutException("sneaked"));
          }

          @Override
          public void completed(byte[] value, String attachment) {
            end();
          }

          @Override
          public void failed(Throwable why, String attachment) {
            end();
          }
        };
    AsyncReader reader = new AsyncReader(target.toFile(), false, direct, direct);
    try {
      for (int i = 0; i < asked; i++) {
        byte[] key = i % 3 == 0 ? new byte[] {1, (byte) i} : truth.records().get(i % 50).key();
        reader.asyncGet(key, "", handler);
      }
      assertThat(answered.await(90, TimeUnit.SECONDS)).isTrue();
      reader.close();
      reader.asyncGet(new byte[1], "", handler);
    } finally {
      reader.close();
      Thread.setDefaultUncaughtExceptionHandler(before);
    }
    assertThat(called).hasValue(asked + 1);
  }

  @ParameterizedTest
  @MethodSource("tech.bsdb.Offered#engines")
  void afterCloseEachFailsOnce(OpenOptions.Engine engine) throws Exception {
    Database database = open(engine);
    database.getAsync(truth.records().get(0).key()).get();
    database.close();
    for (int i = 0; i < 3; i++) {
      CompletableFuture<byte[]> future = database.getAsync(truth.records().get(i).key());
      assertThatThrownBy(future::get)
          .isInstanceOf(ExecutionException.class)
          .hasCauseInstanceOf(IllegalStateException.class);
    }
    Database untouched = open(engine);
    untouched.close();
    assertThat(untouched.getAsync(new byte[1])).isCompletedExceptionally();
  }

  @ParameterizedTest
  @MethodSource("tech.bsdb.Offered#engines")
  void aCloseInTheMiddleEndsEveryRequest(OpenOptions.Engine engine) throws Exception {
    for (int round : Rounds.some(0, 9, 3, random)) {
      Database database = open(engine);
      List<CompletableFuture<byte[]>> futures = new ArrayList<>();
      Thread closer =
          new Thread(
              () -> {
                try {
                  database.close();
                } catch (IOException e) {
                  throw new AssertionError(e);
                }
              });
      for (int i = 0; i < 2000; i++) {
        if (i == 100 * round) {
          closer.start();
        }
        futures.add(database.getAsync(truth.records().get(i).key()));
      }
      closer.join();
      for (int i = 0; i < futures.size(); i++) {
        try {
          Truth.same(
              futures.get(i).get(30, TimeUnit.SECONDS), truth.records().get(i).value(), "value");
        } catch (ExecutionException e) {
          assertThat(e.getCause()).isInstanceOf(IllegalStateException.class);
        }
      }
    }
  }

  @Test
  void anApproximateDatabaseAnswersInOneRead() throws Exception {
    Path approximate = directory.resolve("approximate");
    truth.build(
        approximate, BuildOptions.defaults().withApproximateWidth(255).withChecksumBits(32));
    try (AsyncReader reader = new AsyncReader(approximate.toFile(), true, true, true)) {
      for (Truth.Entry record : truth.records().subList(0, 500)) {
        CompletableFuture<byte[]> answer = new CompletableFuture<>();
        reader.asyncGet(
            record.key(),
            answer,
            new CompletionHandler<byte[], CompletableFuture<byte[]>>() {
              @Override
              public void completed(byte[] value, CompletableFuture<byte[]> future) {
                future.complete(value);
              }

              @Override
              public void failed(Throwable why, CompletableFuture<byte[]> future) {
                future.completeExceptionally(why);
              }
            });
        Truth.same(answer.get(), record.value(), "value");
      }
    }
    assertThatThrownBy(() -> new AsyncReader(approximate.toFile(), false, true, true))
        .hasMessageContaining("approximate");
    assertThatThrownBy(() -> new AsyncReader(target.toFile(), true, true, true))
        .hasMessageContaining("build it with -a");
  }

  @ParameterizedTest
  @MethodSource("tech.bsdb.Offered#engines")
  void handlersMayWaitForOtherLookUps(OpenOptions.Engine engine) throws Exception {
    List<CompletableFuture<byte[]>> futures = new ArrayList<>();
    try (Database database = open(engine)) {
      for (int i = 0; i < 30; i++) {
        Truth.Entry other = truth.records().get(COUNT - 1 - i);
        futures.add(
            database
                .getAsync(truth.records().get(i).key())
                .thenApply(value -> database.getAsync(other.key()).join()));
      }
      for (int i = 0; i < futures.size(); i++) {
        Truth.same(
            futures.get(i).get(60, TimeUnit.SECONDS),
            truth.records().get(COUNT - 1 - i).value(),
            "value");
      }
    }
  }

  @ParameterizedTest
  @MethodSource("tech.bsdb.Offered#engines")
  void handlersThatNeverEndHoldUpNeitherOthersNorClose(OpenOptions.Engine engine) throws Exception {
    CountDownLatch release = new CountDownLatch(1);
    Database database = open(engine);
    try {
      for (int i = 0; i < 20; i++) {
        byte[] key = truth.records().get(i).key();
        Thread asking =
            new Thread(
                () -> {
                  CompletableFuture<Void> unused =
                      database
                          .getAsync(key)
                          .thenAccept(
                              value -> {
                                try {
                                  release.await();
                                } catch (InterruptedException e) {
                                  throw new AssertionError(e);
                                }
                              });
                });
        asking.setDaemon(true);
        asking.start();
      }
      for (Truth.Entry record : truth.records().subList(100, 150)) {
        Truth.same(
            database.getAsync(record.key()).get(60, TimeUnit.SECONDS), record.value(), "value");
      }
      database.close();
    } finally {
      release.countDown();
      database.close();
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aHandlerThatAsksAgainAfterCloseIsAnsweredEachTime(boolean direct) throws Exception {
    AsyncReader reader = new AsyncReader(target.toFile(), false, direct, direct);
    reader.close();
    CountDownLatch left = new CountDownLatch(200);
    again(reader, left);
    assertThat(left.await(60, TimeUnit.SECONDS)).isTrue();
  }

  private void again(AsyncReader reader, CountDownLatch left) {
    reader.asyncGet(
        truth.records().get(0).key(),
        "",
        new CompletionHandler<byte[], String>() {
          @Override
          public void completed(byte[] value, String attachment) {}

          @Override
          public void failed(Throwable why, String attachment) {
            left.countDown();
            if (left.getCount() > 0) {
              again(reader, left);
            }
          }
        });
  }

  @Test
  void unansweredRequestsAreBounded() throws Exception {
    AtomicInteger waiting = new AtomicInteger();
    int most = 0;
    try (AsyncReader reader = new AsyncReader(target.toFile(), false, true, true)) {
      int asked = AsyncLookups.MOST + 5000;
      CountDownLatch all = new CountDownLatch(asked);
      for (int i = 0; i < asked; i++) {
        most = Math.max(most, waiting.incrementAndGet());
        reader.asyncGet(
            truth.records().get(i % COUNT).key(),
            "",
            new CompletionHandler<byte[], String>() {
              @Override
              public void completed(byte[] value, String attachment) {
                if (all.getCount() % 100 == 0) {
                  try {
                    TimeUnit.MILLISECONDS.sleep(2); // slower than the reads
                  } catch (InterruptedException e) {
                    throw new AssertionError(e);
                  }
                }
                waiting.decrementAndGet();
                all.countDown();
              }

              @Override
              public void failed(Throwable why, String attachment) {}
            });
      }
      assertThat(all.await(100, TimeUnit.SECONDS)).isTrue();
    }
    assertThat(most).isLessThanOrEqualTo(AsyncLookups.MOST + 10);
  }

  @ParameterizedTest
  @MethodSource("tech.bsdb.Offered#engines")
  void aKeyThatIsTooLongIsAbsentFromAnApproximateDatabaseAsWell(OpenOptions.Engine engine)
      throws Exception {
    Path approximate = directory.resolve("approximate");
    truth.build(approximate, BuildOptions.defaults().withApproximateWidth(8).withChecksumBits(0));
    byte[] key = new byte[65_536];
    try (Database database =
        Database.open(approximate, OpenOptions.defaults().withEngine(engine))) {
      assertThat(database.get(key)).isNull();
      assertThat(database.getAll(List.of(key, new byte[65_535])).get(0)).isNull();
      assertThat(database.getAsync(key).get()).isNull();
    }
  }
}
