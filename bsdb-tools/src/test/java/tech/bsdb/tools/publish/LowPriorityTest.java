package tech.bsdb.tools.publish;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.FutureTask;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class LowPriorityTest {
  /** The niceness of this thread: field 19 of proc_pid_stat(5), the 17th after the name. */
  private static String niceness() throws Exception {
    String stat = Files.readString(Path.of("/proc/thread-self/stat"));
    return stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1)[16];
  }

  /** The niceness of a new thread; null if it is to be lowered and cannot be. */
  private static @Nullable String inNewThread(boolean low) throws Exception {
    FutureTask<@Nullable String> task =
        new FutureTask<>(() -> !low || LowPriority.take() ? niceness() : null);
    new Thread(task, "low-priority-test").start();
    return task.get();
  }

  @Test
  void oneThreadIsLowered() throws Exception {
    assumeTrue(Files.exists(Path.of("/proc/thread-self/stat")), "not Linux");
    String before = inNewThread(false);
    String lowered = inNewThread(true);
    assumeTrue(lowered != null, "no renice here");
    assertThat(lowered).isEqualTo("19");
    assertThat(inNewThread(false)).isEqualTo(before);
  }
}
