package tech.bsdb.tools;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static tech.bsdb.tools.CommandRun.bsdb;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tech.bsdb.tools.cli.Console;

class MainTest {
  @Test
  void withoutArgumentsTheCommandsAreListed() {
    CommandRun run = bsdb();

    assertThat(run.code()).isZero();
    assertThat(run.out())
        .contains("  build ", "  get ", "  scan ", "  stat ", "  verify ", "Examples:");
    assertThat(run.out()).doesNotContain("unicode-names", "get-rate");
    assertThat(run.err()).isEmpty();
    assertThat(bsdb("--help")).hasToString(run.toString());
  }

  @Test
  void theVersionNamesTheJava() {
    CommandRun run = bsdb("--version");

    assertThat(run.code()).isZero();
    assertThat(run.out())
        .startsWith("bsdb ")
        .contains("Java " + System.getProperty("java.version"));
  }

  @Test
  void anUnknownCommandIsAnErrorThatNamesTheNearest() {
    CommandRun run = bsdb("verfy", "-d", "x");

    assertThat(run.code()).isEqualTo(2);
    assertThat(run.out()).isEmpty();
    assertThat(run.err()).startsWith("bsdb: unknown command \"verfy\"; did you mean \"verify\"?");
  }

  @Test
  void anUnrecognizableCommandIsAnErrorThatNamesAll() {
    assertThat(bsdb("frobnicate").err())
        .contains(
            "the commands are build, build-parquet, merge, merge-parquet, get, scan, stat, verify, diff, warm, plan, sign, publish,"
                + " pull, push, rollback, versions, serve");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "build",
        "build-parquet",
        "merge",
        "merge-parquet",
        "get",
        "scan",
        "stat",
        "verify",
        "diff",
        "warm",
        "plan",
        "sign",
        "publish",
        "pull",
        "push",
        "rollback",
        "versions",
        "serve",
        "get-rate",
        "unicode-names"
      })
  void everyCommandExplainsItselfIn100Columns(String command) {
    for (String help : List.of("--help", "-h")) {
      CommandRun run = bsdb(command, help);
      assertThat(run.code()).isZero();
      assertThat(run.err()).isEmpty();
      assertThat(run.out()).startsWith("Usage: bsdb " + command);
      assertThat(run.out().lines())
          .allSatisfy(line -> assertThat(line).hasSizeLessThanOrEqualTo(100));
    }
  }

  @Test
  void userErrorsHaveNoStackTraceUnlessRequested() {
    assertThat(bsdb("get", "-d", "/no/such/place", "k").err())
        .hasLineCount(1)
        .contains("/no/such/place");
    assertThat(bsdb("get", "-d", "/no/such/place", "--debug", "k").err())
        .contains("\tat tech.bsdb.tools.");
    assertThat(bsdb("get", "-d", "/no/such/place", "--", "--debug").err()).hasLineCount(1);
  }

  @Test
  void outputThatCannotBeWrittenIsAnError() {
    ByteArrayOutputStream err = new ByteArrayOutputStream();

    assertThat(Main.run(List.of("unicode-names"), onto("No space left on device", err)))
        .isEqualTo(2);
    assertThat(err.toString(UTF_8))
        .isEqualTo(
            "bsdb unicode-names: cannot write to standard output: No space left on device\n");
  }

  @Test
  void aReaderThatClosesThePipeIsNotAnError() {
    ByteArrayOutputStream err = new ByteArrayOutputStream();

    assertThat(Main.run(List.of("unicode-names"), onto("Broken pipe", err))).isZero();
    assertThat(err.toByteArray()).isEmpty();
  }

  private static Console onto(String failure, OutputStream err) {
    return new Console(new ByteArrayInputStream(new byte[0]), failingWith(failure), err, false);
  }

  private static OutputStream failingWith(String words) {
    return new OutputStream() {
      @Override
      public void write(int b) throws IOException {
        throw new IOException(words);
      }
    };
  }
}
