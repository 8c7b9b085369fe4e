package tech.bsdb.dist;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The readers for Rust, C and Python ({@code native/}). With {@code -Dbsdb.native=full}, their own
 * tests read databases that the packaged command builds. Otherwise only a smoke test runs: if they
 * or the format changed since those tests passed, or with {@code -Dbsdb.native=smoke}. Left out
 * with a warning where there is no cargo, or no access to crates. In full, the plug-in for Feast
 * ({@code bsdb-feast/}) and the extension for DuckDB ({@code bsdb-duckdb/}) are tested, too.
 */
class NativeIT {
  private static final Path ROOT = Path.of(System.getProperty("bsdb.root"));
  private static final String SCRIPT = ROOT.resolve("scripts/test-native").toString();

  @TempDir Path folder;

  @Test
  void theirTestsPass() throws Exception {
    String scope = System.getProperty("bsdb.native", "auto");
    assertThat(scope).as("bsdb.native").isIn("auto", "smoke", "full");
    if (scope.equals("auto")) {
      assumeTrue(
          isChanged(),
          "native/ and the format are unchanged since its tests passed;"
              + " -Dbsdb.native=smoke or -Dbsdb.native=full runs them");
    }
    String manifest = ROOT.resolve("native/Cargo.toml").toString();
    boolean crates;
    try {
      crates = run("cargo", "fetch", "--quiet", "--locked", "--manifest-path", manifest) == 0;
    } catch (IOException e) {
      crates = false;
    }
    if (!crates) {
      System.err.println("WARNING: no cargo here, or no crates: native/ is not tested");
    }
    assumeTrue(crates, "no cargo here, or no crates");

    int exit = run(SCRIPT, scope.equals("full") ? "--no-lints" : "--smoke");

    assertThat(exit).as(Files.readString(output())).isZero();
    for (String line : Files.readAllLines(output())) {
      if (line.toUpperCase(Locale.ROOT).contains("WARNING:")) {
        System.err.println(line);
      }
    }
  }

  @Test
  void theTestsOfThePluginForFeastPass() throws Exception {
    runTestsOf("bsdb-feast/", "scripts/test-feast");
  }

  @Test
  void theTestsOfTheExtensionForDuckDbPass() throws Exception {
    runTestsOf("bsdb-duckdb/", "scripts/test-duckdb", "--lints");
  }

  /** Runs the tests of what is beside native/, which exit with 3 if something is missing here. */
  private void runTestsOf(String folder, String script, String... options) throws Exception {
    assumeTrue(System.getProperty("bsdb.native", "auto").equals("full"), "-Dbsdb.native=full");
    List<String> command = new ArrayList<>(List.of(ROOT.resolve(script).toString()));
    command.addAll(List.of(options));

    int exit = run(command.toArray(String[]::new));

    String text = Files.readString(output());
    if (exit == 3) {
      System.err.println("WARNING: " + folder + " is not tested: " + text.strip());
    }
    assumeTrue(exit != 3, text);
    assertThat(exit).as(text).isZero();
  }

  /** Whether the readers differ from those that passed their tests, or the format does. */
  private boolean isChanged() throws IOException, InterruptedException {
    int exit = run(SCRIPT, "--changed");
    assertThat(exit).as(Files.readString(output())).isBetween(0, 1);
    return exit == 0;
  }

  private Path output() {
    return folder.resolve("output");
  }

  private int run(String... command) throws IOException, InterruptedException {
    ProcessBuilder builder =
        new ProcessBuilder(List.of(command))
            .redirectErrorStream(true)
            .redirectOutput(output().toFile());
    builder.environment().put("BSDB", "java -jar " + System.getProperty("bsdb.jar"));
    return builder.start().waitFor();
  }
}
