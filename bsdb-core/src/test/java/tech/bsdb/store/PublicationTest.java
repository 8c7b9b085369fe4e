package tech.bsdb.store;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.InterruptedIOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
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
import tech.bsdb.SmallDisk;
import tech.bsdb.Truth;
import tech.bsdb.WatchedFiles;
import tech.bsdb.error.CorruptDatabaseException;
import tech.bsdb.io.DurableFiles;
import tech.bsdb.write.CraftedSet;

@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class PublicationTest {
  @TempDir Path folder;

  private final List<String> heard = new ArrayList<>();

  @AfterEach
  void nothingIsLeftOpen() throws Exception {
    Leaks.assertNone(folder);
  }

  private Path database(String content) throws IOException {
    return Versions.build(folder.resolve("db-" + content), content);
  }

  @Test
  void aStoreIsMadeWithItsParents() throws Exception {
    Path store = folder.resolve("some/where/store");
    assertThat(Versions.publish(database("one"), store, "v1")).isEqualTo("v1");
    assertThat(Files.readString(store.resolve("CURRENT"))).isEqualTo("v1\n");
    assertThat(Versions.publish(database("two"), store, "v2")).isEqualTo("v2");
    assertThat(Files.readString(store.resolve("CURRENT"))).isEqualTo("v2\nv1\n");
    assertThat(Versions.names(store)).containsExactly("v1", "v2");
    assertThat(Leaks.tree(store)).noneMatch(name -> name.startsWith(".incoming"));
    try (Database database = Database.open(store.resolve("v2"))) {
      assertThat(database.get(Truth.utf8("key-1"))).isEqualTo(Truth.utf8("two"));
    }
    Versions.publish(store.resolve("v1"), store, "v3"); // a version of the same store
    assertThat(Store.open(store).current()).isEqualTo("v3");
  }

  @Test
  void onlyTheDatabasesFilesAreCopied() throws Exception {
    Path database = database("one");
    Files.writeString(database.resolve("built-by"), "somebody");
    Path link = Files.createSymbolicLink(folder.resolve("link"), database);
    Path store = folder.resolve("store");
    Versions.publish(link, store, "v1");
    assertThat(Leaks.tree(store.resolve("v1"))).allMatch(name -> name.endsWith(".bsdb"));
  }

  @Test
  void linksShareTheirBytes() throws Exception {
    Path database = database("one");
    Path store = folder.resolve("store");
    PublishOptions options = PublishOptions.defaults().withVersion("v1").withLink(true);
    try (Publication publication = Publication.of(database, store, options)) {
      publication.begin();
      publication.copy();
      publication.verify();
      assertThat(publication.goLive(null)).isTrue();
    }
    for (Path file : DurableFiles.list(database)) {
      Path linked = store.resolve("v1").resolve(DurableFiles.name(file));
      assertThat(Files.getAttribute(linked, "unix:ino"))
          .isEqualTo(Files.getAttribute(file, "unix:ino"));
    }
    Versions.build(database, "another"); // overwriting leaves the version as it is
    Database.verify(store.resolve("v1"), (done, all) -> {});
  }

  @Test
  void linksAcrossFileSystemsAreRefused() throws Exception {
    try (SmallDisk disk = SmallDisk.mount(folder.resolve("disk"), 8 << 20)) {
      Path store = disk.directory().resolve("store");
      PublishOptions options = PublishOptions.defaults().withLink(true);
      try (Publication publication = Publication.of(database("one"), store, options)) {
        publication.begin();
        assertThatThrownBy(publication::copy)
            .isInstanceOf(IOException.class)
            .hasMessageContainingAll("different file systems", "--link");
      }
      assertThat(store).doesNotExist();
    }
  }

  @Test
  void namesFollowTheTime() throws Exception {
    Path database = database("one");
    Path store = folder.resolve("store");
    List<String> names = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      try (Publication publication = Publication.of(database, store, PublishOptions.defaults())) {
        publication.begin();
        publication.copy();
        assertThat(publication.goLive(publication.current())).isTrue();
        names.add(publication.version());
      }
    }
    assertThat(names).allMatch(name -> name.matches("20\\d{6}T\\d{6}Z(-[2-5])?"));
    assertThat(Versions.names(store)).containsExactlyElementsOf(names);
    assertThatThrownBy(() -> Versions.publish(database, store, names.get(0)))
        .isInstanceOf(FileAlreadyExistsException.class)
        .hasMessageContaining("a version with this name already exists");
  }

  @Test
  void whatIsNoStoreIsLeftAlone() throws Exception {
    Path database = database("one");
    Path file = Files.writeString(folder.resolve("file"), "x");
    Path other = Files.createDirectory(folder.resolve("other"));
    Files.writeString(other.resolve("something"), "x");
    Path hidden = Files.createDirectory(folder.resolve("hidden"));
    Files.writeString(hidden.resolve(".git"), "x");
    Path single = Versions.build(folder.resolve("single"), "x");
    for (Path target : List.of(file, other, hidden, single)) {
      List<String> before = Leaks.tree(folder);
      assertThatThrownBy(() -> Versions.publish(database, target, "v1"))
          .as("%s", target)
          .isInstanceOf(FileAlreadyExistsException.class)
          .hasMessageContaining("choose another directory");
      assertThat(Leaks.tree(folder)).isEqualTo(before);
    }
    assertThatThrownBy(() -> Versions.publish(database, file.resolve("below"), "v1"))
        .isInstanceOf(IOException.class);
    assertThatThrownBy(() -> Versions.publish(single, single.resolve("below"), "v1"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("lies inside the database");
  }

  @Test
  void whatIsNoDatabaseIsRefusedBeforeAnythingIsMade() throws Exception {
    Path store = Versions.byHand(folder.resolve("store"), "v1");
    Path empty = Files.createDirectory(folder.resolve("empty"));
    Path target = folder.resolve("made/target");
    assertThatThrownBy(() -> Versions.publish(empty, target, "v1"))
        .isInstanceOf(NotDirectoryException.class);
    assertThatThrownBy(() -> Versions.publish(folder.resolve("nowhere"), target, "v1"))
        .hasMessageContaining("nowhere");
    assertThatThrownBy(() -> Versions.publish(store, target, "v1"))
        .isInstanceOf(NotDirectoryException.class)
        .hasMessageContaining("name one of its versions, such as " + store.resolve("v1"));
    assertThat(folder.resolve("made")).doesNotExist();
  }

  @Test
  void directoriesMadeByHandBecomeStores() throws Exception {
    Path empty = Files.createDirectory(folder.resolve("empty"));
    Versions.publish(database("one"), empty, "v1");
    Path store = Versions.byHand(folder.resolve("store"), "v1", "v2");
    Files.delete(store.resolve("CURRENT"));
    Files.createDirectory(store.resolve("lost+found"));
    Versions.publish(database("one"), store, "v3");
    assertThat(Versions.names(store)).containsExactly("v1", "v2", "v3");
    assertThat(Store.open(store).rollback(null)).isEqualTo("v2");
  }

  @Test
  void aDamagedSourceLeavesNothing() throws Exception {
    Path database = database("one");
    Path data = DurableFiles.list(database).get(0);
    Path store = folder.resolve("new/store");
    flip(data, 4096 + 10);
    try (Publication publication = Publication.of(database, store, PublishOptions.defaults())) {
      publication.begin();
      publication.copy();
      assertThatThrownBy(publication::verify)
          .isInstanceOf(CorruptDatabaseException.class)
          .hasMessageContaining(DurableFiles.name(data));
    }
    assertThat(folder.resolve("new")).doesNotExist();
  }

  @Test
  void damageThatHappensToTheCopyIsFound() throws Exception {
    Path store = Versions.byHand(folder.resolve("store"), "v1");
    List<String> before = Leaks.tree(store);
    List<Path> damaged = new ArrayList<>();
    PublishListener damaging =
        new PublishListener() {
          @Override
          public void copied(long done, long all) {
            try (var copies = Files.newDirectoryStream(store.resolve(".incoming-v2"))) {
              for (Path copy : copies) {
                if (damaged.isEmpty() && DurableFiles.name(copy).startsWith("data")) {
                  damaged.add(copy);
                  flip(copy, 4096 + 100);
                }
              }
            } catch (IOException e) {
              throw new AssertionError(e);
            }
          }
        };
    PublishOptions options = PublishOptions.defaults().withVersion("v2").withListener(damaging);
    try (Publication publication = Publication.of(database("two"), store, options)) {
      publication.begin();
      publication.copy();
      assertThat(damaged).hasSize(1);
      assertThatThrownBy(publication::verify)
          .isInstanceOfSatisfying(
              CorruptDatabaseException.class, e -> assertThat(e.file()).isEqualTo(damaged.get(0)));
    }
    assertThat(withoutLocks(store)).isEqualTo(before);
    assertThat(Store.open(store).current()).isEqualTo("v1");
  }

  private static List<String> withoutLocks(Path store) throws IOException {
    return Leaks.tree(store).stream().filter(name -> !name.endsWith("lock")).toList();
  }

  private static void flip(Path file, int place) throws IOException {
    byte[] bytes = Files.readAllBytes(file);
    bytes[place] ^= 1;
    Files.write(file, bytes);
  }

  @Test
  void aSourceThatIsReplacedMeanwhileIsNoMixture() throws Exception {
    Path database = database("one");
    Path store = folder.resolve("store");
    PublishListener replacing =
        new PublishListener() {
          @Override
          public void copied(long done, long all) {
            try {
              Versions.build(database, "another");
            } catch (IOException e) {
              throw new AssertionError(e);
            }
          }
        };
    PublishOptions options = PublishOptions.defaults().withListener(replacing);
    try (Publication publication = Publication.of(database, store, options)) {
      publication.begin();
      assertThatThrownBy(publication::copy)
          .isInstanceOf(IOException.class)
          .hasMessageContaining("was replaced while it was copied");
    }
    assertThat(store).doesNotExist();
  }

  @Test
  void whatBecameCurrentMeanwhileMustBeComparedAgain() throws Exception {
    Path store = Versions.byHand(folder.resolve("store"), "v1", "v2");
    try (Publication publication =
        Publication.of(database("three"), store, PublishOptions.defaults().withVersion("v3"))) {
      publication.begin();
      publication.copy();
      publication.verify();
      assertThat(publication.current()).isEqualTo("v2");
      Store.open(store).rollback("v1"); // does not wait for the publication
      assertThat(publication.goLive("v2")).isFalse();
      assertThat(Versions.names(store)).containsExactly("v1", "v2");
      assertThat(publication.goLive("v1")).isTrue();
    }
    assertThat(Files.readString(store.resolve("CURRENT"))).isEqualTo("v3\nv1\nv2\n");
  }

  @Test
  void aPointerThatCannotBeWrittenChangesNothing() throws Exception {
    Path store = Versions.byHand(folder.resolve("store"), "v1");
    List<String> before = Leaks.tree(store);
    Path obstacle = Files.createDirectory(store.resolve(".CURRENT.new"));
    Files.writeString(obstacle.resolve("file"), "x");
    assertThatThrownBy(() -> Versions.publish(database("two"), store, "v2"))
        .isInstanceOf(IOException.class);
    Files.delete(obstacle.resolve("file"));
    Files.delete(obstacle);
    assertThat(withoutLocks(store)).isEqualTo(before);
    assertThat(Store.open(store).current()).isEqualTo("v1");
  }

  @Test
  void twoPublicationsWaitForEachOther() throws Exception {
    Path store = folder.resolve("store");
    CountDownLatch copying = new CountDownLatch(1);
    CountDownLatch waiting = new CountDownLatch(1);
    PublishListener second =
        new PublishListener() {
          @Override
          public void waiting() {
            waiting.countDown();
          }
        };
    AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
    Path two = database("two");
    Thread thread =
        new Thread(
            () -> {
              PublishOptions options =
                  PublishOptions.defaults().withVersion("v2").withListener(second);
              try (Publication publication = Publication.of(two, store, options)) {
                copying.await();
                publication.begin();
                publication.copy();
                assertThat(publication.goLive("v1")).isTrue();
              } catch (Throwable e) {
                failure.set(e);
              }
            });
    thread.start();
    try (Publication publication =
        Publication.of(database("one"), store, PublishOptions.defaults().withVersion("v1"))) {
      publication.begin();
      copying.countDown();
      waiting.await();
      publication.copy();
      assertThat(publication.goLive(null)).isTrue();
    }
    thread.join();
    assertThat(failure.get()).isNull();
    assertThat(Files.readString(store.resolve("CURRENT"))).isEqualTo("v2\nv1\n");
  }

  @Test
  void manyPublicationsAtOnceToANewStore() throws Exception {
    Path good = database("good");
    for (int round = 0; round < 5; round++) {
      manyAtOnce(good, folder.resolve("new-" + round + "/store"));
    }
  }

  private static void manyAtOnce(Path good, Path store) throws Exception {
    List<Thread> threads = new ArrayList<>();
    List<Throwable> failures = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      boolean fails = i % 2 == 0;
      Thread thread =
          new Thread(
              () -> {
                try (Publication publication =
                    Publication.of(good, store, PublishOptions.defaults())) {
                  publication.begin();
                  publication.copy();
                  if (!fails && !publication.goLive(publication.current())) {
                    throw new AssertionError("somebody was let in between");
                  }
                } catch (Throwable e) {
                  synchronized (failures) {
                    failures.add(e);
                  }
                }
              });
      thread.start();
      threads.add(thread);
    }
    for (Thread thread : threads) {
      thread.join();
    }
    assertThat(failures).isEmpty();
    assertThat(Versions.names(store)).hasSize(4);
    assertThat(Store.open(store).rollback(null)).isIn(Versions.names(store));
  }

  @Test
  void closingFromAnotherThreadUndoes() throws Exception {
    Path store = folder.resolve("new/store");
    Path database = database("one");
    AtomicReference<Publication> self = new AtomicReference<>();
    PublishListener closing =
        new PublishListener() {
          @Override
          public void copied(long done, long all) {
            Thread thread = new Thread(PublicationTest::close);
            heard.add("copied");
            PublicationTest.toClose = self.get();
            thread.start();
            try {
              thread.join();
            } catch (InterruptedException e) {
              throw new AssertionError(e);
            }
          }
        };
    PublishOptions options = PublishOptions.defaults().withListener(closing);
    try (Publication publication = Publication.of(database, store, options)) {
      self.set(publication);
      publication.begin();
      assertThatThrownBy(publication::copy).isInstanceOf(CancellationException.class);
      assertThat(heard).hasSize(1);
      assertThat(folder.resolve("new")).doesNotExist();
      assertThatThrownBy(() -> publication.goLive(null)).isInstanceOf(CancellationException.class);
    }
    assertThat(folder.resolve("new")).doesNotExist();
  }

  private static volatile @Nullable Publication toClose;

  private static void close() {
    try {
      toClose.close();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void aFullDiskLeavesNothing() throws Exception {
    Path database = folder.resolve("db");
    Truth.random(Seeds.random("PublicationTest"), 5000, 100)
        .build(database, BuildOptions.defaults().withLayout(Layout.BLOCKED));
    int full = 0;
    try (SmallDisk disk = SmallDisk.mount(folder.resolve("disk"), 96 << 10)) {
      Path store = disk.directory().resolve("new/store");
      for (long size = 96 << 10; ; size += 96 << 10) {
        disk.resize(size);
        try {
          Versions.publish(database, store, "v1");
          break;
        } catch (IOException e) {
          assertThat(e).hasStackTraceContaining("No space left on device");
          assertThat(Leaks.tree(disk.directory())).as("disk of %s bytes", size).isEmpty();
          full++;
        }
      }
      Database.verify(store.resolve("v1"), (done, all) -> {});
    }
    assertThat(full).isGreaterThan(2);
  }

  @Test
  void staleFilesOfKilledPublicationsAreRemovedByTheNext() throws Exception {
    Path store = Versions.byHand(folder.resolve("store"), "v1");
    Path database = database("two");
    Process process = Fork.start(Stuck.class, database.toString(), store.toString());
    try (BufferedReader output =
        new BufferedReader(new InputStreamReader(process.getInputStream(), UTF_8))) {
      assertThat(output.readLine()).isEqualTo("copied");
    }
    process.toHandle().destroyForcibly();
    process.waitFor();
    assertThat(store.resolve(".incoming-killed")).isDirectory();
    assertThat(Versions.names(store)).containsExactly("v1");
    assertThat(Store.open(store).current()).isEqualTo("v1");
    Files.createDirectory(store.resolve(".removed-v0"));
    Versions.publish(database, store, "v2");
    assertThat(Versions.names(store)).containsExactly("v1", "v2");
    assertThat(withoutLocks(store))
        .filteredOn(name -> name.startsWith("."))
        .as("stale files")
        .isEmpty();
  }

  @Test
  void setsThatKilledPublicationsLeftAreRemovedByTheNext() throws Exception {
    Path store = Versions.byHand(folder.resolve("store"), "v1");
    CraftedSet set = CraftedSet.make(folder, "a", "b");
    for (String name : List.of(".incoming-v2", ".removed-v0", "v3", ".incoming-v4", "v5")) {
      set.copyTo(Files.createDirectory(store.resolve(name)));
    }
    Files.createFile(store.resolve("v3").resolve(Publication.UNFINISHED));
    Path shard = Path.of(set.shards().get(0));
    Files.createDirectory(store.resolve(".incoming-v2/shard-00009-12345678"));
    Files.writeString(store.resolve(".incoming-v4").resolve(shard).resolve("notes"), "precious");
    Files.createFile(store.resolve("v5").resolve(Publication.UNFINISHED));
    Files.writeString(store.resolve("v5").resolve(shard).resolve("notes"), "precious");
    List<String> before = Leaks.tree(store);
    Versions.publish(database("two"), store, "v6");
    assertThat(Leaks.tree(store)).filteredOn(name -> name.matches("(.removed-v0|v3).*")).isEmpty();
    assertThat(Leaks.tree(store)).noneMatch(name -> name.startsWith(".incoming-v2"));
    assertThat(Leaks.tree(store))
        .as("what holds strangers")
        .containsAll(
            before.stream().filter(name -> name.matches("(.incoming-v4|v5)(/.*)?")).toList());
  }

  @Test
  void keepRemovesSets() throws Exception {
    Path store = Versions.byHand(folder.resolve("store"), "v3");
    CraftedSet set = CraftedSet.make(folder, "a", "b");
    for (String name : List.of("v1", "v2")) {
      set.copyTo(Files.createDirectory(store.resolve(name)));
    }
    Path stranger = store.resolve("v2").resolve(set.shards().get(1)).resolve("notes.txt");
    Files.writeString(stranger, "precious");
    List<String> before = Leaks.tree(store.resolve("v2"));
    PublishOptions options = PublishOptions.defaults().withVersion("v4");
    try (Publication publication = Publication.of(database("four"), store, options)) {
      publication.begin();
      publication.copy();
      assertThat(publication.goLive("v3")).isTrue();
      assertThat(publication.keep(1)).containsExactly("v1");
      assertThat(publication.warnings())
          .singleElement()
          .asString()
          .contains("v2 contains files that are not the database's");
    }
    assertThat(Leaks.tree(store)).noneMatch(name -> name.contains("v1"));
    assertThat(Leaks.tree(store.resolve("v2"))).isEqualTo(before);
  }

  @Test
  void noStoreIsMadeInASetOfShards() throws Exception {
    Path database = database("one");
    Path set = Files.createDirectory(folder.resolve("set"));
    CraftedSet crafted = CraftedSet.make(folder, "a", "b");
    crafted.copyTo(set);
    String shard = crafted.shards().get(0);
    for (String inside : List.of("store", "deep/store", shard + "/store", shard + "/deep/store")) {
      assertThatThrownBy(() -> Versions.publish(database, set.resolve(inside), "v1"))
          .as(inside)
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("lies inside the database");
    }
    assertThatThrownBy(() -> Versions.publish(database, set, "v1"))
        .isInstanceOf(FileAlreadyExistsException.class)
        .hasMessageContaining("is a single database, not a store");
    crafted.check(set);
    Files.delete(set.resolve("manifest.bsdb"));
    List<String> before = Leaks.tree(set);
    assertThatThrownBy(() -> Versions.publish(database, set, "v1"))
        .isInstanceOf(FileAlreadyExistsException.class)
        .hasMessageContaining("is not a store");
    assertThat(Leaks.tree(set)).isEqualTo(before);
  }

  /** Publishes as far as the copy, says so, and waits to be killed: DATABASE STORE. */
  static final class Stuck {
    private Stuck() {}

    public static void main(String[] args) throws Exception {
      try (Publication publication =
          Publication.of(
              Path.of(args[0]),
              Path.of(args[1]),
              PublishOptions.defaults().withVersion("killed"))) {
        publication.begin();
        publication.copy();
        System.out.println("copied");
        System.out.flush();
        new CountDownLatch(1).await();
      }
    }
  }

  @Test
  void keepRemovesTheOldestButNeverWhatIsNeeded() throws Exception {
    Path store = folder.resolve("store");
    Path database = database("one");
    for (int i = 1; i <= 5; i++) {
      Versions.publish(database, store, "v" + i);
    }
    assertThat(publishAndKeep(database, store, "v6", 2)).containsExactly("v1", "v2", "v3");
    assertThat(Versions.names(store)).containsExactly("v4", "v5", "v6");
    Store.open(store).rollback("v4");
    assertThat(publishAndKeep(database, store, "v7", 1)).containsExactly("v5", "v6");
    assertThat(Versions.names(store)).as("v4 is what a rollback goes back to").hasSize(2);
    assertThat(publishAndKeep(database, store, "v8", 0)).containsExactly("v4");
    assertThat(Versions.names(store)).containsExactly("v7", "v8");
    assertThat(Store.open(store).rollback(null)).isEqualTo("v7");
  }

  @Test
  void keepRemovesAVersionWhoseHiddenNameIsTaken() throws Exception {
    Path store = folder.resolve("store");
    Path database = database("one");
    Versions.publish(database, store, "v1");
    Versions.publish(database, store, "v2");
    Path stale = Files.createDirectory(store.resolve(".removed-v1"));
    Path foreign = Files.writeString(stale.resolve("notes.txt"), "mine");
    assertThat(publishAndKeep(database, store, "v3", 1)).containsExactly("v1");
    assertThat(Versions.names(store)).containsExactly("v2", "v3");
    assertThat(foreign).hasContent("mine");
    assertThat(Leaks.tree(store)).noneMatch(name -> name.startsWith(".removed-v1-"));
  }

  @Test
  void keepGoesByAgeAndLeavesAloneWhatIsNoDatabase() throws Exception {
    Path store = Versions.byHand(folder.resolve("store"), "a", "b", "c", "d");
    Path half = Files.createDirectory(store.resolve("half"));
    for (String name : List.of("b", "half", "d", "a", "c")) { // the oldest first
      Instant age = Instant.now().minusSeconds(1000 - 100 * "b half d a c".indexOf(name));
      Files.setLastModifiedTime(store.resolve(name), FileTime.from(age));
    }
    assertThat(publishAndKeep(database("e"), store, "e", 2)).containsExactly("b", "a");
    assertThat(half).isDirectory();
    assertThat(Leaks.tree(store)).noneMatch(name -> name.startsWith(".removed"));
  }

  private static List<String> publishAndKeep(Path database, Path store, String name, int keep)
      throws IOException {
    PublishOptions options = PublishOptions.defaults().withVersion(name);
    try (Publication publication = Publication.of(database, store, options)) {
      publication.begin();
      publication.copy();
      assertThatThrownBy(() -> publication.keep(keep)).isInstanceOf(IllegalStateException.class);
      assertThat(publication.goLive(publication.current())).isTrue();
      return publication.keep(keep);
    }
  }

  private static void copyTree(Path from, Path to) throws IOException {
    Files.createDirectories(to);
    for (String name : Leaks.tree(from)) {
      if (Files.isDirectory(from.resolve(name))) {
        Files.createDirectories(to.resolve(name));
      } else {
        Files.copy(from.resolve(name), to.resolve(name));
      }
    }
  }

  @Test
  void aVersionThatWasKilledBeforeItWasCurrentIsPublishedAgain() throws Exception {
    for (boolean first : new boolean[] {true, false}) {
      Path store = folder.resolve("store-" + first);
      if (!first) {
        Versions.byHand(store, "v1");
      }
      Path killed = folder.resolve("killed-" + first);
      Path after = folder.resolve("after-" + first);
      Path watched =
          WatchedFiles.watch(
              store,
              change -> {
                if (change instanceof WatchedFiles.Move move && move.to().endsWith("CURRENT")) {
                  copyTree(store, killed);
                }
                if (change instanceof WatchedFiles.Delete delete
                    && delete.path().endsWith(Publication.UNFINISHED)) {
                  copyTree(store, after);
                }
              });
      Path database = database("two");
      Versions.publish(database, watched, "v2");
      assertThat(killed.resolve("v2/manifest.bsdb")).exists();
      Versions.publish(database, killed, "v2");
      assertThat(Store.open(killed).current()).isEqualTo("v2");
      assertThat(Leaks.tree(killed)).noneMatch(name -> name.contains(Publication.UNFINISHED));
      assertThatThrownBy(() -> Versions.publish(database, after, "v2"))
          .as("v2 is current there")
          .isInstanceOf(FileAlreadyExistsException.class)
          .hasMessageContaining("a version with this name already exists");
      assertThat(Store.open(after).current()).isEqualTo("v2");
      assertThat(Leaks.tree(after)).noneMatch(name -> name.contains(Publication.UNFINISHED));
    }
  }

  @Test
  void aVersionThatWasKilledAndIsWantedByHandStays() throws Exception {
    Path store = Versions.byHand(folder.resolve("store"), "v1", "v2");
    Versions.point(store, "v1\n");
    Files.createFile(store.resolve("v2").resolve(Publication.UNFINISHED));
    Store.open(store).rollback("v2");
    Store.open(store).rollback(null);
    Versions.publish(database("three"), store, "v3");
    assertThat(Versions.names(store)).containsExactly("v1", "v2", "v3");
  }

  @Test
  void theStoreIsCheckedBeforeThereIsADatabase() throws Exception {
    Path store = Versions.byHand(folder.resolve("store"), "v1", "v2");
    Versions.point(store, "v1\n");
    List<String> before = Leaks.tree(folder);
    check(folder.resolve("new/store"), "v2");
    check(store, "v3");
    assertThatThrownBy(() -> check(store, "v2"))
        .isInstanceOf(FileAlreadyExistsException.class)
        .hasMessageContaining("a version with this name already exists");
    assertThatThrownBy(() -> check(store.resolve("v2"), "v3"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("lies inside the store " + store);
    assertThatThrownBy(() -> check(store.resolve("v2/inner"), "v3"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("lies inside the database " + store.resolve("v2"));
    assertThat(Leaks.tree(folder)).isEqualTo(before);
    Files.createFile(store.resolve("v2").resolve(Publication.UNFINISHED));
    check(store, "v2"); // which a killed publication left
  }

  private void check(Path store, String version) throws IOException {
    PublishOptions options = PublishOptions.defaults().withVersion(version);
    try (Publication publication = Publication.of(folder.resolve("missing"), store, options)) {
      publication.checkStore();
    }
  }

  @Test
  void whatIsNotOursStays() throws Exception {
    Path store = Versions.byHand(folder.resolve("store"), "v1");
    Path elsewhere = Versions.build(folder.resolve("elsewhere"), "x");
    Files.createSymbolicLink(store.resolve(".incoming-link"), elsewhere);
    for (String name : List.of(".incoming-a", ".removed-b", ".incoming-c")) {
      Files.createDirectory(store.resolve(name));
    }
    Files.writeString(store.resolve(".incoming-a/thesis.tex"), "precious");
    Files.createDirectory(store.resolve(".removed-b/data.bsdb"));
    Files.createSymbolicLink(store.resolve(".incoming-c/data.bsdb"), elsewhere);
    Files.writeString(store.resolve(".removed-d"), "precious");
    List<String> before = Leaks.tree(folder);
    Versions.publish(database("two"), store, "v2");
    assertThat(Leaks.tree(folder)).containsAll(before);
    assertThatThrownBy(() -> Versions.publish(database("two"), store, "a"))
        .isInstanceOf(FileAlreadyExistsException.class)
        .hasMessageContainingAll(".incoming-a", "is in the way", "move it away");
    assertThat(Leaks.tree(folder)).containsAll(before);
  }

  @Test
  void keepLeavesAVersionThatHoldsOtherThings() throws Exception {
    Path store = Versions.byHand(folder.resolve("store"), "v1", "v2");
    Files.writeString(store.resolve("v1/notes.txt"), "precious");
    PublishOptions options = PublishOptions.defaults().withVersion("v3");
    try (Publication publication = Publication.of(database("three"), store, options)) {
      publication.begin();
      publication.copy();
      assertThat(publication.goLive("v2")).isTrue();
      assertThat(publication.keep(0)).isEmpty();
      assertThat(publication.warnings())
          .singleElement()
          .asString()
          .contains(store.resolve("v1") + " contains files that are not the database's");
    }
    assertThat(store.resolve("v1/notes.txt")).hasContent("precious");
  }

  @Test
  void nothingFailsAfterTheSwitch() throws Exception {
    Path store = folder.resolve("made/store");
    AtomicReference<@Nullable Path> switched = new AtomicReference<>();
    Path watched =
        WatchedFiles.watch(
            store,
            change -> {
              if (change instanceof WatchedFiles.Move move && move.to().endsWith("CURRENT")) {
                switched.set(move.to());
              } else if (switched.get() != null) {
                throw new IOException("Input/output error");
              }
            });
    PublishOptions options = PublishOptions.defaults().withVersion("v1");
    try (Publication publication = Publication.of(database("one"), watched, options)) {
      publication.begin();
      publication.copy();
      assertThat(publication.goLive(null)).isTrue();
      assertThat(publication.warnings())
          .isNotEmpty()
          .allMatch(warning -> warning.startsWith("version v1 is current, but"));
    }
    assertThat(Store.open(store).current()).isEqualTo("v1");
  }

  @Test
  void anInterruptedThreadPublishesNothingAndStaysInterrupted() throws Exception {
    Path database = database("two");
    for (int n = 1; ; n++) {
      Path store = folder.resolve("store-" + n);
      AtomicInteger left = new AtomicInteger(n);
      Path watched =
          WatchedFiles.watch(
              store,
              change -> {
                if (left.decrementAndGet() == 0) {
                  Thread.currentThread().interrupt();
                }
              });
      try {
        Versions.publish(database, watched, "v1");
        if (!Thread.interrupted()) {
          assertThat(n).isGreaterThan(20);
          return; // fewer changes than that
        }
        Database.verify(store.resolve("v1"), (done, all) -> {}); // interrupted behind the switch
      } catch (InterruptedIOException e) {
        assertThat(Thread.interrupted()).as("change %s", n).isTrue();
        assertThat(store).as("change %s", n).doesNotExist();
      }
    }
  }

  @Test
  void whoWaitsCanBeInterrupted() throws Exception {
    Path store = folder.resolve("store");
    Path database = database("one");
    try (Publication first = Publication.of(database, store, PublishOptions.defaults())) {
      first.begin();
      try (Publication second = Publication.of(database, store, PublishOptions.defaults())) {
        Thread.currentThread().interrupt();
        assertThatThrownBy(second::begin).isInstanceOf(InterruptedIOException.class);
        assertThat(Thread.interrupted()).isTrue();
      }
    }
    assertThat(store).doesNotExist();
  }

  @Test
  void aStoreInsideADatabaseOrAStoreIsRefused() throws Exception {
    Path database = database("one");
    Path other = database("other");
    Files.createDirectory(other.resolve("folder"));
    Path store = Versions.byHand(folder.resolve("store"), "v1");
    List<String> before = Leaks.tree(folder);
    for (Path inside :
        List.of(other.resolve("x"), other.resolve("folder/x/y"), store.resolve("v1/x"))) {
      assertThatThrownBy(() -> Versions.publish(database, inside, "v1"))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("lies inside the database");
    }
    assertThatThrownBy(() -> Versions.publish(database, store.resolve("v2"), "v1"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll("lies inside the store " + store, "--version v2");
    assertThat(Leaks.tree(folder)).isEqualTo(before);
  }

  @Test
  void aManifestThatIsAnothersIsNoMixture() throws Exception {
    Path database = database("one");
    Path store = folder.resolve("store");
    Path watched =
        WatchedFiles.watch(
            store,
            change -> {
              if (change instanceof WatchedFiles.Open open
                  && open.path().endsWith("manifest.bsdb")
                  && open.options().contains(StandardOpenOption.CREATE_NEW)) {
                Versions.build(database, "another");
              }
            });
    PublishOptions options = PublishOptions.defaults();
    try (Publication publication = Publication.of(database, watched, options)) {
      publication.begin();
      assertThatThrownBy(publication::copy)
          .isInstanceOf(IOException.class)
          .hasMessageContaining("was replaced while it was copied; publish again");
    }
    assertThat(store).doesNotExist();
  }
}
