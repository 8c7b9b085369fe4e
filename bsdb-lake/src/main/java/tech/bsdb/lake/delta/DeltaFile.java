package tech.bsdb.lake.delta;

import io.delta.kernel.Scan;
import io.delta.kernel.data.ColumnVector;
import io.delta.kernel.data.ColumnarBatch;
import io.delta.kernel.data.FilteredColumnarBatch;
import io.delta.kernel.data.Row;
import io.delta.kernel.internal.InternalScanFileUtils;
import io.delta.kernel.internal.util.Utils;
import io.delta.kernel.types.StructField;
import io.delta.kernel.types.StructType;
import io.delta.kernel.utils.CloseableIterator;
import io.delta.kernel.utils.FileStatus;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.hadoop.fs.Path;
import org.apache.parquet.hadoop.ParquetFileReader;
import org.apache.parquet.hadoop.util.HadoopInputFile;
import org.jspecify.annotations.Nullable;
import tech.bsdb.lake.LakeFailures;
import tech.bsdb.lake.delta.DeltaSnapshot.Field;
import tech.bsdb.lake.delta.DeltaSnapshot.Projection;
import tech.bsdb.tools.input.InputException;
import tech.bsdb.tools.parquet.LegacyCalendar;
import tech.bsdb.tools.rows.RowType.Column;
import tech.bsdb.tools.rows.RowType.Scalar;
import tech.bsdb.tools.table.TableFile;

/** A data file of a snapshot, without the rows that its deletion vector marks. */
final class DeltaFile implements TableFile {
  private final DeltaSnapshot snapshot;
  private final @Nullable Row file;
  private final String name;
  private final List<Column> columns;

