package tech.bsdb.store;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.time.Instant;
import java.util.function.BooleanSupplier;
import tech.bsdb.Database;
import tech.bsdb.OpenOptions;
import tech.bsdb.Statistics;

/**
 * How a version is opened.
 *
 * @param options how it is read
 * @param preload what is read into the page cache before
 */
record Opening(OpenOptions options, Preload preload) {
  private static final int CHUNK = 1 << 20;

  /**
   * Opens a version: looks at the frame of every file, preloads, opens.
   *
   * @param stop tells that preloading is in vain
   * @param idle hears that the version's last lease was given back after it was retired
   */
  Served open(Target target, BooleanSupplier stop, Runnable idle) throws IOException {
    long began = System.nanoTime();
    if (preload != Preload.NONE) {
      preload(Database.statistics(target.directory()), stop);
    }
    Database database = Database.open(target.directory(), options);
    try {
      String id = database.statistics().databaseId();
      Duration took = Duration.ofNanos(System.nanoTime() - began);
      String version = target.version() == null ? id : target.version();
      return new Served(database, version, id, Instant.now(), took, idle);
    } catch (RuntimeException | Error e) {
      database.close();
      throw e;
    }
  }

  private void preload(Statistics statistics, BooleanSupplier stop) throws IOException {
    ByteBuffer chunk = ByteBuffer.allocateDirect(CHUNK);
    for (String name : statistics.fileBytes().keySet()) {
      boolean data = name.startsWith("data");
      if (preload == Preload.ALL || !data) {
        read(statistics.directory().resolve(name), chunk, stop);
      }
    }
  }

  private static void read(Path file, ByteBuffer chunk, BooleanSupplier stop) throws IOException {
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
      while (!stop.getAsBoolean() && channel.read(chunk.clear()) >= 0) {
        // what is read stays in the page cache, that is all
      }
    }
  }
}
