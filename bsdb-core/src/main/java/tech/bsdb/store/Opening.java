package tech.bsdb.store;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.BooleanSupplier;
import tech.bsdb.Database;
import tech.bsdb.OpenOptions;
import tech.bsdb.Statistics;
import tech.bsdb.io.Memory;
import tech.bsdb.io.PageCache;

/**
 * How a version is opened.
 *
 * @param options how it is read
 * @param preload what is read into the page cache before
 */
record Opening(OpenOptions options, Preload preload) {
  /**
   * Opens a version: looks at the frame of every file, preloads, opens.
   *
   * @param stop tells that preloading is in vain
   * @param idle hears that the version's last lease was given back after it was retired
   */
  OpenVersion open(NamedVersion target, BooleanSupplier stop, Runnable idle) throws IOException {
    long began = System.nanoTime();
    target.mustExist();
    if (preload != Preload.NONE) {
      preload(Database.statistics(target.directory()), stop);
    }
    Database database = Database.open(target.directory(), options);
    try {
      String id = database.statistics().databaseId();
      Duration took = Duration.ofNanos(System.nanoTime() - began);
      String version = target.version() == null ? id : target.version();
      return new OpenVersion(database, version, id, Instant.now(), took, idle);
    } catch (RuntimeException | Error e) {
      database.close();
      throw e;
    }
  }

  /** Reads what is wanted; into huge pages if memory has room for it. */
  private void preload(Statistics statistics, BooleanSupplier stop) throws IOException {
    Map<Path, Long> files = new LinkedHashMap<>();
    statistics
        .fileBytes()
        .forEach(
            (name, bytes) -> {
              if (preload == Preload.ALL || !name.startsWith("data")) {
                files.put(statistics.directory().resolve(name), bytes);
              }
            });
    long bytes = files.values().stream().mapToLong(Long::longValue).sum();
    boolean inHugePages = bytes <= Memory.available();
    for (Map.Entry<Path, Long> file : files.entrySet()) {
      PageCache.read(file.getKey(), file.getValue(), inHugePages, stop, more -> {});
    }
  }
}
