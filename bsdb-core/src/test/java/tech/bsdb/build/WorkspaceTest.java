package tech.bsdb.build;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tech.bsdb.BuildMain;
import tech.bsdb.BuildOptions;
import tech.bsdb.Database;
import tech.bsdb.DatabaseBuilder;
import tech.bsdb.Fork;
import tech.bsdb.Leaks;
import tech.bsdb.Truth;

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
    assertThat(Leaks.tree(directory)).hasSize(5);
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
    assertThat(Leaks.tree(directory.resolve("a/b/c"))).hasSize(5);
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
        assertThat(Leaks.tree(directory)).hasSize(5);
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
  private static Path leftOver(Path parent, String name, boolean locked) throws IOException {
    Path left = Files.createDirectory(parent.resolve(name));
    Files.write(left.resolve("data-0.part"), new byte[10_000]);
    Files.write(left.resolve("hash-0.part"), new byte[100]);
    if (locked) {
      Files.createFile(left.resolve("lock"));
    }
    return left;
  }

  @Test
  void leftOversOfAKilledBuildAreRemovedByTheNext() throws Exception {
    leftOver(directory, ".db.bsdb-build-17", true);
    leftOver(directory, ".other.bsdb-build-17", true);
    fresh.build(target(), BuildOptions.defaults());
    assertThat(Leaks.tree(directory)).filteredOn(name -> name.startsWith(".db")).isEmpty();
    assertThat(Leaks.tree(directory))
        .as("of another target")
        .filteredOn(name -> name.startsWith(".other"))
        .hasSize(4);
    leftOver(target(), ".bsdb-build-17", true);
    Files.write(target().resolve("data-000-12345678.bsdb"), new byte[4096]);
    fresh.check(target());
    old.build(target(), OVERWRITE);
    old.check(target());
    assertThat(Leaks.tree(target())).hasSize(4);
  }

  @Test
  void leftOversInTheTemporaryDirectoryAreRemovedByTheNext() throws Exception {
    Path temporary = directory.resolve("t");
    BuildOptions options = BuildOptions.defaults().withTemporaryDirectory(temporary);
    List<String> names;
    try (DatabaseBuilder builder = DatabaseBuilder.create(target(), options)) {
      names = Leaks.tree(temporary);
      builder.add(new byte[1], new byte[1]);
    }
    Files.createDirectories(temporary);
    leftOver(temporary, names.get(0), true);
    DatabaseBuilder.create(target(), options).close();
    assertThat(Leaks.tree(directory)).isSubsetOf("t");
  }

  @Test
  void leftOversOfABuildThatWasKilledWhileItPublishedAreRemovedByTheNext() throws Exception {
    leftOver(directory, ".db.bsdb-build-17", false);
    fresh.build(target(), BuildOptions.defaults());
    assertThat(Leaks.tree(directory)).filteredOn(name -> name.startsWith(".db")).isEmpty();
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
}
