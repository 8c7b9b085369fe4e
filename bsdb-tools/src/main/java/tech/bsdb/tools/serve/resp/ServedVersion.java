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
 */
final class ServedVersion {
  /** Values of a slice that are longer in total are not kept for the next. */
  private static final int KEPT = 1 << 20;

  private final Database database;
  private final boolean inMemory;
  private final long longestValue;
  private final long records;
  private final boolean approximate;
  private final ScanPlaces places;
  private final @Nullable RowSchema rows;
  private final String badSchema;
  private final SlotCounts slotCounts;
  private final ArrayDeque<Workspace> spare = new ArrayDeque<>();

  /** The working memory of one slice of lookups. Used by one thread at a time. */
  static final class Workspace {
    private final LookupBatch batch;
    private final @Nullable RowFields fields;

    private Workspace(LookupBatch batch, @Nullable RowFields fields) {
      this.batch = batch;
      this.fields = fields;
    }

    LookupBatch batch() {
      return batch;
    }

    /** Returns the reader of rows; null where values are not rows. */
    @Nullable RowFields fields() {
      return fields;
    }
  }

  ServedVersion(Database database) {
    this.database = database;
    slotCounts = new SlotCounts(database);
    Statistics statistics = database.statistics();
    inMemory = statistics.readsMemory();
    longestValue = statistics.longestValue();
    records = statistics.records();
    approximate = statistics.approximateWidth() > 0;
    places = ScanPlaces.of(statistics.databaseId(), records);
    RowSchema schema = null;
    String bad = "";
    try {
      schema = RowSchema.stored(statistics);
    } catch (IllegalArgumentException e) {
      bad = CommandException.inUtf8("ERR the stored schema is invalid: " + e.getMessage()).reply();
    }
    rows = schema;
    badSchema = bad;
  }

  Database database() {
    return database;
  }

  /** Whether lookups read only memory. */
  boolean inMemory() {
    return inMemory;
  }

  /** Returns the length of the longest value in bytes. */
  long longestValue() {
    return longestValue;
  }

  long records() {
    return records;
  }

  /** Whether no keys are stored. */
  boolean approximate() {
    return approximate;
  }

  /** Whether scans may go in the order of the keys. */
  boolean isOrdered() {
    return database.isOrdered() && records <= ScanPlaces.MOST_NUMBERED;
  }

  /** Returns the numbers of keys by slot. */
  SlotCounts slotCounts() {
    return slotCounts;
  }

  /** Returns the places of a scan of this version. */
  ScanPlaces places() {
    return places;
  }

  /** Returns the error that answers every lookup, or an empty text. */
  String badSchema() {
    return badSchema;
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
