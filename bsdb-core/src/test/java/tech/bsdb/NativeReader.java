package tech.bsdb;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The reader in Rust ({@code native/bsdb}), which must answer like this one. It is built and asked
 * only with {@code -Dbsdb.native=full}; otherwise checks do nothing. They also do nothing with
 * {@code -Dbsdb.readers=false}, and where there is no cargo or no access to the crates that it
 * needs, which a warning says.
 */
public final class NativeReader {
  private static final HexFormat HEX = HexFormat.of();
  private static final Path DIRECTORY =
      Path.of(System.getProperty("basedir", "")).resolve("../native").toAbsolutePath().normalize();
  private static final @Nullable Path PROGRAM = example("answers");

  private NativeReader() {}

  /** How its program ended. */
  public record Run(int exit, String output) {}

  /** Whether this run tests readers in other languages: once is enough for the same files. */
  static boolean areReadersTested() {
    return !System.getProperty("bsdb.readers", "").equals("false");
  }

  /** Whether this run tests the readers in {@code native/} with every database. */
  private static boolean isAsked() {
    return areReadersTested() && System.getProperty("bsdb.native", "").equals("full");
  }

  /** Whether it can be asked. */
  public static boolean isThere() {
    return PROGRAM != null;
  }

  /** Asserts that it gives the answers of a truth, in every way in which it can be asked. */
  public static void check(Path database, Truth truth) throws IOException, InterruptedException {
    if (PROGRAM != null) {
      Run run = run(database, truth);
      assertThat(run.output).as("native reader of " + database).startsWith("equal: ");
      assertThat(run.exit).isZero();
    }
  }

  /** Asks for all keys of a truth. */
  public static Run run(Path database, Truth truth) throws IOException, InterruptedException {
    Path file = Files.createTempFile("bsdb-truth", ".txt");
    try {
      try (BufferedWriter writer = Files.newBufferedWriter(file)) {
        for (Truth.Entry record : truth.records()) {
          writer.write(HEX.formatHex(record.key()) + " " + HEX.formatHex(record.value()) + "\n");
        }
        for (byte[] key : truth.absentKeys()) {
          writer.write(HEX.formatHex(key) + " -\n");
        }
      }
      return run(List.of(String.valueOf(PROGRAM), database.toString(), file.toString()));
    } finally {
      Files.delete(file);
    }
  }

  /** Builds an example program in {@code native/bsdb}; null if it cannot be built here. */
  static @Nullable Path example(String name) {
    if (!isAsked()) {
      return null;
    }
    try {
      if (cargo("fetch", "--locked").exit != 0) {
        System.err.println("WARNING: no crates for native/: it is not tested");
        return null;
      }
      Run build = cargo("build", "--release", "--locked", "-p", "bsdb", "--example", name);
      assertThat(build.exit).as(build.output).isZero();
      String target = System.getenv("CARGO_TARGET_DIR");
      Path targets = target == null ? DIRECTORY.resolve("target") : Path.of(target);
      return targets.resolve("release/examples").resolve(name);
    } catch (IOException e) {
      System.err.println("WARNING: no cargo here: what is in native/ is not tested");
      return null;
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private static Run cargo(String... arguments) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of("cargo", arguments[0]));
    command.addAll(List.of("--quiet", "--manifest-path", DIRECTORY + "/Cargo.toml"));
    command.addAll(List.of(arguments).subList(1, arguments.length));
    return run(command);
  }

  /** Runs a program. */
  static Run run(List<String> command) throws IOException, InterruptedException {
    Path output = Files.createTempFile("bsdb-native", ".txt");
    try {
      Process process =
          new ProcessBuilder(command)
              .redirectErrorStream(true)
              .redirectOutput(output.toFile())
              .start();
      return new Run(process.waitFor(), Files.readString(output));
    } finally {
      Files.delete(output);
    }
  }
}
