package tech.bsdb.tools.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class ProgressTest {
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();
  private long now = 1_000;

  @Test
  void aTerminalSeesOneLineWithStageShareRateAndTimeLeft() {
    try (Progress progress = progress(true, false)) {
      progress.update("records", 0, 4_000_000);
      pass(10, TimeUnit.SECONDS);
      progress.update("records", 1_000_000, 4_000_000);

      assertThat(err.toString(UTF_8))
          .endsWith(
              "\rrecords  [#####---------------]  25%      1,000,000      100,000/s 0:30 left");
    }
    assertThat(err.toString(UTF_8)).doesNotContain("\n", "\u001b").endsWith(" \r");
  }

  @Test
  void aTerminalIsRedrawnFiveTimesASecondAtMost() {
    try (Progress progress = progress(true, false)) {
      for (int i = 0; i < 1_000; i++) {
        progress.update("records", i, -1);
        pass(10, TimeUnit.MILLISECONDS);
      }
    }
    assertThat(err.toString(UTF_8).chars().filter(c -> c == '\r').count()).isBetween(45L, 55L);
  }

  @Test
  void elsewhereThereIsAPlainLineEveryTenSeconds() {
    try (Progress progress = progress(false, false)) {
      for (int second = 0; second < 35; second++) {
        progress.update("index", second * 1_000, 100_000);
        pass(1, TimeUnit.SECONDS);
      }
    }
    assertThat(err.toString(UTF_8).lines())
        .hasSize(3)
        .allMatch(
            line -> line.matches("index    \\[#*-*\\] +\\d+% +[\\d,]+ +1,000/s \\d:\\d\\d left"));
    assertThat(err.toString(UTF_8)).doesNotContain("\r", "\u001b");
  }

  @Test
  void theTotalMayBeUnknown() {
    try (Progress progress = progress(false, false)) {
      pass(10, TimeUnit.SECONDS);
      progress.update("records", 0, -1);
      pass(10, TimeUnit.SECONDS);
      progress.update("records", 50, -1);
    }
    assertThat(err.toString(UTF_8))
        .isEqualTo("records               0\nrecords              50            5/s\n");
  }

  @Test
  void aNewStageRestartsTheClock() {
    try (Progress progress = progress(false, false)) {
      progress.update("records", 0, 100);
      pass(100, TimeUnit.SECONDS);
      progress.update("records", 100, 100);
      progress.update("index", 0, 100);
      pass(10, TimeUnit.SECONDS);
      progress.update("index", 50, 100);
    }
    assertThat(err.toString(UTF_8).lines().toList().get(1))
        .endsWith(" 50%             50            5/s 0:10 left");
  }

  @Test
  void theShareIsCappedAtOne() {
    try (Progress progress = progress(true, false)) {
      progress.update("records", 7, 1.5);
    }
    assertThat(err.toString(UTF_8)).contains("[####################] 100%");
  }

  @Test
  void quietPrintsNothing() {
    try (Progress progress = progress(true, true)) {
      pass(100, TimeUnit.SECONDS);
      progress.update("records", 1, 2);
    }
    assertThat(err.size()).isZero();
  }

  private Progress progress(boolean terminal, boolean quiet) {
    Console console =
        new Console(InputStream.nullInputStream(), OutputStream.nullOutputStream(), err, terminal);
    return new Progress(console, quiet, () -> now);
  }

  private void pass(long time, TimeUnit unit) {
    now += unit.toNanos(time);
  }
}
