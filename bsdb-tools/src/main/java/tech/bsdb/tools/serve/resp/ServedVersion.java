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
import tech.bsdb.tools.serve.client.LookupCounts;
import tech.bsdb.tools.serve.cluster.SlotSet;

/**
 * What is known of an open version, determined once, and its working memory, which rounds of
 * lookups borrow. Thread-safe.
 */
final class ServedVersion {
  /** Values of a slice that are longer in total are not kept for the next. */
  private static final int KEPT = 1 << 20;

  /** So many keys are read before it is checked whether the service ends. */
  private static final int STEP = 4096;

  final Database database;
  final Statistics statistics;

  /** Counts lookups in the data set. */
  final LookupCounts counts;

  /** The places of a scan of this version. */
  final ScanPlaces places;

  /** The error that answers every lookup, or an empty text. */
  final String badSchema;

  private final @Nullable RowSchema rows;
  private final ArrayDeque<Workspace> spare = new ArrayDeque<>();
  private long @Nullable [] slotCounts;

  /**
   * The working memory of one slice of lookups. Used by one thread at a time.
   *
   * @param fields the reader of rows; null where values are not rows
   */
  record Workspace(LookupBatch batch, @Nullable RowFields fields) {}

  ServedVersion(Database database, LookupCounts counts) {
    this.database = database;
    this.counts = counts;
    this.statistics = database.statistics();
    this.places = ScanPlaces.of(statistics.databaseId(), statistics.records());
    RowSchema schema = null;
    String bad = "";
    try {
      schema = RowSchema.stored(statistics);
    } catch (IllegalArgumentException e) {
      bad = CommandException.inUtf8("ERR the stored schema is invalid: " + e.getMessage()).reply();
    }
    this.rows = schema;
    this.badSchema = bad;
  }

  /** Whether scans may go in the order of the keys. */
  boolean isOrdered() {
    return database.isOrdered() && statistics.records() <= ScanPlaces.MOST_NUMBERED;
  }

  /** Whether values are rows, which are hashes in Redis. */
  boolean holdsRows() {
    return rows != null;
  }

  /**
   * Requires that keys are stored.
   *
   * @throws CommandException if the version is approximate
   */
  void requireKeys() throws CommandException {
    if (statistics.approximateWidth() > 0) {
      throw new CommandException("ERR the data set is approximate, so it stores no keys");
    }
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
    if (workspace.fields != null) {
      workspace.fields.reset();
    }
    if (workspace.batch.values().length <= KEPT) {
      synchronized (spare) {
        spare.addLast(workspace);
      }
    }
  }

  /**
   * Returns the number of keys in slots, of those that the version holds. What the numbers of
   * shards tell is known at once; for the rest, all keys are read when it is asked for first.
   *
   * @throws CommandException if keys must be read, and the version stores none
   */
  long keysIn(SlotSet slots, RespCluster cluster) throws IOException, CommandException {
    long known = knownFromShards(slots);
    if (known >= 0) {
      return known;
    }
    long[] counts = slotCounts(cluster);
    long sum = 0;
    for (SlotSet.SlotRange range : slots.ranges()) {
      for (int slot = range.first(); slot <= range.last(); slot++) {
        sum += counts[slot];
      }
    }
    return sum;
  }

  /** Returns the number of keys if each shard has all of its slots among some, or none; else -1. */
  private long knownFromShards(SlotSet slots) {
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

  private synchronized long[] slotCounts(RespCluster cluster) throws IOException, CommandException {
    long[] known = slotCounts;
    if (known != null) {
      return known;
    }
    requireKeys();
    long[] counts = new long[KeyRouting.SLOTS];
    try (RecordCursor records = database.scan(ScanOptions.defaults().withValues(false))) {
      for (long i = 0; records.next(); i++) {
        if (i % STEP == 0) {
          RespCluster.requireGoingOn(cluster);
        }
        counts[KeyRouting.slot(records.key())]++;
      }
    }
    slotCounts = counts;
    return counts;
  }
}
