package tech.bsdb.flink.lookup;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CancellationException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tech.bsdb.flink.place.Places;
import tech.bsdb.store.Publication;
import tech.bsdb.store.PublishOptions;
import tech.bsdb.store.ReloadingDatabase;
import tech.bsdb.store.Store;
import tech.bsdb.tools.source.DistantDirectory;
import tech.bsdb.transfer.TransferOptions;

/**
 * A local store that follows one elsewhere. Processes of a machine that name the same directory
 * share it: what one of them has pulled, the others only open. What arrived before a failure stays,
 * and the next pull resumes from it. One thread pulls; {@link #close} may be called from any.
 */
final class LocalCopy implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(LocalCopy.class);

  /** The old version stays for those that still read it. */
  private static final int KEPT = 1;

  private static final Duration LONGEST_PAUSE = Duration.ofMinutes(10);

  private final String source;
  private final Path store;
  private final Duration poll;
  private final Thread thread = new Thread(this::run, "bsdb-flink-copy");
  private @Nullable ReloadingDatabase database;
  private volatile @Nullable Publication pulling;
  private volatile boolean closed;

  private LocalCopy(String source, Path store, Duration poll) {
    this.source = source;
    this.store = store;
    this.poll = poll;
  }

  /**
   * Pulls the current version of a store, unless the copy has it. If that fails, an earlier version
   * is good enough.
   *
   * @param directory where copies are
   * @throws IOException if there is no version here after that
   */
  static LocalCopy of(String source, Path directory, Duration poll) throws IOException {
    UUID name = UUID.nameUUIDFromBytes(source.getBytes(UTF_8));
    LocalCopy copy = new LocalCopy(source, directory.resolve(name.toString()), poll);
    try {
      copy.pull();
    } catch (IOException | RuntimeException e) {
      if (!Store.isStore(copy.store)) {
        throw e;
      }
      LOG.warn("{} cannot be copied; an earlier copy serves until it can be", source, e);
    }
    return copy;
  }

  /** The local store. */
  Path store() {
    return store;
  }

  /** Looks at the source from time to time, and lets the database reload what was pulled. */
  void follow(ReloadingDatabase following) {
    database = following;
    thread.setDaemon(true);
    thread.start();
  }

  private void run() {
    Duration pause = poll;
    while (!closed) {
      try {
        Thread.sleep(pause.toMillis());
        if (pull()) {
          reload();
        }
        pause = poll;
      } catch (InterruptedException | CancellationException e) {
        return;
      } catch (IOException | RuntimeException e) {
        if (closed) {
          return;
        }
        Duration longer = pause.multipliedBy(2);
        pause = longer.compareTo(LONGEST_PAUSE) > 0 ? LONGEST_PAUSE : longer;
        LOG.warn("{} cannot be copied; trying again in {}", source, pause, e);
      }
    }
  }

  private void reload() {
    try {
      boolean unused = database != null && database.reload();
    } catch (IOException | RuntimeException e) {
      LOG.warn("{}: the version that was copied is not used; the one before serves", source, e);
    }
  }

  /** Pulls once; returns whether there is another version now. */
  private boolean pull() throws IOException {
    try (DistantDirectory directory = Places.open(source);
        Publication publication =
            Publication.pull(
                directory, store, PublishOptions.defaults(), TransferOptions.defaults())) {
      pulling = publication;
      if (closed) {
        throw new CancellationException("the table is no longer used");
      }
      publication.begin();
      if (publication.isCurrent()) {
        publication.upToDate();
        return false;
      }
      publication.copy();
      boolean live;
      do {
        live = publication.goLive(publication.current());
      } while (!live);
      LOG.info("{}: version {} was copied to {}", source, publication.version(), store);
      for (String removed : publication.keep(KEPT)) {
        LOG.info("{}: version {} was removed", store, removed);
      }
      publication.warnings().forEach(LOG::warn);
      return true;
    } finally {
      pulling = null;
    }
  }

  /** Ends following; what has arrived stays. */
  @Override
  public void close() {
    closed = true;
    thread.interrupt();
    Publication running = pulling;
    if (running != null) {
      try {
        running.close();
      } catch (IOException e) {
        LOG.warn("{}: the copy was not ended cleanly", source, e);
      }
    }
  }
}
