package tech.bsdb;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.stream.Stream;

/** Directories of builds that have hardly begun. */
final class StartedBuilds {
  private StartedBuilds() {}

  /**
   * Makes them old. A build that was killed after its directory was made and before its lock was
   * looks like one that is about to begin; the next build leaves it alone for a minute. Afterwards
   * the minute is over.
   */
  static void age(Path directory) throws IOException {
    try (Stream<Path> paths = Files.walk(directory)) {
      for (Path path : paths.filter(Files::isDirectory).toList()) {
        if (path.getFileName().toString().startsWith(".") && isStarting(path)) {
          FileTime before = FileTime.from(Instant.now().minus(2, ChronoUnit.MINUTES));
          Files.setLastModifiedTime(path, before);
        }
      }
    }
  }

  private static boolean isStarting(Path directory) throws IOException {
    for (String name : Leaks.tree(directory)) {
      if (!name.equals("lock") || Files.size(directory.resolve(name)) > 0) {
        return false;
      }
    }
    return true;
  }
}
