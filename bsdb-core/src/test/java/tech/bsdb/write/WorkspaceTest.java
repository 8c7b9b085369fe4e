package tech.bsdb.write;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tech.bsdb.BuildMain;
import tech.bsdb.BuildOptions;
import tech.bsdb.BuildReport;
import tech.bsdb.Database;
import tech.bsdb.DatabaseBuilder;
import tech.bsdb.Fork;
import tech.bsdb.Leaks;
import tech.bsdb.Truth;
import tech.bsdb.WatchedFiles;
import tech.bsdb.io.DurableFiles;

/** Where a build works, what it publishes, and what it leaves alone. */
class WorkspaceTest {
  private static final BuildOptions OVERWRITE = BuildOptions.defaults().withOverwrite(true);

  @TempDir Path directory;

  private final Truth old = new Truth().add("key", "old").add("gone", "x");
  private final Truth fresh = new Truth().add("key", "new").absent(Truth.utf8("gone"));

  private Path target() {
    return directory.resolve("db");
  }

  @AfterEach
  void nothingIsHeld() throws Exception {
    Leaks.assertNone(directory);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void theDirectoryHasOrdinaryPermissions(boolean replaces) throws Exception {
    assumeTrue(
        Files.getFileStore(directory).supportsFileAttributeView("posix"),
        "no POSIX permissions here");
    Path ordinary = Files.createDirectory(directory.resolve("ordinary"));
    Path file = Files.createFile(ordinary.resolve("file"));
    if (replaces) {
      old.build(target(), BuildOptions.defaults());
    }
    fresh.build(target(), OVERWRITE);
    assertThat(Files.getPosixFilePermissions(target()))
        .isEqualTo(Files.getPosixFilePermissions(ordinary));
    try (var files = Files.list(target())) {
      for (Path each : files.toList()) {
        assertThat(Files.getPosixFilePermissions(each))
            .isEqualTo(Files.getPosixFilePermissions(file));
      }
    }
  }

  @Test
  void aDatabaseIsNotReplacedUnlessThatIsAsked() throws Exception {
    old.build(target(), BuildOptions.defaults());
    refused(BuildOptions.defaults());
    old.check(target());
    fresh.build(target(), OVERWRITE);
    fresh.check(target());
    assertThat(Leaks.tree(directory)).hasSize(4);
  }

  @Test
  void aFileIsNeverReplaced() throws Exception {
    Files.writeString(target(), "precious");
    refused(BuildOptions.defaults());
    refused(OVERWRITE);
    assertThat(target()).hasContent("precious");
  }

  @Test
  void aDirectoryThatIsNoDatabaseIsNeverReplaced() throws Exception {
    Files.createDirectory(target());
    Files.writeString(target().resolve("thesis.tex"), "precious");
    refused(BuildOptions.defaults());
    refused(OVERWRITE);
    assertThat(Leaks.tree(directory)).containsExactly("db", "db/thesis.tex");
  }

  @Test
  void anEmptyDirectoryIsReplacedIfThatIsAsked() throws Exception {
    Files.createDirectory(target());
    refused(BuildOptions.defaults());
    fresh.build(target(), OVERWRITE);
    fresh.check(target());
  }

  @Test
  void aLinkToNowhereIsRefused() throws Exception {
    Files.createSymbolicLink(target(), directory.resolve("nowhere"));
    refused(BuildOptions.defaults());
    refused(OVERWRITE);
    assertThat(Leaks.tree(directory)).containsExactly("db");
  }

  @Test
  void whatALinkShowsIsReplacedAndTheLinkStays() throws Exception {
    Path real = directory.resolve("v1");
    old.build(real, BuildOptions.defaults());
    Files.createSymbolicLink(target(), Path.of("v1"));
    fresh.build(target(), OVERWRITE);
    assertThat(target()).isSymbolicLink();
    fresh.check(real);
    fresh.check(target());
  }

  @Test
  void theRootOfAFileSystemIsRefused() {
    assertThatThrownBy(() -> DatabaseBuilder.create(Path.of("/"), OVERWRITE))
        .isInstanceOf(IOException.class);
  }

  private void refused(BuildOptions options) {
    assertThatThrownBy(() -> DatabaseBuilder.create(target(), options))
        .isInstanceOf(FileAlreadyExistsException.class)
        .hasMessageContaining(target().toString());
  }

  @Test
  void strangersInTheDatabaseAreLeftAlone() throws Exception {
    old.build(target(), BuildOptions.defaults());
    Files.writeString(target().resolve("README"), "precious");
    Files.createDirectories(target().resolve("notes/deep"));
    fresh.build(target(), OVERWRITE);
    fresh.check(target());
    assertThat(target().resolve("README")).hasContent("precious");
    assertThat(target().resolve("notes/deep")).isDirectory();
  }

  @Test
  void theSameContentReplacesItself() throws Exception {
    old.build(target(), OVERWRITE);
    List<String> before = Leaks.tree(directory);
    for (int i = 0; i < 3; i++) {
      old.build(target(), OVERWRITE);
    }
    assertThat(Leaks.tree(directory)).isEqualTo(before);
    old.check(target());
  }

  @Test
  void aDamagedDatabaseIsReplacedByTheSameContent() throws Exception {
    old.build(target(), OVERWRITE);
    try (var files = Files.list(target())) {
      for (Path file : files.toList()) {
        Files.write(file, new byte[100]);
      }
    }
    old.build(target(), OVERWRITE);
    old.check(target());
  }

  @Test
  void missingParentsAreMade() throws Exception {
    Path deep = directory.resolve("a/b/c/db");
    fresh.build(deep, BuildOptions.defaults().withTemporaryDirectory(directory.resolve("t/u")));
    fresh.check(deep);
    assertThat(Leaks.tree(directory.resolve("a/b/c"))).hasSize(4);
    assertThat(directory.resolve("t")).as("directories made for temporary files").doesNotExist();
  }

  @Test
  void parentsThatWereMadeAreRemovedWhenTheBuildFails() throws Exception {
    Path deep = directory.resolve("a/b/c/db");
    DatabaseBuilder.create(
            deep, BuildOptions.defaults().withTemporaryDirectory(directory.resolve("t/u")))
        .close();
    assertThat(Leaks.tree(directory)).isEmpty();
    Files.createDirectory(directory.resolve("a"));
    DatabaseBuilder.create(deep, BuildOptions.defaults()).close();
    assertThat(Leaks.tree(directory)).containsExactly("a");
  }

  /** Like builds that made the parent, and fail before there is anything in it. */
  @Test
  void aParentThatAnotherBuildRemovesIsMadeAgain() throws Exception {
    Path parent = directory.resolve("a");
    AtomicBoolean done = new AtomicBoolean();
    Semaphore removals = new Semaphore(0);
    Thread other =
        new Thread(
            () -> {
              while (!done.get()) {
                if (Files.exists(parent) && removals.tryAcquire()) {
                  DurableFiles.removeIfEmpty(List.of(parent));
                }
              }
            });
    other.start();
    try {
      for (int i = 0; i < 300; i++) {
        removals.drainPermits();
        removals.release(20); // fewer than the attempts that a build makes
        Workspace.create(parent.resolve("db"), false, null).close();
      }
    } finally {
      done.set(true);
      other.join();
    }
    DurableFiles.removeIfEmpty(List.of(parent));
    assertThat(Leaks.tree(directory)).isEmpty();
  }

  @Test
  void aParentThatIsAFileIsRefused() throws Exception {
    Files.writeString(directory.resolve("file"), "x");
    assertThatThrownBy(() -> DatabaseBuilder.create(directory.resolve("file/db"), OVERWRITE))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("file");
    assertThatThrownBy(
            () ->
                DatabaseBuilder.create(
                    target(), OVERWRITE.withTemporaryDirectory(directory.resolve("file"))))
        .isInstanceOf(NotDirectoryException.class)
        .hasMessageContaining("file");
    assertThat(Leaks.tree(directory)).containsExactly("file");
  }

  @ParameterizedTest
  @ValueSource(strings = {"file", "empty directory", "directory", "database"})
  void aTargetThatAppearsMeanwhileIsLeftAlone(String what) throws Exception {
    try (DatabaseBuilder builder = DatabaseBuilder.create(target(), BuildOptions.defaults())) {
      builder.add(new byte[1], new byte[1]);
      switch (what) {
        case "file" -> Files.writeString(target(), "precious");
        case "empty directory" -> Files.createDirectory(target());
        case "directory" -> Files.createDirectories(target().resolve("precious"));
        default -> old.build(target(), BuildOptions.defaults());
      }
      if (what.equals("empty directory")) {
        builder.finish(); // rename(2) replaces an empty directory, and nothing is lost by that
        return;
      }
      assertThatThrownBy(builder::finish)
          .isInstanceOf(FileAlreadyExistsException.class)
          .hasMessageContaining(target().toString());
    }
    switch (what) {
      case "file" -> assertThat(Leaks.tree(directory)).containsExactly("db");
      case "directory" -> assertThat(Leaks.tree(directory)).containsExactly("db", "db/precious");
      default -> {
        old.check(target());
        assertThat(Leaks.tree(directory)).hasSize(4);
      }
    }
  }

  @Test
  void aTargetThatVanishesMeanwhileFailsTheBuild() throws Exception {
    old.build(target(), BuildOptions.defaults());
    try (DatabaseBuilder builder = DatabaseBuilder.create(target(), OVERWRITE)) {
      builder.add(new byte[1], new byte[1]);
      try (var paths = Files.walk(target())) {
        for (Path path : paths.sorted(java.util.Comparator.reverseOrder()).toList()) {
          Files.delete(path);
        }
      }
      assertThatThrownBy(builder::finish).isInstanceOf(IOException.class);
    }
    assertThat(Leaks.tree(directory)).isEmpty();
  }

  @Test
  void theLongestNamesWork() throws Exception {
    Path target = directory.resolve("n".repeat(255));
    fresh.build(target, OVERWRITE);
    fresh.check(target);
    old.build(target, OVERWRITE);
    old.check(target);
  }

  @Test
  void aTemporaryDirectoryInTheTargetIsRefusedOrWorks() throws Exception {
    BuildOptions options = BuildOptions.defaults().withTemporaryDirectory(target().resolve("tmp"));
    try (DatabaseBuilder builder = DatabaseBuilder.create(target(), options)) {
      builder.add(new byte[1], new byte[1]);
      builder.finish();
    } catch (IllegalArgumentException | FileAlreadyExistsException e) {
      assertThat(Leaks.tree(directory)).isEmpty();
      return;
    }
    assertThat(Database.verify(target(), (done, total) -> {}).records()).isOne();
  }

  /** A directory as a killed build leaves it: nobody holds the lock. */
  private static Path staleWorkspace(Path parent, String name) throws IOException {
    Path left = Files.createDirectory(parent.resolve(name));
    Files.write(left.resolve("data-0.part"), new byte[10_000]);
    Files.write(left.resolve("hash-0.part"), new byte[100]);
    Files.createFile(left.resolve("lock"));
    return left;
  }

  @Test
  void staleFilesOfAKilledBuildAreRemovedByTheNext() throws Exception {
    staleWorkspace(directory, ".db.bsdb-build-17");
    staleWorkspace(directory, ".other.bsdb-build-17");
    fresh.build(target(), BuildOptions.defaults());
    assertThat(Leaks.tree(directory)).filteredOn(name -> name.startsWith(".db")).isEmpty();
    assertThat(Leaks.tree(directory))
        .as("of another target")
        .filteredOn(name -> name.startsWith(".other"))
        .hasSize(4);
    staleWorkspace(target(), ".bsdb-build-17");
    fresh.check(target());
    old.build(target(), OVERWRITE);
    old.check(target());
    assertThat(Leaks.tree(target())).hasSize(3);
  }

  @Test
  void staleFilesInTheTemporaryDirectoryAreRemovedByTheNext() throws Exception {
    Path temporary = directory.resolve("t");
    BuildOptions options = BuildOptions.defaults().withTemporaryDirectory(temporary);
    List<String> names;
    try (DatabaseBuilder builder = DatabaseBuilder.create(target(), options)) {
      names = Leaks.tree(temporary);
      builder.add(new byte[1], new byte[1]);
    }
    Files.createDirectories(temporary);
    staleWorkspace(temporary, names.get(0));
    DatabaseBuilder.create(target(), options).close();
    assertThat(Leaks.tree(directory)).isSubsetOf("t");
  }

  @Test
  void theOtherBuildersOfThisProcessAreLeftAlone() throws Exception {
    try (DatabaseBuilder one = DatabaseBuilder.create(target(), BuildOptions.defaults())) {
      one.add(Truth.utf8("key"), Truth.utf8("new"));
      DatabaseBuilder.create(target(), BuildOptions.defaults()).close();
      DatabaseBuilder.create(target(), BuildOptions.defaults()).close();
      one.finish();
    }
    fresh.check(target());
  }

  @Test
  void aBuilderOfAnotherProcessIsLeftAlone() throws Exception {
    try (DatabaseBuilder one = DatabaseBuilder.create(target(), BuildOptions.defaults())) {
      one.add(Truth.utf8("key"), Truth.utf8("new"));
      List<String> ours = Leaks.tree(directory);
      // Looks at the lock of the first one; a POSIX lock is lost when any descriptor of its file is
      // closed.
      DatabaseBuilder.create(target(), BuildOptions.defaults()).close();
      Process other =
          Fork.start(BuildMain.class, directory.resolve("db").toString(), "blocked", "0", "1", "1");
      other.getInputStream().readAllBytes();
      other.waitFor();
      assertThat(Leaks.tree(directory)).containsAll(ours);
    }
  }

  /** A directory whose name is that of a workspace, with a file of the user's. */
  private static Path userFolder(Path path) throws IOException {
    Files.createDirectory(path);
    Files.writeString(path.resolve("thesis.tex"), "precious");
    return path;
  }

  @Test
  void onlyWhatTheManifestListsIsDeleted() throws Exception {
    old.build(target(), BuildOptions.defaults());
    Files.writeString(target().resolve("backup.bsdb"), "precious");
    Files.writeString(target().resolve("data-000-12345678.bsdb"), "precious");
    Files.writeString(target().resolve("lock"), "precious");
    Files.createDirectory(target().resolve("sub.bsdb"));
    userFolder(target().resolve("full.bsdb"));
    List<String> strangers =
        List.of(
            "backup.bsdb",
            "data-000-12345678.bsdb",
            "full.bsdb",
            "full.bsdb/thesis.tex",
            "lock",
            "sub.bsdb");
    assertThat(fresh.build(target(), OVERWRITE).warnings()).isEmpty();
    fresh.check(target());
    assertThat(Leaks.tree(target())).hasSize(3 + strangers.size()).containsAll(strangers);
  }

  @Test
  void aListedNameThatIsAFolderNowStays() throws Exception {
    old.build(target(), BuildOptions.defaults());
    Path data;
    try (var files = Files.list(target())) {
      data = files.filter(file -> file.toString().contains("data-")).findAny().orElseThrow();
    }
    Files.delete(data);
    Files.createDirectory(data);
    assertThat(fresh.build(target(), OVERWRITE).warnings()).isEmpty();
    fresh.check(target());
    assertThat(data).isDirectory();
  }

  @Test
  void aDamagedManifestNamesNothingToDelete() throws Exception {
    old.build(target(), BuildOptions.defaults());
    List<String> before = Leaks.tree(target());
    byte[] manifest = Files.readAllBytes(target().resolve("manifest.bsdb"));
    manifest[5000] ^= 1;
    Files.write(target().resolve("manifest.bsdb"), manifest);
    assertThat(fresh.build(target(), OVERWRITE).warnings())
        .singleElement()
        .asString()
        .contains("could not be read, so its files were not deleted");
    fresh.check(target());
    assertThat(Leaks.tree(target())).hasSize(5).containsAll(before);
  }

  @Test
  void linksAreNotFollowedWhenStaleFilesAreRemoved() throws Exception {
    Path elsewhere = staleWorkspace(directory, "elsewhere");
    List<String> before = Leaks.tree(elsewhere);
    Files.createSymbolicLink(directory.resolve(".db.bsdb-build-17"), elsewhere);
    Path inner = staleWorkspace(directory, ".db.bsdb-build-18");
    Files.delete(inner.resolve("lock"));
    Files.createSymbolicLink(inner.resolve("lock"), elsewhere.resolve("lock"));
    Path data = staleWorkspace(directory, ".db.bsdb-build-19");
    Files.delete(data.resolve("data-0.part"));
    Files.createSymbolicLink(data.resolve("data-0.part"), elsewhere.resolve("data-0.part"));
    fresh.build(target(), BuildOptions.defaults());
    assertThat(Leaks.tree(elsewhere)).isEqualTo(before);
    assertThat(directory.resolve(".db.bsdb-build-17")).isSymbolicLink();
    assertThat(Leaks.tree(inner)).hasSize(3);
    assertThat(Leaks.tree(data)).hasSize(3);
  }

  @Test
  void whatIsNotSurelyAWorkspaceStays() throws Exception {
    userFolder(directory.resolve(".db.bsdb-build-17"));
    Path locked = userFolder(directory.resolve(".db.bsdb-build-18"));
    Files.createFile(locked.resolve("lock"));
    Path named = staleWorkspace(directory, ".db.bsdb-build-of-last-week");
    Path unmarked = staleWorkspace(directory, ".db.bsdb-build-19");
    Files.writeString(unmarked.resolve("lock"), "precious");
    Path without = staleWorkspace(directory, ".db.bsdb-build-20");
    Files.delete(without.resolve("lock"));
    Path nested = staleWorkspace(directory, ".db.bsdb-build-21");
    Files.createDirectory(nested.resolve("data-1.part"));
    Files.writeString(directory.resolve(".db.bsdb-build-22"), "precious");
    List<String> before = Leaks.tree(directory);
    fresh.build(target(), BuildOptions.defaults());
    fresh.check(target());
    assertThat(Leaks.tree(directory)).containsAll(before).hasSize(before.size() + 4);
    assertThat(named.resolve("lock")).exists();
  }

  @Test
  void aPathInAStaleLockIsFollowedOnlyToADirectoryOfTheSameBuild() throws Exception {
    Path temporary = Files.createDirectory(directory.resolve("t"));
    Path victim = staleWorkspace(temporary, "bsdb-build-0123abcd-17");
    Path marked = staleWorkspace(temporary, "bsdb-build-0123abcd-18");
    Files.writeString(marked.resolve("lock"), "bsdb-workspace 18 other\n");
    Path own = staleWorkspace(temporary, "bsdb-build-0123abcd-19");
    Files.writeString(own.resolve("lock"), "bsdb-workspace 19 w3\n");
    int i = 1;
    for (Path noted : List.of(victim, marked, own)) {
      Path stale = staleWorkspace(directory, ".db.bsdb-build-w" + i);
      Files.writeString(stale.resolve("lock"), "bsdb-workspace w" + i + "\n" + noted + "\n");
      i++;
    }
    fresh.build(target(), BuildOptions.defaults());
    assertThat(Leaks.tree(directory)).noneMatch(name -> name.startsWith(".db"));
    assertThat(victim.resolve("data-0.part")).exists();
    assertThat(marked.resolve("data-0.part")).exists();
    assertThat(own).doesNotExist();
  }

  @Test
  void theTemporaryDirectoryOfAKilledBuildIsRemovedByTheNextWithoutOne() throws Exception {
    Path temporary = Files.createDirectory(directory.resolve("t"));
    BuildOptions options = BuildOptions.defaults().withTemporaryDirectory(temporary);
    Path copies = Files.createDirectory(directory.resolve("copies"));
    try (DatabaseBuilder builder = DatabaseBuilder.create(target(), options)) {
      builder.add(new byte[1], new byte[1]);
      for (String name : Leaks.tree(directory)) {
        Path from = directory.resolve(name);
        if (!name.startsWith("copies")) {
          if (Files.isDirectory(from)) {
            Files.createDirectories(copies.resolve(name));
          } else {
            Files.copy(from, copies.resolve(name));
          }
        }
      }
    }
    for (String name : Leaks.tree(copies)) { // as if the build had been killed
      Path to = directory.resolve(name);
      if (Files.isDirectory(copies.resolve(name))) {
        Files.createDirectories(to);
      } else {
        Files.copy(copies.resolve(name), to);
      }
    }
    assertThat(Leaks.tree(temporary)).isNotEmpty();
    DatabaseBuilder.create(target(), BuildOptions.defaults()).close();
    assertThat(Leaks.tree(temporary)).isEmpty();
    assertThat(Leaks.tree(directory)).noneMatch(name -> name.startsWith(".db"));
  }

  @Test
  void aStaleWorkspaceThatCannotBeRemovedDisturbsNobody() throws Exception {
    Path stale = staleWorkspace(directory, ".db.bsdb-build-17");
    Path watched =
        WatchedFiles.watch(
            target(),
            change -> {
              if (change instanceof WatchedFiles.Delete delete && delete.path().startsWith(stale)) {
                throw new AccessDeniedException(delete.path().toString()); // another user's, sticky
              }
            });
    fresh.build(watched, BuildOptions.defaults());
    fresh.check(target());
    assertThat(stale).isDirectory();
  }

  @Test
  void nothingFailsAfterTheSwitch() throws Exception {
    for (String failing : List.of("delete", "force", "workspace", "new")) {
      Path db = directory.resolve(failing);
      if (!failing.equals("new")) {
        old.build(db, BuildOptions.defaults());
      }
      AtomicBoolean switched = new AtomicBoolean();
      Path watched =
          WatchedFiles.watch(
              db,
              change -> {
                if (change instanceof WatchedFiles.Move move) {
                  boolean manifest = move.to().equals(db.resolve("manifest.bsdb"));
                  switched.compareAndSet(false, manifest || move.to().equals(db));
                } else if (switched.get()) {
                  boolean fails =
                      switch (failing) {
                        case "delete" ->
                            change instanceof WatchedFiles.Delete delete
                                && db.equals(delete.path().getParent());
                        case "force", "new" -> change instanceof WatchedFiles.Force;
                        default ->
                            change instanceof WatchedFiles.Delete delete
                                && !db.equals(delete.path().getParent());
                      };
                  if (fails) {
                    throw new IOException("Input/output error");
                  }
                }
              });
      BuildReport report = fresh.build(watched, OVERWRITE);
      assertThat(report.warnings())
          .as(failing)
          .isNotEmpty()
          .allMatch(warning -> warning.contains("the database is at " + db))
          .allMatch(warning -> warning.contains("Input/output error"));
      fresh.check(db);
      old.build(db, OVERWRITE);
      old.check(db);
      assertThat(Leaks.tree(db)).as(failing).allMatch(name -> name.endsWith(".bsdb")).hasSize(3);
    }
  }

  @Test
  void anInterruptAfterTheSwitchIsKeptAndDisturbsNothing() throws Exception {
    old.build(target(), BuildOptions.defaults());
    Path watched =
        WatchedFiles.watch(
            target(),
            change -> {
              if (change instanceof WatchedFiles.Move move
                  && move.to().equals(target().resolve("manifest.bsdb"))) {
                Thread.currentThread().interrupt();
              }
            });
    assertThat(fresh.build(watched, OVERWRITE).warnings()).isEmpty();
    assertThat(Thread.interrupted()).isTrue();
    fresh.check(target());
    assertThat(Leaks.tree(target())).hasSize(3);
  }

  @Test
  void nothingIsBuiltInsideADatabase() throws Exception {
    old.build(target(), BuildOptions.defaults());
    Files.createDirectory(target().resolve("folder"));
    Files.createSymbolicLink(directory.resolve("link"), target().resolve("folder"));
    List<String> before = Leaks.tree(directory);
    for (String inside : List.of("db/x", "db/folder/x", "db/made/x", "link/x", "db/folder")) {
      assertThatThrownBy(() -> DatabaseBuilder.create(directory.resolve(inside), OVERWRITE))
          .as(inside)
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContainingAll("lies inside the database " + target(), "choose another");
    }
    assertThatThrownBy(
            () ->
                DatabaseBuilder.create(
                    directory.resolve("other"),
                    OVERWRITE.withTemporaryDirectory(target().resolve("t"))))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("the temporary directory");
    assertThat(Leaks.tree(directory)).isEqualTo(before);
  }
}
