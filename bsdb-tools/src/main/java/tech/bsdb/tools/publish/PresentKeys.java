package tech.bsdb.tools.publish;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import tech.bsdb.Database;
import tech.bsdb.LookupBatch;
import tech.bsdb.error.MemoryBudgetExceededException;
import tech.bsdb.error.WrongShardException;

/**
 * Counts the keys that a database has. A lookup of many keys reads their values, too; so many at
 * once as take little memory. Not thread-safe.
 */
final class PresentKeys {
  private static final int BATCH = 1000;

  /** The most bytes of the keys of a batch, and of their values. */
  private static final long BATCH_BYTES = 4 << 20;

  private final Database database;
  private final LookupBatch batch;
  private final List<byte[]> keys = new ArrayList<>();
  private long keyBytes;
  private long reserved;
  private long found;

  PresentKeys(Database database) {
    this.database = database;
    this.batch = database.batch();
    batch.use(this::reserve);
  }

  /** Whether a database has a key; it has none of shards that it does not hold. */
  static boolean has(Database database, byte[] key) throws IOException {
    try {
      return database.read(key, value -> true) != null;
    } catch (WrongShardException foreign) {
      return false;
    }
  }

  /** Adds a key, which must not change until {@link #count} has returned. */
  void add(byte[] key) throws IOException {
    try {
      database.requireOwn(key);
    } catch (WrongShardException foreign) {
      return;
    }
    keys.add(key);
    keyBytes += key.length;
    if (keys.size() == BATCH || keyBytes >= BATCH_BYTES) {
      lookUp();
    }
  }

  /** The number of keys added so far that the database has. */
  long count() throws IOException {
    lookUp();
    return found;
  }

  private void lookUp() throws IOException {
    if (!keys.isEmpty()) {
      lookUp(0, keys.size());
    }
    keys.clear();
    keyBytes = 0;
  }

  /** Looks up some keys of the batch; fewer at once if their values take too much memory. */
  private void lookUp(int from, int to) throws IOException {
    if (to - from == 1) {
      found += has(database, keys.get(from)) ? 1 : 0;
      return;
    }
    batch.clear();
    keys.subList(from, to).forEach(batch::add);
    reserved = 0;
    try {
      batch.get();
    } catch (MemoryBudgetExceededException e) {
      int middle = from + to >>> 1;
      lookUp(from, middle);
      lookUp(middle, to);
      return;
    }
    for (int i = 0; i < batch.size(); i++) {
      found += batch.isPresent(i) ? 1 : 0;
    }
  }

  private boolean reserve(long bytes) {
    reserved += bytes;
    return reserved <= BATCH_BYTES;
  }
}