  /**
   * Creates a file.
   *
   * @param file its action in the log; null for a table without rows
   */
  DeltaFile(DeltaSnapshot snapshot, @Nullable Row file) {
    this.snapshot = snapshot;
    this.file = file;
    this.name = file == null ? snapshot.name() : DeltaSnapshot.shown(file);
    this.columns = snapshot.fields().stream().map(Field::column).toList();
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public List<Column> columns() {
    return columns;
  }

  @Override
  public Map<String, String> unreadable() {
    return snapshot.unreadable();
  }

  @Override
  public List<Part> parts() {
    return file == null
        ? List.of()
        : List.of(new Part(0, "", InternalScanFileUtils.getAddFileStatus(file).getSize()));
  }

  @Override
  public Rows open(Part part, List<Integer> wanted) throws IOException {
    Row row = file;
    if (row == null) {
      throw new IllegalStateException("a table without rows has no parts");
    }
    try {
      return new FileRows(row, wanted);
    } catch (RuntimeException e) {
      throw explain(e);
    }
  }

  private InputException explain(RuntimeException e) {
    if (DeltaSnapshot.isDamage(e)) {
      return LakeFailures.damaged(
          snapshot.lastOpened(), snapshot.words(), LakeFailures.ANOTHER_VERSION, e);
    }
    return LakeFailures.missing(
        name,
        snapshot.words(),
        "VACUUM has removed it; build from a newer version, and keep files for longer than builds"
            + " take (delta.deletedFileRetentionDuration)",
        e);
  }

  /** The rows, which are read batch by batch. */
  private final class FileRows implements Rows {
    private final FileStatus status;
    private final CloseableIterator<FilteredColumnarBatch> batches;
    private final OldDates dates = new OldDates();
    private final Map<Integer, Integer> places = new HashMap<>();
    private final Map<Integer, DeltaType.Reader> readers = new HashMap<>();
    private final Map<Integer, Object> constants = new HashMap<>();
    private @Nullable ColumnarBatch batch;
    private Optional<ColumnVector> selection = Optional.empty();
    private int row;
    private @Nullable Boolean oldCalendar;

    FileRows(Row file, List<Integer> wanted) throws IOException {
      this.status = InternalScanFileUtils.getAddFileStatus(file);
      Projection projection = snapshot.projection(wanted);
      Map<String, String> partition = InternalScanFileUtils.getPartitionValues(file);
      for (int index : wanted) {
        Field field = snapshot.fields().get(index);
        if (field.partition()) {
          Object value = constant(field, partition);
          if (value != null) {
            constants.put(index, value);
          }
        } else {
          places.put(index, projection.fields().indexOf(field));
          StructType stored = DeltaType.withTextAsBytes(new StructType(List.of(field.stored())));
          readers.put(
              index, DeltaType.reader(field.column().type(), stored.at(0).getDataType(), dates));
        }
      }
      this.batches =
          Scan.transformPhysicalData(
              snapshot.engine(),
              projection.state(),
              file,
              snapshot
                  .engine()
                  .getParquetHandler()
                  .readParquetFiles(
                      Utils.singletonCloseableIterator(status),
                      projection.physical(),
                      Optional.empty())
                  .map(result -> new BytesBatch(result.getData())));
    }

    private @Nullable Object constant(Field field, Map<String, String> partition)
        throws InputException {
      String text = partition.get(field.physicalName());
      try {
        return PartitionText.value((Scalar) field.column().type(), text);
      } catch (IllegalArgumentException e) {
        throw new InputException(
            "%s: the log has the value \"%s\" of partition column %s, which is %s: %s"
                .formatted(
                    name,
                    text,
                    field.column().name(),
                    field.column().type().describe(),
                    e.getMessage()),
            e);
      }
    }

    @Override
    public boolean next() throws IOException {
      try {
        row++;
        while (true) {
          ColumnarBatch current = batch;
          if (current != null) {
            while (row < current.getSize() && !isSelected()) {
              row++;
            }
            if (row < current.getSize()) {
              return true;
            }
          }
          if (!batches.hasNext()) {
            return false;
          }
          FilteredColumnarBatch next = batches.next();
          batch = next.getData();
          selection = next.getSelectionVector();
          row = 0;
        }
      } catch (RuntimeException e) {
        throw explain(e);
      }
    }

    private boolean isSelected() {
      return selection.isEmpty()
          || (!selection.get().isNullAt(row) && selection.get().getBoolean(row));
    }

    @Override
    public @Nullable Object value(int column) throws IOException, BadValueException {
      DeltaType.Reader reader = readers.get(column);
      Integer at = places.get(column);
      ColumnarBatch current = batch;
      if (reader == null || at == null || current == null) {
        return constants.get(column);
      }
      Object value = reader.get(current.getColumnVector(at), row);
      if (dates.take() && isOldCalendar()) {
        throw new BadValueException(
            "a date before 1582, or a timestamp before 1900, in the calendar of Spark 2 or Hive",
            "Delta's Kernel does not convert it; write the rows again with a newer Spark");
      }
      return value;
    }

    private boolean isOldCalendar() throws IOException {
      Boolean known = oldCalendar;
      if (known == null) {
        Path path = new Path(status.getPath());
        try (ParquetFileReader reader =
            ParquetFileReader.open(HadoopInputFile.fromPath(path, snapshot.configuration()))) {
          LegacyCalendar calendar =
              LegacyCalendar.of(name, reader.getFooter().getFileMetaData().getKeyValueMetaData());
          known = calendar.dates() || calendar.int96();
        }
        oldCalendar = known;
      }
      return known;
    }

    @Override
    public long done() {
      return 0; // known only at the end
    }

    @Override
    public void close() throws IOException {
      batches.close();
    }
  }

  /** A batch whose strings are binary, which Kernel need not know. */
  private record BytesBatch(ColumnarBatch batch) implements ColumnarBatch {
    @Override
    public StructType getSchema() {
      return batch.getSchema();
    }

    @Override
    public ColumnVector getColumnVector(int ordinal) {
      return batch.getColumnVector(ordinal);
    }

    @Override
    public int getSize() {
      return batch.getSize();
    }

    @Override
    public ColumnarBatch withNewColumn(int ordinal, StructField field, ColumnVector vector) {
      return new BytesBatch(batch.withNewColumn(ordinal, field, vector));
    }

    @Override
    public ColumnarBatch withDeletedColumnAt(int ordinal) {
      return new BytesBatch(batch.withDeletedColumnAt(ordinal));
    }

    @Override
    public ColumnarBatch withNewSchema(StructType logical) {
      return this;
    }
  }
}
