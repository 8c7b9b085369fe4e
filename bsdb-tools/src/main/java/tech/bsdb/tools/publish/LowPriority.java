package tech.bsdb.tools.publish;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/**
 * Lowers the priority of a thread, so that requests need not wait for it. Threads that it starts
 * inherit that. Java cannot do it on Linux, so the command {@code renice} does; where it is missing
 * or fails, the priority stays.
 */
final class LowPriority {
  private static final Path THREAD = Path.of("/proc/thread-self");

  /** Requests come first: of processors that are busy with them, about a fiftieth remains. */
  private static final String NICENESS = "19";

  private static final long PATIENCE_SECONDS = 5;

  private LowPriority() {}

  /**
   * Lowers the priority of this thread, for good.
   *
   * @return whether that was possible
   */
  static boolean take() {
    try {
      String id = String.valueOf(Files.readSymbolicLink(THREAD).getFileName());
      Process renice =
          new ProcessBuilder("renice", "-n", NICENESS, "-p", id)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .redirectError(ProcessBuilder.Redirect.DISCARD)
              .start();
      renice.getOutputStream().close();
      if (renice.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
        return renice.exitValue() == 0;
      }
      renice.destroyForcibly();
    } catch (IOException | UnsupportedOperationException notLinux) {
      // nothing is lost but some milliseconds of a few requests
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // the server ends
    }
    return false;
  }
}
