package tech.bsdb.flink.lookup;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tech.bsdb.flink.place.Places;
import tech.bsdb.remote.RemoteOptions;
import tech.bsdb.store.ReloadOptions;
import tech.bsdb.store.ReloadingDatabase;

/**
 * A table that all subtasks of a process share: its current version is open once, and so is the
 * copy of it, if it is elsewhere. It is closed with its last user. Thread-safe.
 */
final class SharedTable implements AutoCloseable {
  private static final Map<LookupSettings, SharedTable> OPEN = new HashMap<>();

  private final LookupSettings settings;
  private final @Nullable LocalCopy copy;
  private final ReloadingDatabase database;
  private int users;

  private SharedTable(LookupSettings settings) throws IOException {
    this.settings = settings;
    ReloadOptions reload = ReloadOptions.defaults().withPoll(settings.poll());
    Path local = Places.local(settings.path());
    if (local != null) {
      copy = null;
      database = ReloadingDatabase.open(local, reload);
    } else if (settings.inPlace()) {
      copy = null;
      RemoteOptions remote = RemoteOptions.defaults().withCache(directory("pages"));
      database = ReloadingDatabase.open(URI.create(settings.path()), remote, reload);
    } else {
      copy = LocalCopy.of(settings.path(), directory("copies"), settings.poll());
      ReloadingDatabase opened;
      try {
        opened = ReloadingDatabase.open(copy.store(), reload);
        copy.follow(opened);
      } catch (IOException | RuntimeException e) {
        copy.close();
        throw e;
      }
      database = opened;
    }
  }

  private Path directory(String below) throws IOException {
    String given = settings.directory();
    Path root =
        given == null
            ? Path.of(System.getProperty("java.io.tmpdir"), "bsdb-flink")
            : Path.of(given);
    return Files.createDirectories(root.resolve(below));
  }

  /** Uses a table, which is opened first unless this process has it. */
  static SharedTable use(LookupSettings settings) throws IOException {
    synchronized (OPEN) {
      SharedTable table = OPEN.get(settings);
      if (table == null) {
        table = new SharedTable(settings);
        OPEN.put(settings, table);
      }
      table.users++;
      return table;
    }
  }

  ReloadingDatabase database() {
    return database;
  }

  /** Ends one use. */
  @Override
  public void close() {
    synchronized (OPEN) {
      if (--users > 0) {
        return;
      }
      OPEN.remove(settings);
    }
    if (copy != null) {
      copy.close();
    }
    database.close();
  }
}
