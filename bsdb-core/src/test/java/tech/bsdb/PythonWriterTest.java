package tech.bsdb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * docs/examples/write_bsdb.py, written from docs/FORMAT.md alone, writes the same files as this
 * writer. A difference means that the document is wrong or incomplete. Most cases need {@code
 * -Dbsdb.native=full}. Left out with {@code -Dbsdb.readers=false}.
 */
class PythonWriterTest {
  private static final HexFormat HEX = HexFormat.of();
  private static final BuildOptions PACKED =
      BuildOptions.defaults().withLayout(Layout.PACKED).withDuplicates(DuplicatePolicy.LAST);

  @TempDir Path directory;

  @BeforeAll
  static void pythonIsInstalled() throws Exception {
    int exit;
    try {
      String recent = "import sys; sys.exit(sys.version_info < (3, 8))";
      exit = new ProcessBuilder("python3", "-c", recent).start().waitFor();
    } catch (IOException e) {
      exit = -1;
    }
    assumeTrue(exit == 0, "no python3 here, or older than 3.8");
    assumeTrue(NativeReader.areReadersTested(), "the files are the same on every JDK");
  }

  /**
   * A database of each kind of page in one process: bins of several pages, duplicates, a filter, a
   * sample of the index.
   */
  @Test
  void records() throws Exception {
    SplittableRandom random = Seeds.random("PythonWriterTest records");
    Truth truth = Truth.random(random, 600, 60);
    for (int length : new int[] {4083, 4084, 4085, 9000, 32_511, 1_048_000}) {
      truth.add(Truth.bytes(random, 20), Truth.bytes(random, length));
    }
    truth.add(truth.records().get(0).key(), Truth.bytes(random, 5));
    check(truth, PACKED.withFilterBits(5).withDataFiles(3).withSeed(-7));
  }

  @ParameterizedTest
  @CsvSource({
    "0, 0",
    "1, 10",
    "3, 5",
    "255, 20",
    "256, 20",
    "257, 0",
    "3000, 8",
    "3000, 100",
    "3000, 400",
    "300, 9000"
  })
  @EnabledIfSystemProperty(named = "bsdb.native", matches = "full")
  void randomRecords(int count, int longestValue) throws Exception {
    SplittableRandom random = Seeds.random("PythonWriterTest " + count + " " + longestValue);
    Truth truth = Truth.random(random, count, longestValue);
    for (int i = 0; i < count; i += 1 + random.nextInt(60)) {
      truth.add(truth.records().get(i).key(), Truth.bytes(random, random.nextInt(100)));
    }
    BuildOptions options = PACKED.withDataFiles(1 + random.nextInt(5)).withSeed(random.nextLong());
    check(truth, options.withFilterBits(random.nextInt(17)).withDuplicates(DuplicatePolicy.FIRST));
    check(truth, options.withFilterBits(random.nextInt(17)));
  }

  @Test
  void aKeyThatWasAddedTwiceIsRefused() throws Exception {
    Truth truth = new Truth().add("a", "1").add("b", "2").add("a", "3");
    String errors = write(truth, directory.resolve("refused"), 2, "duplicates=error");
    assertThat(errors).contains("key 61 was added twice, as records 0 and 2");
    assertThat(directory.resolve("refused")).doesNotExist();
  }

  private void check(Truth truth, BuildOptions options) throws Exception {
    Path ours = Files.createTempDirectory(directory, "case").resolve("ours");
    Path theirs = ours.resolveSibling("theirs");
    truth.build(ours, options);
    write(
        truth,
        theirs,
        0,
        "duplicates=" + (options.duplicates() == DuplicatePolicy.FIRST ? "first" : "last"),
        "files=" + options.dataFiles(),
        "filter=" + options.filterBits(),
        "seed=" + options.seed());
    List<Path> files = Golden.files(ours);
    assertThat(Golden.files(theirs))
        .extracting(file -> file.getFileName().toString())
        .containsExactlyInAnyOrderElementsOf(
            files.stream().map(file -> file.getFileName().toString()).toList());
    for (Path file : files) {
      assertThat(theirs.resolve(file.getFileName())).hasSameBinaryContentAs(file);
    }
  }

  /** Returns what the script says on its standard error. */
  private String write(Truth truth, Path target, int exit, String... options) throws Exception {
    List<String> lines = new ArrayList<>();
    truth
        .records()
        .forEach(r -> lines.add(HEX.formatHex(r.key()) + " " + HEX.formatHex(r.value())));
    Path records = Files.write(directory.resolve("records"), lines);
    Path script =
        Path.of(System.getProperty("basedir", "")).resolve("../docs/examples/write_bsdb.py");
    // -B: it imports its neighbor, beside which nothing shall be left.
    List<String> command =
        new ArrayList<>(List.of("python3", "-B", script.toString(), target.toString()));
    command.addAll(List.of(options));
    Path errors = directory.resolve("errors");
    Process process =
        new ProcessBuilder(command)
            .redirectInput(records.toFile())
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .redirectError(errors.toFile())
            .start();
    int actual = process.waitFor();
    assertThat(actual).as(Files.readString(errors)).isEqualTo(exit);
    return Files.readString(errors);
  }
}
