package tech.bsdb.trino;

import io.airlift.slice.Slice;
import io.trino.spi.connector.ColumnHandle;
import io.trino.spi.connector.ConnectorIndex;
import io.trino.spi.connector.ConnectorIndexHandle;
import io.trino.spi.connector.ConnectorIndexProvider;
import io.trino.spi.connector.ConnectorPageSource;
import io.trino.spi.connector.ConnectorSession;
import io.trino.spi.connector.ConnectorTransactionHandle;
import io.trino.spi.connector.MemoryContext;
import io.trino.spi.connector.RecordCursor;
import io.trino.spi.connector.RecordSet;
import io.trino.spi.connector.SourcePage;
import io.trino.spi.type.Type;
import io.trino.spi.type.TypeUtils;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.rows.BadRowException;

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
    boolean byParts = !asked.contains(table.key());
    return keys -> {
      Set<List<ByteBuffer>> parts = new HashSet<>();
      ConnectorPageSource found =
          TablePages.open(
              open,
              table,
              wanted,
              MemoryContext.NO_LIMIT,
              (use, rows) ->
                  new LookedUp(
                      use.database(), new AskedKeys(table, asked, keys, byParts ? parts : null)));
      return byParts ? new AskedRows(table, asked, wanted, parts, found) : found;
    };
  }

  /**
   * The rows whose key columns were asked for, each once. Others have the keys that were asked for,
   * too, if several columns make the same key, or if the database is approximate; and Trino does
   * not compare the columns again.
   */
  private static final class AskedRows implements ConnectorPageSource {
    private final KeyFinder finder;
    private final List<BsdbColumn> columns;
    private final int[] channels;
    private final Set<List<ByteBuffer>> asked;
    private final ConnectorPageSource found;

    AskedRows(
        BsdbTable table,
        List<BsdbColumn> columns,
        List<BsdbColumn> output,
        Set<List<ByteBuffer>> asked,
        ConnectorPageSource found) {
      this.finder = new KeyFinder(table);
      this.columns = columns;
      this.channels = columns.stream().mapToInt(output::indexOf).toArray();
      this.asked = asked;
      this.found = found;
    }

    @Override
    public @Nullable SourcePage getNextSourcePage() {
      SourcePage page = found.getNextSourcePage();
      if (page == null) {
        return null;
      }
      int[] kept = new int[page.getPositionCount()];
      int count = 0;
      for (int row = 0; row < kept.length; row++) {
        List<ByteBuffer> parts = parts(page, row);
        if (parts != null && asked.remove(parts)) {
          kept[count++] = row;
        }
      }
      page.selectPositions(kept, 0, count);
      return page;
    }

    private @Nullable List<ByteBuffer> parts(SourcePage page, int row) {
      List<Object> values = new ArrayList<>();
      for (int i = 0; i < channels.length; i++) {
        Object value =
            TypeUtils.readNativeValue(columns.get(i).type(), page.getBlock(channels[i]), row);
        if (value == null) {
          return null;
        }
        values.add(value);
      }
      try {
        return finder.parts(columns, values);
      } catch (BadRowException noText) {
        return null;
      }
    }

    @Override
    public boolean isFinished() {
      return found.isFinished();
    }

    @Override
    public long getCompletedBytes() {
      return found.getCompletedBytes();
    }

    @Override
    public long getReadTimeNanos() {
      return found.getReadTimeNanos();
    }

    @Override
    public void close() throws IOException {
      found.close();
    }
  }

  /** The keys that the rows of the other side have. */
  private static final class AskedKeys implements Iterator<byte[]> {
    private final KeyFinder finder;
    private final List<BsdbColumn> columns;
    private final List<Type> types;
    private final RecordCursor rows;
    private final @Nullable Set<List<ByteBuffer>> parts;
    private byte @Nullable [] next;

    /**
     * Takes rows.
     *
     * @param parts where their parts go; null if the columns are that of the keys
     */
    AskedKeys(
        BsdbTable table,
        List<BsdbColumn> columns,
        RecordSet asked,
        @Nullable Set<List<ByteBuffer>> parts) {
      this.finder = new KeyFinder(table);
      this.columns = columns;
      this.types = asked.getColumnTypes();
      this.rows = asked.cursor();
      this.parts = parts;
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
      byte[] key = finder.key(columns, values);
      if (key != null && parts != null) {
        try {
          parts.add(finder.parts(columns, values));
        } catch (BadRowException noText) {
          return null;
        }
      }
      return key;
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
