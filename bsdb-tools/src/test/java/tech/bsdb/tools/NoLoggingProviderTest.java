package tech.bsdb.tools;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tech.bsdb.BuildOptions;
import tech.bsdb.DatabaseBuilder;

/** Runs the command in a process without an SLF4J provider, like the class path of these tests. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class NoLoggingProviderTest {
  @TempDir Path directory;

  @Test
  void slf4jSaysNothingOnStderr() throws Exception {
    Path database = directory.resolve("db");
    try (DatabaseBuilder builder = DatabaseBuilder.create(database, BuildOptions.defaults())) {
      builder.add("key".getBytes(UTF_8), "value".getBytes(UTF_8));
      builder.finish();
    }
    String classPath =
        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
    String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
    Path errors = directory.resolve("errors");
    for (String command : List.of("get", "verify")) {
      List<String> line =
          new ArrayList<>(
              List.of(java, "-cp", classPath, Main.class.getName(), command, "-d", database + ""));
      if (command.equals("get")) {
        line.add("key");
      }
      Process process = new ProcessBuilder(line).redirectError(errors.toFile()).start();
      try {
        String out = new String(process.getInputStream().readAllBytes(), UTF_8);
        assertThat(out).isEqualTo(command.equals("get") ? "value\n" : "");
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).as(Files.readString(errors)).isZero();
        assertThat(Files.readString(errors)).doesNotContain("SLF4J");
      } finally {
        process.destroyForcibly();
      }
    }
  }
}
