package tech.bsdb.store;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tech.bsdb.IoCounters;
import tech.bsdb.Leaks;
import tech.bsdb.Logged;
import tech.bsdb.OpenOptions;
import tech.bsdb.Truth;
import tech.bsdb.io.DurableFiles;

@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ReloadingDatabaseTest {
  private static final ReloadOptions QUICK =
      ReloadOptions.defaults()
          .withPoll(Duration.ofMillis(5))
          .withOpen(OpenOptions.defaults().withEngine(OpenOptions.Engine.MAPPED));

  @TempDir Path folder;

  @AfterEach
  void nothingIsLeftOpen() throws Exception {
    Leaks.assertNone(folder);
  }

  private static String get(ReloadingDatabase database) throws IOException {
    byte[] value = database.get(Truth.utf8("key-7"));
    return value == null ? "absent" : new String(value, UTF_8);
  }

  /** What must become true before long. */
  interface Condition {
    boolean holds() throws Exception;
  }

  static void await(Condition condition) throws Exception {
    for (int i = 0; i < 60_000 && !condition.holds(); i += 2) {
      TimeUnit.MILLISECONDS.sleep(2);
    }
    assertThat(condition.holds()).as("holds before long").isTrue();
  }

  @Test
  void followsThePointerOfAStore() throws Exception {
    Path store = Versions.byHand(folder.resolve("store"), "v1", "v2");
    Versions.point(store, "v1"); // without a line's end
    try (ReloadingDatabase database = ReloadingDatabase.open(store, QUICK)) {
      assertThat(database.followsStore()).isTrue();
      assertThat(get(database)).isEqualTo("v1");
      try (Lease lease = database.acquire()) {
        assertThat(lease.version()).isEqualTo("v1");
        assertThat(lease.openedAt()).isNotNull();
        assertThat(lease.openTook()).isPositive();
        Versions.point(store, "v2\n");
        await(() -> get(database).equals("v2"));
        assertThat(new String(lease.database().get(Truth.utf8("key-1")), UTF_8)).isEqualTo("v1");
        assertThat(Leaks.mappings(store.resolve("v1"))).isNotEmpty();
      }
      await(() -> Leaks.mappings(store.resolve("v1")).isEmpty());
      Versions.point(store, "v1"); // without a line's end
      await(() -> get(database).equals("v1"));
      assertThat(database.swaps()).isEqualTo(2);
      assertThat(database.refused()).isNull();
      assertThat(database.getAll(List.of(Truth.utf8("key-1"), Truth.utf8("absent"))).get(1))
          .isNull();
      assertThat(database.getAsync(Truth.utf8("key-3")).get(60, TimeUnit.SECONDS))
          .isEqualTo(Truth.utf8("v1"));
    }
  }

  @Test
  void readsOfClosedVersionsStayCounted() throws Exception {
    Path store = Versions.byHand(folder.resolve("counted"), "v1", "v2");
    Versions.point(store, "v1\n");
    OpenOptions buffered = OpenOptions.defaults().withEngine(OpenOptions.Engine.BUFFERED);
    ReloadingDatabase database = ReloadingDatabase.open(store, QUICK.withOpen(buffered));
    try (database) {
      assertThat(get(database)).isEqualTo("v1");
      IoCounters each = database.ioCounters();
      assertThat(each.reads()).isPositive();
      Versions.point(store, "v2\n");
      await(() -> database.swaps() == 1);
      assertThat(database.ioCounters()).isEqualTo(each);
      assertThat(get(database)).isEqualTo("v2");
      assertThat(database.ioCounters()).isEqualTo(each.plus(each));
    }
    assertThat(database.ioCounters().reads()).isPositive();
  }

  @Test
  void swapsAndRefusalsAreLoggedOnce() throws Exception {
    Path store = Versions.byHand(folder.resolve("logged"), "v1", "v2");
    Versions.point(store, "v1\n");
    ReloadOptions options = QUICK.withPoll(Duration.ofHours(1));
    try (ReloadingDatabase database = ReloadingDatabase.open(store, options)) {
      assertThat(get(database)).isEqualTo("v1");
      assertThat(Logged.lines(store.toString())).isEmpty();
      Versions.point(store, "v2\n");
      assertThat(database.reload()).isTrue();
      Versions.point(store, "v3\n");
      for (int i = 0; i < 3; i++) {
        assertThatThrownBy(database::reload).hasMessageContaining("v3");
      }
      assertThat(get(database)).isEqualTo("v2");
    }
    List<String> lines = Logged.lines(store.toString());
    assertThat(lines).hasSize(2);
    assertThat(lines.get(0)).startsWith("INFO " + store + ": version v2 is live, replacing v1");
    assertThat(lines.get(1))
        .startsWith("WARN " + store + ": version v3 is refused, v2 keeps serving: ");
  }

  @Test
  void aVersionThatIsNotThereIsPublishedOrRolledBackNotBuilt() throws Exception {
    Path store = Versions.byHand(folder.resolve("store"), "v1");
    Versions.point(store, "gone\n");
    String[] tips = {"gone", "bsdb publish DB " + store, "bsdb rollback " + store + " VERSION"};
    for (Preload preload : Preload.values()) {
      assertThatThrownBy(() -> ReloadingDatabase.open(store, QUICK.withPreload(preload)))
          .isInstanceOf(FileSystemException.class)
          .hasMessageContainingAll(tips)
          .hasMessageNotContaining("build");
    }
    Versions.point(store, "v1\n");
    try (ReloadingDatabase database = ReloadingDatabase.open(store, QUICK)) {
      Versions.point(store, "gone\n");
      assertThatThrownBy(database::reload).hasMessageContainingAll(tips);
      Refusal refused = database.refused();
      assertThat(refused).isNotNull();
      assertThat(refused.reason()).contains(tips).doesNotContain("build");
    }
  }

  @Test
  void aLinkNamesAVersionToo() throws Exception {
    Path store = Versions.byHand(folder.resolve("store"), "v1", "v2");
    Files.delete(store.resolve("CURRENT"));
    Files.createSymbolicLink(store.resolve("CURRENT"), Path.of("v1"));
    try (ReloadingDatabase database = ReloadingDatabase.open(store, QUICK)) {
      assertThat(get(database)).isEqualTo("v1");
      Files.createSymbolicLink(store.resolve("next"), Path.of("v2"));
      Files.move(store.resolve("next"), store.resolve("CURRENT"), StandardCopyOption.ATOMIC_MOVE);
      await(() -> get(database).equals("v2"));
    }
  }

  @Test
  void reloadLooksAtOnceAndTells() throws Exception {
    Path store = Versions.byHand(folder.resolve("store"), "v1", "v2");
    Versions.point(store, "v1\n");
    ReloadingDatabase database = ReloadingDatabase.open(store, QUICK.withPoll(Duration.ofHours(1)));
    assertThat(database.reload()).isFalse();
    Versions.point(store, "v2"); // a person who asks has written to the end
    assertThat(database.reload()).isTrue();
    assertThat(get(database)).isEqualTo("v2");
    Versions.point(store, "v3\n");
    assertThatThrownBy(database::reload)
        .isInstanceOf(IOException.class)
        .hasMessageContaining("v3")
        .hasMessageContaining("no such directory");
    assertThat(database.refused()).isNotNull();
    assertThat(database.refused().version()).isEqualTo("v3");
    Files.delete(store.resolve("CURRENT"));
    assertThatThrownBy(database::reload).hasMessageContaining("names no version");
    Versions.point(store, "v2\n");
    assertThat(database.reload()).isFalse();
    assertThat(database.refused()).isNull();
    database.close();
    database.close();
    assertThatThrownBy(database::reload).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(database::acquire).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void whatIsHalfCopiedIsRefusedUntilItIsWhole() throws Exception {
    Path store = Versions.byHand(folder.resolve("store"), "v1");
    Path whole = Versions.build(folder.resolve("whole"), "v2");
    List<Refusal> refusals = new ArrayList<>();
    ReloadListener listener =
        new ReloadListener() {
          @Override
          public void refused(Refusal refusal) {
            synchronized (refusals) {
              refusals.add(refusal);
            }
          }
        };
    try (ReloadingDatabase database = ReloadingDatabase.open(store, QUICK.withListener(listener))) {
      Versions.point(store, "v2\n");
      await(() -> refusedFor(database, "no such directory"));
      Path half = Files.createDirectory(store.resolve("v2"));
      Path manifest = whole.resolve("manifest.bsdb");
      Files.copy(manifest, half.resolve("manifest.bsdb"));
      await(() -> refusedFor(database, "missing, although the manifest lists it"));
      List<Path> files = DurableFiles.list(whole);
      for (Path file : files) {
        if (!file.equals(manifest)) {
          byte[] bytes = Files.readAllBytes(file);
          Path target = half.resolve(DurableFiles.name(file));
          Files.write(target, Arrays.copyOf(bytes, bytes.length / 2));
        }
      }
      await(() -> refusedFor(database, "the file was not copied whole"));
      assertThat(get(database)).isEqualTo("v1");
      for (Path file : files) {
        Path target = half.resolve(DurableFiles.name(file));
        Files.copy(file, target, StandardCopyOption.REPLACE_EXISTING);
      }
      await(() -> get(database).equals("v2"));
      assertThat(database.refused()).isNull();
    }
    synchronized (refusals) {
      assertThat(refusals).extracting(Refusal::version).containsOnly("v2");
      assertThat(refusals).hasSizeBetween(3, 20); // not one for every look
    }
  }

  private static boolean refusedFor(ReloadingDatabase database, String reason) {
    Refusal refusal = database.refused();
    return refusal != null && refusal.reason().contains(reason);
  }

  @Test
  void aPointerThatNamesNothingChangesNothing() throws Exception {
    Path store = Versions.byHand(folder.resolve("store"), "v1", "v2");
    try (ReloadingDatabase database = ReloadingDatabase.open(store, QUICK)) {
      for (String text : List.of("", "\n", "../v1\n", ".lock\n", "CURRENT\n")) {
        Versions.point(store, text);
        await(() -> refusedFor(database, "names no version"));
        assertThat(get(database)).as("served at \"%s\"", text).isEqualTo("v2");
        Versions.point(store, "v2\n");
        await(() -> database.refused() == null);
      }
      assertThat(database.swaps()).isZero();
    }
  }

  @Test
  void aVersionThatIsServedClearsARefusal() throws Exception {
    Path store = Versions.byHand(folder.resolve("store"), "v1");
    try (ReloadingDatabase database = ReloadingDatabase.open(store, QUICK)) {
      Versions.point(store, "v2\n");
      await(() -> database.refused() != null);
      Versions.point(store, "v1\n");
      await(() -> database.refused() == null);
      assertThat(database.swaps()).isZero();
    }
  }

  @Test
  void aPlainDatabaseThatIsReplacedInPlace() throws Exception {
    Path plain = Versions.build(folder.resolve("plain"), "one");
    try (ReloadingDatabase database = ReloadingDatabase.open(plain, QUICK)) {
      assertThat(database.followsStore()).isFalse();
      String first;
      try (Lease lease = database.acquire()) {
        first = lease.version();
        assertThat(first).isEqualTo(lease.database().statistics().databaseId());
        Versions.build(plain, "two");
        await(() -> get(database).equals("two"));
        assertThat(lease.database().get(Truth.utf8("key-9"))).isEqualTo(Truth.utf8("one"));
      }
      try (Lease lease = database.acquire()) {
        assertThat(lease.version()).isNotEqualTo(first);
      }
      Versions.build(plain, "two"); // the same again is no other version
      assertThat(database.reload()).isFalse();
      assertThat(database.swaps()).isEqualTo(1);
      Files.move(plain, folder.resolve("away"));
      await(() -> database.refused() != null);
      assertThat(database.refused().version()).isEqualTo("plain");
      assertThat(get(database)).isEqualTo("two");
      Files.move(folder.resolve("away"), plain);
      await(() -> database.refused() == null);
    }
  }

  @Test
  void aVersionThatIsReplacedUnderItsName() throws Exception {
    Path store = Versions.byHand(folder.resolve("store"), "v1");
    try (ReloadingDatabase database = ReloadingDatabase.open(store, QUICK)) {
      Versions.build(store.resolve("v1"), "another v1");
      await(() -> get(database).equals("another v1"));
    }
  }

  @Test
  void everyPreloadServesTheSame() throws Exception {
    Path store = Versions.byHand(folder.resolve("store"), "v1", "v2");
    for (Preload preload : Preload.values()) {
      Versions.point(store, "v1\n");
      try (ReloadingDatabase database = ReloadingDatabase.open(store, QUICK.withPreload(preload))) {
        Versions.point(store, "v2\n");
        await(() -> get(database).equals("v2"));
        Files.move(store.resolve("v1/manifest.bsdb"), store.resolve("v1/gone"));
        Versions.point(store, "v1\n");
        await(() -> database.refused() != null);
        Files.move(store.resolve("v1/gone"), store.resolve("v1/manifest.bsdb"));
        await(() -> get(database).equals("v1"));
      }
    }
  }

  @Test
  void aListenerThatThrowsStopsNothing() throws Exception {
    Path store = Versions.byHand(folder.resolve("store"), "v1", "v2");
    AtomicInteger calls = new AtomicInteger();
    AtomicReference<Throwable> uncaught = new AtomicReference<>();
    Thread.UncaughtExceptionHandler before = Thread.getDefaultUncaughtExceptionHandler();
    Thread.setDefaultUncaughtExceptionHandler((thread, failure) -> uncaught.set(failure));
    ReloadListener throwing =
        new ReloadListener() {
          @Override
          public void opened(String version, Duration took) {
            fail();
          }

          @Override
          public void refused(Refusal refusal) {
            fail();
          }

          @Override
          public void closed(String version, @Nullable IOException failure) {
            fail();
          }

          private void fail() {
            calls.incrementAndGet();
            throw new IllegalStateException("a listener's mistake");
          }
        };
    try (ReloadingDatabase database = ReloadingDatabase.open(store, QUICK.withListener(throwing))) {
      Versions.pointAtOnce(store, "v9\n");
      await(() -> database.refused() != null);
      Versions.pointAtOnce(store, "v1\n");
      await(() -> get(database).equals("v1"));
      await(() -> calls.get() == 3); // refused, opened, closed
      assertThat(uncaught.get()).hasMessage("a listener's mistake");
    } finally {
      Thread.setDefaultUncaughtExceptionHandler(before);
    }
    assertThat(calls).hasValue(4);
  }

  @Test
  void aListenerMustNotWaitForItself() throws Exception {
    Path store = Versions.byHand(folder.resolve("store"), "v1", "v2");
    AtomicReference<ReloadingDatabase> self = new AtomicReference<>();
    Set<String> refusals = ConcurrentHashMap.newKeySet();
    ReloadListener asking =
        new ReloadListener() {
          @Override
          public void opened(String version, Duration took) {
            try {
              self.get().reload();
            } catch (IllegalStateException | IOException e) {
              refusals.add(String.valueOf(e.getMessage()));
            }
            try {
              self.get().close();
            } catch (IllegalStateException e) {
              refusals.add(String.valueOf(e.getMessage()));
            }
          }
        };
    try (ReloadingDatabase database = ReloadingDatabase.open(store, QUICK.withListener(asking))) {
      self.set(database);
      Versions.point(store, "v1\n");
      await(() -> !refusals.isEmpty());
    }
    assertThat(refusals).containsExactly("a listener must not wait for the thread that called it");
  }

  @Test
  void whatCannotBeServedIsRefusedInWords() throws Exception {
    Path file = Files.writeString(folder.resolve("file"), "x");
    Path empty = Files.createDirectory(folder.resolve("empty"));
    Path headless = Versions.byHand(folder.resolve("headless"), "v1", "v2");
    Files.delete(headless.resolve("CURRENT"));
    Path pointless = Versions.byHand(folder.resolve("pointless"), "v1");
    Versions.point(pointless, "");
    Path wrong = Versions.byHand(folder.resolve("wrong"), "v1");
    Versions.point(wrong, "v2\n");
    refuses(folder.resolve("nowhere"), "no such directory", "bsdb build", "bsdb publish");
    refuses(file, "is not a directory");
    refuses(empty, "is neither a database nor a store", "bsdb publish DB STORE");
    refuses(headless, "it has no CURRENT", "bsdb rollback " + headless + " VERSION");
    refuses(pointless, "CURRENT", "names no version");
    refuses(wrong, "v2", "no such directory");
  }

  private static void refuses(Path directory, String... words) {
    assertThatThrownBy(() -> ReloadingDatabase.open(directory, QUICK))
        .isInstanceOf(FileSystemException.class)
        .hasMessageContainingAll(words);
  }

  @Test
  void aValueReaderKeepsItsVersionAndCannotCloseIt() throws Exception {
    Path store = folder.resolve("store");
    Versions.byHand(store, "v1");
    byte[] key = Truth.utf8("key-7");
    try (ReloadingDatabase database = ReloadingDatabase.open(store, QUICK)) {
      String found =
          database.read(
              key,
              value -> {
                assertThatThrownBy(database::close).isInstanceOf(IllegalStateException.class);
                Versions.byHand(store, "v2");
                database.reload();
                assertThat(get(database)).isEqualTo("v2");
                return UTF_8.decode(value).toString();
              });
      assertThat(found).isEqualTo("v1");
      assertThat(database.<String>read(key, value -> UTF_8.decode(value).toString()))
          .isEqualTo("v2");
      assertThat(database.<String>read(Truth.utf8("absent"), value -> "called")).isNull();
    }
    for (int attempt = 0; attempt < 3000 && !Leaks.mappings(folder).isEmpty(); attempt++) {
      System.gc(); // on Java 17 to 21 it unmaps what was shown
      TimeUnit.MILLISECONDS.sleep(20);
    }
  }

  @Test
  void aClosedLeaseGivesNothing() throws Exception {
    Path store = Versions.byHand(folder.resolve("store"), "v1");
    try (ReloadingDatabase database = ReloadingDatabase.open(store, QUICK)) {
      Lease lease = database.acquire();
      lease.close();
      lease.close();
      assertThatThrownBy(lease::database).isInstanceOf(IllegalStateException.class);
      assertThatThrownBy(lease::version).isInstanceOf(IllegalStateException.class);
    }
  }

  @Test
  void closeWaitsForLeases() throws Exception {
    Path store = Versions.byHand(folder.resolve("store"), "v1");
    ReloadingDatabase database = ReloadingDatabase.open(store, QUICK);
    Lease lease = database.acquire();
    Thread closer = new Thread(database::close);
    closer.start();
    await(() -> refusesLeases(database));
    assertThat(lease.database().get(Truth.utf8("key-1"))).isEqualTo(Truth.utf8("v1"));
    closer.interrupt(); // changes nothing
    closer.join(50);
    assertThat(closer.isAlive()).isTrue();
    lease.close();
    closer.join();
  }

  private static boolean refusesLeases(ReloadingDatabase database) {
    try {
      database.acquire().close();
      return false;
    } catch (IllegalStateException e) {
      return true;
    }
  }

  /**
   * Threads lease as quickly as they can while versions are swapped a thousand times: every answer
   * of a lease is of its version, and every version that was replaced is closed once.
   */
  @Test
  void swapsUnderLoad() throws Exception {
    int swaps = 1000;
    Path store = Versions.byHand(folder.resolve("store"), "a", "b");
    AtomicInteger closed = new AtomicInteger();
    AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
    ReloadListener counting =
        new ReloadListener() {
          @Override
          public void closed(String version, @Nullable IOException why) {
            closed.incrementAndGet();
            if (why != null) {
              failure.set(why);
            }
          }
        };
    AtomicInteger answers = new AtomicInteger();
    CountDownLatch stop = new CountDownLatch(1);
    List<Thread> threads = new ArrayList<>();
    ReloadingDatabase database =
        ReloadingDatabase.open(store, QUICK.withPoll(Duration.ofHours(1)).withListener(counting));
    try (database) {
      for (int i = 0; i < 2; i++) {
        boolean batches = i == 1;
        Thread thread =
            new Thread(
                () -> {
                  try {
                    while (stop.getCount() > 0) {
                      askOnce(database, batches);
                      answers.incrementAndGet();
                      LockSupport.parkNanos(1); // the cores are needed for swapping, too
                    }
                  } catch (Throwable e) {
                    failure.compareAndSet(null, e);
                  }
                });
        thread.start();
        threads.add(thread);
      }
      for (int i = 0; i < swaps; i++) {
        Versions.point(store, (i % 2 == 0 ? "a" : "b") + "\n");
        assertThat(database.reload()).isTrue();
        int before = answers.get();
        while (i % 100 == 0 && answers.get() == before && failure.get() == null) {
          Thread.onSpinWait();
        }
      }
      stop.countDown();
      for (Thread thread : threads) {
        thread.join();
      }
      assertThat(database.swaps()).isEqualTo(swaps);
    }
    assertThat(failure.get()).isNull();
    assertThat(closed).hasValue(swaps + 1);
    assertThat(answers.get()).isPositive();
  }

  private static void askOnce(ReloadingDatabase database, boolean batch) throws IOException {
    try (Lease lease = database.acquire()) {
      List<byte[]> keys =
          IntStream.range(0, 5).mapToObj(i -> Truth.utf8("key-" + (i * 17))).toList();
      List<byte[]> values = new ArrayList<>();
      if (batch) {
        values.addAll(lease.database().getAll(keys));
      } else {
        for (byte[] key : keys) {
          values.add(lease.database().get(key));
        }
      }
      for (byte[] value : values) {
        if (!new String(value, UTF_8).equals(lease.version())) {
          throw new AssertionError(lease.version() + " gave " + new String(value, UTF_8));
        }
      }
    }
  }
}
