package tech.bsdb.trino;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tech.bsdb.Database;
import tech.bsdb.remote.RemoteOptions;
import tech.bsdb.tools.rows.RowSchema;

/**
 * The databases that a process has open for a catalog. A version is open once, whatever the number
 * of queries. Of each table, the version that was used last stays open; others are closed with
 * their last user. Thread-safe.
 */
final class OpenTables implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(OpenTables.class);

  private final Map<String, OpenTable> tables = new ConcurrentHashMap<>();
  private final RowTypes types;
  private volatile boolean closed;

  OpenTables(RowTypes types) {
    this.types = types;
  }

  /** The types of rows in Trino. */
  RowTypes types() {
    return types;
  }

  /**
   * Uses a database, which is opened first unless it is open.
   *
   * @param table the name of its table
   * @param location a directory or a URL
   * @param id the id that it must have
   */
  Use use(String table, String location, String id) throws IOException {
    if (closed) {
      throw new IllegalStateException("the catalog is closed");
    }
    return tables.computeIfAbsent(table, name -> new OpenTable()).use(location, id);
  }

  /** How many databases are open. */
  int count() {
    return tables.values().stream().mapToInt(OpenTable::count).sum();
  }

  @Override
  public void close() {
    closed = true;
    tables.values().forEach(OpenTable::retire);
  }

  /** Whether a location is a URL rather than a path. */
  static boolean isElsewhere(String location) {
    return location.matches("[a-zA-Z][a-zA-Z0-9+.-]+:/.*") && !location.startsWith("file:");
  }

  /** The path of a location that is not elsewhere. */
  static Path path(String location) {
    return location.startsWith("file:") ? Path.of(URI.create(location)) : Path.of(location);
  }

  /** A database, and its users. */
  private static final class Opened {
    final Database database;
    final @Nullable RowSchema rows;
    int users;
    volatile long checked;

    /** Takes a database, which is closed if its schema cannot be used. */
    Opened(Database database) throws IOException {
      this.database = database;
      try {
        this.rows = RowSchema.stored(database.statistics());
      } catch (RuntimeException e) {
        database.close();
        throw e;
      }
    }

    void closeQuietly() {
      try {
        database.close();
      } catch (IOException e) {
        LOG.warn("{} was not closed cleanly", database.statistics().location(), e);
      }
    }
  }

  /** The open versions of a table. Guarded by itself, so that others wait while one opens. */
  private static final class OpenTable {
    private final Map<String, Opened> versions = new HashMap<>();
    private @Nullable String latest;

    synchronized Use use(String location, String id) throws IOException {
      Opened opened = versions.get(id);
      if (opened == null) {
        opened = new Opened(open(location));
        String found = opened.database.statistics().databaseId();
        if (!found.equals(id)) {
          opened.closeQuietly();
          throw new IOException(
              "%s was replaced while the query ran: it has the id %s instead of %s; run the query again"
                  .formatted(location, found, id));
        }
        versions.put(id, opened);
      }
      opened.users++;
      String before = latest;
      latest = id;
      closeUnused(before);
      return new Use(this, id, opened);
    }

    private static Database open(String location) throws IOException {
      return isElsewhere(location)
          ? Database.open(URI.create(location), RemoteOptions.defaults())
          : Database.open(path(location));
    }

    synchronized void release(String id) {
      Objects.requireNonNull(versions.get(id), id).users--;
      closeUnused(id);
    }

    /** Closes the version that stayed open for later queries, too, or leaves it to its users. */
    synchronized void retire() {
      String before = latest;
      latest = null;
      closeUnused(before);
    }

    private void closeUnused(@Nullable String id) {
      Opened opened = id == null || id.equals(latest) ? null : versions.get(id);
      if (opened != null && opened.users == 0) {
        versions.remove(id);
        opened.closeQuietly();
      }
    }

    synchronized int count() {
      return versions.size();
    }
  }

  /** A check of a database, which throws if it fails. */
  @FunctionalInterface
  interface RecordCheck {
    void run() throws IOException;
  }

  /** A use of a database, which keeps it open. */
  static final class Use implements AutoCloseable {
    private final OpenTable table;
    private final String id;
    private final Opened opened;
    private boolean ended;

    private Use(OpenTable table, String id, Opened opened) {
      this.table = table;
      this.id = id;
      this.opened = opened;
    }

    /** The database, which the caller must not close. */
    Database database() {
      return opened.database;
    }

    /** The schema of the rows; null if values are plain bytes. */
    @Nullable RowSchema rows() {
      return opened.rows;
    }

    /** Checks records unless a check of as many has passed; other checks wait meanwhile. */
    void check(long records, RecordCheck check) throws IOException {
      if (opened.checked < records) {
        synchronized (opened) {
          if (opened.checked < records) {
            check.run();
            opened.checked = records;
          }
        }
      }
    }

    /** Ends the use; a second call does nothing. */
    @Override
    public synchronized void close() {
      if (!ended) {
        ended = true;
        table.release(id);
      }
    }
  }
}
