package tech.bsdb.trino;

import io.trino.spi.NodeManager;
import io.trino.spi.StandardErrorCode;
import io.trino.spi.TrinoException;
import io.trino.spi.connector.ColumnHandle;
import io.trino.spi.connector.ConnectorSession;
import io.trino.spi.connector.ConnectorSplit;
import io.trino.spi.connector.ConnectorSplitManager;
import io.trino.spi.connector.ConnectorSplitSource;
import io.trino.spi.connector.ConnectorTableHandle;
import io.trino.spi.connector.ConnectorTransactionHandle;
import io.trino.spi.connector.Constraint;
import io.trino.spi.connector.DynamicFilterSnapshot;
import io.trino.spi.predicate.TupleDomain;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import tech.bsdb.KeyRange;
import tech.bsdb.trino.OpenTables.Use;

/**
 * Divides what a query reads of a table: keys that are looked up, a range of keys, or all records.
 */
public final class TableSplits implements ConnectorSplitManager {
  private static final int KEYS_OF_SPLIT = 10_000;
  private static final long RECORDS_OF_SPLIT = 250_000;
  private static final int SPLITS_OF_WORKER = 32;

  /** A range with more than one of so many records is scanned, as in Spark's connector. */
  private static final int LARGE_PART = 8;

  private final CatalogSettings settings;
  private final OpenTables open;
  private final NodeManager nodes;

  TableSplits(CatalogSettings settings, OpenTables open, NodeManager nodes) {
    this.settings = settings;
    this.open = open;
    this.nodes = nodes;
  }

  /**
   * What one worker reads: keys if there are some, or a range if it has a bound, or else a part of
   * the records. Immutable.
   *
   * @param keys the keys to look up; null for a range or a scan
   * @param from the first key of a range; null if there is none
   * @param to the first key after a range; null if there is none
   * @param part the number of the part of the records, from 0
   * @param parts the number of parts
   */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  public record Split(
      @Nullable List<byte[]> keys,
      byte @Nullable [] from,
      byte @Nullable [] to,
      int part,
      int parts)
      implements ConnectorSplit {
    private static final int OVERHEAD = 64;

    @Override
    public long getRetainedSizeInBytes() {
      return OVERHEAD
          + (keys == null ? 0 : keys.stream().mapToLong(key -> key.length + OVERHEAD).sum());
    }
  }

  @Override
  public ConnectorSplitSource getSplits(
      ConnectorTransactionHandle transaction,
      ConnectorSession session,
      ConnectorTableHandle handle,
      Set<ColumnHandle> filtered,
      Constraint constraint) {
    BsdbTable table = (BsdbTable) handle;
    KeyFinder finder = new KeyFinder(table);
    boolean waits =
        finder.keys(table.wanted()) == null && filtered.stream().anyMatch(finder::tells);
    return new Source(table, finder, waits ? settings.filterWait().toMillis() : 0);
  }

  /** The splits of a table, which are told when the keys of the other side of a join are known. */
  private final class Source implements ConnectorSplitSource {
    private final BsdbTable table;
    private final KeyFinder finder;
    private final long waitMillis;
    private @Nullable Iterator<Split> splits;

    Source(BsdbTable table, KeyFinder finder, long waitMillis) {
      this.table = table;
      this.finder = finder;
      this.waitMillis = waitMillis;
    }

    @Override
    public long getRequestedDynamicFilterWaitTimeoutMillis() {
      return waitMillis;
    }

    @Override
    public synchronized CompletableFuture<List<ConnectorSplit>> getNextBatch(
        int most, DynamicFilterSnapshot filter) {
      Iterator<Split> left = splits;
      if (left == null) {
        left = splits(filter.currentPredicate()).iterator();
        splits = left;
      }
      List<ConnectorSplit> batch = new ArrayList<>();
      while (left.hasNext() && batch.size() < most) {
        batch.add(left.next());
      }
      return CompletableFuture.completedFuture(batch);
    }

    private List<Split> splits(TupleDomain<ColumnHandle> filter) {
      TupleDomain<ColumnHandle> wanted =
          table.wanted().intersect(filter.filter((column, domain) -> finder.tells(column)));
      List<byte[]> keys = finder.keys(wanted);
      KeyRange range = keys == null && table.ordered() ? finder.range(wanted) : null;
      if (keys != null || range != null) {
        checkColumns(wanted);
      }
      if (keys != null) {
        return lookups(keys);
      }
      if (range != null && isSmall(range)) {
        return List.of(new Split(null, range.from(), range.to(), 0, 1));
      }
      if (table.approximate()) {
        throw new TrinoException(
            StandardErrorCode.NOT_SUPPORTED,
            "%s is approximate and stores no keys, so that it answers lookups only: %s = '...'"
                .formatted(table.describe(), table.key().name()));
      }
      return scans();
    }

    /** Makes sure that the columns that tell keys do so for all records. */
    private void checkColumns(TupleDomain<ColumnHandle> wanted) {
      if (wanted.getDomains().orElse(Map.of()).keySet().stream()
              .anyMatch(table.keyColumns()::contains)
          && settings.table(table.name()).checksAll()) {
        try (Use use = open.use(table.name(), table.location(), table.id())) {
          KeyCheck.check(table, use, open.types(), KeyCheck.ALL);
        } catch (IOException e) {
          throw TablePages.failure(table, e);
        }
      }
    }

    /** Whether reading a range, record by record, is faster than scanning. */
    private boolean isSmall(KeyRange range) {
      try (Use use = open.use(table.name(), table.location(), table.id())) {
        return use.database().count(range) <= table.records() / LARGE_PART;
      } catch (IOException e) {
        throw TablePages.failure(table, e);
      }
    }

    private List<Split> lookups(List<byte[]> keys) {
      List<Split> lookups = new ArrayList<>();
      for (int at = 0; at < keys.size(); at += KEYS_OF_SPLIT) {
        List<byte[]> some =
            List.copyOf(keys.subList(at, Math.min(keys.size(), at + KEYS_OF_SPLIT)));
        lookups.add(new Split(some, null, null, 0, 1));
      }
      return lookups;
    }

    private List<Split> scans() {
      long most = (long) SPLITS_OF_WORKER * nodes.getWorkerNodes().size();
      long needed = Math.min(table.records(), table.limit().orElse(Long.MAX_VALUE));
      int parts = (int) Math.max(1, Math.min(most, needed / RECORDS_OF_SPLIT));
      List<Split> scans = new ArrayList<>();
      for (int part = 0; part < parts; part++) {
        scans.add(new Split(null, null, null, part, parts));
      }
      return scans;
    }

    @Override
    public synchronized boolean isFinished() {
      Iterator<Split> left = splits;
      return left != null && !left.hasNext();
    }

    @Override
    public void close() {}
  }
}
