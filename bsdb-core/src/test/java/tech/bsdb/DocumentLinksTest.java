package tech.bsdb;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The links of all tracked pages, as build-support/check_links.py checks them. */
class DocumentLinksTest {
  private static final Path ROOT =
      Path.of(System.getProperty("basedir", "")).resolve("..").toAbsolutePath().normalize();

  private record Outcome(int exit, String output) {}

  @BeforeAll
  static void needsPythonAndCheckout() throws Exception {
    assumeTrue(Files.exists(ROOT.resolve(".git")), "not a checkout, so no file is tracked");
    int exit;
    try {
      exit = new ProcessBuilder("python3", "-c", "").start().waitFor();
    } catch (IOException absent) {
      exit = -1;
    }
    assumeTrue(exit == 0, "no python3 here");
  }

  @Test
  void noneIsBroken() throws Exception {
    Outcome outcome = check();
    assertThat(outcome.exit).as(outcome.output).isZero();
  }

  @Test
  void brokenLinksAreNamed(@TempDir Path directory) throws Exception {
    Path page = directory.resolve("page.md");
    Files.writeString(
        page,
        """
        # One `a_b` heading
        [found](#one-a_b-heading) and [lost](#two)

        ```
        [code](lost.md)
        ```
        [page](https://example.org/lost) `[code](lost.md)`
        [undefined][reference]
        """);
    Outcome outcome = check(page.toString());
    assertThat(outcome.exit).as(outcome.output).isEqualTo(1);
    assertThat(outcome.output)
        .contains("page.md:2: #two: no such heading")
        .contains("page.md:8: [undefined][reference]: the reference has no definition")
        .contains("1 pages checked, 2 broken links");
  }

  private static Outcome check(String... arguments) throws Exception {
    List<String> command =
        new ArrayList<>(
            List.of("python3", ROOT.resolve("build-support/check_links.py").toString()));
    command.addAll(List.of(arguments));
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), UTF_8);
    return new Outcome(process.waitFor(), output);
  }
}
