package tech.bsdb.tools.inspect;

import java.io.IOException;
import java.nio.file.Path;
import java.security.PublicKey;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tech.bsdb.Database;
import tech.bsdb.Database.VerifyListener;
import tech.bsdb.OpenOptions;
import tech.bsdb.Statistics;
import tech.bsdb.VerifyReport;
import tech.bsdb.VerifyScope;
import tech.bsdb.remote.RangeOrigin;
import tech.bsdb.remote.RemoteOptions;
import tech.bsdb.store.ReloadOptions;
import tech.bsdb.store.ReloadingDatabase;
import tech.bsdb.tools.cli.Console;
import tech.bsdb.tools.source.RangeDirectory;

/** A database or a store that a command only reads, here or elsewhere. */
public sealed interface Place extends AutoCloseable {
  /** Opens the database, to be closed before this place. */
  Database open() throws IOException;

  /** Opens the database, and says which version it is if the user named a store. */
  default Database open(Console console, String command) throws IOException {
    Database database = open();
    String location = database.statistics().location();
    if (!location.equals(named())) {
      say(console, command, location);
    }
    return database;
  }

  private static void say(Console console, String command, Object version) {
    console.say("bsdb %s: reading %s, the current version".formatted(command, version));
  }

  /** The figures of the database. */
  Statistics statistics() throws IOException;

  /** Opens the database or the current version of the store, and follows it. */
  ReloadingDatabase follow(ReloadOptions options) throws IOException;

  /**
   * Checks the database.
   *
   * @throws IllegalArgumentException if only its content is to be checked, and it has no hashes
   */
  VerifyReport verify(VerifyScope scope, VerifyListener listener) throws IOException;

  /** What the user named, for messages. */
  String named();

  @Override
  default void close() throws IOException {}

  /**
   * A local directory.
   *
   * @param directory the database itself; of a store, its current version
   * @param given the directory that the user named
   * @param trusted the keys of which one must have signed it, none to require no signature
   */
  record Here(Path directory, Path given, List<PublicKey> trusted) implements Place {
    /** A directory of which no signature is required. */
    public Here(Path directory, Path given) {
      this(directory, given, List.of());
    }

    @Override
    public Database open() throws IOException {
      return Database.open(directory, OpenOptions.defaults().withTrusted(trusted));
    }

    @Override
    public Database open(Console console, String command) throws IOException {
      if (!directory.equals(given)) {
        say(console, command, directory);
      }
      return open();
    }

    @Override
    public Statistics statistics() throws IOException {
      return Database.statistics(directory, trusted);
    }

    @Override
    public ReloadingDatabase follow(ReloadOptions reload) throws IOException {
      return ReloadingDatabase.open(given, reload);
    }

    @Override
    public VerifyReport verify(VerifyScope scope, VerifyListener listener) throws IOException {
      return Database.verify(directory, scope, trusted, listener);
    }

    @Override
    public String named() {
      return directory.toString();
    }
  }

  /** A place on a web server or on a file system of Hadoop, which is closed with this. */
  record Distant(RangeOrigin origin, RemoteOptions options) implements Place {
    @Override
    public Database open() throws IOException {
      return Database.open(origin, options);
    }

    /** Looks up one key, and says which version was read if the user named a store. */
    byte @Nullable [] getOnce(byte[] key, Console console, boolean quiet) throws IOException {
      return Database.getOnce(
          origin,
          key,
          options,
          location -> {
            if (!quiet && !location.equals(named())) {
              say(console, "get", location);
            }
          });
    }

    @Override
    public Statistics statistics() throws IOException {
      return Database.statistics(origin, options);
    }

    @Override
    public ReloadingDatabase follow(ReloadOptions reload) throws IOException {
      return ReloadingDatabase.open(origin, options, reload);
    }

    @Override
    public VerifyReport verify(VerifyScope scope, VerifyListener listener) throws IOException {
      return Database.verify(origin, options, scope, listener);
    }

    @Override
    public String named() {
      return origin.location("");
    }

    @Override
    public void close() throws IOException {
      if (origin instanceof RangeDirectory directory) {
        directory.close();
      }
    }
  }
}
