package tech.bsdb.write;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tech.bsdb.BuildOptions;
import tech.bsdb.DatabaseBuilder;
import tech.bsdb.Leaks;
import tech.bsdb.PowerCuts;
import tech.bsdb.Rounds;
import tech.bsdb.Sampled;
import tech.bsdb.Seeds;
import tech.bsdb.Truth;
import tech.bsdb.WatchedFiles;
import tech.bsdb.format.DatabaseId;
import tech.bsdb.format.ShardSet;

/** Databases and sets of shards that replace each other. */
@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ReplacementTest {
  @TempDir Path directory;

  private final Map<String, CraftedSet> made = new HashMap<>();
  private Path target;

  @BeforeEach
  void realPaths() throws IOException {
    directory = directory.toRealPath();
    target = Files.createDirectory(directory.resolve("disk")).resolve("db");
  }

  @AfterEach
  void nothingIsHeld() throws Exception {
    Leaks.assertNone(directory);
  }

  /** A database, or a set with these values in its shards. */
  private CraftedSet set(String values) throws IOException {
    CraftedSet set = made.get(values);
    if (set == null) {
      Path scratch = Files.createDirectories(directory.resolve("scratch"));
      set = CraftedSet.make(scratch, values.split(" "));
      made.put(values, set);
    }
    return set;
  }

  /** Nothing but the target is there, beside what the tests were made from. */
  private void nothingBesideTheTarget() throws IOException {
    assertThat(directory.resolve("disk"))
        .isDirectoryNotContaining(path -> !path.getFileName().toString().equals("db"));
  }

  @Sampled(2)
  @ParameterizedTest
  @CsvSource({
    "a, b",
    "a, b c",
    "a b, c",
    "a b, a",
    "a b, c d e",
    "a b c, d e",
    "a b c, a x c",
    "a b c, a b",
    "a b, a b c",
    "a b c, a b c",
    "a b c, c a b",
  })
  void eachReplacesEach(String first, String second) throws Exception {
    assertThat(set(first).publish(target)).isEmpty();
    set(first).check(target);
    assertThat(set(second).publish(target)).isEmpty();
    set(second).check(target);
    assertThat(set(first).publish(target)).isEmpty();
    set(first).check(target);
    nothingBesideTheTarget();
  }

  @Test
  void anEmptyDirectoryAndOneThatAppearsMeanwhileAreReplaced() throws Exception {
    Files.createDirectory(target);
    set("a b").publish(target);
    set("a b").check(target);
    Path other = target.resolveSibling("other");
    try (Workspace workspace = Workspace.create(other, true, null)) {
      set("c d").copyTo(workspace.directory());
      set("a b").publish(other);
      workspace.publish(() -> {});
    }
    set("c d").check(other);
  }

  @Test
  void strangersInAReplacedSetStay() throws Exception {
    set("a b").publish(target);
    String shard = set("a b").shards().get(1);
    Files.writeString(target.resolve(shard).resolve("thesis.tex"), "precious");
    Files.writeString(target.resolve(shard).resolve("data-000-12345678.bsdb"), "precious");
    Files.createDirectories(target.resolve("shard-00000-12345678/notes"));
    Files.createDirectory(target.resolve("shard-00001-12345678"));
    assertThat(set("c").publish(target)).isEmpty();
    set("c")
        .check(
            target,
            shard,
            shard + "/thesis.tex",
            shard + "/data-000-12345678.bsdb",
            "shard-00000-12345678",
            "shard-00000-12345678/notes",
            "shard-00001-12345678");
  }

  @Test
  void damageIsRepairedByTheSameContent() throws Exception {
    CraftedSet set = set("a b c");
    set.publish(target);
    Files.write(target.resolve(set.dataFile(0)), new byte[100]);
    Files.delete(target.resolve(set.dataFile(1)));
    Files.write(target.resolve(set.shards().get(1)).resolve("manifest.bsdb"), new byte[100]);
    for (String name : set.files()) {
      if (name.startsWith(set.shards().get(2))) {
        Files.delete(target.resolve(name));
      }
    }
    Files.delete(target.resolve(set.shards().get(2)));
    assertThat(set.publish(target)).isEmpty();
    set.check(target);
  }

  @ParameterizedTest
  @ValueSource(strings = {"damaged", "missing", "of another shard", "a directory"})
  void aShardWhoseManifestCannotBeReadStays(String what) throws Exception {
    CraftedSet old = set("a b c");
    old.publish(target);
    String shard = old.shards().get(1);
    Path manifest = target.resolve(shard).resolve("manifest.bsdb");
    switch (what) {
      case "damaged" -> Files.write(manifest, new byte[100]);
      case "missing" -> Files.delete(manifest);
      case "a directory" -> {
        Files.delete(manifest);
        Files.createDirectory(manifest);
      }
      default -> {
        byte[] other =
            Files.readAllBytes(target.resolve(old.shards().get(0)).resolve("manifest.bsdb"));
        Files.write(manifest, other);
      }
    }
    List<String> stay =
        new ArrayList<>(Leaks.tree(target).stream().filter(n -> n.startsWith(shard)).toList());
    assertThat(set("d e").publish(target))
        .singleElement()
        .asString()
        .contains("manifest of " + shard + " could not be read", "were not deleted");
    set("d e").check(target, stay.toArray(String[]::new));
  }

  @Test
  void aMissingShardIsNoMatter() throws Exception {
    CraftedSet old = set("a b c");
    old.publish(target);
    for (String name : old.files()) {
      if (name.startsWith(old.shards().get(1))) {
        Files.delete(target.resolve(name));
      }
    }
    Files.delete(target.resolve(old.shards().get(1)));
    assertThat(set("d e").publish(target)).isEmpty();
    set("d e").check(target);
  }

  @Test
  void aDamagedManifestOfASetNamesNothingToDelete() throws Exception {
    set("a b").publish(target);
    List<String> before = Leaks.tree(target);
    Path manifest = target.resolve("manifest.bsdb");
    byte[] bytes = Files.readAllBytes(manifest);
    bytes[5000] ^= 1;
    Files.write(manifest, bytes);
    assertThat(set("c d").publish(target))
        .singleElement()
        .asString()
        .contains("could not be read, so its files were not deleted");
    set("c d").check(target, before.toArray(String[]::new));
  }

  @Test
  void aSetWithAManifestOfZerosIsReplacedUnlessItHoldsStrangers() throws Exception {
    set("a b").publish(target);
    Files.write(target.resolve("manifest.bsdb"), new byte[100]);
    Path stranger = target.resolve(set("a b").shards().get(0)).resolve("thesis.tex");
    Files.writeString(stranger, "precious");
    List<String> before = Leaks.tree(target);
    assertThatThrownBy(() -> set("c d").publish(target))
        .isInstanceOf(FileAlreadyExistsException.class)
        .hasMessageContaining("is not a bsdb database");
    assertThat(Leaks.tree(target)).isEqualTo(before);
    Files.delete(stranger);
    assertThat(set("c d").publish(target)).hasSize(1);
    set("c d").checkFiles(target);
  }

  /** Moves a shard elsewhere and leaves a link. */
  private Path link(String shard) throws IOException {
    Path elsewhere = directory.resolve("elsewhere");
    Files.move(target.resolve(shard), elsewhere);
    return Files.createSymbolicLink(target.resolve(shard), elsewhere);
  }

  @Test
  void nothingIsDeletedThroughALink() throws Exception {
    CraftedSet old = set("a b c");
    old.publish(target);
    String shard = old.shards().get(1);
    Path link = link(shard);
    List<String> before = Leaks.tree(directory.resolve("elsewhere"));
    assertThat(set("d e").publish(target))
        .singleElement()
        .asString()
        .contains(shard, "were not deleted");
    set("d e").check(target, shard);
    assertThat(link).isSymbolicLink();
    assertThat(Leaks.tree(directory.resolve("elsewhere"))).isEqualTo(before);
  }

  @Test
  void nothingIsMovedThroughALink() throws Exception {
    CraftedSet old = set("a b c");
    old.publish(target);
    Path link = link(old.shards().get(1));
    Path moved = directory.resolve("elsewhere").resolve(Path.of(old.dataFile(1)).getFileName());
    Object node = Files.getAttribute(moved, "unix:ino");
    List<String> before = Leaks.tree(directory.resolve("disk"));
    for (String fresh : List.of("a b c", "d b e")) {
      assertThatThrownBy(() -> set(fresh).publish(target))
          .isInstanceOf(FileAlreadyExistsException.class)
          .hasMessageContainingAll(link.toString(), "in the way", "move it away");
      old.checkFiles(target);
      assertThat(Leaks.tree(directory.resolve("disk"))).isEqualTo(before);
    }
    assertThat(Files.getAttribute(moved, "unix:ino")).isEqualTo(node);
  }

  @ParameterizedTest
  @ValueSource(strings = {"a file as a shard", "a directory as a file", "a link as a shard"})
  void whatIsInTheWayLeavesTheOldSetWhole(String what) throws Exception {
    CraftedSet old = set("a b c");
    CraftedSet fresh = set("a d e");
    old.publish(target);
    List<String> others = new ArrayList<>();
    Path shard = target.resolve(fresh.shards().get(2));
    others.add(fresh.shards().get(2));
    switch (what) {
      case "a file as a shard" -> Files.writeString(shard, "precious");
      case "a link as a shard" ->
          Files.createSymbolicLink(shard, Files.createDirectory(directory.resolve("elsewhere")));
      default -> {
        others.add(fresh.dataFile(2));
        others.add(fresh.dataFile(2) + "/notes");
        Files.createDirectories(target.resolve(fresh.dataFile(2)).resolve("notes"));
      }
    }
    assertThatThrownBy(() -> fresh.publish(target))
        .isInstanceOf(IOException.class)
        .hasMessageContaining(shard.toString());
    old.check(target, others.toArray(String[]::new));
    nothingBesideTheTarget();
  }

  @Sampled(3)
  @ParameterizedTest
  @CsvSource({"a, c d", "a b, c", "a b, a c d", "a b, a b"})
  void noFailureLeavesAPart(String first, String second) throws Exception {
    set(first).publish(target);
    for (int failing = 1; ; failing++) {
      int nth = failing;
      AtomicInteger changes = new AtomicInteger();
      Path watched =
          WatchedFiles.watch(
              target,
              change -> {
                boolean counts =
                    change instanceof WatchedFiles.Make
                        || change instanceof WatchedFiles.Move
                        || change instanceof WatchedFiles.Force;
                if (counts && changes.incrementAndGet() == nth) {
                  throw new IOException("Input/output error");
                }
              });
      try {
        List<String> warnings = set(second).publish(watched);
        set(second).checkFiles(target);
        if (changes.get() < nth) {
          assertThat(failing).as("some failures").isGreaterThan(10);
          set(second).check(target);
          return;
        }
        assertThat(warnings).isNotEmpty().allMatch(text -> text.contains("Input/output error"));
        set(first).publish(target);
      } catch (IOException e) {
        assertThat(e).hasMessage("Input/output error");
      }
      set(first).check(target);
      nothingBesideTheTarget();
    }
  }

  /**
   * Kills, which lose nothing, and power cuts, which lose what was not forced, after every change,
   * or after some.
   */
  @Sampled(3)
  @ParameterizedTest
  @CsvSource({"a, c d", "a b, c", "a b, a c", "a b, a b"})
  void theOldOrTheNewIsThereWhenTheBuildIsKilled(String first, String second) throws Exception {
    set(first).publish(target);
    CraftedSet next = set("next n");
    List<WatchedFiles.Change> changes = Collections.synchronizedList(new ArrayList<>());
    PowerCuts disk = new PowerCuts(directory.resolve("disk"));
    set(second).publish(WatchedFiles.watch(target, changes::add));
    SplittableRandom random = Seeds.random("ReplacementTest");
    Path left = directory.resolve("left");
    List<Integer> chosen = Rounds.some(0, changes.size(), 10, random);
    for (int done = 0; done <= changes.size(); done++) {
      if (!chosen.contains(done)) {
        disk.apply(changes.get(done));
        continue;
      }
      for (BooleanSupplier keeps :
          List.<BooleanSupplier>of(() -> true, () -> false, random.split()::nextBoolean)) {
        disk.cut(left, keeps);
        Path db = left.resolve("db");
        String there = done < changes.size() && set(first).isAt(db) ? first : second;
        set(there).checkFiles(db);
      }
      for (boolean kept : new boolean[] {true, false}) { // the journal names what is left over
        disk.cut(left, () -> kept);
        Path db = left.resolve("db");
        assertThat(next.publish(db)).isEmpty();
        next.check(db, starting(db));
      }
      if (done < changes.size()) {
        disk.apply(changes.get(done));
      }
    }
  }

  /** A build may be starting in a directory that is empty or holds an empty lock; it stays. */
  private static String[] starting(Path db) throws IOException {
    List<String> starting =
        Leaks.tree(db).stream().filter(name -> name.startsWith(".bsdb-build-")).toList();
    assertThat(starting).allMatch(name -> !name.contains("/") || name.endsWith("/lock"));
    return starting.toArray(String[]::new);
  }

  @Test
  void aNewSetIsWholeOrAbsentAfterAPowerCut() throws Exception {
    List<WatchedFiles.Change> changes = Collections.synchronizedList(new ArrayList<>());
    PowerCuts disk = new PowerCuts(directory.resolve("disk"));
    set("a b").publish(WatchedFiles.watch(target, changes::add));
    SplittableRandom random = Seeds.random("ReplacementTest");
    Path left = directory.resolve("left");
    for (int done = 0; done <= changes.size(); done++) {
      for (BooleanSupplier keeps :
          List.<BooleanSupplier>of(() -> true, () -> false, random.split()::nextBoolean)) {
        disk.cut(left, keeps);
        if (done == changes.size() || Files.exists(left.resolve("db"))) {
          set("a b").checkFiles(left.resolve("db"));
        }
      }
      if (done < changes.size()) {
        disk.apply(changes.get(done));
      }
    }
  }

  /** A directory as a killed build leaves it: nobody holds the lock. */
  private static Path stale(Path path) throws IOException {
    Files.createDirectory(path);
    Files.createFile(path.resolve("lock"));
    Files.write(path.resolve("data-0.part"), new byte[100]);
    return path;
  }

  private static void write(Path directory, String... names) throws IOException {
    for (String name : names) {
      Path file = directory.resolve(name);
      Files.createDirectories(file.getParent());
      Files.writeString(file, "precious");
    }
  }

  @Test
  void aJournalNamesFilesOfDatabasesOnly() throws Exception {
    CraftedSet current = set("a b");
    current.publish(target);
    Path elsewhere = Files.createDirectory(directory.resolve("elsewhere"));
    write(elsewhere, "manifest.bsdb", "data-000-12345678.bsdb");
    Files.createSymbolicLink(target.resolve("shard-00009-12345678"), elsewhere);
    String[] stay = {
      "thesis.tex",
      "data-000-12345678.part",
      "folder/manifest.bsdb",
      "shard-00001-12345678/thesis.tex",
      "shard-00001-12345678/data-0.part",
      "shard-00001-12345678/shard-00002-12345678/manifest.bsdb",
      "shard-00002-12345678/hash-12345678.bsdb/notes",
    };
    String[] deleted = {
      "data-000-87654321.bsdb",
      "shard-00001-12345678/manifest.bsdb",
      "shard-00003-12345678/manifest.bsdb",
      "shard-00003-12345678/index-12345678.bsdb",
    };
    write(target, stay);
    write(target, deleted);
    List<String> journal = new ArrayList<>(current.files()); // of the current set: all stay
    journal.addAll(Arrays.asList(stay));
    journal.addAll(Arrays.asList(deleted));
    journal.addAll(
        List.of(
            "",
            "/",
            "..",
            "\0",
            "../elsewhere/manifest.bsdb",
            "shard-00001-12345678/",
            "shard-00001-12345678/../thesis.tex",
            "shard-00001-12345678/../../elsewhere/manifest.bsdb",
            "shard-00002-12345678/hash-12345678.bsdb",
            "shard-00009-12345678/manifest.bsdb",
            "shard-00009-12345678/data-000-12345678.bsdb",
            elsewhere + "/manifest.bsdb"));
    Files.write(stale(target.resolve(".bsdb-build-replacing")).resolve("names"), journal);
    Workspace.create(target, true, null).close();
    List<String> expected = new ArrayList<>(Arrays.asList(stay));
    expected.addAll(
        List.of(
            "folder",
            "shard-00001-12345678",
            "shard-00001-12345678/shard-00002-12345678",
            "shard-00002-12345678",
            "shard-00002-12345678/hash-12345678.bsdb",
            "shard-00009-12345678"));
    current.check(target, expected.toArray(String[]::new));
    assertThat(Leaks.tree(elsewhere)).containsExactly("data-000-12345678.bsdb", "manifest.bsdb");
  }

  @Test
  void equalNamesOfDifferentShardsAreRefused() throws Exception {
    CraftedSet fresh = set("a b");
    List<ShardSet.Shard> shards = new ArrayList<>();
    for (String name : fresh.shards()) {
      byte[] id = HexFormat.of().parseHex(name.substring(12) + "00".repeat(12));
      shards.add(new ShardSet.Shard(shards.size(), DatabaseId.read(id, 0), 1));
    }
    assertThat(shards).extracting(ShardSet.Shard::directoryName).isEqualTo(fresh.shards());
    Files.createDirectory(target);
    CraftedSet.writeManifest(target, shards);
    List<String> before = Leaks.tree(directory.resolve("disk"));
    assertThatThrownBy(() -> fresh.publish(target))
        .isInstanceOf(IOException.class)
        .hasMessageContainingAll(target.toString(), "the same names", "choose another target");
    assertThat(Leaks.tree(directory.resolve("disk"))).isEqualTo(before);
  }

  @Test
  void nothingIsBuiltInsideASet() throws Exception {
    CraftedSet set = set("a b");
    set.publish(target);
    String shard = set.shards().get(0);
    List<String> before = Leaks.tree(target);
    for (String inside : List.of("x", "x/y", shard, shard + "/x", shard + "/x/y")) {
      Path path = target.resolve(inside);
      BuildOptions options = BuildOptions.defaults().withOverwrite(true);
      assertThatThrownBy(() -> DatabaseBuilder.create(path, options))
          .as(inside)
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContainingAll("lies inside the database " + target, "choose another");
      Path other = target.resolveSibling("other");
      assertThatThrownBy(() -> DatabaseBuilder.create(other, options.withTemporaryDirectory(path)))
          .as(inside)
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("the temporary directory");
    }
    assertThat(Leaks.tree(target)).isEqualTo(before);
    nothingBesideTheTarget();
  }

  @Test
  void aBuildThatFailsRemovesItsShards() throws Exception {
    Path temporary = directory.resolve("t");
    for (boolean replaces : new boolean[] {false, true}) {
      try (Workspace workspace = Workspace.create(target, true, temporary)) {
        for (Path each : List.of(workspace.directory(), workspace.temporaryDirectory())) {
          write(each, "shard-00000.part/data-0.part", "shard-00000.part/spill-3.part");
          write(each, "shard-00001-12345678/manifest.bsdb");
          Files.createDirectory(each.resolve("shard-16383.part"));
        }
      }
      assertThat(temporary).doesNotExist();
      if (replaces) {
        set("a b").check(target);
      } else {
        assertThat(target.getParent()).isEmptyDirectory();
      }
      set("a b").publish(target);
    }
  }

  @Test
  void whatAStrangerPutIntoTheDirectoryOfABuildStays() throws Exception {
    Path elsewhere = Files.createDirectory(directory.resolve("elsewhere"));
    write(elsewhere, "data-0.part", "manifest.bsdb");
    Path built;
    try (Workspace workspace = Workspace.create(target, true, null)) {
      built = workspace.directory();
      write(built, "shard-00000.part/data-0.part", "shard-00000.part/thesis.tex");
      Files.createDirectories(built.resolve("shard-00001.part/data-0.part/notes"));
      Files.createSymbolicLink(built.resolve("shard-00002.part"), elsewhere);
      Files.createSymbolicLink(built.resolve("shard-00003-12345678"), elsewhere);
    }
    assertThat(Leaks.tree(built))
        .containsExactly(
            "shard-00000.part",
            "shard-00000.part/thesis.tex",
            "shard-00001.part",
            "shard-00001.part/data-0.part",
            "shard-00001.part/data-0.part/notes",
            "shard-00003-12345678");
    assertThat(Leaks.tree(elsewhere)).containsExactly("data-0.part", "manifest.bsdb");
  }

  @Test
  void staleShardsOfAKilledBuildAreRemovedByTheNext() throws Exception {
    Path disk = target.getParent();
    set("a b").copyTo(stale(disk.resolve(".db.bsdb-build-17")));
    write(disk.resolve(".db.bsdb-build-17"), "shard-00007.part/data-0.part");
    Files.createDirectory(disk.resolve(".db.bsdb-build-17/shard-00008.part"));
    set("c d").publish(target);
    nothingBesideTheTarget();
    set("a b").copyTo(stale(target.resolve(".bsdb-build-17")));
    write(target.resolve(".bsdb-build-17"), "shard-00007.part/data-0.part");
    new Truth().add("key", "e").build(target, BuildOptions.defaults().withOverwrite(true));
    assertThat(Leaks.tree(target)).hasSize(3);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "shard-00001.part/thesis.tex",
        "shard-00001-12345678/thesis.tex",
        "shard-00001-12345678/lock",
        "shard-00001-12345678/data-0.part/notes",
        "shard-00001-12345678/shard-00002-12345678/manifest.bsdb",
        "shard-1.part/data-0.part",
        "shard-00001/data-0.part",
      })
  void aStaleDirectoryWithAStrangerStays(String stranger) throws Exception {
    Path stale = stale(target.resolveSibling(".db.bsdb-build-17"));
    write(stale, "shard-00000.part/data-0.part", stranger);
    List<String> before = Leaks.tree(stale);
    set("a b").publish(target);
    assertThat(Leaks.tree(stale)).isEqualTo(before);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "shard-00001.part",
        "shard-00001-12345678",
        "shard-00000.part/data-0.part",
        "shard-00000.part/shard-00001-12345678"
      })
  void aStaleDirectoryWithALinkStays(String link) throws Exception {
    Path elsewhere = Files.createDirectory(directory.resolve("elsewhere"));
    write(elsewhere, "data-0.part", "manifest.bsdb");
    Path stale = stale(target.resolveSibling(".db.bsdb-build-17"));
    write(stale, "shard-00000.part/data-1.part");
    Files.createSymbolicLink(stale.resolve(link), elsewhere);
    List<String> before = Leaks.tree(stale);
    set("a b").publish(target);
    assertThat(Leaks.tree(stale)).isEqualTo(before);
    assertThat(Leaks.tree(elsewhere)).containsExactly("data-0.part", "manifest.bsdb");
  }
}
