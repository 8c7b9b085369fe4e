package tech.bsdb.trino;

import io.trino.spi.StandardErrorCode;
import io.trino.spi.TrinoException;
import io.trino.spi.connector.ColumnHandle;
import io.trino.spi.connector.ConnectorPageSource;
import io.trino.spi.connector.ConnectorPageSourceProvider;
import io.trino.spi.connector.ConnectorSession;
import io.trino.spi.connector.ConnectorSplit;
import io.trino.spi.connector.ConnectorTableCredentials;
import io.trino.spi.connector.ConnectorTableHandle;
import io.trino.spi.connector.ConnectorTransactionHandle;
import io.trino.spi.connector.DynamicFilter;
import io.trino.spi.connector.MemoryContext;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import tech.bsdb.Database;
import tech.bsdb.Database.RecordCursor;
import tech.bsdb.KeyRange;
import tech.bsdb.RangeOptions;
import tech.bsdb.ScanOptions;
import tech.bsdb.trino.OpenTables.Use;
import tech.bsdb.trino.TableSplits.Split;

/** Reads the splits of tables. Thread-safe. */
final class TablePages implements ConnectorPageSourceProvider {
  private final OpenTables open;

  TablePages(OpenTables open) {
    this.open = open;
  }

  @Override
  public ConnectorPageSource createPageSource(
      ConnectorTransactionHandle transaction,
      ConnectorSession session,
      ConnectorSplit split,
      ConnectorTableHandle handle,
      Optional<ConnectorTableCredentials> credentials,
      List<ColumnHandle> columns,
      DynamicFilter filter,
      MemoryContext memory) {
    BsdbTable table = (BsdbTable) handle;
    List<BsdbColumn> wanted = columns.stream().map(BsdbColumn.class::cast).toList();
    return open(
        open, table, wanted, memory, (use, rows) -> records((Split) split, table, use, rows));
  }

  /** Begins to read records of a database, and closes it if that fails. */
  static ConnectorPageSource open(
      OpenTables open,
      BsdbTable table,
      List<BsdbColumn> wanted,
      MemoryContext memory,
      RecordsOpener records) {
    Use use = null;
    try {
      use = open.use(table.name(), table.location(), table.id());
      PageRows rows = new PageRows(table, use, open.types(), wanted);
      return new RecordPages(table, use, rows, memory, records.open(use, rows));
    } catch (IOException | RuntimeException e) {
      if (use != null) {
        use.close();
      }
      throw failure(table, e);
    }
  }

  /** The exception for a failure to read a table. */
  static RuntimeException failure(BsdbTable table, Exception e) {
    if (e instanceof IOException) {
      return BsdbErrors.of(table.describe(), e);
    }
    if (e instanceof UnsupportedOperationException) {
      return new TrinoException(
          StandardErrorCode.NOT_SUPPORTED, table.describe() + ": " + e.getMessage(), e);
    }
    return (RuntimeException) e;
  }

  /** Begins to read records. */
  @FunctionalInterface
  interface RecordsOpener {
    RecordSource open(Use use, PageRows rows) throws IOException;
  }

  private static RecordSource records(Split split, BsdbTable table, Use use, PageRows rows)
      throws IOException {
    Database database = use.database();
    List<byte[]> keys = split.keys();
    if (keys != null) {
      return new LookedUp(database, keys.iterator());
    }
    boolean values = rows.readsValues();
    if (split.from() != null || split.to() != null) {
      KeyRange range = KeyRange.all();
      range = split.from() == null ? range : range.from(split.from());
      range = split.to() == null ? range : range.to(split.to());
      return new Walked(database.range(range, RangeOptions.defaults().withValues(values)), values);
    }
    if (rows.width() == 0) {
      return new Counted(
          part(table.records(), split.part() + 1, split.parts())
              - part(table.records(), split.part(), split.parts()));
    }
    ScanOptions options = ScanOptions.defaults().withPart(split.part(), split.parts());
    return new Walked(database.scan(options.withValues(values)), values);
  }

  private static long part(long records, int number, int parts) {
    return records / parts * number + records % parts * number / parts;
  }

  /** Records that are read one after another. Not thread-safe. */
  interface RecordSource extends AutoCloseable {
    /**
     * Advances to the next record.
     *
     * @return false at the end
     */
    boolean next() throws IOException;

    /** The key of the current record. */
    byte[] key();

    /** The bytes that contain its value, if values are read. */
    byte[] bytes();

    /** Where the value begins in {@link #bytes}. */
    int from();

    /** The length of the value. */
    int length();

    @Override
    default void close() throws IOException {}
  }

  /** The records of a scan or a range. */
  private static final class Walked implements RecordSource {
    private static final byte[] NOTHING = {};
    private final RecordCursor records;
    private final boolean readsValues;
    private byte[] value = NOTHING;

    Walked(RecordCursor records, boolean readsValues) {
      this.records = records;
      this.readsValues = readsValues;
    }

    @Override
    public boolean next() throws IOException {
      boolean found = records.next();
      value = found && readsValues ? records.value() : NOTHING;
      return found;
    }

    @Override
    public byte[] key() {
      return records.key();
    }

    @Override
    public byte[] bytes() {
      return value;
    }

    @Override
    public int from() {
      return 0;
    }

    @Override
    public int length() {
      return value.length;
    }

    @Override
    public void close() throws IOException {
      records.close();
    }
  }

  /** Records of which only the number is wanted. */
  private static final class Counted implements RecordSource {
    private static final byte[] NOTHING = {};
    private long left;

    Counted(long count) {
      left = count;
    }

    @Override
    public boolean next() {
      return left-- > 0;
    }

    @Override
    public byte[] key() {
      return NOTHING;
    }

    @Override
    public byte[] bytes() {
      return NOTHING;
    }

    @Override
    public int from() {
      return 0;
    }

    @Override
    public int length() {
      return 0;
    }
  }
}
