package tech.bsdb.store;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tech.bsdb.BuildOptions;
import tech.bsdb.Database;
import tech.bsdb.Layout;
import tech.bsdb.Leaks;
import tech.bsdb.Seeds;
import tech.bsdb.SmallDisk;
import tech.bsdb.Truth;
import tech.bsdb.error.WrongShardException;
import tech.bsdb.format.KeySlots;
import tech.bsdb.transfer.Download;
import tech.bsdb.transfer.TransferListener;
import tech.bsdb.transfer.TransferOptions;
import tech.bsdb.transfer.TransferReport;

/** Pulls from a distant directory that may fail in every way. */
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class PullTest {
  private static final TransferOptions QUICK =
      TransferOptions.defaults().withAttempts(3, Duration.ZERO);

  @TempDir Path folder;
  private Path there;
  private Path store;
  private FolderOrigin origin;

  @BeforeEach
  void places() {
    there = folder.resolve("there");
    store = folder.resolve("store");
    origin = new FolderOrigin(there);
  }

  @AfterEach
  void nothingIsLeftOpen() throws Exception {
    Leaks.assertNone(folder);
  }

  /** 2,000 records, of which {@code changed} is the value of one. */
  private static Truth truth(String changed) {
    Truth truth = new Truth();
    SplittableRandom random = new SplittableRandom(7);
    for (int i = 0; i < 2000; i++) {
      truth.add(Truth.utf8("key-" + i), Truth.bytes(random, 60)).absent(Truth.utf8("no-" + i));
    }
    return truth.add("changed", changed);
  }

  private static Path build(Path target, String changed, int shards) throws IOException {
    truth(changed)
        .build(
            target,
            BuildOptions.defaults()
                .withLayout(Layout.BLOCKED)
                .withShards(shards)
                .withThreads(1)
                .withOverwrite(true));
    return target;
  }

  /** Pulls and returns what it did; null if there was nothing to do. */
  private TransferReport pull(TransferOptions options) throws IOException {
    try (Publication pull = Publication.pull(origin, store, PublishOptions.defaults(), options)) {
      pull.begin();
      if (pull.isCurrent()) {
        return null;
      }
      pull.copy();
      pull.verify();
      assertThat(pull.goLive(pull.current())).isTrue();
      assertThat(pull.warnings()).isEmpty();
      return Objects.requireNonNull(pull.transferred());
    }
  }

  private String current() throws IOException {
    return Store.open(store).current();
  }

  private void assertServes(String changed) throws IOException {
    try (Database database = Database.open(store.resolve(current()))) {
      truth(changed).checkGets(database);
    }
    assertThat(store.resolve(".pulling")).doesNotExist();
  }

  private static long bytes(Path directory) throws IOException {
    try (Stream<Path> all = Files.walk(directory)) {
      return all.filter(Files::isRegularFile).mapToLong(path -> path.toFile().length()).sum();
    }
  }

  private static Path file(Path directory, String part) throws IOException {
    try (Stream<Path> all = Files.walk(directory)) {
      return all.filter(path -> path.getFileName().toString().startsWith(part))
          .filter(Files::isRegularFile)
          .findFirst()
          .orElseThrow();
    }
  }

  @Test
  void aDatabaseIsPulled() throws Exception {
    build(there, "one", 1);
    AtomicLong received = new AtomicLong();
    TransferListener counting =
        new TransferListener() {
          @Override
          public void received(long bytes) {
            received.addAndGet(bytes);
          }
        };
    TransferReport done = pull(QUICK.withListener(counting));
    assertThat(received).hasValue(origin.bytes.get());
    assertThat(done.bytes()).isEqualTo(bytes(there));
    assertThat(done.files()).isEqualTo(Leaks.tree(there).size());
    assertThat(done.retries()).isZero();
    assertServes("one");
    assertThat(Store.open(store).pulled()).isEqualTo(Database.statistics(there).databaseId());
    assertThat(pull(QUICK)).isNull();
    assertThat(Versions.names(store)).hasSize(1);
  }

  @Test
  void theCurrentVersionOfAStoreIsPulledUnderItsName() throws Exception {
    Versions.publish(build(folder.resolve("a"), "one", 1), there, "v1");
    pull(QUICK);
    assertThat(current()).isEqualTo("v1");
    Versions.publish(build(folder.resolve("b"), "two", 3), there, "v2");
    pull(QUICK);
    assertThat(current()).isEqualTo("v2");
    assertServes("two");
    Store.open(there).rollback("v1");
    TransferReport back = pull(QUICK);
    assertThat(back.files()).as("it is here").isZero();
    assertThat(current()).isEqualTo("v1-2");
    assertServes("one");
  }

  @Test
  void onlyShardsThatChangedTravel() throws Exception {
    Versions.publish(build(folder.resolve("a"), "one", 8), there, "v1");
    pull(QUICK);
    Path second = build(folder.resolve("b"), "two", 8);
    Versions.publish(second, there, "v2");
    origin.opens.clear();
    origin.bytes.set(0);
    TransferReport done = pull(QUICK);
    Path changed;
    try (Stream<Path> shards = Files.list(second)) {
      changed =
          shards
              .filter(Files::isDirectory)
              .filter(shard -> !Files.exists(there.resolve("v1").resolve(shard.getFileName())))
              .reduce(
                  (a, b) -> {
                    throw new AssertionError(a + " and " + b);
                  })
              .orElseThrow();
    }
    assertThat(done.files()).isEqualTo(Leaks.tree(changed).size());
    assertThat(done.bytes()).isEqualTo(bytes(changed));
    assertThat(origin.opens.keySet())
        .filteredOn(name -> name.contains("shard-"))
        .allMatch(name -> name.contains(changed.getFileName().toString()));
    assertThat(done.reusedBytes()).isGreaterThan(3 * done.bytes());
    assertServes("two");
  }

  @Test
  void cutConnectionsAreContinuedWhereTheyEnded() throws Exception {
    build(there, "one", 3);
    long seed = Seeds.random("PullTest").nextLong();
    AtomicInteger cuts = new AtomicInteger();
    origin.fault =
        (file, from, content) -> {
          if (file.endsWith("manifest.bsdb")) { // small files are read anew
            return origin.opens.get(file) == 1 ? FolderOrigin.cut(content, 5000, true) : content;
          }
          int cut = cuts.incrementAndGet();
          int after = 4096 + new SplittableRandom(seed + cut).nextInt(20_000); // a page at least
          return FolderOrigin.cut(content, after, cut % 2 == 0);
        };
    TransferReport done = pull(QUICK);
    assertThat(done.retries()).isPositive();
    assertThat(done.bytes() - bytes(there))
        .as("parts of pages come twice, nothing else but small manifests")
        .isLessThan(done.retries() * 4 * 4096);
    assertServes("one");
  }

  @Test
  void truncatedFilesAreRefusedAndContinuedOnceTheyAreWhole() throws Exception {
    Versions.publish(build(folder.resolve("a"), "one", 1), there, "v1");
    pull(QUICK);
    Versions.publish(build(folder.resolve("b"), "two", 1), there, "v2");
    Path data = file(there.resolve("v2"), "data");
    byte[] whole = Files.readAllBytes(data);
    Files.write(data, Arrays.copyOf(whole, 4096 * 5 + 17));
    assertThatThrownBy(() -> pull(QUICK))
        .isInstanceOf(IOException.class)
        .hasMessage(
            "far://host/v2/"
                + data.getFileName()
                + ": gave up after 3 attempts: it ended after 20497 bytes, but has "
                + whole.length
                + " by its manifest");
    assertThat(current()).isEqualTo("v1");
    assertThat(Versions.names(store)).containsExactly("v1");
    Files.write(data, whole);
    origin.bytes.set(0);
    TransferReport done = pull(QUICK.withThreads(1));
    assertThat(done.resumedBytes()).isGreaterThanOrEqualTo(5 * 4096);
    assertThat(done.bytes() + done.resumedBytes()).isGreaterThanOrEqualTo(whole.length);
    assertServes("two");
  }

  @Test
  void everyDamagedPageIsFoundAsItArrives() throws Exception {
    build(there, "one", 2);
    SplittableRandom random = Seeds.random("PullTest");
    for (String name : Leaks.tree(there)) {
      Path file = there.resolve(name);
      if (!Files.isRegularFile(file)) {
        continue;
      }
      byte[] whole = Files.readAllBytes(file);
      long at = random.nextLong(whole.length);
      byte[] damaged = whole.clone();
      damaged[(int) at] ^= (byte) (1 << random.nextInt(8));
      Files.write(file, damaged);
      assertThatThrownBy(() -> pull(QUICK))
          .as("%s at %s", name, at)
          .isInstanceOf(IOException.class)
          .hasMessageStartingWith("far://host/" + name + ": gave up after 3 attempts: damaged at")
          .hasMessageNotContaining(store.toString());
      assertThat(Store.isStore(store)).isFalse();
      Files.write(file, whole);
      Download.clear(store.resolve(".pulling")); // or what arrived would not be read again
    }
    pull(QUICK);
    assertServes("one");
  }

  @Test
  void whatIsDamagedOnItsWayArrivesAgain() throws Exception {
    build(there, "one", 2);
    origin.fault =
        (file, from, content) ->
            origin.opens.get(file) == 1 ? FolderOrigin.damaged(content, 4096 * 2 + 3) : content;
    TransferReport done = pull(QUICK);
    assertThat(done.retries()).isPositive();
    assertServes("one");
  }

  /** The channel of a healthy file is closed because another file is missing. */
  @Test
  void whatIsStoppedByAnotherFailureIsNotReported() throws Exception {
    build(there, "one", 1);
    CountDownLatch reading = new CountDownLatch(1);
    origin.fault =
        (file, from, content) -> {
          if (file.startsWith("index")) {
            await(reading);
            throw new NoSuchFileException(file);
          }
          return file.startsWith("data") ? interrupted(content, reading) : content;
        };
    List<String> retries = new CopyOnWriteArrayList<>();
    TransferListener listener =
        new TransferListener() {
          @Override
          public void retrying(String location, String why, Duration pause) {
            retries.add(location + ": " + why);
          }
        };
    assertThatThrownBy(() -> pull(QUICK.withListener(listener)))
        .hasMessageContaining("missing there");
    assertThat(retries).isEmpty();
  }

  /** Content that is not read before the thread is interrupted. */
  private static InputStream interrupted(InputStream content, CountDownLatch reading) {
    return new FilterInputStream(content) {
      @Override
      public int read(byte[] into, int offset, int length) throws IOException {
        reading.countDown();
        while (!Thread.currentThread().isInterrupted()) {
          Thread.onSpinWait();
        }
        return super.read(into, offset, length);
      }
    };
  }

  private static void await(CountDownLatch latch) throws IOException {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IOException(e);
    }
  }

  /** All pages are good, but some are those of another database. */
  @Test
  void aFileMixedOfTwoIsRefused() throws Exception {
    build(there, "one", 1);
    Path other = build(folder.resolve("other"), "two", 1);
    Path data = file(there, "data");
    byte[] whole = Files.readAllBytes(data);
    byte[] mixed = Files.readAllBytes(file(other, "data"));
    assertThat(mixed.length).isEqualTo(whole.length);
    System.arraycopy(whole, 0, mixed, 0, 4096);
    System.arraycopy(whole, whole.length - 4096, mixed, whole.length - 4096, 4096);
    Files.write(data, mixed);
    assertThatThrownBy(() -> pull(QUICK)).hasMessageContaining("expected digest");
    Files.write(data, whole);
    pull(QUICK);
    assertServes("one");
  }

  @Test
  void pagesThatWereLeftDamagedArriveAgain() throws Exception {
    build(there, "one", 1);
    origin.fault = (file, from, content) -> file.startsWith("index") ? fail("down") : content;
    // one thread: the records are there before the index is asked for
    assertThatThrownBy(() -> pull(QUICK.withThreads(1))).hasMessageContaining("down");
    Path left = file(store.resolve(".pulling"), "data");
    byte[] bytes = Files.readAllBytes(left);
    bytes[4096 * 3 + 5] ^= 1;
    Files.write(left, bytes);
    origin.fault = (file, from, content) -> content;
    TransferReport done = pull(QUICK);
    assertThat(done.resumedBytes()).isGreaterThanOrEqualTo(3 * 4096);
    assertServes("one");
  }

  private static InputStream fail(String message) throws IOException {
    throw new IOException(message);
  }

  /** What a refused pull leaves is whole, but may be damaged, linked or something else by now. */
  @Test
  void whatARefusedPullLeftIsVerifiedAndNothingOutsideIsWritten() throws Exception {
    build(there, "one", 1);
    PublishOptions options = PublishOptions.defaults();
    for (String kind : List.of("data", "index", "hash")) {
      try (Publication refused = Publication.pull(origin, store, options, QUICK)) {
        refused.begin();
        refused.copy();
      }
      Path left = file(store.resolve(".pulling"), kind);
      byte[] bytes = Files.readAllBytes(left);
      bytes[4096 + 7] ^= 1;
      Files.write(left, bytes);
    }
    Path index = file(store.resolve(".pulling"), "index");
    Files.delete(index);
    Path outside = folder.resolve("outside");
    Files.createSymbolicLink(index, outside);
    Path hash = file(store.resolve(".pulling"), "hash");
    Path link = Files.createLink(folder.resolve("link"), hash);
    byte[] linked = Files.readAllBytes(link);
    pull(QUICK);
    assertServes("one");
    assertThat(outside).doesNotExist();
    assertThat(Files.readAllBytes(link)).isEqualTo(linked);
  }

  @Test
  void aShardThatIsDamagedHereArrivesAnew() throws Exception {
    Versions.publish(build(folder.resolve("a"), "one", 4), there, "v1");
    pull(QUICK);
    Path damaged = file(store.resolve("v1"), "data");
    byte[] bytes = Files.readAllBytes(damaged);
    bytes[4096 + 100] ^= 1;
    Files.write(damaged, bytes);
    Versions.publish(build(folder.resolve("b"), "two", 4), there, "v2");
    pull(QUICK);
    assertServes("two");
    assertThat(Files.readAllBytes(damaged)).isEqualTo(bytes);
  }

  @Test
  void theSamePullWithANameIsRepeated() throws Exception {
    build(there, "one", 1);
    PublishOptions named = PublishOptions.defaults().withVersion("v1");
    for (boolean first : new boolean[] {true, false}) {
      try (Publication pull = Publication.pull(origin, store, named, QUICK)) {
        pull.begin();
        assertThat(pull.isCurrent()).isEqualTo(!first);
        if (first) {
          pull.copy();
          assertThat(pull.goLive(null)).isTrue();
        }
      }
    }
    build(there, "two", 1);
    try (Publication pull = Publication.pull(origin, store, named, QUICK)) {
      assertThatThrownBy(pull::begin).hasMessageContaining("a version with this name already");
    }
    assertServes("one");
  }

  @Test
  void aPullThatIsClosedIsContinued() throws Exception {
    build(there, "one", 4);
    AtomicReference<Publication> running = new AtomicReference<>();
    TransferListener closing =
        new TransferListener() {
          @Override
          public void arrived(long done, long all) {
            if (done > all / 2) {
              try {
                running.get().close();
              } catch (IOException e) {
                throw new AssertionError(e);
              }
            }
          }
        };
    try (Publication pull =
        Publication.pull(
            origin, store, PublishOptions.defaults(), QUICK.withThreads(1).withListener(closing))) {
      running.set(pull);
      pull.begin();
      assertThatThrownBy(pull::copy).isInstanceOf(CancellationException.class);
    }
    TransferReport done = pull(QUICK);
    assertThat(done.resumedBytes()).isGreaterThan(bytes(there) / 4);
    assertThat(done.bytes()).isLessThan(bytes(there) * 3 / 4);
    assertServes("one");
  }

  @Test
  void whatAnotherShipmentLeftIsRemoved() throws Exception {
    build(there, "one", 3);
    origin.fault = (file, from, content) -> file.contains("index") ? fail("down") : content;
    assertThatThrownBy(() -> pull(QUICK)).hasMessageContaining("down");
    origin.fault = (file, from, content) -> content;
    build(there, "two", 1);
    pull(QUICK);
    assertServes("two");
  }

  @Test
  void aDatabaseThatIsReplacedMeanwhileIsSaidToBe() throws Exception {
    build(there, "one", 1);
    AtomicInteger opened = new AtomicInteger();
    origin.fault =
        (file, from, content) -> {
          if (file.startsWith("data") && opened.incrementAndGet() == 1) {
            build(there, "two", 1);
            throw new NoSuchFileException(file);
          }
          return content;
        };
    assertThatThrownBy(() -> pull(QUICK.withThreads(1)))
        .isInstanceOf(SourceReplacedException.class)
        .hasMessage("far://host/: was replaced while it was pulled; pull again");
    pull(QUICK);
    assertServes("two");
  }

  @Test
  void aMissingFileIsNamed() throws Exception {
    build(there, "one", 2);
    Path index = file(there, "index");
    Path away = Files.move(index, folder.resolve("away"));
    assertThatThrownBy(() -> pull(QUICK))
        .isInstanceOf(IOException.class)
        .hasMessageContaining(index.getFileName().toString())
        .hasMessageEndingWith(": missing there, although the manifest lists it: push it again");
    Files.move(away, index);
    pull(QUICK);
    assertServes("one");
  }

  @Test
  void whatIsNoDatabaseIsRefused() throws Exception {
    Files.createDirectories(there);
    assertThatThrownBy(() -> pull(QUICK))
        .isInstanceOf(NoSuchFileException.class)
        .hasMessageContaining("is neither a store nor a database");
    Files.writeString(there.resolve("CURRENT"), "../outside\n");
    assertThatThrownBy(() -> pull(QUICK)).hasMessage("far://host/CURRENT: names no version");
    Files.writeString(there.resolve("CURRENT"), "v1\n");
    assertThatThrownBy(() -> pull(QUICK)).isInstanceOf(NoSuchFileException.class);
    assertThat(store).doesNotExist();
    build(there.resolve("v1"), "one", 1);
    pull(QUICK);
    assertServes("one");
  }

  @Test
  void aFullDiskIsFoundBeforeAndWhileFilesArrive() throws Exception {
    build(there, "one", 1);
    try (SmallDisk disk = SmallDisk.mount(folder.resolve("disk"), 128 << 10)) {
      store = disk.directory().resolve("store");
      assertThatThrownBy(() -> pull(QUICK))
          .isInstanceOf(FileSystemException.class)
          .hasMessageContaining(" bytes are still to come, but only ");
      origin.fault =
          (file, from, content) -> {
            if (file.startsWith("data")) {
              fill(disk.directory().resolve("filler"));
            }
            return content;
          };
      disk.resize(1536 << 10);
      assertThatThrownBy(() -> pull(QUICK.withThreads(1)))
          .isInstanceOf(FileSystemException.class)
          .hasMessageContaining(disk.directory() + "/")
          .hasMessageEndingWith(": No space left on device");
      origin.fault = (file, from, content) -> content;
      Files.delete(disk.directory().resolve("filler"));
      pull(QUICK);
      assertServes("one");
    }
  }

  private static void fill(Path file) {
    try {
      Files.write(file, new byte[2 << 20]);
    } catch (IOException full) {
      // it is meant to be
    }
  }

  /** Files of the store are linked, so that a version without changes takes no space. */
  @Test
  void whatIsInTheStoreIsLinked() throws Exception {
    Versions.publish(build(folder.resolve("a"), "one", 2), there, "v1");
    pull(QUICK);
    Path here = file(store.resolve("v1"), "data");
    Files.move(there.resolve("v1"), there.resolve("v9"), StandardCopyOption.ATOMIC_MOVE);
    Files.writeString(there.resolve("CURRENT"), "v9\n", UTF_8);
    assertThat(pull(QUICK)).as("the same database by another name").isNull();
    Store.open(store).rollback("v1");
    Versions.publish(build(folder.resolve("b"), "two", 2), store, "local");
    pull(QUICK);
    assertThat(current()).isEqualTo("v9");
    assertThat(Files.getAttribute(file(store.resolve("v9"), "data"), "unix:ino"))
        .isEqualTo(Files.getAttribute(here, "unix:ino"));
    assertServes("one");
  }

  @Test
  void theRateIsHeld() throws Exception {
    build(there, "one", 1);
    long bytes = bytes(there);
    long began = System.nanoTime();
    pull(QUICK.withBytesPerSecond(2 * bytes));
    assertThat(Duration.ofNanos(System.nanoTime() - began))
        .as("half a second at least, for all bytes but what the first read takes")
        .isGreaterThan(Duration.ofMillis(250));
    assertServes("one");
  }

  @Test
  void someShardsArePulled() throws Exception {
    Versions.publish(build(folder.resolve("a"), "one", 8), there, "v1");
    pull(QUICK.withShards(new TreeSet<>(List.of(2, 3, 7))));
    assertHolds(2, 3, 7);
    assertThat(pull(QUICK.withShards(new TreeSet<>(List.of(7, 2, 3))))).isNull();
    Versions.publish(build(folder.resolve("b"), "two", 8), there, "v2");
    TransferReport other = pull(QUICK.withShards(new TreeSet<>(List.of(3, 4))));
    assertHolds(3, 4);
    assertThat(other.reusedFiles()).isPositive();
    pull(QUICK);
    assertServes("two");
    Path partial = store.resolve("v2");
    origin = new FolderOrigin(store); // a store of ours in turn, whose current version is whole
    store = folder.resolve("next");
    pull(QUICK.withShards(new TreeSet<>(List.of(0))));
    assertHolds(0);
    origin = new FolderOrigin(partial);
    store = folder.resolve("last");
    pull(QUICK);
    assertHolds(3, 4);
    assertThatThrownBy(() -> pull(QUICK.withShards(new TreeSet<>(List.of(4, 5)))))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("far://host/ has shards 3-4 of 8, but not shard 5");
    origin = new FolderOrigin(there);
    assertThatThrownBy(() -> pull(QUICK.withShards(new TreeSet<>(List.of(8)))))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("far://host/v2 has 8 shards, from 0, but not shard 8");
  }

  private void assertHolds(Integer... shards) throws IOException {
    try (Database database = Database.open(store.resolve(current()))) {
      int own = 0;
      for (Truth.Entry entry : truth("x").records()) {
        int shard = KeySlots.shard(entry.key(), 8);
        if (List.of(shards).contains(shard)) {
          assertThat(database.get(entry.key())).isNotNull();
          own++;
        } else {
          assertThatThrownBy(() -> database.get(entry.key()))
              .isInstanceOf(WrongShardException.class);
        }
      }
      assertThat(database.statistics().records()).isEqualTo(own);
    }
  }
}
