package tech.bsdb.tools.serve.resp;

import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;
import tech.bsdb.Database;
import tech.bsdb.LookupBatch;
import tech.bsdb.Statistics;
import tech.bsdb.tools.rows.RowFields;
import tech.bsdb.tools.rows.RowSchema;

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
}
