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
import tech.bsdb.RecordBatch;
import tech.bsdb.tools.input.DeleteField;
import tech.bsdb.tools.input.InputException;
import tech.bsdb.tools.input.InputOptions.OnBadLine;
import tech.bsdb.tools.parquet.ParquetFile.Damage;
import tech.bsdb.tools.parquet.ParquetFile.RowGroup;
import tech.bsdb.tools.rows.BadRowException;
import tech.bsdb.tools.rows.RowBuffer;
import tech.bsdb.tools.rows.RowConverter;
import tech.bsdb.tools.rows.RowType.Column;
import tech.bsdb.tools.rows.RowType.Kind;
import tech.bsdb.tools.rows.RowType.Scalar;

/**
 * Reads row groups one after another and turns their rows into records. Keeps the last file open.
 * Not thread-safe.
 */
final class RowReader implements AutoCloseable {
  private static final int MAX_ROWS = 1 << 14;
  private static final long MAX_BYTES = 1 << 20;

  /** Receives the rows of a row group, batch by batch. */
  interface Sink {
    /** Returns a batch to fill. */
    RowBatch empty() throws IOException;

    /**
     * Takes a full batch.
     *
     * @return whether to continue
     */
    boolean take(RowBatch batch) throws IOException;
  }

  private final ParquetOptions options;
  private final List<Column> columns;
  private final List<Scalar> parts;
  private final RowBuffer key = new RowBuffer();
  private final RowBuffer encoded = new RowBuffer();
  private final @Nullable RowConverter converter;
  private final DeleteField.@Nullable Mark mark;
  private final RowBuffer marked = new RowBuffer();
  private RowBuffer value = encoded;
  private final RowProblem problem = new RowProblem();
  private @Nullable ParquetFile file;
  private @Nullable ParquetFileReader reader;

  /**
   * Creates a reader.
   *
   * @param columns the columns to which the rows of all files resolve; empty if the value is raw
   * @param parts the types of the parts of the key, and then of the mark; empty for those of each
   *     file
   * @param converter converts rows to the schema of a database, or null
   */
  RowReader(
      ParquetOptions options,
      List<Column> columns,
      List<Scalar> parts,
      @Nullable RowConverter converter) {
    this.options = options;
    this.columns = columns;
    this.parts = parts;
    this.converter = converter;
    DeleteField deleteField = options.deleteField();
    this.mark = deleteField == null ? null : deleteField.mark();
  }

  /**
   * Reads a row group.
   *
   * @throws InputException if it cannot be read or is damaged; the message names it
   */
  void read(ParquetFile from, RowGroup group, Sink sink) throws IOException {
    PageReadStore pages = null;
    try {
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

  /** Wraps an exception of the sink, which is not the file's fault. */
  static final class SinkException extends IOException {
    private static final long serialVersionUID = 1L;

    SinkException(IOException cause) {
      super(cause.getMessage(), cause);
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
        new RowEncoder(wanted, from.calendar(), columns, from.selection().partitions(), problem);
    KeyPart raw = raw(from, rows);
    List<KeyPart> keys = new ArrayList<>();
    for (RowSelection.Key key : from.selection().keys()) {
      keys.add(part(from, rows, key, keys.size()));
    }
    RowSelection.Key markPlace = from.selection().mark();
    KeyPart marker = markPlace == null ? null : part(from, rows, markPlace, keys.size());
    ColumnReadStoreImpl store =
        new ColumnReadStoreImpl(new FilledPages(pages), new Discarding(), wanted, from.createdBy());
    rows.begin(pages, store);
    RowBatch batch = empty(sink, group.firstRow());
    for (long row = 0; row < group.rows(); row++) {
      problem.clear();
      putKey(keys);
      boolean deletes = marker != null && isMarked(marker);
      if (deletes) {
        problem.keep();
      }
      putValue(rows, raw);
      keys.forEach(KeyPart::next);
      if (marker != null) {
        marker.next();
      }
      if (deletes) {
        problem.restore(); // the rest of a deletion need not be a row
      } else {
        convert();
      }
      boolean good = add(batch, deletes);
      boolean full = batch.bytes() >= MAX_BYTES || batch.units() == MAX_ROWS;
      if (full || (!good && options.onBadRow() == OnBadLine.FAIL)) {
        if (!take(sink, batch) || !good && options.onBadRow() == OnBadLine.FAIL) {
          return;
        }
        batch = empty(sink, group.firstRow() + row + 1);
      }
    }
    rows.end();
    take(sink, batch);
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
            problem);
  }

  private KeyPart part(ParquetFile from, RowEncoder rows, RowSelection.Key key, int number) {
    PartitionValue partition = key.partition();
    if (partition != null) {
      return partition;
    }
    boolean moved = rows.known(key.path()) != null;
    Scalar type = parts.isEmpty() ? from.selection().type(key) : parts.get(number);
    return new KeyColumn(rows.leaf(key.path()), type, !moved, problem);
  }

  private boolean isMarked(KeyPart marker) {
    marked.reset();
    return mark != null && marker.write(marked) && mark.is(marked.bytes(), 0, marked.length());
  }

  private void convert() {
    if (converter == null || problem.reason() != null) {
      return;
    }
    try {
      value = converter.convert(encoded.bytes(), 0, encoded.length());
    } catch (BadRowException e) {
      problem.note("a row that does not fit the schema of the database", e.getMessage());
    }
  }

  private void putKey(List<KeyPart> keys) {
    key.reset();
    for (int i = 0; i < keys.size(); i++) {
      if (i > 0 && options.keyJoin() != null) {
        key.putText(options.keyJoin());
      }
      if (!keys.get(i).write(key)) {
        problem.note("null key", "column " + keys.get(i).name());
      }
    }
  }

  private void putValue(RowEncoder rows, @Nullable KeyPart raw) {
    encoded.reset();
    value = encoded;
    if (raw == null) {
      rows.write(encoded);
      return;
    }
    if (!raw.write(encoded)) {
      problem.note("null value", "column " + raw.name());
    }
    raw.next();
  }

  /** Adds the current row to the batch; returns false if it is bad. */
  private boolean add(RowBatch batch, boolean deletes) throws IOException {
    if (problem.reason() == null) {
      if (key.length() == 0 && !options.allowEmptyKey()) {
        problem.note("empty key", "");
      } else if (key.length() > RecordBatch.MAX_KEY_LENGTH) {
        problem.note(
            "key longer than " + RecordBatch.MAX_KEY_LENGTH + " bytes", key.length() + " bytes");
      } else if (!deletes && value.length() > options.mostValueBytes()) {
        problem.note(
            "row longer than the approximate width, which would be cut", value.length() + " bytes");
      }
    }
    String reason = problem.reason();
    if (reason != null) {
      batch.addBad(reason, problem.detail(), options.onBadRow());
      return false;
    }
    if (deletes) {
      batch.addDeletion(key.bytes(), key.length());
    } else {
      batch.add(key.bytes(), key.length(), value.bytes(), value.length());
    }
    return true;
  }

  private static RowBatch empty(Sink sink, long firstRow) throws IOException {
    try {
      RowBatch batch = sink.empty();
      batch.begin(firstRow);
      return batch;
    } catch (IOException e) {
      throw new SinkException(e);
    }
  }

  private static boolean take(Sink sink, RowBatch batch) throws IOException {
    try {
      return sink.take(batch);
    } catch (IOException e) {
      throw new SinkException(e);
    }
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
