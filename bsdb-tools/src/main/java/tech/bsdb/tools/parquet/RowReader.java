package tech.bsdb.tools.parquet;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.PrimitiveIterator;
import org.apache.parquet.column.ColumnDescriptor;
import org.apache.parquet.column.impl.ColumnReadStoreImpl;
import org.apache.parquet.column.page.DataPage;
import org.apache.parquet.column.page.DictionaryPage;
import org.apache.parquet.column.page.PageReadStore;
import org.apache.parquet.column.page.PageReader;
import org.apache.parquet.hadoop.ParquetFileReader;
import org.apache.parquet.io.api.Converter;
import org.apache.parquet.io.api.GroupConverter;
import org.apache.parquet.io.api.PrimitiveConverter;
import org.apache.parquet.schema.MessageType;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.input.InputException;
import tech.bsdb.tools.parquet.ParquetFile.Damage;
import tech.bsdb.tools.parquet.ParquetFile.RowGroup;
import tech.bsdb.tools.rows.RowConverter;
import tech.bsdb.tools.rows.RowType.Column;
import tech.bsdb.tools.rows.RowType.Kind;
import tech.bsdb.tools.rows.RowType.Scalar;
import tech.bsdb.tools.table.Agreement;
import tech.bsdb.tools.table.KeyPart;
import tech.bsdb.tools.table.PartReader;
import tech.bsdb.tools.table.PartitionValue;
import tech.bsdb.tools.table.RowFilter;
import tech.bsdb.tools.table.RowMaker;
import tech.bsdb.tools.table.RowProblem;
import tech.bsdb.tools.table.TableOptions;
import tech.bsdb.tools.where.RowTest;

/**
 * Reads row groups one after another and turns their rows into records. Keeps the last file open.
 * Not thread-safe.
 */
final class RowReader implements PartReader<RowReader.Part> {
  /** A row group of a file. */
  record Part(ParquetFile file, RowGroup group) {}

  private final TableOptions options;
  private final List<Column> columns;
  private final List<Scalar> parts;
  private final RowMaker maker;
  private @Nullable ParquetFile file;
  private @Nullable ParquetFileReader reader;

  /**
   * Creates a reader.
   *
   * @param agreement the columns to which the rows of all files resolve
   * @param converter converts rows to the schema of a database, or null
   */
  RowReader(TableOptions options, Agreement agreement, @Nullable RowConverter converter) {
    this.options = options;
    this.columns = agreement.columns();
    this.parts = agreement.parts();
    this.maker = new RowMaker(options, converter);
  }

  @Override
  public void read(Part part, Sink sink) throws IOException {
    ParquetFile from = part.file();
    RowGroup group = part.group();
    PageReadStore pages = null;
    try {
      if (from.isRuledOut(group)) {
        maker.leaveOut(group.firstRow(), group.rows(), sink);
        return;
      }
      pages = load(from, group);
      decode(from, group, pages, sink);
    } catch (SinkException notTheFiles) {
      throw notTheFiles;
    } catch (IOException | RuntimeException e) {
      throw from.isUnchanged()
          ? Damage.of(from.name(), "row group " + group.index() + ": ", e)
          : from.changed();
    } catch (OutOfMemoryError full) {
      throw tooLarge(from, group, full);
    } finally {
      closeQuietly(pages);
    }
  }

  private PageReadStore load(ParquetFile from, RowGroup group) throws IOException {
    PageReadStore pages = open(from).readRowGroup(group.index());
    if (pages == null || pages.getRowCount() != group.rows() || !from.isUnchanged()) {
      throw from.changed();
    }
    return pages;
  }

  private ParquetFileReader open(ParquetFile from) throws IOException {
    ParquetFileReader open = reader;
    if (open == null || file != from) {
      close();
      open = from.open();
      reader = open;
      file = from;
    }
    return open;
  }

  private void decode(ParquetFile from, RowGroup group, PageReadStore pages, Sink sink)
      throws IOException {
    MessageType wanted = from.selection().projection();
    RowEncoder rows =
        new RowEncoder(
            wanted, from.calendar(), columns, from.selection().partitions(), maker.problem());
    KeyPart raw = raw(from, rows);
    List<KeyPart> keys = new ArrayList<>();
    for (RowSelection.Key key : from.selection().keys()) {
      keys.add(part(from, rows, key, keys.size()));
    }
    RowSelection.Key markPlace = from.selection().mark();
    KeyPart marker = markPlace == null ? null : part(from, rows, markPlace, keys.size());
    RowFilter filter = filter(from, rows);
    ColumnReadStoreImpl store =
        new ColumnReadStoreImpl(new FilledPages(pages), new Discarding(), wanted, from.createdBy());
    rows.begin(pages, store);
    maker.begin(group.firstRow(), sink, filter, keys, marker, raw, rows::write);
    for (long row = 1; row <= group.rows(); row++) {
      if (!maker.next((double) row / group.rows())) {
        return;
      }
    }
    rows.end();
    maker.end();
  }

