package tech.bsdb.tools;

import static org.assertj.core.api.Assertions.assertThat;
import static tech.bsdb.tools.CommandRun.bsdb;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import tech.bsdb.BuildOptions;
import tech.bsdb.tools.cli.Command;

/** The help of each command, which declares its options. */
class HelpTest {
  private static final Path HELP = Path.of("src/main/resources/tech/bsdb/tools/help");
  private static final Path GOLDEN = Path.of("src/test/resources/help");
  private static final Pattern ASKED =
      Pattern.compile(
          "(?:arguments\\s*\\.\\w+\\(|static final String \\w+ =(?=\\s*\"--))\\s*\"(--?\\w[\\w-]*)\"");
  private static final Pattern DECLARED = Pattern.compile("^(--?\\w[\\w-]*)", Pattern.MULTILINE);
  private static final Pattern SHOWN = Pattern.compile("^  (--?\\w[\\w-]*)", Pattern.MULTILINE);
  private static final Pattern INCLUDED = Pattern.compile("^@(.+)$", Pattern.MULTILINE);

  static Stream<String> commands() {
    return ServiceLoader.load(Command.class).stream().map(each -> each.get().name());
  }

  /** A change of an option changes a golden text, too: {@code bsdb NAME --help > NAME.txt}. */
  @ParameterizedTest
  @MethodSource("commands")
  void theHelpIsTheGoldenOne(String command) throws IOException {
    CommandRun run = bsdb(command, "--help");

    assertThat(run.err()).isEmpty();
    assertThat(run.out()).isEqualTo(Files.readString(GOLDEN.resolve(command + ".txt")));
    assertThat(run.code()).isZero();
  }

  @Test
  void eachTextIsTheHelpOfACommandOrIncluded() throws IOException {
    Set<String> included = found(INCLUDED, HELP, ".txt");

    assertThat(names(HELP)).isEqualTo(commands().collect(Collectors.toCollection(TreeSet::new)));
    assertThat(names(HELP.resolve("shared"))).isEqualTo(included);
    assertThat(names(GOLDEN)).isEqualTo(names(HELP));
  }

  @Test
  void eachOptionThatCommandsAskForIsDeclared() throws IOException {
    Set<String> declared = found(DECLARED, HELP, ".txt");
    declared.add("--help"); // by Syntax, for every command
    Set<String> asked = found(ASKED, Path.of("src/main/java"), ".java");

    assertThat(asked).hasSizeGreaterThan(100).contains("-d", "--avro-schema", "--prefix");
    assertThat(declared).containsAll(asked);
  }

  /** What the helps do not show. */
  @Test
  void theseOptionsMayBeGivenSeveralTimesOrBeAnyBytes() throws IOException {
    assertThat(found(marked("repeatable"), HELP, ".txt"))
        .containsExactlyInAnyOrder(
            "-i FILE",
            "-i PATH",
            "-d [NAME=]PLACE",
            "--value-column COLUMN",
            "--include PATTERN",
            "--exclude PATTERN",
            "--hadoop-set NAME=VALUE",
            "--delete FILE");
    assertThat(found(marked("any bytes"), HELP, ".txt"))
        .containsExactlyInAnyOrder("-s TEXT", "--prefix P", "--from K", "--after K", "--to K");
    assertThat(Files.readString(HELP.resolve("shared/text-input.txt"))).contains("\n-s TEXT\n");
  }

  private static Pattern marked(String mark) {
    return Pattern.compile("^(-\\S+ \\S+) \\(" + mark + "\\)$", Pattern.MULTILINE);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "-parquet"})
  void aMergeSaysWhyItLacksAnOptionOfABuild(String kind) throws IOException {
    Set<String> lacking = found(SHOWN, GOLDEN.resolve("build" + kind + ".txt"), ".txt");
    lacking.removeAll(found(SHOWN, GOLDEN.resolve("merge" + kind + ".txt"), ".txt"));

    assertThat(lacking).hasSize(15).contains("--layout", "--on-duplicate");
    for (String option : lacking) {
      assertThat(bsdb("merge" + kind, option).err()).contains(option + " cannot be given: ");
    }
  }

  @Test
  void theDefaultsAreThoseOfTheBuild() throws IOException {
    BuildOptions defaults = BuildOptions.defaults();

    assertThat(Files.readString(HELP.resolve("shared/target.txt")))
        .contains("512 to 1048576 (default " + defaults.blockSize() + ")")
        .contains("0 to 1000000 (default " + defaults.sampleRecords() + ")")
        .contains("0 to 1048576 (default " + defaults.dictionaryBytes() + ")")
        .contains("1 to 22 (default " + defaults.compressionLevel() + ")")
        .contains("0 to 32 (default " + defaults.checksumBits() + ")")
        .contains("(default " + BuildOptions.DEFAULT_APPROXIMATE_WIDTH + ")");
    assertThat(Files.readString(HELP.resolve("shared/merged.txt")))
        .contains("0 to 1000000 (default " + defaults.sampleRecords() + ")");
    assertThat(Files.readString(HELP.resolve("shared/memory.txt")))
        .contains("(default " + (defaults.memoryBytes() >> 20) + ",");
  }

  /** The names of the texts in a directory, without those below it. */
  private static Set<String> names(Path directory) throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files
          .filter(Files::isRegularFile)
          .map(file -> file.getFileName().toString().replace(".txt", ""))
          .collect(Collectors.toCollection(TreeSet::new));
    }
  }

  /** What a pattern finds in the files below a directory. */
  private static Set<String> found(Pattern pattern, Path directory, String suffix)
      throws IOException {
    Set<String> found = new TreeSet<>();
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : files.filter(each -> each.toString().endsWith(suffix)).toList()) {
        pattern
            .matcher(Files.readString(file))
            .results()
            .map((MatchResult result) -> result.group(1))
            .forEach(found::add);
      }
    }
    return found;
  }
}
