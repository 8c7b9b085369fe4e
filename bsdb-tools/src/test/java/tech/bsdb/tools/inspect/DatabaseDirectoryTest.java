package tech.bsdb.tools.inspect;

import static org.assertj.core.api.Assertions.assertThat;
import static tech.bsdb.tools.CommandRun.bsdb;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tech.bsdb.tools.CommandRun;

class DatabaseDirectoryTest {
  @TempDir Path folder;

  @ParameterizedTest
  @ValueSource(strings = {"get", "scan", "stat", "verify", "warm"})
  void directoriesThatAreNotDatabasesAreNamed(String command) throws Exception {
    Path missing = folder.resolve("missing");
    Path file = Files.writeString(folder.resolve("file"), "x");
    Path empty = Files.createDirectory(folder.resolve("empty"));

    assertError(command, missing.toString(), missing + ": no such directory");
    assertError(command, file.toString(), file + ": not a database: it is a file, not a directory");
    assertError(command, empty.toString(), empty + ": not a database: the directory is empty");
    assertError(command, "", "-d takes the directory of a database, not \"\"");
  }

  @ParameterizedTest
  @ValueSource(strings = {"get", "scan", "stat", "verify", "warm"})
  void aMissingVersionOfAStoreLeadsToThoseThatExist(String command) throws Exception {
    Path store = Files.createDirectory(folder.resolve("store"));
    Files.writeString(store.resolve("CURRENT"), "monday\n");
    Path missing = store.resolve("sunday");
    assertError(
        command,
        missing.toString(),
        missing
            + ": no such directory; list the versions of the store with: bsdb versions "
            + store);
  }

  @ParameterizedTest
  @ValueSource(strings = {"get", "scan", "stat", "verify", "warm"})
  void aStoreWithoutACurrentVersionIsSaidToBe(String command) throws Exception {
    Path store = Files.createDirectory(folder.resolve("store"));
    Path input = Files.writeString(folder.resolve("input"), "key value\n");
    CommandRun built =
        bsdb("build", "-i", input.toString(), "-o", store.resolve("v1").toString(), "-q");
    assertThat(built.code()).as(built.toString()).isZero();
    assertError(
        command,
        store.toString(),
        store
            + " is not a store with a current version: it has no CURRENT; to make a version"
            + " current: bsdb rollback "
            + store
            + " VERSION");
  }

  private static void assertError(String command, String directory, String message) {
    List<String> line = new ArrayList<>(List.of(command, "-d", directory));
    if (command.equals("get")) {
      line.add("key");
    }
    CommandRun run = bsdb(line.toArray(String[]::new));
    assertThat(run.code()).isEqualTo(2);
    assertThat(run.outBytes()).isEmpty();
    assertThat(run.err().lines().findFirst()).contains("bsdb " + command + ": " + message);
  }
}
