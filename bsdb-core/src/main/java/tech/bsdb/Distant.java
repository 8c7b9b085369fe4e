package tech.bsdb;

import java.io.Closeable;
import java.io.IOException;
import java.net.URI;
import org.jspecify.annotations.Nullable;
import tech.bsdb.mirror.Origins;
import tech.bsdb.mirror.RemoteDatabase;
import tech.bsdb.remote.RangeOrigin;
import tech.bsdb.remote.RemoteOptions;

/** A remote database, and its origin if it is closed with the database. */
final class Distant implements Closeable {
  /** What is there. */
  final RemoteDatabase database;

  private final @Nullable AutoCloseable owned;

  /**
   * Creates it without asking anything of the origin.
   *
   * @param owned what to close with it, or null
   */
  Distant(RangeOrigin origin, RemoteOptions options, @Nullable AutoCloseable owned)
      throws IOException {
    this.database = RemoteDatabase.of(origin, options);
    this.owned = owned;
  }

  /** Whether a location is a directory here. */
  static boolean isHere(URI location) {
    return "file".equalsIgnoreCase(location.getScheme());
  }

  /** The database at a location. */
  static Distant of(URI location, RemoteOptions options) throws IOException {
    RangeOrigin origin = Origins.of(location);
    return new Distant(origin, options, origin instanceof AutoCloseable owned ? owned : null);
  }

  /** Closes this after a failure. */
  void closeAfter(Exception failure) {
    try {
      close();
    } catch (IOException e) {
      failure.addSuppressed(e);
    }
  }

  @Override
  public void close() throws IOException {
    database.close();
    try {
      if (owned != null) {
        owned.close();
      }
    } catch (IOException | RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw new IOException("could not close the origin", e);
    }
  }
}
