package tech.bsdb.tools.input;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class InputFilesTest {
  @TempDir Path directory;

  @Test
  void aDirectoryStandsForItsFilesInTheOrderOfTheirPathsBytes() throws IOException {
    for (String name :
        new String[] {"b", "a/z", "a/b/c", "a.txt", "a-b", "B", "é", "10", "9", "a/b.txt"}) {
      Path file = directory.resolve("in").resolve(name);
      Files.createDirectories(file.getParent());
      Files.writeString(file, "k v\n");
    }
    assertThat(names(directory.resolve("in")))
        .containsExactly("10", "9", "B", "a-b", "a.txt", "a/b.txt", "a/b/c", "a/z", "b", "é");
  }

  @Test
  void hiddenNamesAreLeftOutUnlessNamedAsInputs() throws IOException {
    Path in = Files.createDirectories(directory.resolve("_in"));
    Files.createDirectories(in.resolve(".hidden"));
    Files.createDirectories(in.resolve("_temporary"));
    for (String name : new String[] {"a", ".b", "_SUCCESS", ".hidden/c", "_temporary/d"}) {
      Files.writeString(in.resolve(name), "k v\n");
    }
    assertThat(names(in)).containsExactly("a");
    assertThat(Readings.read(Readings.of(in.resolve("_SUCCESS"))).records()).hasSize(1);
  }

  @Test
  void symbolicLinksAreFollowedAndLoopsSkipped() throws IOException {
    Path in = Files.createDirectories(directory.resolve("in/sub"));
    Files.writeString(in.resolve("a"), "k v\n");
    Files.createSymbolicLink(in.resolve("loop"), directory.resolve("in"));
    Files.createSymbolicLink(in.resolve("self"), in.resolve("self"));
    Path elsewhere = Files.createDirectories(directory.resolve("elsewhere"));
    Files.writeString(elsewhere.resolve("x"), "k v\n");
    Files.createSymbolicLink(directory.resolve("in/linked"), elsewhere);
    assertThatThrownBy(() -> names(directory.resolve("in")))
        .as("a link that leads nowhere")
        .isInstanceOf(InputException.class)
        .hasMessageContaining("self");
    Files.delete(in.resolve("self"));
    assertThat(names(directory.resolve("in"))).containsExactly("linked/x", "sub/a");
  }

  @Test
  void aPipeBelowADirectoryIsRefusedUnlessItsNameIsHidden() throws Exception {
    Path in = Files.createDirectories(directory.resolve("in/sub"));
    Files.writeString(in.resolve("a"), "k v\n");
    assumeTrue(mkfifo(in.resolve(".hidden")) && mkfifo(in.resolve("_marker")));
    assertThat(names(directory.resolve("in"))).containsExactly("sub/a");

    assertThat(mkfifo(in.resolve("pipe"))).isTrue();

    assertThatThrownBy(() -> names(directory.resolve("in")))
        .isInstanceOf(InputException.class)
        .hasMessageStartingWith(in.resolve("pipe") + ": a pipe, a socket or a device");
    Files.delete(in.resolve("pipe"));
    Files.createSymbolicLink(in.resolve("device"), Path.of("/dev/null"));
    assertThatThrownBy(() -> names(directory.resolve("in")))
        .isInstanceOf(InputException.class)
        .hasMessageStartingWith(in.resolve("device") + ": a pipe, a socket or a device");
  }

  private static boolean mkfifo(Path path) throws Exception {
    try {
      return new ProcessBuilder("mkfifo", path.toString()).start().waitFor() == 0;
    } catch (IOException notThere) {
      return false;
    }
  }

  /** Java cannot name such a file, but gets its path from the directory. */
  @Test
  void aFileBelowADirectoryMayHaveAnyName() throws Exception {
    Path in = Files.createDirectories(directory.resolve("in"));
    String name = in.toUri().getRawPath() + "k%FF";
    Path raw = Path.of(URI.create("file://" + name));
    Files.writeString(raw, "k v\n".repeat(2) + "bad\n");

    Readings read = Readings.read(Readings.skipping(in));

    assertThat(read.records()).hasSize(2);
    assertThat(read.report().rejected()).isEqualTo(1);
  }

  @Test
  void databasesAreLeftOutOfDirectoriesAndRefusedAsInputs() throws IOException {
    Path database = Files.createDirectories(directory.resolve("in/rdb"));
    Files.writeString(directory.resolve("in/a"), "k v\n");
    Files.writeString(database.resolve("manifest.bsdb"), "BSDBFILE and more");
    Files.writeString(database.resolve("data.bsdb"), "no record");
    assertThat(names(directory.resolve("in"))).containsExactly("a");
    try (Input input = Input.open(Readings.of(directory.resolve("in")))) {
      assertThat(input.databases()).containsExactly(database);
    }
    assertThatThrownBy(() -> Input.open(Readings.of(database)))
        .isInstanceOf(InputException.class)
        .hasMessageContaining("is a bsdb database, not an input")
        .hasMessageContaining("bsdb scan");
    Files.writeString(database.resolve("manifest.bsdb"), "k v\n");
    assertThat(names(directory.resolve("in")))
        .containsExactly("a", "rdb/data.bsdb", "rdb/manifest.bsdb");
  }

  @Test
  void missingOrEmptyInputsFailBeforeAnythingIsRead() throws IOException {
    Path file = Readings.file(directory, "a", "k v\n");
    Path missing = directory.resolve("missing.txt");
    InputOptions options =
        Readings.of(file).withInputs(List.of(file.toString(), missing.toString()));
    assertThatThrownBy(() -> Input.open(options))
        .isInstanceOf(InputException.class)
        .hasMessage(missing + ": no such file or directory");
    assertThatThrownBy(() -> Input.open(options.withInputs(List.of("a\0b"))))
        .isInstanceOf(InputException.class)
        .hasMessageContaining("not a file name here");
    Path empty = Files.createDirectories(directory.resolve("empty/sub"));
    Files.writeString(empty.resolve("_SUCCESS"), "");
    assertThatThrownBy(() -> Input.open(Readings.of(directory.resolve("empty"))))
        .isInstanceOf(InputException.class)
        .hasMessageContaining("empty: no input files in this directory");
    assertThatThrownBy(() -> Input.open(options.withInputs(List.of())))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> Input.open(options.withInputs(List.of("-", "-"))))
        .isInstanceOf(InputException.class);
  }

  @Test
  void unreadableInputsFailBeforeAnythingIsRead() throws IOException {
    Path file = Readings.file(directory, "a", "k v\n");
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("-wx------"));
    assumeFalse(Files.isReadable(file), "the superuser reads everything");
    assertThatThrownBy(() -> Input.open(Readings.of(file)))
        .hasMessage(file + ": permission denied");
  }

  @Test
  void aDeletedFileIsAnErrorThatNamesIt() throws IOException {
    Path first = Readings.file(directory, "a", "k v\n");
    Path second = Readings.file(directory, "b", "k v\n");
    InputOptions options =
        Readings.of(first).withInputs(List.of(first.toString(), second.toString()));
    try (Input input = Input.open(options)) {
      Files.delete(second);
      assertThatThrownBy(() -> input.forEach((k, kf, kl, v, vf, vl) -> {}, InputListener.NONE))
          .isInstanceOf(InputException.class)
          .hasMessage(second + ": no such file or directory");
    }
  }

  @Test
  void aGrowingFileIsReadToItsInitialSize() throws IOException {
    Path file = Readings.file(directory, "a", "k v\n".repeat(1000));
    try (InputStream in = open(file)) {
      assertThat(in.readNBytes(100)).hasSize(100);
      Files.writeString(file, "more v\n", StandardOpenOption.APPEND);
      assertThat(in.readAllBytes()).hasSize(3900);
    }
    Path open = Readings.file(directory, "b", "k v\nk v");
    try (InputStream in = open(open)) {
      assertThat(in.readNBytes(1)).hasSize(1);
      Files.writeString(open, "alue\n", StandardOpenOption.APPEND);
      assertThatThrownBy(in::readAllBytes).hasMessage("the file grew while it was read");
    }
  }

  @Test
  void aTruncatedFileIsAnError() throws IOException {
    Path file = Readings.file(directory, "a", "k v\n".repeat(1000));
    try (InputStream in = open(file)) {
      assertThat(in.readNBytes(100)).hasSize(100);
      Files.writeString(file, "k v\n".repeat(50));
      assertThatThrownBy(in::readAllBytes).hasMessage("the file was cut short while it was read");
    }
  }

  @Test
  void aFileWithoutASizeIsRead() throws IOException {
    Path status = Path.of("/proc/self/status");
    if (Files.exists(status)) {
      Readings read = Readings.read(Readings.of(status).withFormat(new Format.Text("\t")));
      assertThat(read.records()).isNotEmpty();
    }
  }

  @Test
  void standardInputIsRead() throws IOException {
    InputStream before = System.in;
    System.setIn(new ByteArrayInputStream("a 1\nb 2\nbad\n".getBytes(UTF_8)));
    try (Input input = Input.open(InputOptions.defaults().withInputs(List.of("-")))) {
      assertThat(input.totalBytes()).isEqualTo(-1);
      assertThat(input.files()).containsExactly("stdin");
      assertThatThrownBy(() -> input.forEach((k, kf, kl, v, vf, vl) -> {}, InputListener.NONE))
          .hasMessageStartingWith("stdin:3: no separator");
    } finally {
      System.setIn(before);
    }
  }

  @Test
  void totalBytesAreTheSumOfTheFiles() throws IOException {
    Path file = Readings.file(directory, "a", "k v\n");
    Path zipped = Readings.file(directory, "b.gz", GzipMembersTest.gzip("k2 v\n".getBytes(UTF_8)));
    InputOptions options =
        Readings.of(file).withInputs(List.of(file.toString(), zipped.toString()));
    try (Input input = Input.open(options)) {
      long total = 4 + Files.size(zipped);
      assertThat(input.totalBytes()).isEqualTo(total);
      long[] last = new long[3];
      InputReport report =
          input.forEach(
              (k, kf, kl, v, vf, vl) -> {},
              (bytes, all, records) -> {
                assertThat(bytes).isBetween(last[0], total);
                last[0] = bytes;
                last[1] = all;
                last[2] = records;
              });
      assertThat(last).containsExactly(total, total, 2);
      assertThat(report.bytes()).isEqualTo(total);
    }
  }

  private static InputStream open(Path file) throws IOException {
    return InputFile.of(file).open(UTF_8, new AtomicLong());
  }

  private static List<String> names(Path in) throws IOException {
    return InputFile.find(List.of(in.toString()), new ArrayList<>()).stream()
        .map(file -> in.relativize(Path.of(file.name())).toString())
        .toList();
  }
}
