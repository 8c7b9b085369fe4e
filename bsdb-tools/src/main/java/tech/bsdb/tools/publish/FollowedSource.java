package tech.bsdb.tools.publish;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.security.PublicKey;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tech.bsdb.Database;
import tech.bsdb.error.UntrustedException;
import tech.bsdb.store.Publication;
import tech.bsdb.store.PublishListener;
import tech.bsdb.store.PublishOptions;
import tech.bsdb.store.Store;
import tech.bsdb.tools.cli.Console;
import tech.bsdb.tools.cli.Progress;
import tech.bsdb.tools.cli.UsageException;
import tech.bsdb.tools.source.DistantDirectory;
import tech.bsdb.transfer.Shipment;
import tech.bsdb.transfer.TransferListener;
import tech.bsdb.transfer.TransferOptions;

/**
 * The source that a store follows: opened when it is needed, read, and pulled from. What happens
 * goes to the status. Used by one thread at a time.
 */
final class FollowedSource {
  private final FollowOptions options;
  private final Console console;
  private final Opening opening;
  private final FollowStatus status;
  private final InstantSource clock;
  private final Runnable requireOpen;
  private final Watch watch = new Watch();
  private @Nullable DistantDirectory directory;
  private Runnable pulled = () -> {};
  private volatile @Nullable Progress progress;

  /** Opens the source. */
  @FunctionalInterface
  interface Opening {
    DistantDirectory open() throws IOException;
  }

  /**
   * Opens nothing yet.
   *
   * @param requireOpen throws if nothing more is wanted
   */
  FollowedSource(
      FollowOptions options,
      Console console,
      Opening opening,
      FollowStatus status,
      InstantSource clock,
      Runnable requireOpen) {
    this.options = options;
    this.console = console;
    this.opening = opening;
    this.status = status;
    this.clock = clock;
    this.requireOpen = requireOpen;
  }

  /** Shows the progress of pulls, and says what is tried again, until this is called with null. */
  void show(@Nullable Progress progress) {
    this.progress = progress;
  }

  /** Runs something after each pull. */
  void afterPulls(Runnable pulled) {
    this.pulled = pulled;
  }

  /**
   * Reads what the source offers, and pulls it if it is new.
   *
   * @param always whether to pull even what was pulled before
   */
  void look(boolean always) throws IOException, UsageException {
    status.checking();
    DistantDirectory from = directory == null ? opening.open() : directory;
    directory = from;
    TransferOptions transfer = options.transfer().withListener(watch);
    Shipment offer;
    try {
      offer = Store.offered(from, transfer, requireOpen);
    } catch (IllegalArgumentException e) {
      throw new UsageException(String.valueOf(e.getMessage()));
    }
    boolean isNew =
        always || !LocalStore.hasPulled(options.store(), offer.id(), transfer.trusted());
    status.offered(offer.version(), offer.id(), isNew, clock.instant());
    if (isNew) {
      status.pulling();
      PublishOptions publishing = PublishOptions.defaults().withListener(watch);
      Pull pull =
          new Pull(
              from, options.store(), publishing, transfer, options.checks(), /* verify= */ false);
      pull.run(Follower.PROGRAM, console, /* quiet= */ false, watch);
    }
  }

  /** Notes what happens. */
  private final class Watch implements Pull.Steps, PublishListener, TransferListener {
    @Override
    public void begins(Publication publication) {
      requireOpen.run();
    }

    @Override
    public void waiting() {
      say("another publish to " + options.store() + " is running; waiting for it to finish");
    }

    @Override
    public void arrived(long doneBytes, long allBytes) {
      status.arrived(doneBytes, allBytes);
      Progress shown = progress;
      if (shown != null) {
        shown.update("pull", doneBytes, allBytes);
      }
    }

    @Override
    public void received(long bytes) {
      status.received(bytes);
    }

    @Override
    public void retrying(String location, String why, Duration pause) {
      String words = FollowOptions.withoutPasswords(location + ": " + why);
      status.retrying(words);
      if (progress != null) {
        say(words + " (trying again in " + pause.toMillis() / 1e3 + " s)");
      }
    }

    @Override
    public void folding(long doneRecords, long allRecords) {
      Progress shown = progress;
      if (shown != null) {
        shown.update("fold", doneRecords, allRecords);
      }
    }

    @Override
    public void whole(String version, String why) {
      say(FollowOptions.withoutPasswords(version + " is pulled whole: " + why));
    }

    @Override
    public void arrived() {
      status.comparing();
    }

    @Override
    public void upToDate(Publication publication) {
      // another process pulled it meanwhile
    }

    @Override
    public void published(Publication publication, Publishing report) {
      status.pulled(publication.version(), clock.instant());
      pulled.run();
      report.forPeople(report.keep(options.keep())).forEach(this::say);
      report.warnings().forEach(what -> say("warning: " + what));
    }

    private void say(String words) {
      console.say(Follower.PROGRAM + ": " + words);
    }
  }

  /** Closes the source; the next look opens it again. */
  void close() {
    DistantDirectory open = directory;
    directory = null;
    try {
      if (open != null) {
        open.close();
      }
    } catch (IOException unusable) {
      // it is not used any more, and what failed before was told
    }
  }

  /** What the store that follows has. */
  static final class LocalStore {
    private LocalStore() {}

    /**
     * Whether there is a version to serve.
     *
     * @param trusted the keys of which one must have signed it, none to require no signature
     * @throws UsageException if the directory is neither a store nor can become one
     */
    static boolean isFilled(Path directory, List<PublicKey> trusted)
        throws IOException, UsageException {
      if (Files.notExists(directory) || Files.isDirectory(directory) && isEmpty(directory)) {
        return false;
      }
      try {
        String current = Store.open(directory).current();
        return current != null
            && Files.isDirectory(directory.resolve(current))
            && isTrusted(directory.resolve(current), trusted);
      } catch (NotDirectoryException e) {
        throw new UsageException(
            "--follow pulls into a store, but -d "
                + e.getMessage()
                + "; name a store, or a directory that does not exist, with -d");
      }
    }

    /** Whether there is nothing but hidden files, such as those that an earlier pull left. */
    private static boolean isEmpty(Path directory) throws IOException {
      try (Stream<Path> entries = Files.list(directory)) {
        return entries
            .map(entry -> String.valueOf(entry.getFileName()))
            .allMatch(name -> name.startsWith(".") || name.equals("lost+found"));
      }
    }

    /** Whether a database is the current version, or was when it was pulled last. */
    static boolean hasPulled(Path directory, String id, List<PublicKey> trusted)
        throws IOException {
      if (!Store.isStore(directory)) {
        return false;
      }
      Store store = Store.open(directory);
      String current = store.current();
      return current != null
          && isTrusted(directory.resolve(current), trusted)
          && (id.equals(store.pulled()) || id.equals(idOf(directory.resolve(current))));
    }

    private static boolean isTrusted(Path version, List<PublicKey> trusted) {
      try {
        Database.statistics(version, trusted);
      } catch (UntrustedException e) {
        return false;
      } catch (IOException unreadable) {
        return true; // whoever serves it says so
      }
      return true;
    }

    private static String idOf(Path version) {
      try {
        return Database.statistics(version).databaseId();
      } catch (IOException unreadable) {
        return ""; // whoever serves it says so
      }
    }
  }
}
