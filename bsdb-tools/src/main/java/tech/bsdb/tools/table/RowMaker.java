package tech.bsdb.tools.table;

import java.io.IOException;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import tech.bsdb.RecordBatch;
import tech.bsdb.tools.input.DeleteField;
import tech.bsdb.tools.input.InputOptions.OnBadLine;
import tech.bsdb.tools.rows.BadRowException;
import tech.bsdb.tools.rows.RowBuffer;
import tech.bsdb.tools.rows.RowConverter;
import tech.bsdb.tools.where.Verdict;

/**
 * Makes records of the rows of a part, and passes them on batch by batch: a key of its columns, and
 * a row or a column's bytes; or the deletion of the key. Not thread-safe.
 */
public final class RowMaker {
  private static final int MAX_ROWS = 1 << 14;
  private static final long MAX_BYTES = 1 << 20;

  private final TableOptions options;
  private final @Nullable RowConverter converter;
  private final DeleteField.@Nullable Mark mark;
  private final RowBuffer key = new RowBuffer();
  private final RowBuffer encoded = new RowBuffer();
  private final RowBuffer marked = new RowBuffer();
  private final RowProblem problem = new RowProblem();
  private RowBuffer value = encoded;
  private List<? extends KeyPart> keys = List.of();
  private @Nullable KeyPart marker;
  private @Nullable KeyPart raw;
  private @Nullable RowFilter filter;
  private Consumer<RowBuffer> row = out -> {};
  private PartReader.@Nullable Sink sink;
  private @Nullable RowBatch batch;
  private long rows;

  /**
   * Creates a maker.
   *
   * @param converter converts rows to the schema of a database, or null
   */
  public RowMaker(TableOptions options, @Nullable RowConverter converter) {
    this.options = options;
    this.converter = converter;
    DeleteField deleteField = options.deleteField();
    this.mark = deleteField == null ? null : deleteField.mark();
  }

  /** Returns what receives the problems of the current row. */
  public RowProblem problem() {
    return problem;
  }

  /**
   * Begins a part.
   *
   * @param firstRow the number of rows before it in the file
   * @param filter decides which rows are wanted; null for all
   * @param keys the parts of the key
   * @param marker the value that may mark a deletion, or null
   * @param raw the value, if it is not a row
   * @param row writes the row in Avro's encoding
   */
  public void begin(
      long firstRow,
      PartReader.Sink sink,
      @Nullable RowFilter filter,
      List<? extends KeyPart> keys,
      @Nullable KeyPart marker,
      @Nullable KeyPart raw,
      Consumer<RowBuffer> row)
      throws IOException {
    this.sink = sink;
    this.filter = filter;
    this.keys = keys;
    this.marker = marker;
    this.raw = raw;
    this.row = row;
    rows = firstRow;
    batch = empty(sink, firstRow);
  }

  /**
   * Leaves out a part none of whose rows are wanted.
   *
   * @param firstRow the number of rows before it in the file
   */
  public void leaveOut(long firstRow, long count, PartReader.Sink taker) throws IOException {
    RowBatch none = empty(taker, firstRow);
    none.addLeftOut(count);
    none.setDone(1);
    take(taker, none);
  }

  /**
   * Makes the record of the current row.
   *
   * @param done the share of the part that was read with this row
   * @return whether to continue
   */
  public boolean next(double done) throws IOException {
    RowBatch filled = batch;
    PartReader.Sink taker = sink;
    if (filled == null || taker == null) {
      throw new IllegalStateException("no part was begun");
    }
    problem.clear();
    boolean good = isLeftOut(filled) || make(filled);
    boolean stops = !good && options.onBadRow() == OnBadLine.FAIL;
    rows++;
    if (stops || filled.bytes() >= MAX_BYTES || filled.units() == MAX_ROWS) {
      filled.setDone(done);
      if (!take(taker, filled) || stops) {
        batch = null;
        return false;
      }
      batch = empty(taker, rows);
    }
    return true;
  }

  /** Finds out whether the current row is not wanted, and if so, passes over it. */
  private boolean isLeftOut(RowBatch filled) {
    RowFilter wanted = filter;
    if (wanted == null) {
      return false;
    }
    Verdict verdict = wanted.test();
    if (verdict == Verdict.NO) {
      filled.addLeftOut(1);
      wanted.skipRow();
      return true;
    }
    if (verdict == Verdict.MAYBE) {
      problem.note(wanted.problem());
    }
    return false;
  }

  /** Makes the record of the current row; returns false if the row is bad. */
  private boolean make(RowBatch filled) throws IOException {
    putKey();
    KeyPart marking = marker;
    boolean deletes = marking != null && isMarked(marking);
    if (deletes) {
      problem.keep();
    }
    putValue();
    keys.forEach(KeyPart::next);
    if (marking != null) {
      marking.next();
    }
    if (filter != null) {
      filter.next();
    }
    if (deletes) {
      problem.restore(); // the rest of a deletion need not be a row
    } else {
      convert();
    }
    return add(filled, deletes);
  }

  /** Ends the part. */
  public void end() throws IOException {
    RowBatch last = batch;
    PartReader.Sink taker = sink;
    batch = null;
    sink = null;
    if (last != null && taker != null) {
      last.setDone(1);
      take(taker, last);
    }
  }

  private boolean isMarked(KeyPart marking) {
    marked.reset();
    return mark != null && marking.write(marked) && mark.is(marked.bytes(), 0, marked.length());
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

  private void putKey() {
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

  private void putValue() {
    encoded.reset();
    value = encoded;
    KeyPart bytes = raw;
    if (bytes == null) {
      row.accept(encoded);
      return;
    }
    if (!bytes.write(encoded)) {
      problem.note("null value", "column " + bytes.name());
    }
    bytes.next();
  }

  /** Adds the current row to the batch; returns false if it is bad. */
  private boolean add(RowBatch filled, boolean deletes) throws IOException {
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
      filled.addBad(reason, problem.detail(), options.onBadRow());
      return false;
    }
    if (deletes) {
      filled.addDeletion(key.bytes(), key.length());
    } else {
      filled.add(key.bytes(), key.length(), value.bytes(), value.length());
    }
    return true;
  }

  private static RowBatch empty(PartReader.Sink sink, long firstRow) throws IOException {
    try {
      RowBatch batch = sink.empty();
      batch.begin(firstRow);
      return batch;
    } catch (IOException e) {
      throw new PartReader.SinkException(e);
    }
  }

  private static boolean take(PartReader.Sink sink, RowBatch batch) throws IOException {
    try {
      return sink.take(batch);
    } catch (IOException e) {
      throw new PartReader.SinkException(e);
    }
  }
}
