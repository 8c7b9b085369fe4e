package tech.bsdb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.FileInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tech.bsdb.io.Engines;

/**
 * Too few file descriptors: builds and readers say so and leave nothing; and they need only a few.
 */
@Tag("nightly")
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class DescriptorsTest {
  private static final int MOST = 24;

  /**
   * With so few, a build cannot remove its directory while the JVM takes one for itself, which it
   * does now and then: listing needs two. The next build removes it, and then the same is tried
   * again; one of several attempts must leave nothing.
   */
  private static final int SCARCE = 3;

  private static final int ATTEMPTS = 5;

  @TempDir Path directory;

  /**
   * In a process that may open few files: uses them up but for some, and then builds and reads; for
   * every second number of those that are left, so that two processes can share the work.
   */
  static final class UsedUp {
    private UsedUp() {}

    public static void main(String[] args) throws Exception {
      Path directory = Path.of(args[0]);
      int first = Integer.parseInt(args[1]);
      Layout layout = Layout.valueOf(args[2]);
      BuildOptions options =
          BuildOptions.defaults().withLayout(layout).withDictionaryBytes(2048).withOverwrite(true);
      Truth truth = BuildMain.truth(7, 2000);
      loadClasses();
      for (int i = 0; i < 2; i++) { // loads all other classes, which takes descriptors, too
        truth.build(directory.resolve("db"), options);
        truth.check(directory.resolve("db"));
        Leaks.tree(directory);
      }
      List<String> before = Leaks.tree(directory);
      for (int left = first; left <= MOST; left += 2) {
        String line = outcomes(directory, options, truth, left);
        boolean clean = Leaks.tree(directory).equals(before);
        for (int i = 1; i < ATTEMPTS && left <= SCARCE && !clean; i++) {
          truth.build(directory.resolve("db"), options);
          truth.build(directory.resolve("fresh"), options);
          remove(directory.resolve("fresh"));
          line = outcomes(directory, options, truth, left);
          clean = Leaks.tree(directory).equals(before);
        }
        System.out.println(line + (clean ? "" : "; " + Leaks.tree(directory)));
      }
      Leaks.assertNone(directory);
      truth.check(directory.resolve("db"));
      System.out.println("end");
    }

    /** How a replacement, a new database and reading end with so few descriptors. */
    private static String outcomes(Path directory, BuildOptions options, Truth truth, int left)
        throws Exception {
      String built = outcome(left, () -> truth.build(directory.resolve("db"), options));
      String fresh = outcome(left, () -> truth.build(directory.resolve("fresh"), options));
      if (fresh.equals("done")) {
        remove(directory.resolve("fresh"));
      }
      String read = outcome(left, () -> truth.check(directory.resolve("db")));
      return left + ": " + built + "; " + fresh + "; " + read;
    }

    /** Loads what is needed only when something fails. */
    private static void loadClasses() throws Exception {
      Path classes =
          Path.of(Engines.class.getProtectionDomain().getCodeSource().getLocation().toURI());
      for (Path file : Golden.files(classes.resolve("tech/bsdb/io"))) {
        String name = file.getFileName().toString();
        if (name.endsWith(".class") && !name.startsWith("package-info")) {
          Class.forName("tech.bsdb.io." + name.replace(".class", ""));
        }
      }
    }

    private interface Work {
      void run() throws Exception;
    }

    private static String outcome(int left, Work work) throws IOException {
      Deque<FileInputStream> open = new ArrayDeque<>();
      try {
        while (true) {
          open.add(new FileInputStream("/dev/null"));
        }
      } catch (IOException e) {
        for (int i = 0; i < left; i++) {
          open.remove().close();
        }
      }
      try {
        work.run();
        return "done";
      } catch (IOException e) {
        return String.valueOf(e.getMessage()).contains("Too many open files")
            ? "too few"
            : e.toString();
      } catch (Exception | Error e) {
        return e.toString();
      } finally {
        for (FileInputStream each : open) {
          each.close();
        }
      }
    }

    private static void remove(Path directory) throws IOException {
      for (Path file : Golden.files(directory)) {
        Files.delete(file);
      }
      Files.delete(directory);
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"COMPRESSED", "PACKED_COMPRESSED"})
  void whoHasTooFewSaysSoAndLeavesNothing(Layout layout) throws Exception {
    assumeTrue(Files.isExecutable(Path.of("/bin/sh")), "no shell that sets limits");
    List<Process> processes = new ArrayList<>();
    try {
      for (int first = 0; first < 2; first++) {
        Path own = Files.createDirectory(directory.resolve("from-" + first));
        List<String> command =
            Fork.command(UsedUp.class, own.toString(), "" + first, layout.name());
        processes.add(Fork.start(Fork.limited("ulimit -n 100", command)));
      }
      for (int first = 0; first < 2; first++) {
        check(first, lines(processes.get(first)));
      }
    } finally {
      processes.forEach(Process::destroyForcibly);
    }
  }

  private static List<String> lines(Process process) throws Exception {
    byte[] output = process.getInputStream().readAllBytes();
    process.waitFor();
    return new String(output, StandardCharsets.UTF_8).lines().toList();
  }

  private static void check(int first, List<String> lines) {
    assertThat(lines).hasSize((MOST - first) / 2 + 2).endsWith("end");
    for (int left = first; left <= MOST; left += 2) {
      assertThat(lines.get(left / 2))
          .matches(left + ": (done|too few); (done|too few); (done|too few)");
      if (left == 0) {
        assertThat(lines.get(0)).isEqualTo("0: too few; too few; too few");
      }
      if (left == MOST) {
        assertThat(lines.get(left / 2)).isEqualTo(MOST + ": done; done; done");
      }
    }
  }
}
