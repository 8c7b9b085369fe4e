package tech.bsdb.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tech.bsdb.error.CorruptDatabaseException;
import tech.bsdb.io.DurableFiles;
import tech.bsdb.write.CraftedSet;

class StoreTest {
  @TempDir Path folder;

  @Test
  void namesAreInNaturalOrder() {
    List<String> names =
        new ArrayList<>(
            List.of(
                "v10",
                "v9",
                "v1",
                "v09",
                "a",
                "v9-2",
                "v9.10",
                "v9.9",
                "20261121T151400Z-2",
                "20261121T151400Z",
                "20261121T151400Z-10",
                "V1",
                "99999999999999999999999"));
    names.sort(VersionName.NATURAL);
    assertThat(names)
        .containsExactly(
            "20261121T151400Z",
            "20261121T151400Z-2",
            "20261121T151400Z-10",
            "99999999999999999999999",
            "V1",
            "a",
            "v1",
            "v09",
            "v9",
            "v9-2",
            "v9.9",
            "v9.10",
            "v10");
    assertThat(VersionName.ofTime(Instant.parse("2026-11-21T15:14:00.9Z")))
        .isEqualTo("20261121T151400Z");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", ".", "..", ".hidden", "-v", "CURRENT", "a/b", "a b", "ä", "a\n", "a\0", "a:b"})
  void otherNamesAreNone(String name) {
    assertThat(VersionName.isValid(name)).isFalse();
    assertThatThrownBy(() -> PublishOptions.defaults().withVersion(name))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("\"" + name + "\"");
  }

  @Test
  void aNameHasAtMostAHundredCharacters() {
    assertThat(VersionName.isValid("x".repeat(100))).isTrue();
    assertThat(VersionName.isValid("x".repeat(101))).isFalse();
    assertThat(VersionName.isValid("0")).isTrue();
    assertThat(VersionName.isValid("_a-b.c")).isTrue();
  }

  @Test
  void pointersAreReadAsPeopleWriteThem() {
    assertThat(Pointer.decode("v5\n")).isEqualTo(new Pointer("v5", List.of(), true));
    assertThat(Pointer.decode("v5")).isEqualTo(new Pointer("v5", List.of(), false));
    assertThat(Pointer.decode(" v5 \r\nv4\r\n\n../x\nv3\n"))
        .isEqualTo(new Pointer("v5", List.of("v4", "v3"), true));
    assertThat(Pointer.decode("")).isNull();
    assertThat(Pointer.decode("\nv5\n")).isNull();
    Pointer pointer = new Pointer("v5", List.of("v4", "v3"), true);
    assertThat(Pointer.decode(pointer.encode())).isEqualTo(pointer);
  }

  @Test
  void chainsGrowAndAreGoneBack() {
    Pointer third = Pointer.to("v1").pushed("v2").pushed("v3");
    assertThat(third.chain()).containsExactly("v2", "v1");
    assertThat(third.backTo("v2").pushed("v4").chain()).containsExactly("v2", "v1");
    assertThat(third.backTo("v1")).isEqualTo(Pointer.to("v1"));
    assertThat(third.backTo("v9").chain()).containsExactly("v3", "v2", "v1");
    assertThat(third.pushed("v1").chain()).containsExactly("v3", "v2");
    Pointer many = Pointer.to("v0");
    for (int i = 1; i < 500; i++) {
      many = many.pushed("v" + i);
    }
    assertThat(many.chain()).hasSize(100).startsWith("v498", "v497");
  }

  @Test
  void versionsAreListedWithWhatTheyAre() throws Exception {
    Path store = Versions.byHand(folder.resolve("store"), "v9", "v10");
    Files.createDirectory(store.resolve("v11"));
    Files.writeString(store.resolve("v11/part"), "12345");
    Files.createDirectory(store.resolve(".incoming-v12"));
    Files.createDirectory(store.resolve("no version"));
    Files.writeString(store.resolve("notes"), "x");
    List<StoredVersion> versions = Store.open(store).versions();
    assertThat(versions).extracting(StoredVersion::name).containsExactly("v9", "v10", "v11");
    assertThat(versions).extracting(StoredVersion::current).containsExactly(false, true, false);
    assertThat(versions).extracting(StoredVersion::records).containsExactly(200L, 200L, -1L);
    assertThat(versions.get(0).bytes())
        .isEqualTo(DurableFiles.list(store.resolve("v9")).stream().mapToLong(this::size).sum());
    assertThat(versions.get(2).bytes()).isEqualTo(5);
    assertThat(versions.get(1).directory()).isEqualTo(store.resolve("v10"));
    assertThat(versions.get(1).modified()).isAfter(Instant.now().minusSeconds(3600));
  }

  private long size(Path file) {
    try {
      return Files.size(file);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void theBytesOfAVersionThatCannotBeReadAreThoseOfItsShardsToo() throws Exception {
    Path store = Versions.byHand(folder.resolve("store"), "v1");
    Path version = Files.createDirectory(store.resolve("v2"));
    CraftedSet set = CraftedSet.make(folder, "a", "b");
    set.copyTo(version);
    Files.write(version.resolve("manifest.bsdb"), new byte[5]);
    Path elsewhere = Versions.build(folder.resolve("elsewhere"), "x");
    Files.createSymbolicLink(version.resolve("shard-00009-12345678"), elsewhere);
    StoredVersion listed = Store.open(store).versions().get(1);
    assertThat(listed.records()).isEqualTo(-1);
    assertThat(listed.bytes())
        .isEqualTo(set.files().stream().map(version::resolve).mapToLong(this::size).sum())
        .isGreaterThan(50_000);
  }

  @Test
  void aSetOfShardsIsNoStore() throws Exception {
    Path set = Files.createDirectory(folder.resolve("set"));
    CraftedSet.make(folder, "a", "b").copyTo(set);
    refuses(set, NotDirectoryException.class, "is not a store: it is a single database");
    Files.delete(set.resolve("manifest.bsdb"));
    refuses(set, NotDirectoryException.class, "it has no CURRENT");
  }

  @Test
  void aSetOfShardsIsDeletedWithItsDirectories() throws Exception {
    Path set = Files.createDirectory(folder.resolve("set"));
    CraftedSet crafted = CraftedSet.make(folder, "a", "b");
    crafted.copyTo(set);
    Files.createFile(set.resolve(Publication.UNFINISHED));
    assertThat(Directories.holdsDatabaseFilesOnly(set)).isTrue();
    Directories.delete(set);
    assertThat(set).doesNotExist();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "thesis.tex",
        "SHARD/thesis.tex",
        "SHARD/.publishing",
        "SHARD/folder.bsdb/thesis.bsdb",
        "SHARD/shard-00000-12345678/manifest.bsdb",
        "shard-00000/manifest.bsdb",
        "folder/manifest.bsdb",
      })
  void strangersInASetOfShardsAreNotDeleted(String name) throws Exception {
    Path set = Files.createDirectory(folder.resolve("set"));
    CraftedSet crafted = CraftedSet.make(folder, "a", "b");
    crafted.copyTo(set);
    Path stranger = set.resolve(name.replace("SHARD", crafted.shards().get(1)));
    Files.createDirectories(stranger.getParent());
    Files.writeString(stranger, "precious");
    assertThat(Directories.holdsDatabaseFilesOnly(set)).isFalse();
    Directories.delete(set);
    assertThat(stranger).hasContent("precious");
    try (var left = Files.walk(set)) {
      assertThat(left.filter(Files::isRegularFile)).containsExactly(stranger);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"shard-00009-12345678", "SHARD/manifest.bsdb"})
  void linksInASetOfShardsAreNotFollowed(String name) throws Exception {
    Path set = Files.createDirectory(folder.resolve("set"));
    CraftedSet crafted = CraftedSet.make(folder, "a", "b");
    crafted.copyTo(set);
    Path elsewhere = Versions.build(folder.resolve("elsewhere"), "x");
    List<Path> before = DurableFiles.list(elsewhere);
    Path link = set.resolve(name.replace("SHARD", crafted.shards().get(1)));
    Files.deleteIfExists(link);
    Files.createSymbolicLink(link, elsewhere);
    assertThat(Directories.holdsDatabaseFilesOnly(set)).isFalse();
    Directories.delete(set);
    assertThat(DurableFiles.list(elsewhere)).isEqualTo(before);
    assertThat(link).isSymbolicLink();
  }

  @Test
  void whatIsNoStoreIsRefusedInWords() throws Exception {
    Path file = Files.writeString(folder.resolve("file"), "x");
    Path empty = Files.createDirectory(folder.resolve("empty"));
    Path single = Versions.build(folder.resolve("single"), "x");
    refuses(folder.resolve("nowhere"), NoSuchFileException.class, "bsdb publish DB");
    refuses(file, NotDirectoryException.class, "is not a directory");
    refuses(empty, NotDirectoryException.class, "it has no CURRENT");
    refuses(single, NotDirectoryException.class, "is not a store: it is a single database");
    Path headless = Versions.byHand(folder.resolve("headless"), "v1");
    Files.delete(headless.resolve("CURRENT"));
    assertThat(Store.isStore(headless)).isFalse();
    assertThat(Store.open(headless).current()).isNull();
    Files.writeString(headless.resolve("something"), "else");
    refuses(headless, NotDirectoryException.class, "it has no CURRENT");
  }

  @Test
  void aDirectoryInThePlaceOfThePointerIsNamed() throws Exception {
    Path store = Versions.byHand(folder.resolve("store"), "v1");
    Store open = Store.open(store);
    Files.delete(store.resolve("CURRENT"));
    Files.createDirectory(store.resolve("CURRENT"));
    assertThatThrownBy(open::current).hasMessageContaining("CURRENT: is a directory");
  }

  private static void refuses(Path directory, Class<?> type, String words) {
    assertThatThrownBy(() -> Store.open(directory)).isInstanceOf(type).hasMessageContaining(words);
  }

  @Test
  void rollbackGoesTheWayThatWasCome() throws Exception {
    Path database = Versions.build(folder.resolve("db"), "x");
    Path path = folder.resolve("store");
    for (String name : List.of("b", "c", "a", "d")) {
      Versions.publish(database, path, name);
    }
    Store store = Store.open(path);
    assertThat(store.rollback(null)).isEqualTo("a");
    assertThat(store.rollback(null)).isEqualTo("c");
    Versions.publish(database, path, "e");
    assertThat(Files.readString(path.resolve("CURRENT"))).isEqualTo("e\nc\nb\n");
    assertThat(store.rollback("d")).isEqualTo("d"); // not in the chain: pushed
    assertThat(Files.readString(path.resolve("CURRENT"))).isEqualTo("d\ne\nc\nb\n");
    assertThat(store.rollback("d")).isEqualTo("d"); // is current already
    assertThat(store.rollback("c")).isEqualTo("c"); // in the chain: gone back to
    assertThat(Files.readString(path.resolve("CURRENT"))).isEqualTo("c\nb\n");
    assertThat(store.rollback(null)).isEqualTo("b");
    assertThat(store.rollback(null)).as("no chain: the name before").isEqualTo("a");
    assertThatThrownBy(() -> store.rollback(null))
        .isInstanceOf(NoSuchFileException.class)
        .hasMessageContaining("no version before a");
    assertThat(store.current()).isEqualTo("a");
  }

  @Test
  void rollbackOnAnInterruptedThreadChangesNothing() throws Exception {
    Path path = Versions.byHand(folder.resolve("store"), "v1", "v2");
    Versions.point(path, "v2\nv1\n");
    Versions.build(path.resolve("v1"), "x");
    Store store = Store.open(path);
    Thread.currentThread().interrupt();
    try {
      assertThatThrownBy(() -> store.rollback(null))
          .isInstanceOf(InterruptedIOException.class)
          .hasMessageContaining("current version is unchanged");
    } finally {
      assertThat(Thread.interrupted()).isTrue();
    }
    assertThat(store.current()).isEqualTo("v2");
    assertThat(store.rollback(null)).isEqualTo("v1");
  }

  @Test
  void rollbackSkipsWhatIsGone() throws Exception {
    Path path = Versions.byHand(folder.resolve("store"), "v1", "v2", "v9", "v10");
    Store store = Store.open(path);
    assertThat(store.rollback(null)).as("no chain: the name before").isEqualTo("v9");
    Versions.point(path, "v10\nv9\nv2\n");
    Versions.build(path.resolve("v9"), "x");
    Directories.delete(path.resolve("v9"));
    assertThat(store.rollback(null)).isEqualTo("v2");
    assertThat(Files.readString(path.resolve("CURRENT"))).isEqualTo("v2\n");
  }

  @Test
  void rollbackRefusesWhatCannotBeOpened() throws Exception {
    Path path = Versions.byHand(folder.resolve("store"), "v1", "v2");
    Store store = Store.open(path);
    Path index = path.resolve("v1").resolve(indexFile(path.resolve("v1")));
    Files.write(index, new byte[100]);
    assertThatThrownBy(() -> store.rollback(null))
        .isInstanceOf(CorruptDatabaseException.class)
        .hasMessageContaining(index.toString());
    assertThatThrownBy(() -> store.rollback("v7")).hasMessageContaining("no such version");
    assertThatThrownBy(() -> store.rollback("../v1")).isInstanceOf(IllegalArgumentException.class);
    assertThat(Files.readString(path.resolve("CURRENT"))).isEqualTo("v2\n");
    Files.delete(path.resolve("CURRENT"));
    assertThatThrownBy(() -> store.rollback(null)).hasMessageContaining("names no version");
    assertThat(store.rollback("v2")).isEqualTo("v2");
    assertThat(store.current()).isEqualTo("v2");
  }

  private static String indexFile(Path database) throws IOException {
    return DurableFiles.list(database).stream()
        .map(DurableFiles::name)
        .filter(name -> name.startsWith("index"))
        .findFirst()
        .orElseThrow();
  }
}
