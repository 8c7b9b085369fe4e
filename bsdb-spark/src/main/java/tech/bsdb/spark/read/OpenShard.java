package tech.bsdb.spark.read;

import java.io.Closeable;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import org.apache.hadoop.conf.Configuration;
import org.apache.spark.TaskContext;
import org.jspecify.annotations.Nullable;
import tech.bsdb.Database;
import tech.bsdb.tools.source.DistantDirectory;

/**
 * An open database of a table, for one task.
 *
 * @param release closes it, or gives back the copy
 */
record OpenShard(Database database, Closeable release) implements Closeable {
  /**
   * Opens databases for a task. Immutable.
   *
   * @param configuration that of Hadoop
   * @param cacheBytes the most bytes of copies
   * @param task the task; null outside of one
   */
  record ShardOpener(Configuration configuration, long cacheBytes, @Nullable TaskContext task) {
    /** Fails if the task was cancelled. */
    void checkRunning() {
      if (task != null) {
        task.killTaskIfInterrupted();
      }
    }

    /**
     * Opens a database where it is, or the copy of it that this process keeps.
     *
     * @throws IOException if it is no longer there, or damaged
     */
    OpenShard open(ShardPlace place) throws IOException {
      ShardCache cache = ShardCache.ofProcess();
      ShardCache.Lease here = cache.leaseIfHere(place);
      if (here != null) {
        return new OpenShard(here.database(), here);
      }
      try (DistantDirectory directory = DistantDirectory.open(place.location(), configuration)) {
        Path local = directory.local();
        if (local != null) {
          Database opened = inPlace(local.resolve(place.directory()), place);
          return new OpenShard(opened, opened::close);
        }
        ShardCache.Lease lease = cache.lease(place, directory, cacheBytes, this::checkRunning);
        return new OpenShard(lease.database(), lease);
      } catch (NoSuchFileException | NotDirectoryException | FileNotFoundException e) {
        throw vanished(place, e);
      }
    }
  }

  private static Database inPlace(Path path, ShardPlace place) throws IOException {
    Database opened = Database.open(path);
    if (!opened.statistics().databaseId().equals(place.id())) {
      opened.close();
      throw vanished(place, null);
    }
    return opened;
  }

  /** Tells that the database is not the one that the query was planned for. */
  static IOException vanished(ShardPlace place, @Nullable IOException why) {
    return new IOException(
        ("%s: the database %s that this query reads is no longer there; it was removed or replaced"
                + " while the query ran. Run the query again, and let stores keep more versions%s")
            .formatted(place, place.id(), why == null ? "" : " (" + why.getMessage() + ")"),
        why);
  }

  @Override
  public void close() throws IOException {
    release.close();
  }
}
