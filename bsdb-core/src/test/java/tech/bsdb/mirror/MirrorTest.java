package tech.bsdb.mirror;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tech.bsdb.BuildOptions;
import tech.bsdb.Database;
import tech.bsdb.Fork;
import tech.bsdb.Layout;
import tech.bsdb.Leaks;
import tech.bsdb.Seeds;
import tech.bsdb.Truth;
import tech.bsdb.remote.RemoteOptions;

/** What an origin offers, and the copies of small files that processes share. */
@Timeout(value = 240, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class MirrorTest {
  @TempDir Path directory;

  private final SplittableRandom random = Seeds.random("MirrorTest");
  private final Truth truth = Truth.random(random, 200, 30);

  private Path cache() {
    return directory.resolve("cache");
  }

  private RemoteOptions options() {
    return RemoteOptions.defaults().withCache(cache()).withAttempts(2);
  }

  @AfterEach
  void nothingIsHeld() throws Exception {
    Leaks.assertNone(directory);
  }

  private Path build(String name, Layout layout) throws IOException {
    Path there = directory.resolve(name);
    BuildOptions options = BuildOptions.defaults().withLayout(layout);
    truth.build(there, options.withSeed(name.hashCode()));
    return there;
  }

  private void check(FolderRanges origin) throws IOException {
    try (Database database = Database.open(origin, options())) {
      truth.checkGets(database);
    }
  }

  private static String id(Path database) throws IOException {
    return Database.statistics(database).databaseId();
  }

  /** The copy of a file of a kind, in the only database of the cache. */
  private Path copy(String kind) throws IOException {
    return cache()
        .resolve(
            tree().stream().filter(name -> name.contains("/" + kind)).findFirst().orElseThrow());
  }

  private List<String> tree() throws IOException {
    return Leaks.tree(cache()).stream()
        .filter(name -> !Files.isDirectory(cache().resolve(name)))
        .toList();
  }

  private static void write(Path file, String text) throws IOException {
    Files.createDirectories(file.getParent());
    Files.writeString(file, text, StandardCharsets.UTF_8);
  }

  /** A store whose current version is a database. */
  private Path store(String... versions) throws IOException {
    for (String version : versions) {
      build("store/" + version, Layout.PACKED);
    }
    Path store = directory.resolve("store");
    write(store.resolve("CURRENT"), String.join("\n", versions) + "\n");
    return store;
  }

  @Test
  void theCurrentVersionOfAStoreIsOpenedWithFourRequests() throws Exception {
    FolderRanges origin = new FolderRanges(store("v2", "v1"));
    check(origin);
    Leaks.assertNone(directory); // the requests of the first open have ended
    origin.requests();
    try (Database database = Database.open(origin, options().withCache(directory.resolve("new")))) {
      assertThat(origin.requests()).isBetween(3L, 4L); // that of the manifest may come too late
      assertThat(database.statistics().location()).isEqualTo(FolderRanges.LOCATION + "/v2");
      assertThat(database.statistics().databaseId()).isEqualTo(id(directory.resolve("store/v2")));
    }
    write(directory.resolve("store/CURRENT"), "v1\n");
    try (Database database = Database.open(origin, options())) {
      assertThat(database.statistics().databaseId()).isEqualTo(id(directory.resolve("store/v1")));
    }
  }

  @Test
  void aPointerThatIsDeniedIsMissingIfThereIsAManifest() throws Exception {
    FolderRanges origin = new FolderRanges(build("rdb", Layout.PACKED));
    origin.before =
        (file, from) -> {
          if (!Files.exists(directory.resolve("rdb").resolve(file))) {
            throw new AccessDeniedException(FolderRanges.LOCATION + "/" + file);
          }
        };
    check(origin);
    Files.delete(directory.resolve("rdb/manifest.bsdb"));
    assertThatThrownBy(() -> check(origin)).isInstanceOf(AccessDeniedException.class);
  }

  @Test
  void whatIsNeitherStoreNorDatabaseIsReported() throws Exception {
    Files.createDirectories(directory.resolve("empty"));
    FolderRanges origin = new FolderRanges(directory.resolve("empty"));
    assertThatThrownBy(() -> check(origin))
        .isInstanceOf(NotDirectoryException.class)
        .hasMessageStartingWith(FolderRanges.LOCATION + " is neither");
    write(directory.resolve("empty/CURRENT"), "../v1\n");
    assertThatThrownBy(() -> check(origin))
        .isInstanceOf(IOException.class)
        .hasMessage(FolderRanges.LOCATION + "/CURRENT: names no version");
    write(directory.resolve("empty/manifest.bsdb"), "<html>");
    assertThatThrownBy(() -> check(origin))
        .isInstanceOf(NotDirectoryException.class)
        .hasMessageStartingWith(FolderRanges.LOCATION + " is neither");
    write(directory.resolve("empty/CURRENT"), "v1\n");
    assertThatThrownBy(() -> check(origin)).isInstanceOf(NoSuchFileException.class);
  }

  @Test
  void anOriginThatFailsForGoodIsReportedWithItsReason() throws Exception {
    FolderRanges origin = new FolderRanges(build("rdb", Layout.PACKED));
    origin.before =
        (file, from) -> {
          throw new IOException("the network is down");
        };
    assertThatThrownBy(() -> check(origin))
        .isInstanceOf(IOException.class)
        .hasMessage(
            FolderRanges.LOCATION + "/CURRENT: gave up after 2 attempts: the network is down");
  }

  @Test
  void aVersionThatGoesWhileItIsOpenedIsFollowedByTheNext() throws Exception {
    Path store = store("v1");
    build("store/v2", Layout.PACKED);
    FolderRanges origin = new FolderRanges(store);
    AtomicBoolean replaced = new AtomicBoolean();
    origin.before =
        (file, from) -> {
          if (file.startsWith("v1/index-") && !replaced.getAndSet(true)) {
            write(store.resolve("CURRENT"), "v2\n");
            Files.delete(store.resolve(file));
          }
        };
    try (Database database = Database.open(origin, options())) {
      truth.checkGets(database);
      assertThat(database.statistics().location()).isEqualTo(FolderRanges.LOCATION + "/v2");
    }
    assertThat(replaced).isTrue();
  }

  /** The pointer is read, then the version goes, before its manifest is asked for. */
  @Test
  void aVersionThatGoesBeforeItsManifestIsReadIsFollowedByTheNext() throws Exception {
    Path store = store("v1");
    build("store/v2", Layout.PACKED);
    FolderRanges origin = new FolderRanges(store);
    origin.before =
        (file, from) -> {
          if (file.equals("v1/manifest.bsdb")) {
            write(store.resolve("CURRENT"), "v2\n");
            Files.delete(store.resolve(file));
          }
        };
    try (Database database = Database.open(origin, options())) {
      truth.checkGets(database);
      assertThat(database.statistics().location()).isEqualTo(FolderRanges.LOCATION + "/v2");
    }
    write(store.resolve("CURRENT"), "v3\n");
    origin.requests();
    assertThatThrownBy(() -> Database.open(origin, options()))
        .isInstanceOf(NoSuchFileException.class)
        .hasMessageStartingWith(FolderRanges.LOCATION + "/v3: the store names this version, but");
    assertThat(origin.requests.get("CURRENT")).isEqualTo(2);
  }

  @Test
  void damagedCopiesAreBroughtAgain() throws Exception {
    FolderRanges origin = new FolderRanges(build("rdb", Layout.BLOCKED));
    check(origin);
    byte[] hash = Files.readAllBytes(copy("hash-"));
    byte[] manifest = Files.readAllBytes(copy("manifest"));
    Path copy = copy("hash-");
    Path ofManifest = copy("manifest");
    List<Callable<Path>> damages =
        List.of(
            () -> {
              byte[] damaged = hash.clone();
              damaged[random.nextInt(hash.length - 4096)] ^= 4;
              return Files.write(copy, damaged);
            },
            () -> Files.write(copy, new byte[0]),
            () -> Files.write(copy, java.util.Arrays.copyOf(hash, hash.length - 4096)),
            () -> Files.write(copy, new byte[hash.length]),
            () -> {
              Files.delete(copy);
              return Files.createDirectory(copy);
            },
            () -> {
              Files.delete(copy);
              return Files.createSymbolicLink(copy, directory.resolve("nowhere"));
            },
            () -> Files.write(ofManifest, new byte[100]),
            () -> {
              Files.delete(copy);
              return copy;
            });
    for (Callable<Path> damage : damages) {
      damage.call();
      origin.requests();
      check(origin);
      assertThat(Files.readAllBytes(copy)).isEqualTo(hash);
      assertThat(Files.readAllBytes(ofManifest)).isEqualTo(manifest);
    }
    origin.requests();
    check(origin);
    assertThat(origin.requests.keySet()).noneMatch(name -> name.startsWith("hash-"));
  }

  @Test
  void manyThreadsOpenAtOnce() throws Exception {
    Path there = build("rdb", Layout.BLOCKED);
    ExecutorService threads = Executors.newFixedThreadPool(8);
    try {
      List<Future<?>> all = new ArrayList<>();
      for (int i = 0; i < 8; i++) {
        all.add(
            threads.submit(
                () -> {
                  check(new FolderRanges(there));
                  return null;
                }));
      }
      for (Future<?> each : all) {
        each.get(100, TimeUnit.SECONDS);
      }
    } finally {
      threads.shutdownNow();
      assertThat(threads.awaitTermination(60, TimeUnit.SECONDS)).isTrue();
    }
    assertThat(tree()).hasSize(2).allMatch(name -> name.startsWith(idOf(there)));
  }

  private static String idOf(Path database) {
    try {
      return id(database);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  /** Opens a database again and again, with a cache that is too small for it. */
  static final class Opener {
    public static void main(String[] arguments) throws Exception {
      RemoteOptions options = RemoteOptions.defaults().withCache(Path.of(arguments[1]));
      for (int i = 0; i < 20; i++) {
        Path there = Path.of(arguments[0] + i % 2);
        try (Database database =
            Database.open(new FolderRanges(there), options.withCacheBytes(0))) {
          if (database.get(Truth.utf8("present")) == null) {
            throw new AssertionError("absent");
          }
        }
      }
      System.out.println("done");
    }
  }

  @Test
  void processesShareACacheThatEachOfThemTrims() throws Exception {
    truth.add("present", "value");
    build("rdb0", Layout.BLOCKED);
    build("rdb1", Layout.PACKED);
    List<Process> processes = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      processes.add(Fork.start(Opener.class, directory.resolve("rdb") + "", cache().toString()));
    }
    for (Process process : processes) {
      String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      assertThat(process.waitFor()).isZero();
      assertThat(output).isEqualTo("done\n");
    }
    check(new FolderRanges(directory.resolve("rdb0")));
  }

  @Test
  void theLeastRecentlyUsedDatabasesLeaveTheCache() throws Exception {
    List<Path> all = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      all.add(build("rdb" + i, Layout.PACKED));
      check(new FolderRanges(all.get(i)));
      age(all.get(i), 10 - i);
    }
    assertThat(kept()).hasSize(4);
    check(new FolderRanges(all.get(0))); // used last now
    long bytes = 0;
    for (String name : tree()) {
      bytes += Files.size(cache().resolve(name));
    }
    try (Database open = Database.open(new FolderRanges(all.get(1)), options())) {
      age(all.get(1), 20);
      try (Database last =
          Database.open(new FolderRanges(all.get(3)), options().withCacheBytes(bytes - 1))) {
        assertThat(kept()).contains(id(all.get(0)), id(all.get(1)), id(all.get(3))).hasSize(3);
        truth.checkGets(last);
      }
      try (Database none =
          Database.open(new FolderRanges(all.get(3)), options().withCacheBytes(0))) {
        assertThat(kept()).containsExactlyInAnyOrder(id(all.get(1)), id(all.get(3)));
        truth.checkGets(none);
      }
      truth.checkGets(open);
    }
    try (Database none = Database.open(new FolderRanges(all.get(3)), options().withCacheBytes(0))) {
      assertThat(kept()).containsExactly(id(all.get(3)));
      truth.checkGets(none);
    }
  }

  private void age(Path database, int hours) throws IOException {
    FileTime then = FileTime.from(Instant.now().minus(hours, ChronoUnit.HOURS));
    Files.setLastModifiedTime(cache().resolve(id(database)), then);
  }

  private List<String> kept() throws IOException {
    try (Stream<Path> all = Files.list(cache())) {
      return all.map(each -> each.getFileName().toString())
          .filter(name -> name.length() == 32)
          .toList();
    }
  }

  @Test
  void whatKilledProcessesLeftIsRemovedAndNeverUsed() throws Exception {
    Path there = build("rdb", Layout.PACKED);
    Path arriving = cache().resolve(".arriving");
    Path old = arriving.resolve("0123");
    Path tree = arriving.resolve("removed/shard-00000");
    check(new FolderRanges(there));
    Files.write(old, new byte[10]);
    Files.createDirectories(tree);
    Files.write(tree.resolve("file"), new byte[10]);
    Path young = Files.write(arriving.resolve("4567"), new byte[10]);
    FileTime before = FileTime.from(Instant.now().minus(3, ChronoUnit.DAYS));
    Files.setLastModifiedTime(old, before);
    Files.setLastModifiedTime(tree.getParent(), before);
    check(new FolderRanges(there));
    try (Stream<Path> left = Files.list(arriving)) {
      assertThat(left).containsExactly(young);
    }
  }

  @Test
  void theCacheBelongsToOneUser() throws Exception {
    Path there = build("rdb", Layout.PACKED);
    check(new FolderRanges(there));
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(cache())))
        .isEqualTo("rwx------");
    Path copies = cache().resolve(id(there));
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(copies)))
        .isEqualTo("rwx------");
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(copy("index-"))))
        .isEqualTo("rw-------");
    Files.setPosixFilePermissions(cache(), PosixFilePermissions.fromString("rwxrwx---"));
    assertThatThrownBy(() -> check(new FolderRanges(there)))
        .isInstanceOf(FileSystemException.class)
        .hasMessageContaining("others may write to this cache directory");
  }

  @Test
  void theCacheOfAUserIsWhereVariablesSay() {
    Path home = Path.of(System.getProperty("user.home"), ".cache", "bsdb");
    assertThat(CacheDirectory.ofUser(Map.of())).isEqualTo(home);
    assertThat(CacheDirectory.ofUser(Map.of("BSDB_CACHE", ""))).isEqualTo(home);
    assertThat(CacheDirectory.ofUser(Map.of("XDG_CACHE_HOME", "relative"))).isEqualTo(home);
    Map<String, String> xdg = Map.of("XDG_CACHE_HOME", "/x");
    assertThat(CacheDirectory.ofUser(xdg)).isEqualTo(Path.of("/x/bsdb"));
    Map<String, String> own = Map.of("XDG_CACHE_HOME", "/x", "BSDB_CACHE", "/y");
    assertThat(CacheDirectory.ofUser(own)).isEqualTo(Path.of("/y"));
  }
}