  private @Nullable KeyPart raw(ParquetFile from, RowEncoder rows) {
    String column = options.rawColumn();
    if (column == null) {
      return null;
    }
    PartitionValue partition = from.selection().partitions().get(column);
    return partition != null
        ? partition
        : new KeyColumn(
            rows.leaf(List.of(from.selection().row().get(0).getName())),
            Scalar.of(Kind.BYTES),
            true,
            maker.problem());
  }

  private KeyPart part(ParquetFile from, RowEncoder rows, RowSelection.Key key, int number) {
    PartitionValue partition = key.partition();
    if (partition != null) {
      return partition;
    }
    boolean moved = rows.known(key.path()) != null;
    Scalar type = parts.isEmpty() ? from.selection().type(key) : parts.get(number);
    return new KeyColumn(rows.leaf(key.path()), type, !moved, maker.problem());
  }

  /** Creates the filter of a file's rows; null if all of them are wanted. */
  private static @Nullable RowFilter filter(ParquetFile from, RowEncoder rows) {
    RowTest test = from.selection().test();
    if (test == null) {
      return null;
    }
    RowProblem problem = new RowProblem();
    List<KeyPart> cells = new ArrayList<>();
    for (RowSelection.Key cell : from.selection().cells()) {
      PartitionValue partition = cell.partition();
      if (partition != null) {
        cells.add(partition.cell());
      } else if (cell.equals(RowSelection.Key.MISSING)) {
        cells.add(new PartitionValue.Cell("", null));
      } else {
        boolean moved = rows.known(cell.path()) != null;
        cells.add(
            KeyColumn.encoded(
                rows.leaf(cell.path()), from.selection().type(cell), !moved, problem));
      }
    }
    return new RowFilter(test, cells, problem, rows::skip);
  }

  private static InputException tooLarge(ParquetFile from, RowGroup group, Throwable e) {
    long heap = mebibytes(Runtime.getRuntime().maxMemory());
    return new InputException(
        ("%s: row group %s: its columns take %s MB, %s MB decompressed, too much for the heap of %s MB"
                + " (read fewer at a time with --threads 1, or give Java more: BSDB_JAVA_OPTS=-Xmx%sm)")
            .formatted(
                from.name(),
                group.index(),
                mebibytes(group.bytes()),
                mebibytes(group.plain()),
                heap,
                Math.max(4096, 2 * heap)),
        e);
  }

  private static long mebibytes(long bytes) {
    return (bytes + (1 << 20) - 1) >> 20;
  }

  private static void closeQuietly(@Nullable AutoCloseable closeable) {
    try {
      if (closeable != null) {
        closeable.close();
      }
    } catch (Exception afterReading) {
      // reading is over, or an earlier failure matters more
    }
  }

  @Override
  public void close() {
    ParquetFileReader open = reader;
    reader = null;
    file = null;
    closeQuietly(open);
  }

  /** A converter that column readers require but never call: values are read from the readers. */
  private static final class Discarding extends GroupConverter {
    private static final PrimitiveConverter LEAF = new PrimitiveConverter() {};

    @Override
    public Converter getConverter(int field) {
      return new Discarding();
    }

    @Override
    public PrimitiveConverter asPrimitiveConverter() {
      return LEAF;
    }

    @Override
    public void start() {}

    @Override
    public void end() {}
  }

  /**
   * The pages of a row group without empty ones, which some writers leave in nested columns
   * (pyarrow, where the last rows begin a page) and column readers treat as damage.
   */
  private record FilledPages(PageReadStore pages) implements PageReadStore {

    @Override
    public PageReader getPageReader(ColumnDescriptor column) {
      return new Filled(pages.getPageReader(column));
    }

    @Override
    public long getRowCount() {
      return pages.getRowCount();
    }

    @Override
    public Optional<Long> getRowIndexOffset() {
      return pages.getRowIndexOffset();
    }

    @Override
    public Optional<PrimitiveIterator.OfLong> getRowIndexes() {
      return pages.getRowIndexes();
    }

    @Override
    public void close() {
      pages.close();
    }

    private record Filled(PageReader pages) implements PageReader {

      @Override
      public @Nullable DictionaryPage readDictionaryPage() {
        return pages.readDictionaryPage();
      }

      @Override
      public long getTotalValueCount() {
        return pages.getTotalValueCount();
      }

      @Override
      public @Nullable DataPage readPage() {
        DataPage page = pages.readPage();
        while (page != null && page.getValueCount() == 0) {
          page = pages.readPage();
        }
        return page;
      }
    }
  }
}
