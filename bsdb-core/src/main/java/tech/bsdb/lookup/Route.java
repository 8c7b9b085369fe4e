package tech.bsdb.lookup;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import tech.bsdb.directory.DataSet;
import tech.bsdb.directory.DatabaseDirectory;
import tech.bsdb.error.WrongShardException;
import tech.bsdb.format.KeySlots;
import tech.bsdb.format.ShardSet;

/**
 * Leads each key to the locator of the database that can hold it: always the same, or that of the
 * key's shard. All locators are of one kind: they make the same reads of the same kinds of files.
 * Thread-safe.
 */
public abstract class Route implements Closeable {
  private final Locator[] locators;

  private Route(List<Locator> locators) {
    this.locators = locators.toArray(new Locator[0]);
  }

  /**
   * Creates the route of what was opened.
   *
   * @param locators the locators of its databases, in order; the route closes them
   */
  public static Route of(DataSet opened, List<Locator> locators) {
    ShardSet partial = opened.partialSet();
    if (partial != null) {
      return new ToHeldShards(locators, opened.path(), partial);
    }
    if (opened.isSet()) {
      return new ToShards(locators);
    }
    DatabaseDirectory database = opened.single();
    return database.facts().shards() == 1
        ? new ToOne(locators)
        : new ToOwnKeysOnly(locators, database);
  }

  /**
   * The locator for a key.
   *
   * @throws WrongShardException if the key belongs to a shard that was not opened
   */
  public final Locator of(byte[] key) throws WrongShardException {
    return locators[number(key)];
  }

  /**
   * The number of the database for a key.
   *
   * @throws WrongShardException if the key belongs to a shard that was not opened
   */
  public abstract int number(byte[] key) throws WrongShardException;

  /** Whether every key leads to the only locator. */
  final boolean isUndivided() {
    return this instanceof ToOne;
  }

  /** The number of databases. */
  final int databases() {
    return locators.length;
  }

  /** One of the locators, for what is the same for all. */
  public final Locator any() {
    return locators[0];
  }

  /** The locator of the database with the given number. */
  public final Locator locator(int database) {
    return locators[database];
  }

  /** Closes all locators, even if some fail. */
  @Override
  public final void close() throws IOException {
    List<Exception> failures = new ArrayList<>();
    for (Locator locator : locators) {
      try {
        locator.close();
      } catch (IOException | RuntimeException e) {
        failures.add(e);
      }
    }
    if (!failures.isEmpty()) {
      IOException failure = new IOException("could not close all files");
      failures.forEach(failure::addSuppressed);
      throw failure;
    }
  }

  /** An undivided database. */
  private static final class ToOne extends Route {
    ToOne(List<Locator> locators) {
      super(locators);
    }

    @Override
    public int number(byte[] key) {
      return 0;
    }
  }

  /** A whole set of shards. */
  private static final class ToShards extends Route {
    ToShards(List<Locator> locators) {
      super(locators);
    }

    @Override
    public int number(byte[] key) {
      return KeySlots.shard(key, databases());
    }
  }

  /** Some shards of a set. */
  private static final class ToHeldShards extends Route {
    private static final int NOT_HELD = -1;

    private final Path path;
    private final ShardSet set;

    /** The number of the database of each shard. */
    private final int[] databases;

    ToHeldShards(List<Locator> locators, Path path, ShardSet set) {
      super(locators);
      this.path = path;
      this.set = set;
      this.databases = new int[set.shards().size()];
      Arrays.fill(databases, NOT_HELD);
      for (int i = 0; i < set.held().size(); i++) {
        databases[set.held().get(i)] = i;
      }
    }

    @Override
    public int number(byte[] key) throws WrongShardException {
      int slot = KeySlots.of(key);
      int shard = KeySlots.shard(slot, databases.length);
      int database = databases[shard];
      if (database == NOT_HELD) {
        throw new WrongShardException(
            path, key, slot, shard, "a partial set with " + set.shownHeld());
      }
      return database;
    }
  }

  /** One shard alone. */
  private static final class ToOwnKeysOnly extends Route {
    private final DatabaseDirectory database;
    private final int first;
    private final int end;

    ToOwnKeysOnly(List<Locator> locators, DatabaseDirectory database) {
      super(locators);
      this.database = database;
      this.first = KeySlots.first(database.facts().shard(), database.facts().shards());
      this.end = KeySlots.first(database.facts().shard() + 1, database.facts().shards());
    }

    @Override
    public int number(byte[] key) throws WrongShardException {
      int slot = KeySlots.of(key);
      if (slot < first || slot >= end) {
        int shards = database.facts().shards();
        int own = database.facts().shard();
        throw new WrongShardException(
            database.path(),
            key,
            slot,
            KeySlots.shard(slot, shards),
            "shard " + own + " of " + shards + " with slots " + KeySlots.range(own, shards));
      }
      return 0;
    }
  }
}
