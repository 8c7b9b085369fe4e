package tech.bsdb.tools.publish;

import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tech.bsdb.error.CorruptDatabaseException;
import tech.bsdb.store.VersionPointer;
import tech.bsdb.tools.input.InputException;
import tech.bsdb.tools.source.DistantDirectory;
import tech.bsdb.tools.source.DistantDirectory.Entry;
import tech.bsdb.transfer.Consignment;
import tech.bsdb.transfer.Consignment.Part;

/**
 * Sends a database to a distant store as a new version. The files come first, then the manifests,
 * and last the pointer to the current version, so that a reader of the store sees the old version
 * or the new one. The marker of a version that was not completed is the id of its database, by
 * which the next push of the same database finds and continues it.
 *
 * <p>One thread runs {@link #send} and then {@link #keep}; any thread may {@link #cancel}.
 */
final class Push implements AutoCloseable {
  private static final long UNDO_SECONDS = 15;

  /** Receives what happens, from any thread. */
  interface Follower {
    /** Reports how many bytes are at the store, of how many. */
    void sent(long doneBytes, long allBytes);

    /** Reports that something failed and is tried again. */
    void retrying(String why);
  }

  /**
   * How to push.
   *
   * @param version the name of the version, or null for the time
   * @param threads how many files are sent at once
   * @param pauseMillis the pauses before further attempts at whatever failed
   */
  record Manner(@Nullable String version, int threads, List<Long> pauseMillis) {}

  private final Consignment database;
  private final Manner manner;
  private final Attempts attempts;
  private final DistantStore store;
  private final Delivery delivery;
  private @Nullable VersionPointer before;
  private String version = "";
  private boolean live;
  private boolean unchanged;

  Push(Consignment database, DistantDirectory directory, Manner manner, Follower follower) {
    this.database = database;
    this.manner = manner;
    this.attempts = new Attempts(directory, manner.pauseMillis(), follower::retrying);
    this.store = new DistantStore(directory, attempts);
    this.delivery =
        new Delivery(
            directory, attempts, manner.threads(), done -> follower.sent(done, database.bytes()));
  }

  /** The name of the version, once {@link #send} has returned. */
  String version() {
    return version;
  }

  /** The name of the version that was current before, or null. */
  @Nullable String previous() {
    return before == null ? null : before.current();
  }

  /** Whether the store's current version was this database already, so that nothing was sent. */
  boolean isUnchanged() {
    return unchanged;
  }

  /** The number of bytes sent, those of failed attempts included. */
  long sentBytes() {
    return delivery.sentBytes();
  }

  /** The number of files that an earlier push had sent. */
  int keptFiles() {
    return delivery.keptFiles();
  }

  /** What did not go well although the version is current. */
  List<String> warnings() {
    return store.warnings();
  }

  /**
   * Sends the database and makes it current, unless it is.
   *
   * @throws CorruptDatabaseException if a file of the database is damaged; nothing changes then
   * @throws IOException if the destination fails; the message names the file and is meant for users
   */
  void send() throws IOException {
    List<Entry> entries = store.entries();
    before = store.pointer();
    if (before != null && database.databaseId().equals(store.databaseId(before.current()))) {
      version = before.current();
      unchanged = true;
      live = true;
      store.unmark(version);
      return;
    }
    Map<String, Long> there = choose(entries) ? store.lengths(version) : Map.of();
    store.mark(version, database.databaseId());
    List<Part> manifests = database.manifests();
    List<Part> first = manifests.subList(0, manifests.size() - 1);
    try {
      delivery.send(database.files(), version, there);
      delivery.send(first, version, there);
      store.requireArrived(version, lengths(database.files(), first));
      delivery.send(manifests.subList(first.size(), manifests.size()), version, there);
    } catch (Attempts.SourceException e) {
      throw ofSource(e);
    }
    goLive();
  }

  /** Chooses the name of the version; returns whether it continues one that was begun. */
  private boolean choose(List<Entry> entries) throws IOException {
    String wanted = manner.version();
    if (wanted != null) {
      version = wanted;
      return store.continues(entries, wanted, database.databaseId());
    }
    String begun = null;
    for (String name : store.unfinished(entries)) {
      if (database.databaseId().equals(store.marker(name))
          && (begun == null || VersionPointer.naturalOrder().compare(begun, name) < 0)) {
        begun = name;
      }
    }
    version = begun == null ? DistantStore.freeName(entries) : begun;
    return begun != null;
  }

  private static Map<String, Long> lengths(List<Part> files, List<Part> manifests) {
    Map<String, Long> lengths = new HashMap<>();
    files.forEach(part -> lengths.put(part.name(), part.length()));
    manifests.forEach(part -> lengths.put(part.name(), part.length()));
    return lengths;
  }

  private IOException ofSource(Attempts.SourceException e) {
    if (database.isReplaced()) {
      return new IOException("the database was replaced while it was sent; push again", e);
    }
    if (e.getCause() instanceof NoSuchFileException missing) {
      return InputException.reading(String.valueOf(missing.getFile()), missing);
    }
    return e.getCause() instanceof IOException cause ? cause : e;
  }

  private synchronized void goLive() throws IOException {
    attempts.checkRunning();
    before = store.goLive(version);
    live = true;
  }

  /**
   * Removes old versions; see {@link DistantStore#keep}.
   *
   * @param most how many to keep besides the current one
   * @return the names of those removed
   */
  List<String> keep(int most) throws IOException {
    if (!live) {
      throw new IllegalStateException("not live yet");
    }
    return store.keep(version, most);
  }

  /** Stops sending; waits for a switch that has begun, and until no file is left half-written. */
  void cancel() throws InterruptedException {
    boolean ended = delivery.cancel(UNDO_SECONDS);
    synchronized (this) {
      if (!ended) {
        attempts.stop();
      }
    }
  }

  /** Ends the threads. The store stays open. */
  @Override
  public void close() {
    delivery.close();
  }
}
