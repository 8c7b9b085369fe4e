package tech.bsdb.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.FileInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tech.bsdb.Fork;

/** Which engines a machine offers, and what refuses them for real. */
@Tag("jdk")
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class EnginesTest {
  @TempDir Path directory;

  @Test
  void mappedAndBufferedAreAlwaysThere() throws Exception {
    for (String name : List.of("mapped", "buffered")) {
      assertThat(Engines.unavailable(name, null)).isNull();
      assertThat(Engines.require(name, directory).name()).isEqualTo(name);
    }
    assertThatThrownBy(() -> Engines.named("floppy"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("floppy");
  }

  @Test
  void anOldJavaHasNoRings() {
    assumeTrue(Runtime.version().feature() < 22, "a new one");
    String reason = "needs Java 22 or newer, this is " + Runtime.version().feature();
    assertThat(Engines.unavailable("io_uring", null)).isEqualTo(reason);
    assertThatThrownBy(() -> Engines.require("io_uring", directory))
        .isInstanceOf(IOException.class)
        .hasMessageContaining(reason);
    assertThatThrownBy(() -> new UringEngine().queue(1, true))
        .isInstanceOf(IOException.class)
        .hasMessageContaining(reason);
  }

  @Test
  void aFileSystemMayRefuseDirectReads() {
    Path refusing = Path.of("/proc/self");
    assumeTrue(Files.isReadable(refusing.resolve("status")), "no file system of that kind");
    assertThat(Engines.unavailable("direct", refusing)).isEqualTo(DirectEngine.REFUSED);
    assertThatThrownBy(() -> Engines.require("direct", refusing))
        .isInstanceOf(IOException.class)
        .hasMessageContaining(DirectEngine.REFUSED);
    assertThatThrownBy(() -> new DirectEngine(null, 1).open(refusing.resolve("status"), 4096))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("status: " + DirectEngine.REFUSED);
    assertThat(Engines.unavailable("buffered", refusing)).isNull();
  }

  @Test
  void aDirectoryWithoutFilesRefusesNothing() {
    assertThat(Engines.unavailable("direct", directory)).isNull();
  }

  /** Says which engines there are, and reads the first pages of a file by all. */
  static final class Reading {
    private Reading() {}

    public static void main(String[] args) throws Exception {
      Path file = Path.of(args[0]);
      for (String name : Engines.NAMES) {
        String reason = Engines.unavailable(name, file.getParent());
        System.out.println(
            name + ": " + (reason == null ? first(Engines.named(name), file) : reason));
      }
    }

    static String first(Engine engine, Path file) throws IOException {
      try (PageSource source = engine.open(file, Files.size(file))) {
        Window window = new Window();
        source.read(2, 1, window);
        if (engine.verifiesEveryRead()) {
          try (ReadQueue queue = engine.queue(1, true)) {
            source.read(1, 1, window);
            queue.add(source, 2, 1, window, 0);
            queue.await(1, (tag, failure) -> {});
          }
        }
        return "read " + window.buffer().get(window.offset());
      }
    }
  }

  private Path file(String name) throws IOException {
    byte[] content = new byte[3 * PageSource.PAGE];
    content[2 * PageSource.PAGE] = 42;
    return Files.write(directory.resolve(name), content);
  }

  private static List<String> lines(List<String> command) throws Exception {
    Process process = Fork.start(command);
    byte[] output = process.getInputStream().readAllBytes();
    assertThat(process.waitFor()).isZero();
    return new String(output, StandardCharsets.UTF_8).lines().toList();
  }

  @Test
  void allReadWithoutNativeAccessButForRings() throws Exception {
    assumeTrue(Runtime.version().feature() >= 24, "this Java knows no such option");
    List<String> command = Fork.command(Reading.class, file("file").toString());
    command.add(1, "--illegal-native-access=deny");
    assertThat(lines(command))
        .containsExactly(
            "mapped: read 42",
            "buffered: read 42",
            "direct: read 42",
            "io_uring: native access is denied to bsdb; start java with"
                + " --enable-native-access=ALL-UNNAMED",
            "memory: read 42");
  }

  @Test
  void namesAreBytesWhateverTheLocale() throws Exception {
    Path file = file("Größe 名 %41+?#");
    List<String> command = new ArrayList<>(Fork.command(Listing.class, directory.toString()));
    command.addAll(0, List.of("/usr/bin/env", "LC_ALL=C"));
    assumeTrue(LinuxCalls.instance() != null, "Java itself cannot open such files then");
    assumeTrue(Files.isExecutable(Path.of("/usr/bin/env")), "no env");
    assertThat(lines(command)).containsExactly("42", "42", "42");
    Files.delete(file);
  }

  /** Reads the files of a directory, whatever their names are. */
  static final class Listing {
    private Listing() {}

    public static void main(String[] args) throws Exception {
      try (var files = Files.newDirectoryStream(Path.of(args[0]))) {
        for (Path file : files) {
          for (Engine engine :
              List.of(new BufferedEngine(), new DirectEngine(), new LoadedEngine())) {
            System.out.println(Reading.first(engine, file).substring("read ".length()));
          }
        }
      }
    }
  }

  /** In a process that may open few files: opens until there are none left, for each number. */
  static final class Exhausted {
    private Exhausted() {}

    public static void main(String[] args) throws Exception {
      Path file = Path.of(args[0]);
      Reading.main(args);
      for (String name : Engines.NAMES) { // loads the classes of failure, which takes descriptors
        try {
          Engines.named(name).open(file.resolveSibling("missing"), 4096).close();
        } catch (IOException e) {
          System.out.println(name + " " + Errno.text(Errno.EMFILE) + " " + e.getMessage());
        }
      }
      List<FileInputStream> open = new ArrayList<>();
      int before = EngineContract.descriptors();
      try {
        while (true) {
          open.add(new FileInputStream("/dev/null"));
        }
      } catch (IOException e) {
        for (int left = 0; left < 8; left++) {
          for (String name : Engines.NAMES) {
            String outcome;
            try {
              outcome = Reading.first(Engines.named(name), file);
            } catch (IOException failure) {
              outcome = failure.getMessage();
            }
            System.out.println("left " + left + " " + name + ": " + outcome);
          }
          open.remove(0).close();
        }
      }
      for (FileInputStream each : open) {
        each.close();
      }
      System.out.println("more than before: " + (EngineContract.descriptors() - before));
    }
  }

  @Test
  void withoutDescriptorsTheySaySoAndLeaveNothing() throws Exception {
    assumeTrue(Files.isExecutable(Path.of("/bin/sh")), "no shell that sets limits");
    List<String> lines =
        lines(Fork.limited("ulimit -n 80", Fork.command(Exhausted.class, file("file").toString())));
    assertThat(lines).endsWith("more than before: 0");
    List<String> few = lines.stream().filter(line -> line.startsWith("left ")).toList();
    assertThat(few).hasSize(8 * Engines.NAMES.size());
    assertThat(few.subList(0, 3)).allMatch(line -> line.contains("Too many open files"));
    assertThat(few)
        .allMatch(
            line ->
                line.contains("Too many open files")
                    || line.endsWith("read 42")
                    || line.contains("needs Java 22"));
    assertThat(few)
        .filteredOn(line -> line.startsWith("left 7 ") && !line.contains("io_uring"))
        .hasSize(Engines.NAMES.size() - 1)
        .allMatch(line -> line.endsWith("read 42"));
  }
}
