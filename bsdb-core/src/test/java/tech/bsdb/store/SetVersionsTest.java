package tech.bsdb.store;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import tech.bsdb.BuildOptions;
import tech.bsdb.Database;
import tech.bsdb.Forgery;
import tech.bsdb.Leaks;
import tech.bsdb.OpenOptions;
import tech.bsdb.Statistics;
import tech.bsdb.Truth;
import tech.bsdb.error.CorruptDatabaseException;
import tech.bsdb.error.WrongShardException;
import tech.bsdb.format.KeySlots;
import tech.bsdb.io.DurableFiles;

/** Stores whose versions are sets of shards and single databases in turn. */
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SetVersionsTest {
  @TempDir Path folder;

  @AfterEach
  void nothingIsLeftOpen() throws Exception {
    Leaks.assertNone(folder);
  }

  private static Truth truth(String content) {
    Truth truth = new Truth();
    for (int i = 0; i < 200; i++) {
      truth.add("key-" + i, content).absent(Truth.utf8("absent-" + i));
    }
    return truth;
  }

  /** Builds a set, or a single database, in which all keys have the value {@code content}. */
  private Path build(String content, int shards) throws IOException {
    Path target = folder.resolve("built-" + content);
    truth(content)
        .build(target, BuildOptions.defaults().withShards(shards).withDataFiles(2).withThreads(1));
    return target;
  }

  private static String get(ReloadingDatabase database) throws IOException {
    return new String(database.get(Truth.utf8("key-7")), UTF_8);
  }

  private static void same(Path expected, Path found) throws IOException {
    assertThat(Leaks.tree(found)).isEqualTo(Leaks.tree(expected));
    for (String name : Leaks.tree(expected)) {
      if (Files.isRegularFile(expected.resolve(name))) {
        assertThat(found.resolve(name)).hasSameBinaryContentAs(expected.resolve(name));
      }
    }
  }

  @ParameterizedTest
  @EnumSource(Preload.class)
  void readersFollowFromKindToKind(Preload preload) throws Exception {
    Path store = folder.resolve("store");
    Versions.publish(build("v1", 3), store, "v1");
    ReloadOptions options =
        ReloadOptions.defaults()
            .withPoll(Duration.ofHours(1))
            .withPreload(preload)
            .withOpen(OpenOptions.defaults().withEngine(OpenOptions.Engine.MAPPED));
    try (ReloadingDatabase database = ReloadingDatabase.open(store, options)) {
      assertThat(get(database)).isEqualTo("v1");
      List<Lease> leases = new ArrayList<>();
      int[] shards = {3, 1, 5, 2};
      for (int i = 1; i < shards.length; i++) {
        leases.add(database.acquire());
        String version = "v" + (i + 1);
        Versions.publish(build(version, shards[i]), store, version);
        assertThat(database.reload()).isTrue();
        assertThat(get(database)).isEqualTo(version);
        assertThat(database.swaps()).isEqualTo(i);
        assertThat(
                database.getAll(
                    List.of(Truth.utf8("key-1"), Truth.utf8("no"), Truth.utf8("key-2"))))
            .containsExactly(Truth.utf8(version), null, Truth.utf8(version));
      }
      for (int i = 0; i < leases.size(); i++) {
        try (Lease lease = leases.get(i)) {
          truth("v" + (i + 1)).checkGets(lease.database());
          truth("v" + (i + 1)).checkBatches(lease.database());
        }
      }
      assertThat(Store.open(store).rollback(null)).isEqualTo("v3");
      assertThat(database.reload()).isTrue();
      try (Lease lease = database.acquire()) {
        assertThat(lease.database().statistics().shards()).isEqualTo(5);
        truth("v3").checkGets(lease.database());
      }
      assertThat(database.refused()).isNull();
    }
  }

  /** A directory that is no store is reloaded when a build replaces what it holds. */
  @Test
  void readersOfADirectoryFollowFromKindToKind() throws Exception {
    Path target = folder.resolve("db");
    BuildOptions options = BuildOptions.defaults().withOverwrite(true);
    truth("one").build(target, options.withShards(3));
    ReloadOptions hourly = ReloadOptions.defaults().withPoll(Duration.ofHours(1));
    try (ReloadingDatabase database = ReloadingDatabase.open(target, hourly)) {
      assertThat(database.followsStore()).isFalse();
      assertThat(get(database)).isEqualTo("one");
      truth("two").build(target, options);
      assertThat(database.reload()).isTrue();
      assertThat(get(database)).isEqualTo("two");
      truth("three").build(target, options.withShards(4));
      assertThat(database.reload()).isTrue();
      assertThat(get(database)).isEqualTo("three");
      assertThat(database.swaps()).isEqualTo(2);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aSetIsPublishedWhole(boolean link) throws Exception {
    Path set = build("one", 3);
    Files.writeString(set.resolve("built-by"), "somebody");
    Path store = folder.resolve("store");
    PublishOptions options = PublishOptions.defaults().withVersion("v1").withLink(link);
    try (Publication publication = Publication.of(set, store, options)) {
      publication.begin();
      assertThat(publication.records()).isEqualTo(200);
      publication.copy();
      assertThat(publication.verify().records()).isEqualTo(200);
      assertThat(publication.goLive(null)).isTrue();
    }
    Files.delete(set.resolve("built-by"));
    same(set, store.resolve("v1"));
    for (String name : Leaks.tree(set)) {
      if (Files.isRegularFile(set.resolve(name))) {
        boolean shared =
            Files.getAttribute(set.resolve(name), "unix:ino")
                .equals(Files.getAttribute(store.resolve("v1").resolve(name), "unix:ino"));
        assertThat(shared).as(name).isEqualTo(link);
      }
    }
    truth("another")
        .build(set, BuildOptions.defaults().withShards(2).withOverwrite(true).withThreads(1));
    Database.verify(store.resolve("v1"), (done, all) -> {});
    try (Database database = Database.open(store.resolve("v1"))) {
      truth("one").checkGets(database);
    }
  }

  @Test
  void oldSetsAreRemovedAndRolledBackTo() throws Exception {
    Path store = folder.resolve("store");
    for (int i = 1; i <= 3; i++) {
      Versions.publish(build("v" + i, i % 2 == 0 ? 1 : 3), store, "v" + i);
    }
    PublishOptions options = PublishOptions.defaults().withVersion("v4");
    try (Publication publication = Publication.of(build("v4", 4), store, options)) {
      publication.begin();
      publication.copy();
      publication.verify();
      assertThat(publication.goLive("v3")).isTrue();
      assertThat(publication.keep(1)).containsExactlyInAnyOrder("v1", "v2");
      assertThat(publication.warnings()).isEmpty();
    }
    assertThat(Versions.names(store)).containsExactly("v3", "v4");
    assertThat(Leaks.tree(store)).noneMatch(name -> name.matches("(.removed-)?v[12].*"));
    assertThat(Store.open(store).rollback(null)).isEqualTo("v3");
    StoredVersion listed = Store.open(store).versions().get(1);
    assertThat(listed.name()).isEqualTo("v4");
    assertThat(listed.records()).isEqualTo(200);
    long bytes = Database.statistics(store.resolve("v4")).databaseBytes();
    assertThat(listed.bytes()).isEqualTo(bytes);
    assertThat(Store.open(store).rollback("v4")).isEqualTo("v4");
  }

  /** What one byte of one shard makes wrong keeps the current version current. */
  @Test
  void aSetWithADamagedShardIsRefused() throws Exception {
    Path store = folder.resolve("store");
    Versions.publish(build("v1", 2), store, "v1");
    Path set = build("v2", 3);
    for (Path shard : Forgery.shards(set)) {
      for (Path file : DurableFiles.list(shard)) {
        byte[] bytes = Files.readAllBytes(file);
        byte[] flipped = bytes.clone();
        flipped[bytes.length / 2] ^= 1;
        Files.write(file, flipped);
        String name = shard.getFileName() + "/" + file.getFileName();
        assertThatThrownBy(() -> Versions.publish(set, store, "v2"))
            .as(name)
            .isInstanceOf(CorruptDatabaseException.class)
            .hasMessageContaining(name);
        Files.write(file, bytes);
      }
    }
    Path missing = Forgery.shards(set).get(1);
    Path aside = folder.resolve("aside");
    Files.move(missing, aside);
    assertThatThrownBy(() -> Versions.publish(set, store, "v2"))
        .hasMessageContaining(missing.getFileName().toString());
    Files.move(aside, missing);
    assertThat(Store.open(store).current()).isEqualTo("v1");
    assertThat(Leaks.tree(store)).noneMatch(name -> name.contains("v2"));
    Versions.publish(set, store, "v2");
    try (Database database = Database.open(store.resolve("v2"))) {
      truth("v2").checkGets(database);
    }
  }

  /** A store whose versions hold some shards, and at last the whole set. */
  @ParameterizedTest
  @EnumSource(Preload.class)
  void readersFollowPartialSets(Preload preload) throws Exception {
    Path store = folder.resolve("store");
    Path set = build("v", 4);
    byte[] key = Truth.utf8("key-7");
    int home = KeySlots.shard(key, 4);
    Path without = Forgery.part(set, folder.resolve("without"), (home + 1) % 4, (home + 2) % 4);
    Path with = Forgery.part(set, folder.resolve("with"), home, (home + 2) % 4);
    Versions.publish(without, store, "v1");
    same(without, store.resolve("v1"));
    ReloadOptions options =
        ReloadOptions.defaults().withPoll(Duration.ofHours(1)).withPreload(preload);
    try (ReloadingDatabase database = ReloadingDatabase.open(store, options)) {
      assertThatThrownBy(() -> database.get(key)).isInstanceOf(WrongShardException.class);
      Versions.publish(with, store, "v2");
      assertThat(database.reload()).isTrue();
      assertThat(get(database)).isEqualTo("v");
      Versions.publish(set, store, "v3");
      assertThat(database.reload()).isTrue();
      assertThat(database.getAll(List.of(key, Truth.utf8("key-1")))).doesNotContainNull();
      assertThat(Store.open(store).rollback("v1")).isEqualTo("v1");
      assertThat(database.reload()).isTrue();
      assertThatThrownBy(() -> database.get(key)).isInstanceOf(WrongShardException.class);
      assertThat(database.swaps()).isEqualTo(3);
    }
    for (StoredVersion version : Store.open(store).versions()) {
      Statistics statistics = Database.statistics(store.resolve(version.name()));
      assertThat(version.records()).isEqualTo(statistics.records()).isPositive();
      assertThat(version.bytes()).isEqualTo(statistics.databaseBytes());
    }
  }

  /** A version whose last shard is not there yet is refused until it is. */
  @Test
  void aSetThatIsHalfCopiedIsRefusedUntilItIsWhole() throws Exception {
    Path store = folder.resolve("store");
    Versions.publish(build("v1", 3), store, "v1");
    ReloadOptions hourly = ReloadOptions.defaults().withPoll(Duration.ofHours(1));
    try (ReloadingDatabase database = ReloadingDatabase.open(store, hourly)) {
      Path copy = Forgery.copyTree(build("v2", 3), store.resolve("v2"));
      Path last = Forgery.shards(copy).get(2);
      Path aside = folder.resolve("aside");
      Files.move(last, aside);
      Versions.pointAtOnce(store, "v2\n");
      assertThatThrownBy(database::reload)
          .isInstanceOf(IOException.class)
          .hasMessageContaining(last.getFileName().toString())
          .hasMessageContaining("the manifest of the set lists this shard");
      assertThat(get(database)).isEqualTo("v1");
      assertThat(database.refused()).isNotNull();
      Files.move(aside, last);
      assertThat(database.reload()).isTrue();
      assertThat(get(database)).isEqualTo("v2");
    }
  }
}
