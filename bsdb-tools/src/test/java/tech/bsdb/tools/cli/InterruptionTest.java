package tech.bsdb.tools.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

class InterruptionTest {
  @Test
  void finishedWorkIsReportedAsSuccess() throws Exception {
    assertThat(interrupted("finish"))
        .isEqualTo("0 program: finished before the signal: the database is at here\n");
  }

  @Test
  void undoneWorkIsReported() throws Exception {
    assertThat(interrupted("undo"))
        .isEqualTo("143 removed\nprogram: interrupted, nothing was built\n");
  }

  private static String interrupted(String what) throws Exception {
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin/java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                Work.class.getName(),
                what)
            .redirectErrorStream(true)
            .start();
    assertThat(process.getInputStream().readNBytes(6)).asString(UTF_8).isEqualTo("ready\n");
    process.toHandle().destroy();
    String said = new String(process.getInputStream().readAllBytes(), UTF_8);
    return process.waitFor() + " " + said;
  }

  /** Works until it is told to stop, and is then finished or not. */
  static final class Work {
    private Work() {}

    public static void main(String[] args) throws Exception {
      Console console = Console.ofProcess();
      CountDownLatch told = new CountDownLatch(1);
      try (Interruption interruption = new Interruption(console, "program")) {
        interruption.undoBy(told::countDown, () -> console.say("removed"));
        console.say("ready");
        told.await();
        if (args[0].equals("finish")) {
          Thread.sleep(100);
          interruption.completed("the database is at here");
        }
      }
    }
  }
}
