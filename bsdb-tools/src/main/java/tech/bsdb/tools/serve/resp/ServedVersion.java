package tech.bsdb.tools.serve.resp;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tech.bsdb.Database;
import tech.bsdb.Database.RecordCursor;
import tech.bsdb.KeyRouting;
import tech.bsdb.LookupBatch;
import tech.bsdb.ScanOptions;
import tech.bsdb.Statistics;
import tech.bsdb.tools.rows.RowFields;
import tech.bsdb.tools.rows.RowSchema;
import tech.bsdb.tools.serve.cluster.SlotSet;

/**
 * What is known of an open version, determined once, and its working memory, which rounds of
 * lookups borrow. Thread-safe.
 *
 * @param inMemory whether lookups read only memory
 * @param longestValue the length of the longest value in bytes
 * @param approximate whether no keys are stored
 * @param places the places of a scan of this version
 * @param rows the schema of the values, which are hashes in Redis; null if they are no rows
 * @param badSchema the error that answers every lookup, or an empty text
 * @param slotCounts the numbers of keys by slot
 * @param spare working memory that is not lent
 */
record ServedVersion(
    Database database,
    boolean inMemory,
    long longestValue,
    long records,
    boolean approximate,
    ScanPlaces places,
    @Nullable RowSchema rows,
    String badSchema,
    SlotCounts slotCounts,
    ArrayDeque<Workspace> spare) {
  /** Values of a slice that are longer in total are not kept for the next. */
  private static final int KEPT = 1 << 20;

  /**
   * The working memory of one slice of lookups. Used by one thread at a time.
   *
   * @param fields the reader of rows; null where values are not rows
   */
  record Workspace(LookupBatch batch, @Nullable RowFields fields) {}

  static ServedVersion of(Database database) {
    Statistics statistics = database.statistics();
    RowSchema schema = null;
    String bad = "";
    try {
      schema = RowSchema.stored(statistics);
    } catch (IllegalArgumentException e) {
      bad = CommandException.inUtf8("ERR the stored schema is invalid: " + e.getMessage()).reply();
    }
    return new ServedVersion(
        database,
        statistics.readsMemory(),
        statistics.longestValue(),
        statistics.records(),
        statistics.approximateWidth() > 0,
        ScanPlaces.of(statistics.databaseId(), statistics.records()),
        schema,
        bad,
        new SlotCounts(database),
        new ArrayDeque<>());
  }

  /** Whether scans may go in the order of the keys. */
  boolean isOrdered() {
    return database.isOrdered() && records <= ScanPlaces.MOST_NUMBERED;
  }

  /** Whether values are rows, which are hashes in Redis. */
  boolean holdsRows() {
    return rows != null;
  }

  /** Lends working memory; {@link #giveBack} it. */
  Workspace borrow() {
    synchronized (spare) {
      Workspace found = spare.pollLast();
      if (found != null) {
        return found;
      }
    }
    return new Workspace(database.batch(), rows == null ? null : new RowFields(rows));
  }

  /** Takes back working memory, unless it has grown too large to be kept. */
  void giveBack(Workspace workspace) {
    if (workspace.batch.values().length <= KEPT) {
      synchronized (spare) {
        spare.addLast(workspace);
      }
    }
  }

  /**
   * The number of keys in the slots of a version. What the numbers of shards tell is known at once;
   * for the rest, all keys are read when it is asked for first. Thread-safe.
   */
  static final class SlotCounts {
    /** So many keys are read before it is checked whether the service ends. */
    private static final int STEP = 4096;

    private final Database database;
    private long @Nullable [] counted;

    SlotCounts(Database database) {
      this.database = database;
    }

    /**
     * Returns the number of keys in slots, of those that the version holds.
     *
     * @throws CommandException if keys must be read, and the version stores none
     */
    long in(SlotSet slots, RespCluster cluster) throws IOException, CommandException {
      long known = knownFromShards(slots);
      if (known >= 0) {
        return known;
      }
      long[] counts = counted(cluster);
      long sum = 0;
      for (SlotSet.SlotRange range : slots.ranges()) {
        for (int slot = range.first(); slot <= range.last(); slot++) {
          sum += counts[slot];
        }
      }
      return sum;
    }

    /**
     * Returns the number of keys if each shard has all of its slots among some, or none; else -1.
     */
    private long knownFromShards(SlotSet slots) {
      Statistics statistics = database.statistics();
      List<Integer> shards = statistics.shards() == 1 ? List.of(0) : statistics.heldShards();
      long sum = 0;
      for (int i = 0; i < shards.size(); i++) {
        int first = KeyRouting.firstSlot(shards.get(i), statistics.shards());
        int next = KeyRouting.firstSlot(shards.get(i) + 1, statistics.shards());
        int among = SlotSet.of(first, next - 1).and(slots).size();
        if (among == next - first) {
          sum += statistics.shardRecords().get(i);
        } else if (among > 0) {
          return -1;
        }
      }
      return sum;
    }

    private synchronized long[] counted(RespCluster cluster) throws IOException, CommandException {
      long[] known = counted;
      if (known != null) {
        return known;
      }
      if (database.statistics().approximateWidth() > 0) {
        throw new CommandException(ScanCommands.NO_KEYS);
      }
      long[] counts = new long[KeyRouting.SLOTS];
      try (RecordCursor records = database.scan(ScanOptions.defaults().withValues(false))) {
        for (long i = 0; records.next(); i++) {
          if (i % STEP == 0) {
            RespCluster.requireGoingOn(cluster);
          }
          counts[KeyRouting.slot(records.key())]++;
        }
      }
      counted = counts;
      return counts;
    }
  }
}
