package tech.bsdb.trino;

import io.airlift.slice.Slice;
import io.trino.spi.connector.ColumnHandle;
import io.trino.spi.connector.ConnectorIndex;
import io.trino.spi.connector.ConnectorIndexHandle;
import io.trino.spi.connector.ConnectorIndexProvider;
import io.trino.spi.connector.ConnectorSession;
import io.trino.spi.connector.ConnectorTransactionHandle;
import io.trino.spi.connector.MemoryContext;
import io.trino.spi.connector.RecordCursor;
import io.trino.spi.connector.RecordSet;
import io.trino.spi.type.Type;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import org.jspecify.annotations.Nullable;

/** Looks up the rows of joins by the keys of the other side. Thread-safe. */
public final class KeyIndex implements ConnectorIndexProvider {
  private final OpenTables open;

  KeyIndex(OpenTables open) {
    this.open = open;
  }

  /** A table that is joined by its whole key. */
  public record Handle(BsdbTable table) implements ConnectorIndexHandle {
    /** What is read, for plans. */
    @Override
    public String toString() {
      return table.describe() + " lookup by key";
    }
  }

  @Override
  public ConnectorIndex getIndex(
      ConnectorTransactionHandle transaction,
      ConnectorSession session,
      ConnectorIndexHandle handle,
      List<ColumnHandle> lookup,
      List<ColumnHandle> output) {
    BsdbTable table = ((Handle) handle).table();
    List<BsdbColumn> asked = lookup.stream().map(BsdbColumn.class::cast).toList();
    List<BsdbColumn> wanted = output.stream().map(BsdbColumn.class::cast).toList();
    return keys ->
        TablePages.open(
            open,
            table,
            wanted,
            MemoryContext.NO_LIMIT,
            (use, rows) -> new LookedUp(use.database(), new AskedKeys(table, asked, keys)));
  }

  /** The keys that the rows of the other side have. */
  private static final class AskedKeys implements Iterator<byte[]> {
    private final KeyFinder finder;
    private final List<BsdbColumn> columns;
    private final List<Type> types;
    private final RecordCursor rows;
    private byte @Nullable [] next;

    AskedKeys(BsdbTable table, List<BsdbColumn> columns, RecordSet asked) {
      this.finder = new KeyFinder(table);
      this.columns = columns;
      this.types = asked.getColumnTypes();
      this.rows = asked.cursor();
    }

    @Override
    public boolean hasNext() {
      while (next == null && rows.advanceNextPosition()) {
        next = key();
      }
      return next != null;
    }

    @Override
    public byte[] next() {
      byte[] key = hasNext() ? next : null;
      if (key == null) {
        throw new NoSuchElementException();
      }
      next = null;
      return key;
    }

    /** The key of the current row; null if it has none, since null equals nothing. */
    private byte @Nullable [] key() {
      List<Object> values = new ArrayList<>();
      for (int i = 0; i < columns.size(); i++) {
        if (rows.isNull(i)) {
          return null;
        }
        values.add(value(i));
      }
      return finder.key(columns, values);
    }

    private Object value(int column) {
      Class<?> java = types.get(column).getJavaType();
      if (java == long.class) {
        return rows.getLong(column);
      }
      if (java == boolean.class) {
        return rows.getBoolean(column);
      }
      return java == Slice.class ? rows.getSlice(column) : rows.getObject(column);
    }
  }
}
