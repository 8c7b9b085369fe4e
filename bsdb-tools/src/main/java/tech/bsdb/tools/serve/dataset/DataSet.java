package tech.bsdb.tools.serve.dataset;

import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tech.bsdb.remote.ChangedException;
import tech.bsdb.store.Lease;
import tech.bsdb.store.ReloadingDatabase;
import tech.bsdb.store.Store;
import tech.bsdb.store.StoredVersion;
import tech.bsdb.tools.serve.client.LookupCounts;

/** A data set being served, which follows its own versions. Thread-safe. */
public final class DataSet {
  private static final long STORED_KEPT_NANOS = 5_000_000_000L;

  private final String name;
  private final int number;
  private final ReloadingDatabase database;
  private final LookupCounts counts;
  private final boolean distant;
  private volatile @Nullable ServedVersion version;
  private List<StoredVersion> stored = List.of();
  private long storedNanos = System.nanoTime() - STORED_KEPT_NANOS;
  private volatile boolean removed;

  /** A data set was removed from the service since it was chosen. */
  public static final class DataSetRemovedException extends IllegalStateException {
    private static final long serialVersionUID = 1;

    DataSetRemovedException(String name) {
      super("the data set " + name + " has been removed");
    }
  }

  DataSet(String name, int number, ReloadingDatabase database, LookupCounts counts) {
    this.name = name;
    this.number = number;
    this.database = database;
    this.distant = database.directory() == null;
    this.counts = counts;
  }

  /** Returns the name; empty for the only data set of a service without names. */
  public String name() {
    return name;
  }

  /** Returns the number that stands for it in Redis' SELECT, from 0. */
  public int number() {
    return number;
  }

  /** Whether its files lie elsewhere, so that lookups wait for a network. */
  public boolean isDistant() {
    return distant;
  }

  /** Takes note of a failed lookup: files that have gone may be those of a version before. */
  public void failed(Throwable failure) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause instanceof ChangedException) {
        database.reopenSoon();
        return;
      }
      if (cause instanceof NoSuchFileException) {
        database.checkSoon();
        return;
      }
    }
  }

  /** Returns the database or store, for its state. */
  public ReloadingDatabase database() {
    return database;
  }

  /** Returns the counts of its lookups; they are part of the service's. */
  public LookupCounts counts() {
    return counts;
  }

  /**
   * Leases the version being served.
   *
   * @throws DataSetRemovedException if it is not served any more
   */
  public Lease acquire() {
    try {
      if (!removed) { // its database is closed a moment later
        return database.acquire();
      }
    } catch (IllegalStateException closed) {
      if (!removed) {
        throw closed;
      }
    }
    throw new DataSetRemovedException(name);
  }

  /** Returns what is known of a leased version. */
  public ServedVersion version(Lease lease) {
    ServedVersion last = version;
    if (last == null || last.database != lease.database()) {
      last = new ServedVersion(lease);
      version = last;
    }
    return last;
  }

  /** Returns the versions in its store, at most five seconds old: listing reads every manifest. */
  public synchronized List<StoredVersion> stored(Store store) throws IOException {
    if (System.nanoTime() - storedNanos >= STORED_KEPT_NANOS) {
      stored = store.versions();
      storedNanos = System.nanoTime();
    }
    return stored;
  }

  /** Whether it is not served any more. */
  public boolean isRemoved() {
    return removed;
  }

  /** Ends serving it, and closes it in the background when its last lease is returned. */
  void remove() {
    removed = true;
    Thread closing = new Thread(database::close, "bsdb-removed-" + name);
    closing.setDaemon(true);
    closing.start();
  }
}
