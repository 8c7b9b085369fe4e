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
import tech.bsdb.io.DurableFiles;
import tech.bsdb.io.Memory;
import tech.bsdb.io.PageCache;

/**
 * How to open a version.
 *
 * @param options the options for opening it
 * @param preload the files to read into the page cache first
 */
record Opening(OpenOptions options, Preload preload) {
  /**
   * Opens a version: checks the frame of every file, preloads, opens.
   *
   * @param stop returns true once preloading should be abandoned
   * @param idle called when the retired version's last lease is released
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

  /** Reads the selected files into the page cache, in huge pages if memory has room. */
  private void preload(Statistics statistics, BooleanSupplier stop) throws IOException {
    Map<Path, Long> files = new LinkedHashMap<>();
    statistics
        .fileBytes()
        .forEach(
            (name, bytes) -> {
              if (preload == Preload.ALL || !DurableFiles.name(Path.of(name)).startsWith("data")) {
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
