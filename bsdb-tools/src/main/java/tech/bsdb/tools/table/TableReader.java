package tech.bsdb.tools.table;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.input.InputException;
import tech.bsdb.tools.rows.BadRowException;
import tech.bsdb.tools.rows.KeyText;
import tech.bsdb.tools.rows.RowBuffer;
import tech.bsdb.tools.rows.RowConverter;
import tech.bsdb.tools.rows.RowType.Column;
import tech.bsdb.tools.rows.RowType.Scalar;
import tech.bsdb.tools.source.FileSources;
import tech.bsdb.tools.table.TableFile.BadValueException;
import tech.bsdb.tools.table.TableFile.Rows;
import tech.bsdb.tools.where.RowTest;

/** Turns the rows of a table's files into records. Not thread-safe. */
final class TableReader implements PartReader<TableReader.Piece> {
  /** A part of a file. */
  record Piece(TableColumns columns, TableFile.Part part) {}

  private final TableOptions options;
  private final Agreement agreement;
  private final RowMaker maker;

  /**
   * Creates a reader.
   *
   * @param converter converts rows to the schema of a database, or null
   */
  TableReader(TableOptions options, Agreement agreement, @Nullable RowConverter converter) {
    this.options = options;
    this.agreement = agreement;
    this.maker = new RowMaker(options, converter);
  }

  @Override
  public void read(Piece piece, Sink sink) throws IOException {
    TableFile file = piece.columns().file();
    if (piece.columns().isRuledOut()) {
      maker.leaveOut(0, 0, sink); // the number of its rows is not known
      return;
    }
    try (Rows rows = file.open(piece.part(), piece.columns().wanted())) {
      read(piece, rows, sink);
    } catch (SinkException notTheFiles) {
      throw notTheFiles;
    } catch (IOException | RuntimeException e) {
      throw file.isUnchanged() ? explain(piece, e) : changed(file);
    } catch (OutOfMemoryError full) {
      throw tooLarge(piece, full);
    }
  }

  private void read(Piece piece, Rows rows, Sink sink) throws IOException {
    TableColumns columns = piece.columns();
    CurrentRow row = new CurrentRow(columns.file().columns(), rows);
    List<KeyPart> keys = new ArrayList<>();
    for (TableColumns.Key key : columns.keys()) {
      keys.add(part(key, keys.size(), row));
    }
    TableColumns.Key mark = columns.mark();
    KeyPart marker = mark == null ? null : part(mark, keys.size(), row);
    EncodedFields fields = new EncodedFields(columns, row);
    maker.begin(0, sink, filter(columns, row), keys, marker, raw(columns, row), fields::write);
    double bytes = Math.max(1, piece.part().bytes());
    while (rows.next()) {
      row.next();
      boolean goesOn = maker.next(Math.min(1, rows.done() / bytes));
      row.rethrow();
      if (!goesOn) {
        return;
      }
    }
    if (!columns.file().isUnchanged()) {
      throw changed(columns.file());
    }
    maker.end();
  }

  private KeyPart part(TableColumns.Key key, int number, CurrentRow row) {
    if (key.partition() != null) {
      return key.partition();
    }
    Scalar type = agreement.parts().isEmpty() ? key.type() : agreement.parts().get(number);
    return new ObjectKey(key, type, row);
  }

  /** Creates the filter of a file's rows; null if all of them are wanted. */
  private @Nullable RowFilter filter(TableColumns columns, CurrentRow row) {
    RowTest test = columns.test();
    if (test == null) {
      return null;
    }
    RowProblem problem = new RowProblem();
    List<KeyPart> cells = new ArrayList<>();
    for (TableColumns.Key cell : columns.cells()) {
      PartitionValue partition = cell.partition();
      cells.add(
          partition != null
              ? partition.cell()
              : cell.isMissing()
                  ? new PartitionValue.Cell(cell.name(), null)
                  : new ObjectCell(cell, row, problem));
    }
    return new RowFilter(test, cells, problem, () -> {});
  }

  private @Nullable KeyPart raw(TableColumns columns, CurrentRow row) {
    String name = options.rawColumn();
    if (name == null) {
      return null;
    }
    PartitionValue partition = columns.partitions().get(name);
    if (partition != null) {
      return partition;
    }
    Column column = columns.columns().get(0);
    Scalar type = (Scalar) column.type();
    int index = columns.file().columns().indexOf(column);
    return new ObjectKey(
        new TableColumns.Key(List.of(index), column.name(), type, null), type, row);
  }

  private static IOException explain(Piece piece, Exception thrown) {
    if (thrown instanceof InputException named) {
      return named;
    }
    String name = piece.columns().name();
    if (thrown instanceof IOException) {
      return FileSources.explain(name, thrown);
    }
    String place = piece.part().place().isEmpty() ? "" : piece.part().place() + ": ";
    String message = thrown.getMessage();
    return new InputException(
        name + ": " + place + "damaged: " + (message == null ? "its content is invalid" : message),
        thrown);
  }

  private static InputException changed(TableFile file) {
    return new InputException(file.name() + ": was changed while it was read; build again");
  }

  private static InputException tooLarge(Piece piece, Throwable e) {
    long heap = Runtime.getRuntime().maxMemory() >> 20;
    return new InputException(
        ("%s: %stakes more memory than the heap of %s MB has (read fewer parts at a time with"
                + " --threads 1, or give Java more: BSDB_JAVA_OPTS=-Xmx%sm)")
            .formatted(
                piece.columns().name(),
                piece.part().place().isEmpty() ? "" : piece.part().place() + ": ",
                heap,
                Math.max(4096, 2 * heap)),
        e);
  }

