package tech.bsdb.tools.serve.dataset;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import tech.bsdb.Database;
import tech.bsdb.Database.RecordCursor;
import tech.bsdb.KeyRouting;
import tech.bsdb.LookupBatch;
import tech.bsdb.MemoryUse;
import tech.bsdb.ScanOptions;
import tech.bsdb.Statistics;
import tech.bsdb.store.Lease;
import tech.bsdb.tools.rows.RowFields;
import tech.bsdb.tools.rows.RowSchema;

/**
 * What is known of an open version of a data set, whoever asks for it: determined once, or when it
 * is first asked for if that takes time. It also keeps the working memory that slices of lookups
 * borrow. Thread-safe.
 */
public final class ServedVersion {
  /** Values of a slice that are longer in total are not kept for the next. */
  private static final int KEPT = 1 << 20;

  /** So many keys are read before it is checked whether the service ends. */
  private static final int STEP = 4096;

  private static final long MEMORY_KEPT_NANOS = 10_000_000_000L;

  /** The database, which is open for as long as it is leased. */
  public final Database database;

  /** What the database tells of itself. */
  public final Statistics statistics;

  /** The version's name in its store; for a single database, its id. */
  public final String name;

  /** How values are stored; null where they are not rows. */
  public final @Nullable RowSchema rows;

  /** What is wrong with the stored schema; empty if nothing. */
  public final String badSchema;

  private final ArrayDeque<Workspace> spare = new ArrayDeque<>();
  private final Object counting = new Object();
  private long @Nullable [] slotCounts;
  private MemoryUse use = MemoryUse.NONE;
  private long useNanos = System.nanoTime() - MEMORY_KEPT_NANOS;

  /**
   * The working memory of one slice of lookups. Used by one thread at a time.
   *
   * @param fields the reader of rows; null where values are not rows
   */
  public record Workspace(LookupBatch batch, @Nullable RowFields fields) {}

  /** Takes down what is known of a leased version. */
  public ServedVersion(Lease lease) {
    this.database = lease.database();
    this.statistics = database.statistics();
    this.name = lease.version();
    RowSchema schema = null;
    String bad = "";
    try {
      schema = RowSchema.stored(statistics);
    } catch (IllegalArgumentException e) {
      bad = "the stored schema is invalid: " + e.getMessage();
    }
    this.rows = schema;
    this.badSchema = bad;
  }

  /** Returns the id of the database. */
  public String id() {
    return statistics.databaseId();
  }

  /** Lends working memory; {@link #giveBack} it. */
  public Workspace borrow() {
    synchronized (spare) {
      Workspace found = spare.pollLast();
      if (found != null) {
        return found;
      }
    }
    return new Workspace(database.batch(), rows == null ? null : new RowFields(rows));
  }

  /** Takes back working memory, unless it has grown too large to be kept. */
  public void giveBack(Workspace workspace) {
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
   * Returns the number of keys in each slot. All keys are read when it is asked for first.
   *
   * @param ends whether the service ends, so that it need not be known
   * @return null if the service ends
   */
  public long @Nullable [] slotCounts(BooleanSupplier ends) throws IOException {
    synchronized (counting) {
      if (slotCounts == null) {
        long[] counts = new long[KeyRouting.SLOTS];
        try (RecordCursor records = database.scan(ScanOptions.defaults().withValues(false))) {
          for (long i = 0; records.next(); i++) {
            if (i % STEP == 0 && ends.getAsBoolean()) {
              return null;
            }
            counts[KeyRouting.slot(records.key())]++;
          }
        }
        slotCounts = counts;
      }
      return slotCounts;
    }
  }

  /**
   * Returns how much of the database is in memory, at most ten seconds old: each query takes the
   * kernel milliseconds. {@link MemoryUse#NONE} if the system cannot tell.
   */
  public synchronized MemoryUse memoryUse() {
    if (System.nanoTime() - useNanos >= MEMORY_KEPT_NANOS) {
      try {
        use = database.memoryUse();
      } catch (IOException unknown) {
        use = MemoryUse.NONE;
      }
      useNanos = System.nanoTime();
    }
    return use;
  }
}
