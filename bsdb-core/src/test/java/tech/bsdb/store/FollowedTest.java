package tech.bsdb.store;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static tech.bsdb.store.ReloadingDatabaseTest.await;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tech.bsdb.Leaks;
import tech.bsdb.Truth;
import tech.bsdb.io.Uninterrupted;
import tech.bsdb.mirror.FolderRanges;
import tech.bsdb.remote.ChangedException;
import tech.bsdb.remote.RangeServer;
import tech.bsdb.remote.RangeServer.Fault;
import tech.bsdb.remote.RemoteOptions;

/** Stores and databases are followed elsewhere as in a directory here. */
@Timeout(value = 240, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class FollowedTest {
  private static final ReloadOptions QUICK =
      ReloadOptions.defaults().withPoll(Duration.ofMillis(5));

  /** Looks for another version only when it is asked to. */
  private static final ReloadOptions SLOW = QUICK.withPoll(Duration.ofHours(1));

  @TempDir Path folder;

  @AfterEach
  void nothingIsHeld() throws Exception {
    Leaks.assertNone(folder);
  }

  private RemoteOptions options() {
    return RemoteOptions.defaults()
        .withCache(folder.resolve("cache"))
        .withMemoryBytes(0)
        .withAttempts(1)
        .withDeadline(Duration.ofSeconds(60));
  }

  private ReloadingDatabase open(Path directory, boolean distant, ReloadOptions reload)
      throws IOException {
    return distant
        ? ReloadingDatabase.open(new FolderRanges(directory), options(), reload)
        : ReloadingDatabase.open(directory, reload);
  }

  private static String get(ReloadingDatabase database) throws IOException {
    byte[] value = database.get(Truth.utf8("key-7"));
    return value == null ? "absent" : new String(value, UTF_8);
  }

  private static String refusal(ReloadingDatabase database) {
    Refusal refusal = database.refused();
    return refusal == null ? "" : refusal.version() + "|" + refusal.reason();
  }

  private static void delete(Path tree) throws IOException {
    try (Stream<Path> files = Files.walk(tree)) {
      for (Path file : files.sorted(java.util.Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aStoreIsFollowedForthAndBack(boolean distant) throws Exception {
    Path store = Versions.byHand(folder.resolve("store"), "v1", "v2");
    Versions.pointAtOnce(store, "v1\n");
    try (ReloadingDatabase database = open(store, distant, QUICK)) {
      assertThat(database.followsStore()).isTrue();
      assertThat(database.directory()).isEqualTo(distant ? null : store);
      assertThat(get(database)).isEqualTo("v1");
      try (Lease lease = database.acquire()) {
        assertThat(lease.version()).isEqualTo("v1");
        Versions.pointAtOnce(store, "v2\n");
        await(() -> get(database).equals("v2"));
        assertThat(lease.database().get(Truth.utf8("key-1"))).isEqualTo(Truth.utf8("v1"));
      }
      Versions.pointAtOnce(store, "v1"); // without a line's end
      await(() -> get(database).equals("v1"));
      await(() -> database.swaps() == 2); // counted after the version is served
      assertThat(database.refused()).isNull();
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aVersionThatCannotBeOpenedKeepsTheOneBefore(boolean distant) throws Exception {
    Path store = Versions.byHand(folder.resolve("store"), "v1", "v2");
    Versions.pointAtOnce(store, "v1\n");
    try (ReloadingDatabase database = open(store, distant, QUICK)) {
      Versions.pointAtOnce(store, "gone\n");
      await(() -> refusal(database).startsWith("gone|" + database.location() + "/gone"));
      assertThat(get(database)).isEqualTo("v1");
      Path manifest = store.resolve("v2/manifest.bsdb");
      byte[] sound = Files.readAllBytes(manifest);
      byte[] damaged = sound.clone();
      damaged[sound.length / 2] ^= 1;
      Files.write(manifest, damaged);
      Versions.pointAtOnce(store, "v2\n");
      String file = database.location() + "/v2/manifest.bsdb";
      await(() -> refusal(database).startsWith("v2|" + file));
      assertThatThrownBy(database::reload).hasMessageContaining(file);
      assertThat(get(database)).isEqualTo("v1");
      assertThat(database.swaps()).isZero();
      Files.write(manifest, sound);
      await(() -> get(database).equals("v2"));
      await(() -> database.refused() == null);
      Versions.pointAtOnce(store, "\n");
      await(() -> refusal(database).endsWith("/CURRENT: names no version"));
      assertThat(get(database)).isEqualTo("v2");
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aPlainDatabaseIsReplacedInPlace(boolean distant) throws Exception {
    Path place = Versions.build(folder.resolve("rdb"), "old");
    try (ReloadingDatabase database = open(place, distant, QUICK)) {
      assertThat(database.followsStore()).isFalse();
      assertThat(get(database)).isEqualTo("old");
      Versions.build(place, "new");
      await(() -> database.swaps() == 1);
      assertThat(get(database)).isEqualTo("new");
      await(() -> database.refused() == null);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void whatIsNeitherIsRefused(boolean distant) throws Exception {
    Files.createDirectory(folder.resolve("none"));
    assertThatThrownBy(() -> open(folder.resolve("none"), distant, QUICK))
        .isInstanceOf(NotDirectoryException.class)
        .hasMessageContaining(" is neither ");
  }

  @Test
  void looksAndSwapsTakeFewRequests() throws Exception {
    Path store = Versions.byHand(folder.resolve("store"), "v1", "v2");
    Versions.pointAtOnce(store, "v1\n");
    FolderRanges origin = new FolderRanges(store);
    try (ReloadingDatabase database = ReloadingDatabase.open(origin, options(), SLOW)) {
      assertThat(origin.requests).containsEntry("CURRENT", 1).containsEntry("v1/manifest.bsdb", 1);
      assertThat(origin.requests.values()).containsOnly(1);
      assertThat(origin.requests()).isLessThanOrEqualTo(5);
      assertThat(database.reload()).isFalse();
      assertThat(origin.requests).isEqualTo(Map.of("CURRENT", 1));
      origin.requests();
      Versions.pointAtOnce(store, "v2\n");
      assertThat(database.reload()).isTrue();
      assertThat(origin.requests).containsEntry("CURRENT", 1).containsEntry("v2/manifest.bsdb", 1);
      assertThat(origin.requests.values()).containsOnly(1);
      assertThat(origin.requests()).isLessThanOrEqualTo(5);
      Versions.pointAtOnce(store, "v1\n"); // whose small files are here
      assertThat(database.reload()).isTrue();
      assertThat(origin.requests).isEqualTo(Map.of("CURRENT", 1, "v1/manifest.bsdb", 1));
    }
    Path plain = Versions.build(folder.resolve("rdb"), "plain");
    FolderRanges single = new FolderRanges(plain);
    try (ReloadingDatabase database = ReloadingDatabase.open(single, options(), SLOW)) {
      assertThat(single.requests()).isLessThanOrEqualTo(6);
      assertThat(database.reload()).isFalse();
      assertThat(single.requests).isEqualTo(Map.of("manifest.bsdb", 1));
    }
  }

  @Test
  void requestsOfAllVersionsAreCounted() throws Exception {
    Path store = Versions.byHand(folder.resolve("store"), "v1", "v2");
    Versions.pointAtOnce(store, "v1\n");
    FolderRanges origin = new FolderRanges(store);
    try (ReloadingDatabase database = ReloadingDatabase.open(origin, options(), SLOW)) {
      get(database);
      Versions.pointAtOnce(store, "v2\n");
      assertThat(database.reload()).isTrue();
      get(database);
      assertThat(database.remoteTraffic().requests()).isEqualTo(origin.requests());
      assertThat(database.remoteTraffic().bytes()).isPositive();
    }
    try (ReloadingDatabase database = open(store, false, SLOW)) {
      assertThat(database.remoteTraffic()).isNull();
    }
  }

  @Test
  void aVersionThatWasRemovedIsNoticedByItsReaders() throws Exception {
    Path store = Versions.byHand(folder.resolve("store"), "v1", "v2");
    Versions.pointAtOnce(store, "v1\n");
    try (ReloadingDatabase database = open(store, true, SLOW)) {
      delete(store.resolve("v1"));
      assertThatThrownBy(() -> get(database)).isInstanceOf(NoSuchFileException.class);
      database.checkSoon();
      await(() -> refusal(database).contains("push it again"));
      assertThat(refusal(database)).startsWith("v1|" + database.location() + "/v1: ");
      Versions.pointAtOnce(store, "v2\n");
      database.checkSoon();
      await(() -> database.swaps() == 1);
      assertThat(get(database)).isEqualTo("v2");
      assertThat(database.refused()).isNull();
    }
  }

  @Test
  void aReaderThatErredChangesNothing() throws Exception {
    Path store = Versions.byHand(folder.resolve("store"), "v1");
    FolderRanges origin = new FolderRanges(store);
    try (ReloadingDatabase database = ReloadingDatabase.open(origin, options(), SLOW)) {
      origin.requests();
      database.checkSoon();
      await(() -> origin.requests.equals(Map.of("CURRENT", 1, "v1/manifest.bsdb", 1)));
      assertThat(database.reload()).isFalse();
      assertThat(database.swaps()).isZero();
      assertThat(database.refused()).isNull();
    }
  }

  @Test
  void anOriginThatCannotBeReachedIsReportedUntilItCan() throws Exception {
    Path store = Versions.byHand(folder.resolve("store"), "v1");
    FolderRanges origin = new FolderRanges(store);
    try (ReloadingDatabase database = ReloadingDatabase.open(origin, options(), QUICK)) {
      origin.before =
          (file, from) -> {
            if (file.equals("CURRENT")) {
              throw new IOException("no route");
            }
          };
      await(() -> refusal(database).equals("|" + database.location() + "/CURRENT: no route"));
      assertThat(get(database)).isEqualTo("v1");
      origin.before = (file, from) -> {};
      await(() -> database.refused() == null);
    }
  }

  @Test
  void closingDoesNotWaitForAnOriginThatHangs() throws Exception {
    Path store = Versions.byHand(folder.resolve("store"), "v1");
    FolderRanges origin = new FolderRanges(store);
    CountDownLatch hangs = new CountDownLatch(1);
    CountDownLatch never = new CountDownLatch(1);
    try (ReloadingDatabase database = ReloadingDatabase.open(origin, options(), QUICK)) {
      assertThat(get(database)).isEqualTo("v1");
      origin.before =
          (file, from) -> {
            hangs.countDown();
            try {
              never.await();
            } catch (InterruptedException e) {
              Thread.currentThread().interrupt();
              throw new InterruptedIOException("interrupted");
            }
          };
      hangs.await();
    }
  }

  /** Somebody uploads the same version again: other tags, same id. */
  @Test
  void aVersionThatWasReplacedByItselfIsOpenedAgain() throws Exception {
    Versions.byHand(folder.resolve("store"), "v1");
    try (RangeServer server = RangeServer.of(folder);
        ReloadingDatabase database =
            ReloadingDatabase.open(server.uri().resolve("store"), options(), SLOW)) {
      assertThat(get(database)).isEqualTo("v1");
      server.rule(request -> Fault.none().tag("\"other\""));
      assertThatThrownBy(() -> get(database)).isInstanceOf(ChangedException.class);
      database.reopenSoon();
      await(() -> database.swaps() == 1);
      assertThat(get(database)).isEqualTo("v1");
      assertThat(database.refused()).isNull();
    }
  }

  @Test
  void addressesAreFollowed() throws Exception {
    Versions.byHand(folder.resolve("store"), "v1", "v2");
    try (RangeServer server = RangeServer.of(folder)) {
      URI location = server.uri().resolve("store");
      try (ReloadingDatabase database = ReloadingDatabase.open(location, options(), QUICK)) {
        assertThat(database.location()).isEqualTo(location.toString());
        assertThat(get(database)).isEqualTo("v2");
        Versions.pointAtOnce(folder.resolve("store"), "v1\n");
        await(() -> get(database).equals("v1"));
      }
    }
    URI here = folder.resolve("store").toUri();
    try (ReloadingDatabase database = ReloadingDatabase.open(here, options(), QUICK)) {
      assertThat(database.directory()).isEqualTo(folder.resolve("store"));
    }
  }

  @Test
  void nothingElsewhereIsPreloadedUnlessPagesAreKept() throws Exception {
    Path store = Versions.byHand(folder.resolve("store"), "v1");
    assertThatThrownBy(() -> open(store, true, QUICK.withPreload(Preload.ALL)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("pageBytes");
  }

  /** Each version is brought to disk while it serves; lookups then need no requests. */
  @Test
  void versionsElsewhereArePreloadedBesideLookups() throws Exception {
    Path store = Versions.byHand(folder.resolve("store"), "v1", "v2");
    Versions.pointAtOnce(store, "v1\n");
    FolderRanges origin = new FolderRanges(store);
    CountDownLatch goesOn = new CountDownLatch(1);
    List<String> done = new CopyOnWriteArrayList<>();
    ReloadListener listener =
        new ReloadListener() {
          @Override
          public void preloading(String version, long bytes, long all) {
            done.add(version + (bytes == 0 ? " begins" : bytes == all ? " ends" : ""));
            if (bytes == 0) {
              Uninterrupted.until(() -> goesOn.getCount() == 0, goesOn::await);
            }
          }
        };
    ReloadOptions reload = SLOW.withPreload(Preload.ALL).withListener(listener);
    RemoteOptions options = options().withPageBytes(4 << 20);
    try (ReloadingDatabase database = ReloadingDatabase.open(origin, options, reload)) {
      assertThat(get(database)).isEqualTo("v1");
      await(() -> done.equals(List.of("v1 begins")));
      await(() -> !Leaks.threads().contains("bsdb-pages")); // the page of that lookup is written
      goesOn.countDown();
      await(() -> done.contains("v1 ends"));
      origin.requests();
      for (int i = 0; i < 200; i++) {
        assertThat(database.get(Truth.utf8("key-" + i))).isEqualTo(Truth.utf8("v1"));
      }
      assertThat(origin.requests()).isZero();
      Versions.pointAtOnce(store, "v2\n");
      assertThat(database.reload()).isTrue();
      await(() -> done.contains("v2 ends"));
      origin.requests();
      assertThat(get(database)).isEqualTo("v2");
      assertThat(origin.requests()).isZero();
    }
  }
}
