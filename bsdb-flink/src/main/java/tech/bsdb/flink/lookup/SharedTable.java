package tech.bsdb.flink.lookup;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.locks.ReentrantLock;
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

  /** Guarded by {@link #OPEN}. */
  private int users;

  private final ReentrantLock lock = new ReentrantLock();

  // guarded by the lock
  private @Nullable LocalCopy copy;
  private @Nullable ReloadingDatabase database;

  private SharedTable(LookupSettings settings) {
    this.settings = settings;
  }

  /** Uses a table, which is opened first unless this process has it. */
  static SharedTable use(LookupSettings settings) throws IOException {
    SharedTable table;
    synchronized (OPEN) {
      table = OPEN.computeIfAbsent(settings, SharedTable::new);
      table.users++;
    }
    try {
      table.open();
      return table;
    } catch (IOException | RuntimeException e) {
      table.close();
      throw e;
    }
  }

  /** Opens it for the first user; others wait meanwhile. */
  private void open() throws IOException {
    try {
      lock.lockInterruptibly(); // a task that is cancelled must not begin what others gave up
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("cancelled while " + settings.path() + " was opened");
    }
    try {
      if (database == null) {
        openNow();
      }
    } finally {
      lock.unlock();
    }
  }

  private void openNow() throws IOException {
    ReloadOptions reload = ReloadOptions.defaults().withPoll(settings.poll());
    Path local = Places.local(settings.path());
    if (local != null) {
      database = ReloadingDatabase.open(local, reload);
    } else if (settings.inPlace()) {
      RemoteOptions remote = RemoteOptions.defaults().withCache(directory("pages"));
      database = ReloadingDatabase.open(URI.create(settings.path()), remote, reload);
    } else {
      LocalCopy followed = LocalCopy.of(settings.path(), directory("copies"), settings.poll());
      ReloadingDatabase opened = ReloadingDatabase.open(followed.store(), reload);
      followed.follow(opened);
      copy = followed;
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

  ReloadingDatabase database() {
    lock.lock();
    try {
      return Objects.requireNonNull(database, "open");
    } finally {
      lock.unlock();
    }
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
    lock.lock();
    try {
      if (copy != null) {
        copy.close();
      }
      if (database != null) {
        database.close();
      }
    } finally {
      lock.unlock();
    }
  }
}
