package tech.bsdb.tools.publish;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NoSuchFileException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CancellationException;
import org.jspecify.annotations.Nullable;
import tech.bsdb.DiffListener;
import tech.bsdb.error.CorruptDatabaseException;
import tech.bsdb.store.NoDeltaException;
import tech.bsdb.store.Pointer;
import tech.bsdb.store.VersionName;
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

    /** Reports how many records were compared with those of an older database, of how many. */
    default void compared(long doneRecords, long allRecords) {}
  }

  /**
   * How to push.
   *
   * @param version the name of the version, or null for the time
   * @param verify whether files that are there already are compared byte by byte
   * @param threads how many files are sent at once
   * @param pauseMillis the pauses before further attempts at whatever failed
   * @param delta where the changes come from that are sent, too; null for none
   */
  record Manner(
      @Nullable String version,
      boolean verify,
      int threads,
      List<Long> pauseMillis,
      DeltaDelivery.@Nullable Source delta) {}

  private final Consignment database;
  private final Manner manner;
  private final Attempts attempts;
  private final DistantStore store;
  private final Delivery delivery;
  private final Delivery deltaDelivery;
  private final @Nullable DeltaDelivery delta;
  private @Nullable String whole;
  private @Nullable Pointer before;
  private String version = "";
  private boolean live;
  private @Nullable List<String> repaired;

  Push(Consignment database, DistantDirectory directory, Manner manner, Follower follower) {
    this.database = database;
    this.manner = manner;
    this.attempts = new Attempts(directory, manner.pauseMillis(), follower::retrying);
    this.store = new DistantStore(directory, attempts);
    this.delivery =
        new Delivery(
            directory, attempts, manner.threads(), done -> follower.sent(done, database.bytes()));
    this.deltaDelivery =
        new Delivery(
            directory, attempts, manner.threads(), done -> follower.sent(done, sendingDelta()));
    DiffListener comparing =
        new DiffListener() {
          @Override
          public void progress(long doneRecords, long totalRecords) {
            follower.compared(doneRecords, totalRecords);
          }
        };
    this.delta =
        manner.delta() == null
            ? null
            : new DeltaDelivery(
                manner.delta(), store, deltaDelivery, comparing, this::checkRunning);
  }

  /** The name of the version, once {@link #send} has returned. */
  String version() {
    return version;
  }

  /** The name of the version that was current before, or null. */
  @Nullable String previous() {
    return before == null ? null : before.current();
  }

  /**
   * The files that were sent again because the version was this database already, but lacked them,
   * and how each was found; null if the version is new.
   */
  @Nullable List<String> repaired() {
    return repaired;
  }

  /** The changes that were sent, too; null for none. */
  @Nullable DeltaDelivery delta() {
    return delta != null && delta.base() != null ? delta : null;
  }

  /** Why the changes that were wanted were not sent; null if they were. */
  @Nullable String whole() {
    return whole;
  }

  /** The number of bytes sent, those of failed attempts included. */
  long sentBytes() {
    return delivery.sentBytes() + deltaDelivery.sentBytes();
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
   * Sends the database and makes it current; if it is, or if the version of the wanted name is this
   * database already, sends what is missing there.
   *
   * @throws CorruptDatabaseException if a file of the database is damaged; nothing changes then
   * @throws IOException if the destination fails; the message names the file and is meant for users
   */
  void send() throws IOException {
    List<Entry> entries = store.entries();
    before = store.pointer();
    String wanted = manner.version();
    if (before != null && database.databaseId().equals(store.databaseId(before.current()))) {
      version = before.current();
      sendDelta();
      repaired = repair();
      live = true;
      store.unmark(version);
      return;
    }
    if (wanted != null && store.holds(wanted, database.databaseId())) {
      version = wanted;
      sendDelta();
      repaired = repair();
      goLive();
      return;
    }
    Map<String, Long> there = begin(entries) ? store.lengths(version) : Map.of();
    sendDelta();
    sendAll(there, /* complete= */ false);
    goLive();
  }

  private void checkRunning() {
    if (attempts.isStopped()) {
      throw new CancellationException("the push was cancelled");
    }
  }

  /** The number of bytes of the changes to send. */
  private long sendingDelta() {
    return delta == null ? 0 : delta.bytes();
  }

  private void sendDelta() throws IOException {
    if (delta == null) {
      return;
    }
    try {
      delta.send(version);
    } catch (NoDeltaException e) {
      whole = e.getMessage();
    } catch (Attempts.SourceException e) {
      throw ofSource(e);
    }
  }

  private void sendAll(Map<String, Long> there, boolean complete) throws IOException {
    List<Part> manifests = database.manifests();
    List<Part> first = manifests.subList(0, manifests.size() - 1);
    List<Part> last = manifests.subList(first.size(), manifests.size());
    try {
      delivery.send(database.files(), version, there, manner.verify());
      delivery.send(first, version, there, manner.verify());
      store.retain(version, lengths(database.files(), manifests).keySet());
      store.requireArrived(version, lengths(database.files(), first));
      if (!complete) {
        store.requireMarker(version, database.databaseId());
      }
      delivery.send(last, version, there, manner.verify());
    } catch (Attempts.SourceException e) {
      throw ofSource(e);
    }
  }

  /** Sends what a complete version lacks; returns the names, and how each file was found. */
  private List<String> repair() throws IOException {
    Map<String, Long> there = store.lengths(version);
    sendAll(there, /* complete= */ true);
    return delivery.sentFiles().stream().sorted().map(file -> asFound(file, there)).toList();
  }

  private String asFound(String file, Map<String, Long> there) {
    Long length = there.get(file);
    String found = "was damaged";
    if (length == null) {
      found = "was missing";
    } else if (!length.equals(lengths(database.files(), database.manifests()).get(file))) {
      found = "had " + length + " bytes";
    }
    return file + " (" + found + ")";
  }

  /** Chooses the name of the version, and takes it; returns whether it continues a version. */
  private boolean begin(List<Entry> entries) throws IOException {
    boolean continues = choose(entries);
    while (true) {
      try {
        store.mark(version, database.databaseId());
        return continues;
      } catch (FileAlreadyExistsException taken) {
        if (manner.version() != null) {
          throw taken;
        }
        version = DistantStore.freeName(store.entries());
        continues = false;
      }
    }
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
          && (begun == null || VersionName.NATURAL.compare(begun, name) < 0)) {
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
    store.requireMarker(version, database.databaseId());
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
    boolean changes = deltaDelivery.cancel(UNDO_SECONDS);
    boolean ended = delivery.cancel(UNDO_SECONDS) && changes;
    synchronized (this) {
      if (!ended) {
        attempts.stop();
      }
    }
  }

  /** Ends the threads. The store stays open. */
  @Override
  public void close() {
    deltaDelivery.close();
    delivery.close();
  }
}
