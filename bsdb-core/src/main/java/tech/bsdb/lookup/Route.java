package tech.bsdb.lookup;

import java.util.Arrays;
import java.util.List;
import tech.bsdb.directory.DataSet;
import tech.bsdb.error.WrongShardException;
import tech.bsdb.format.Facts;
import tech.bsdb.format.KeySlots;
import tech.bsdb.format.ShardSet;

/**
 * Leads each key to the locator of the database that can hold it: always the same, or that of the
 * key's shard. All locators are of one kind: they make the same reads of the same kinds of files.
 * Thread-safe.
 */
final class Route {
  private static final int NOT_HELD = -1;

  private final String location;
  private final Locator[] locators;

  /** The number of shards of the whole set, 1 if nothing is divided. */
  private final int shards;

  /** The number of the database of each shard. */
  private final int[] databases;

  /** What was opened, for messages about keys of other shards. */
  private final String held;

  /**
   * Creates the route of what was opened.
   *
   * @param locators the locators of its databases, in order
   */
  Route(DataSet opened, List<Locator> locators) {
    this.location = opened.location();
    this.locators = locators.toArray(new Locator[0]);
    Facts facts = opened.facts();
    this.shards = facts.shards();
    this.databases = new int[shards];
    ShardSet set = opened.set();
    List<Integer> numbers = set == null ? List.of(facts.shard()) : set.held();
    Arrays.fill(databases, NOT_HELD);
    for (int i = 0; i < numbers.size(); i++) {
      databases[numbers.get(i)] = i;
    }
    this.held =
        set == null
            ? "shard "
                + facts.shard()
                + " of "
                + shards
                + " with slots "
                + KeySlots.range(facts.shard(), shards)
            : "a partial set with " + set.shownHeld();
  }

  /**
   * The locator for a key.
   *
   * @throws WrongShardException if the key belongs to a shard that was not opened
   */
  Locator of(byte[] key) throws WrongShardException {
    return locators[number(key)];
  }

  /**
   * The number of the database for a key.
   *
   * @throws WrongShardException if the key belongs to a shard that was not opened
   */
  int number(byte[] key) throws WrongShardException {
    if (shards == 1) {
      return 0;
    }
    int slot = KeySlots.of(key);
    int shard = KeySlots.shard(slot, shards);
    int database = databases[shard];
    if (database == NOT_HELD) {
      throw new WrongShardException(location, key, slot, shard, held);
    }
    return database;
  }

  /** Whether every key leads to the only database. */
  boolean isUndivided() {
    return shards == 1;
  }

  /** The number of databases. */
  int databases() {
    return locators.length;
  }

  /** One of the locators, for what is the same for all. */
  Locator any() {
    return locators[0];
  }

  /** The locator of the database with the given number. */
  Locator locator(int database) {
    return locators[database];
  }
}