  @Override
  public void close() {}

  /** The values of the current row, each of which is read at most once. */
  private final class CurrentRow {
    private final List<Column> columns;
    private final Rows rows;
    private final @Nullable Object[] values;
    private final boolean[] known;
    private final @Nullable BadValueException[] bad;
    private @Nullable IOException failure;

    CurrentRow(List<Column> columns, Rows rows) {
      this.columns = columns;
      this.rows = rows;
      this.values = new @Nullable Object[columns.size()];
      this.known = new boolean[columns.size()];
      this.bad = new @Nullable BadValueException[columns.size()];
    }

    void next() {
      Arrays.fill(known, false);
    }

    @Nullable Object get(int column) {
      return get(column, maker.problem());
    }

    /**
     * Returns a value, or null.
     *
     * @param problem receives why it cannot be read
     */
    @Nullable Object get(int column, RowProblem problem) {
      if (!known[column]) {
        known[column] = true;
        values[column] = null;
        bad[column] = null;
        try {
          values[column] = rows.value(column);
        } catch (BadValueException e) {
          bad[column] = e;
        } catch (IOException e) {
          failure = e;
          problem.note("a value that cannot be read", "");
        }
      }
      BadValueException e = bad[column];
      if (e != null) {
        String where = "column " + columns.get(column).name();
        problem.note(
            String.valueOf(e.getMessage()),
            e.detail().isEmpty() ? where : where + ": " + e.detail());
      }
      return values[column];
    }

    /** Returns the value of a column or of a field below it, or null. */
    @Nullable Object get(List<Integer> path, RowProblem problem) {
      Object value = get(path.get(0), problem);
      for (int i = 1; i < path.size() && value != null; i++) {
        value = ((@Nullable Object[]) value)[path.get(i)];
      }
      return value;
    }

    /** Throws what reading a value of the row threw. */
    void rethrow() throws IOException {
      if (failure != null) {
        throw failure;
      }
    }
  }

  /** Writes the fields of the row. */
  private final class EncodedFields {
    private final CurrentRow row;
    private final int[] places;
    private final ObjectEncoder[] encoders;
    private final byte[] @Nullable [] fixed;

    EncodedFields(TableColumns columns, CurrentRow row) {
      this.row = row;
      List<Column> own = columns.columns();
      List<Column> target = agreement.columns();
      this.places = new int[target.size()];
      this.encoders = new ObjectEncoder[places.length];
      this.fixed = new byte[places.length] @Nullable [];
      for (int i = 0; i < places.length; i++) {
        Column column = target.get(i);
        PartitionValue partition = columns.partitions().get(column.name());
        fixed[i] = partition == null ? null : partition.inRow();
        Optional<Column> found = AnyCase.field(own, Column::name, column.name());
        places[i] = found.map(columns.file().columns()::indexOf).orElse(-1);
        encoders[i] = ObjectEncoder.column(found.orElse(null), column, maker.problem());
      }
    }

    void write(RowBuffer out) {
      for (int i = 0; i < places.length; i++) {
        byte[] same = fixed[i];
        if (same != null) {
          out.put(same);
        } else {
          encoders[i].write(places[i] < 0 ? null : row.get(places[i]), out);
        }
      }
    }
  }

  /** A column that a condition is about, which writes its values in Avro's encoding. */
  private static final class ObjectCell implements KeyPart {
    private final TableColumns.Key cell;
    private final CurrentRow row;
    private final RowProblem problem;
    private final ObjectEncoder encoder;

    ObjectCell(TableColumns.Key cell, CurrentRow row, RowProblem problem) {
      this.cell = cell;
      this.row = row;
      this.problem = problem;
      this.encoder = ObjectEncoder.scalar(cell.type(), cell.type(), cell.name(), problem);
    }

    @Override
    public String name() {
      return cell.name();
    }

    @Override
    public boolean write(RowBuffer out) {
      Object value = row.get(cell.path(), problem);
      if (value != null) {
        encoder.write(value, out);
      }
      return value != null;
    }

    @Override
    public void next() {}
  }

  /**
   * A column used as a key or part of one: text and binary as their bytes, everything else in its
   * JSON form (docs/guides/rows.md) without quotes.
   */
  private final class ObjectKey implements KeyPart {
    private final TableColumns.Key key;
    private final CurrentRow row;
    private final ObjectEncoder encoder;
    private final @Nullable KeyText form;
    private final RowBuffer encoded = new RowBuffer();

    /**
     * Creates a part of a key.
     *
     * @param type the type whose texts keys have
     */
    ObjectKey(TableColumns.Key key, Scalar type, CurrentRow row) {
      this.key = key;
      this.row = row;
      boolean verbatim =
          switch (type.kind()) {
            case STRING, BYTES, FIXED -> true;
            default -> false;
          };
      this.form = verbatim ? null : new KeyText(type);
      this.encoder =
          verbatim
              ? ObjectEncoder.verbatim(key.name(), maker.problem())
              : ObjectEncoder.scalar(key.type(), type, key.name(), maker.problem());
    }

    @Override
    public String name() {
      return key.name();
    }

    @Override
    public boolean write(RowBuffer out) {
      Object value = row.get(key.path(), maker.problem());
      if (value == null) {
        return false;
      }
      if (form == null) {
        encoder.write(value, out);
        return true;
      }
      encoded.reset();
      encoder.write(value, encoded);
      try {
        form.write(encoded, out);
      } catch (BadRowException e) { // for a value that the encoder has already noted as a problem
        maker.problem().note("a key that has no text", e.getMessage());
      }
      return true;
    }

    @Override
    public void next() {}
  }
}
