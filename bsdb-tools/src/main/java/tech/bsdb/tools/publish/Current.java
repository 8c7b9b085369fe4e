package tech.bsdb.tools.publish;

import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import tech.bsdb.Database;
import tech.bsdb.Statistics;
import tech.bsdb.tools.cli.Diagnosis;

/**
 * The version that a new one is compared with.
 *
 * @param name its name; empty if no version is current
 * @param directory its database, or null if no version is current
 * @param statistics its figures, or null if it cannot be opened
 * @param unreadable why it cannot be opened; empty if it can
 */
record Current(
    String name, @Nullable Path directory, @Nullable Statistics statistics, String unreadable) {
  static final Current NONE = new Current("", null, null, "");

  static Current of(Path store, String name) {
    Path directory = store.resolve(name);
    try {
      return new Current(name, directory, Database.statistics(directory), "");
    } catch (IOException e) {
      return new Current(name, directory, null, Diagnosis.of(e).words());
    }
  }

  boolean readable() {
    return statistics != null;
  }

  /** Its number of records, or 0 if it cannot be read. */
  long records() {
    return statistics == null ? 0 : statistics.records();
  }
}
