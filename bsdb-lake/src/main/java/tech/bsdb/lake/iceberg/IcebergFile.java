package tech.bsdb.lake.iceberg;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.apache.iceberg.ContentFile;
import org.apache.iceberg.FileScanTask;
import org.apache.iceberg.Schema;
import org.apache.iceberg.StructLike;
import org.apache.iceberg.data.DeleteFilter;
import org.apache.iceberg.data.IdentityPartitionConverters;
import org.apache.iceberg.data.InternalRecordWrapper;
import org.apache.iceberg.data.Record;
import org.apache.iceberg.deletes.DeleteCounter;
import org.apache.iceberg.formats.FormatModelRegistry;
import org.apache.iceberg.formats.ReadBuilder;
import org.apache.iceberg.io.CloseableIterable;
import org.apache.iceberg.io.CloseableIterator;
import org.apache.iceberg.io.InputFile;
import org.apache.iceberg.mapping.NameMapping;
import org.apache.iceberg.types.Types.NestedField;
import org.apache.iceberg.util.PartitionUtil;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.input.InputException;
import tech.bsdb.tools.rows.RowType.Column;
import tech.bsdb.tools.table.TableFile;

/** A data file of a snapshot, without the rows that its delete files delete. */
final class IcebergFile implements TableFile {
  /** About what a part takes. */
  private static final long SPLIT = 128L << 20;

  private final IcebergSnapshot snapshot;
  private final String name;
  private final List<Column> columns;
  private final List<FileScanTask> tasks = new ArrayList<>();

  /**
   * Creates a file.
   *
   * @param task the file and its deletes; null for a table without rows
   */
  IcebergFile(IcebergSnapshot snapshot, @Nullable FileScanTask task) throws InputException {
    this.snapshot = snapshot;
    this.name = task == null ? snapshot.name() : task.file().location();
    this.columns = snapshot.fields().stream().map(IcebergType::column).toList();
    if (task == null) {
      return;
    }
    if (task.file().keyMetadata() != null) {
      throw IcebergSnapshot.encrypted(name, "");
    }
    if (task.deletes().isEmpty()) {
      task.split(SPLIT).forEach(tasks::add);
    } else {
      tasks.add(task); // so that its deletes are read once
    }
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
    List<Part> parts = new ArrayList<>();
    for (FileScanTask task : tasks) {
      String place = tasks.size() == 1 ? "" : "from byte " + task.start();
      parts.add(new Part(parts.size(), place, task.length()));
    }
    return parts;
  }

  @Override
  public Rows open(Part part, List<Integer> wanted) throws IOException {
    try {
      return new TaskRows(tasks.get(part.index()), wanted);
    } catch (RuntimeException e) {
      throw explain(e);
    }
  }

  private InputException explain(RuntimeException e) {
    List<String> deletes =
        tasks.get(0).deletes().stream().map(ContentFile::location).distinct().toList();
    return snapshot.missing(
        deletes.isEmpty() ? name : name + ", or its deletes in " + String.join(", ", deletes), e);
  }

  /** The rows of a part. */
  private final class TaskRows implements Rows {
    private final CloseableIterator<Record> records;
    private final Map<Integer, Integer> places = new HashMap<>();
    private final Map<Integer, UnaryOperator<@Nullable Object>> converters = new HashMap<>();
    private @Nullable Record record;

    TaskRows(FileScanTask task, List<Integer> wanted) {
      List<NestedField> fields = new ArrayList<>();
      for (int index : wanted) {
        NestedField field = snapshot.fields().get(index);
        places.put(index, fields.size());
        converters.put(index, IcebergType.converter(field.type()));
        fields.add(field);
      }
      Deletes deletes = new Deletes(task, new Schema(fields));
      this.records = deletes.filter(read(task, deletes.requiredSchema())).iterator();
    }

    private CloseableIterable<Record> read(FileScanTask task, Schema schema) {
      InputFile input = snapshot.source().io().newInputFile(task.file().location());
      ReadBuilder<Record, ?> reader =
          FormatModelRegistry.<Record, Object>readBuilder(task.file().format(), Record.class, input)
              .project(schema)
              .idToConstant(
                  PartitionUtil.constantsMap(task, IdentityPartitionConverters::convertConstant))
              .split(task.start(), task.length())
              .reuseContainers();
      NameMapping mapping = snapshot.nameMapping();
      return (mapping == null ? reader : reader.withNameMapping(mapping)).build();
    }

    @Override
    public boolean next() throws IOException {
      try {
        boolean has = records.hasNext();
        record = has ? records.next() : null;
        return has;
      } catch (RuntimeException e) {
        throw explain(e);
      }
    }

    @Override
    public @Nullable Object value(int column) {
      Record current = record;
      UnaryOperator<@Nullable Object> converter = converters.get(column);
      Integer at = places.get(column);
      if (current == null || converter == null || at == null) {
        throw new IllegalStateException("column " + column + " was not opened, or there is no row");
      }
      return converter.apply(current.get(at));
    }

    @Override
    public long done() {
      return 0; // known only at the end
    }

    @Override
    public void close() throws IOException {
      records.close();
    }
  }

  /** The rows that are deleted, by position or by value. */
  private final class Deletes extends DeleteFilter<Record> {
    private final InternalRecordWrapper wrapper;

    Deletes(FileScanTask task, Schema wanted) {
      super(name, task.deletes(), snapshot::field, wanted, new DeleteCounter(), true);
      this.wrapper = new InternalRecordWrapper(requiredSchema().asStruct());
    }

    @Override
    protected StructLike asStructLike(Record record) {
      return wrapper.wrap(record);
    }

    @Override
    protected InputFile getInputFile(String location) {
      return snapshot.source().io().newInputFile(location);
    }
  }
}
