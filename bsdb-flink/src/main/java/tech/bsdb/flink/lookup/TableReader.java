package tech.bsdb.flink.lookup;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.TimestampData;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.RowType;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tech.bsdb.Database;
import tech.bsdb.error.DuplicateKeyException;
import tech.bsdb.flink.lookup.LookupTable.LookupPlan;
import tech.bsdb.flink.rows.KeyWriter;
import tech.bsdb.flink.rows.RowReader;
import tech.bsdb.store.Lease;
import tech.bsdb.store.ReloadingDatabase;
import tech.bsdb.tools.rows.BadRowException;
import tech.bsdb.tools.rows.RowSchema;

/**
 * Reads the rows of a table, from the current version that has its columns: a newer one that lacks
 * them is told in the log, and the version of before stays in use. Not thread-safe.
 */
final class TableReader implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(TableReader.class);

  private final LookupPlan plan;
  private final SharedTable table;
  private final ReloadingDatabase database;
  private final KeyWriter keys;
  private final Counter absent;
  private final List<Condition> conditions = new ArrayList<>();
  private Lease lease;
  private RowReader rows;

  /** The swaps of the table when its version was last looked at. */
  private long swaps;

  /** A column whose value in the row that is found must be the one that was asked for. */
  private record Condition(RowData.FieldGetter asked, RowData.FieldGetter found) {}

  /**
   * Opens a table.
   *
   * @throws IOException if it cannot be opened, or its version lacks columns
   */
  TableReader(LookupPlan plan, MetricGroup metrics) throws IOException {
    this.plan = plan;
    this.keys = plan.keyWriter();
    for (int i = 0; i < plan.asked().length; i++) {
      int column = plan.asked()[i];
      // A key of several columns may be that of another row, with the text between them elsewhere.
      if (plan.settings().keys().size() > 1
          || !plan.settings().keys().contains(plan.columns().getFieldNames().get(column))) {
        LogicalType type = plan.columns().getTypeAt(column).copy(true);
        conditions.add(
            new Condition(
                RowData.createFieldGetter(type, i), RowData.createFieldGetter(type, column)));
      }
    }
    this.table = SharedTable.use(plan.settings());
    try {
      database = table.database();
      swaps = database.swaps();
      lease = database.acquire();
      try {
        rows = reader(lease.database());
      } catch (IllegalArgumentException e) {
        lease.close();
        throw new IOException(plan.settings().path() + ": " + e.getMessage(), e);
      }
    } catch (IOException | RuntimeException e) {
      table.close();
      throw e;
    }
    this.absent = metrics.counter("bsdbAbsentKeys");
    metrics.gauge("bsdbVersionsLoaded", database::swaps);
  }

  private RowReader reader(Database database) {
    RowType columns = plan.columns();
    return new RowReader(
        RowSchema.stored(database.statistics()),
        columns,
        plan.settings().keys(),
        Arrays.stream(plan.asked()).mapToObj(columns.getFieldNames()::get).toList());
  }

  /** Looks up a key in the current version. */
  byte @Nullable [] get(byte[] key) throws IOException {
    try {
      return current().get(key);
    } catch (IOException e) {
      return newer(e).get(key);
    }
  }

  /** Looks up keys in the current version. */
  List<byte @Nullable []> getAll(List<byte[]> keys) throws IOException {
    try {
      return current().getAll(keys);
    } catch (IOException e) {
      return newer(e).getAll(keys);
    }
  }

  /** The version that is current now, if another one failed: it may have been removed. */
  private Database newer(IOException failure) throws IOException {
    try {
      if (database.reload() || database.swaps() != swaps) {
        return current();
      }
    } catch (IOException | RuntimeException refused) {
      failure.addSuppressed(refused);
    }
    throw failure;
  }

  /** Turns to the current version, if there is another one. */
  private Database current() {
    long now = database.swaps();
    if (now != swaps) {
      swaps = now;
      Lease newer = database.acquire();
      try {
        rows = reader(newer.database());
        lease.close();
        lease = newer;
      } catch (IllegalArgumentException e) {
        LOG.error(
            "{}: version {} cannot be joined, and {} stays in use: {}",
            plan.settings().path(),
            newer.version(),
            lease.version(),
            e.getMessage());
        newer.close();
      }
    }
    return lease.database();
  }

  /**
   * The key of a row that is looked up; null if a part is null, which equals nothing.
   *
   * @throws IOException if a part has no text
   */
  byte @Nullable [] key(RowData asked) throws IOException {
    for (Condition condition : conditions) {
      if (condition.asked.getFieldOrNull(asked) == null) {
        return null;
      }
    }
    try {
      return keys.write(asked);
    } catch (BadRowException e) {
      throw new IOException(plan.settings().path() + ": " + e.getMessage(), e);
    }
  }

  /**
   * The rows of a value that was found: one, or none if another condition does not hold.
   *
   * @throws IOException if the value is not a row of the table
   */
  Collection<RowData> found(RowData asked, byte[] key, byte @Nullable [] value) throws IOException {
    if (value == null) {
      absent.inc();
      return List.of();
    }
    RowData row;
    try {
      row = rows.read(asked, value);
    } catch (BadRowException e) {
      throw new IOException(
          "%s version %s: the value of key %s cannot be read: %s"
              .formatted(
                  plan.settings().path(),
                  lease.version(),
                  DuplicateKeyException.show(key),
                  e.getMessage()),
          e);
    }
    for (Condition condition : conditions) {
      if (!isEqual(condition.asked.getFieldOrNull(asked), condition.found.getFieldOrNull(row))) {
        return List.of();
      }
    }
    return List.of(row);
  }

  private static boolean isEqual(@Nullable Object asked, @Nullable Object found) {
    if (asked instanceof byte[] one && found instanceof byte[] other) {
      return Arrays.equals(one, other);
    }
    if (asked instanceof Double one && found instanceof Double other) {
      return one.doubleValue() == other.doubleValue(); // also 0.0 and -0.0
    }
    if (asked instanceof Float one && found instanceof Float other) {
      return one.floatValue() == other.floatValue();
    }
    if (asked instanceof TimestampData one && found instanceof TimestampData other) {
      return one.compareTo(other) == 0;
    }
    return asked != null && asked.equals(found);
  }

  @Override
  public void close() {
    lease.close();
    table.close();
  }
}
