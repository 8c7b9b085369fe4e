package tech.bsdb.tools.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class SyntaxTest {
  private static final Syntax SYNTAX =
      new Syntax(
          "try",
          """
          Usage: bsdb try [OPTION...]
            Tries things.

          -i FILE (repeatable)
            a file
          -cb BITS
            bits
          -c
            compact
          -z
            compressed
          --level N
            a level
          -s TEXT
            separator
          ! --size -n
            is for
            another command
          """);

  @Test
  void shortNamesTakeOneHyphenAndLongNamesTwo() throws Exception {
    Arguments arguments = parse("-c", "-cb", "8", "-i", "a", "-i", "b", "--level", "3");

    assertThat(arguments.has("-c")).isTrue();
    assertThat(arguments.has("-z")).isFalse();
    assertThat(arguments.integer("-cb", 0, 32, 4)).isEqualTo(8);
    assertThat(arguments.all("-i")).containsExactly("a", "b");
    assertThat(arguments.integer("--level", 1, 22, 6)).isEqualTo(3);
  }

  @Test
  void bytesThatAreNotTextAreAcceptedOnlyWhereAllowed() throws Exception {
    String raw = ArgumentText.of(new byte[] {'k', (byte) 0xFF});
    Syntax keys = syntax(" KEY...", "-s TEXT (any bytes)\n  separator");

    Arguments parsed = keys.parse(List.of("-s", raw, raw));
    assertThat(ArgumentText.bytes(parsed.text("-s", ""))).containsExactly('k', 0xFF);
    assertThat(ArgumentText.bytes(parsed.operands().get(0))).containsExactly('k', 0xFF);

    assertThatExceptionOfType(UsageException.class)
        .isThrownBy(() -> parse("-s", raw))
        .withMessage("-s \"k\\xff\" is not UTF-8");
    assertThatExceptionOfType(UsageException.class)
        .isThrownBy(() -> parse("--level", raw))
        .withMessage("--level \"k\\xff\" is not UTF-8");
    assertThatExceptionOfType(UsageException.class)
        .isThrownBy(() -> syntax(" WORD", "").parse(List.of(raw)))
        .withMessage("argument \"k\\xff\" is not UTF-8");
    Arguments file = parse("-i", raw);
    if (ArgumentText.nativeCharset().equals(UTF_8)) {
      assertThatExceptionOfType(UsageException.class)
          .isThrownBy(() -> file.path("-i"))
          .withMessageStartingWith("-i \"k\\xff\": not a path here: the name is not UTF-8");
    }
  }

  @Test
  void aValueMayFollowAnEqualsSign() throws Exception {
    assertThat(parse("--level=7").integer("--level", 1, 22, 6)).isEqualTo(7);
    assertThat(parse("-s==").text("-s")).contains("=");
  }

  @Test
  void valuesAreTakenLiterally() throws Exception {
    for (String value :
        List.of("-", "\"", "'", "|", "\\t", "", " ", "\"quoted\"", "a b", "$1", "é")) {
      assertThat(parse("-s", value).text("-s")).contains(value);
    }
  }

  @Test
  void missingOptionsHaveDefaults() throws Exception {
    Arguments arguments = parse();

    assertThat(arguments.text("-s")).isEmpty();
    assertThat(arguments.text("-s", "x")).isEqualTo("x");
    assertThat(arguments.all("-i")).isEmpty();
    assertThat(arguments.number("--level", 1, 22, 6)).isEqualTo(6);
    assertThat(arguments.choice("-s", TimeUnit.class, TimeUnit.DAYS)).isEqualTo(TimeUnit.DAYS);
  }

  @Test
  void numbersOutOfRangeNameOptionAndRange() {
    for (String value : List.of("-1", "33", "x", "", "4.5", "99999999999999999999")) {
      assertThatExceptionOfType(UsageException.class)
          .isThrownBy(() -> parse("-cb", value).integer("-cb", 0, 32, 4))
          .withMessage("-cb takes a whole number from 0 to 32, not \"" + value + "\"");
    }
    assertThatExceptionOfType(UsageException.class)
        .isThrownBy(() -> parse("-cb", "-1").number("-cb", 0, Long.MAX_VALUE, 4))
        .withMessage("-cb takes a whole number of at least 0, not \"-1\"");
  }

  @Test
  void invalidChoicesShowTheChoices() throws Exception {
    assertThat(parse("-s", "hours").choice("-s", TimeUnit.class, TimeUnit.DAYS))
        .isEqualTo(TimeUnit.HOURS);
    assertThatExceptionOfType(UsageException.class)
        .isThrownBy(() -> parse("-s", "HOURS").choice("-s", TimeUnit.class, TimeUnit.DAYS))
        .withMessage(
            "-s takes nanoseconds, microseconds, milliseconds, seconds, minutes, hours or days, not"
                + " \"HOURS\"");
  }

  @Test
  void unknownOptionsNameTheNearest() {
    assertUsage("unknown option --levle; did you mean --level?", "--levle", "3");
    assertUsage("unknown option --levels; did you mean --level?", "--levels=3");
    assertUsage("unknown option --cb; did you mean -cb?", "--cb", "3");
    assertUsage("unknown option --lev; did you mean --level?", "--lev", "3");
    assertUsage("unknown option --hlep; did you mean --help?", "--hlep");
    assertUsage("unknown option --something-else", "--something-else");
    assertUsage("unknown option -x", "-x");
  }

  @Test
  void anOptionWithoutItsValueIsAnError() {
    assertUsage("-i needs a value: -i FILE", "-i");
    assertUsage("--level needs a value: --level N", "--level", "-c");
  }

  @Test
  void unexpectedOperandsAreRefused() {
    assertUsage(
        "unexpected argument \"b.txt\" (put -i before each input: -i FILE -i FILE)",
        "-i",
        "a.txt",
        "b.txt");
  }

  @Test
  void operandsAfterTwoHyphensMayLookLikeOptions() throws Exception {
    Syntax get = syntax(" KEY...", "-d DIR\n  a database");

    assertThat(get.parse(List.of("a", "-d", "x", "--", "-5", "--help")).operands())
        .containsExactly("a", "-5", "--help");
    assertThat(get.parse(List.of("-", "")).operands()).containsExactly("-", "");
    assertThatExceptionOfType(UsageException.class)
        .isThrownBy(() -> get.parse(List.of("-5")))
        .withMessage("unknown option -5 (put a key that begins with \"-\" after \"--\")");
  }

  @Test
  void anOptionIsGivenOnceUnlessRepeatable() throws Exception {
    Syntax syntax = syntax("", "-o DIR\n  one\n-i F (repeatable)\n  n");

    assertThat(syntax.parse(List.of("-i", "a", "-i", "b")).all("-i")).containsExactly("a", "b");
    assertThatExceptionOfType(UsageException.class)
        .isThrownBy(() -> syntax.parse(List.of("-o", "a", "-o", "b")))
        .withMessage("-o is given twice: \"a\" and \"b\"");
  }

  @Test
  void helpWrapsDescriptionsBesideTheirOptions() {
    String help =
        new Syntax(
                "try",
                """
                Usage: bsdb try [OPTION...] KEY...
                  Tries
                  things.

                Things:
                --a-rather-long-option ARGUMENT
                  it is explained
                  below
                -q
                  %s

                # an example
                  bsdb try \\
                    -q
                """
                    .formatted("word ".repeat(30).trim()))
            .help();

    assertThat(help)
        .startsWith("Usage: bsdb try [OPTION...] KEY...\n\nTries things.\n\nThings:\n")
        .contains(
            """
              --a-rather-long-option ARGUMENT
                                          it is explained below
            """)
        .contains("  -q                          word word")
        .endsWith("Examples:\n  # an example\n  bsdb try \\\n    -q");
    assertThat(help.lines()).allSatisfy(line -> assertThat(line).hasSizeLessThanOrEqualTo(100));
  }

  @Test
  void refusedOptionsSayWhy() {
    assertUsage("--size is for another command", "--size", "3");
    assertUsage("-n is for another command", "-n");
  }

  @Test
  void sharedTextsDeclareTheirOptions() throws Exception {
    Arguments parsed =
        syntax("", "@base\n@resources\n-q\n  quiet").parse(List.of("-d", "x", "-ps", "7"));

    assertThat(parsed.optionsIn("base")).containsExactly("-d");
    assertThat(parsed.optionsIn("resources")).containsExactly("-ps", "-temp", "--threads");
    assertThat(parsed.optionsIn("memory")).containsExactly("-ps"); // within resources
    assertThat(parsed.text("-ps")).contains("7");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> parsed.optionsIn("hadoop"))
        .withMessage("not in this help: hadoop");
  }

  @Test
  void aHelpThatIsNotWellWrittenIsAnError() {
    assertHelp("not an entry of a help: Things", "Things");
    assertHelp("no mark of an option: (often)", "-i FILE (often)\n  a file");
    assertHelp("no resource /tech/bsdb/tools/help/shared/nowhere.txt", "@nowhere");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Syntax.of("nothing"))
        .withMessage("no resource /tech/bsdb/tools/help/nothing.txt");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new Syntax("try", "Usage: bsdb get [OPTION...]\n  Gets.\n"))
        .withMessage("not \"Usage: bsdb try [OPTION...]\": Usage: bsdb get [OPTION...]");
  }

  private static void assertHelp(String message, String entries) {
    assertThatIllegalArgumentException().isThrownBy(() -> syntax("", entries)).withMessage(message);
  }

  private static Syntax syntax(String operands, String entries) {
    return new Syntax("try", "Usage: bsdb try [OPTION...]" + operands + "\n  Tries.\n\n" + entries);
  }

  private static Arguments parse(String... arguments) throws UsageException {
    return SYNTAX.parse(List.of(arguments));
  }

  private static void assertUsage(String message, String... arguments) {
    assertThatExceptionOfType(UsageException.class)
        .isThrownBy(() -> parse(arguments))
        .withMessage(message);
  }
}
