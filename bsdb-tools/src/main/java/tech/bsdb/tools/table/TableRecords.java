package tech.bsdb.tools.table;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tech.bsdb.DatabaseBuilder;
import tech.bsdb.tools.input.Batch;
import tech.bsdb.tools.input.InputException;
import tech.bsdb.tools.input.InputListener;
import tech.bsdb.tools.input.InputReport;
import tech.bsdb.tools.input.Ledger;
import tech.bsdb.tools.input.PipedSource;
import tech.bsdb.tools.input.Rejects;
import tech.bsdb.tools.rows.AvroSchemas;
import tech.bsdb.tools.rows.RowConverter;
import tech.bsdb.tools.rows.RowResolution;
import tech.bsdb.tools.rows.RowSchema;
import tech.bsdb.tools.table.RowPipeline.Task;

/**
 * All rows of the parts of an input as records, in input order, read several parts at a time.
 * Memory is bounded by a share of the heap, except for parts that are larger. A {@link #place} is
 * {@code FILE: row N}, rows counted from 1.
 */
public final class TableRecords extends PipedSource {
  private static final int MAX_SAMPLED_PARTS = 16;

  private final TableOptions options;
  private final Origin origin;
  private final Agreement agreement;
  private final Pipelines<?> parts;
  private final @Nullable RowSchema schema;
  private final @Nullable RowResolution resolution;

  /** Where rows come from. */
  public interface Origin extends AutoCloseable {
    /** Returns the names of the files, in reading order. */
    List<String> names();

    /** Returns the local databases below the input directories, which were skipped. */
    default List<Path> databases() {
      return List.of();
    }

    /** Returns how many files are read, and how many were left out. */
    default InputReport.Files counts() {
      return new InputReport.Files(names().size(), 0, 0);
    }

    /** Returns how many files were not opened because they have no rows that are wanted. */
    default int ruledOut() {
      return 0;
    }

    @Override
    void close() throws IOException;
  }

  /**
   * The parts of an input, and what reads them.
   *
   * @param tasks the parts, in input order
   * @param readers creates a reader; its converter turns rows into those of a database
   */
  private record Pipelines<P>(
      List<Task<P>> tasks, Function<@Nullable RowConverter, ? extends PartReader<P>> readers) {
    RowPipeline<P> pipeline(
        Supplier<@Nullable RowConverter> converters, Supplier<Batch> batches, int threads) {
      return new RowPipeline<>(
          tasks,
          () -> readers.apply(converters.get()),
          batches,
          threads,
          Runtime.getRuntime().maxMemory() / 4);
    }

    /** Passes the builder the first rows of parts from the whole input. */
    int sample(@Nullable RowConverter converter, DatabaseBuilder builder, int records)
        throws IOException {
      List<Task<P>> wantedTasks = tasks.stream().filter(task -> !task.ruledOut()).toList();
      int sampled = Math.min(wantedTasks.size(), MAX_SAMPLED_PARTS);
      int given = 0;
      try (PartReader<P> reader = readers.apply(converter)) {
        for (int i = 0; i < sampled && given < records; i++) {
          Task<P> task = wantedTasks.get((int) ((long) i * wantedTasks.size() / sampled));
          int wanted = (records - given) / (sampled - i);
          Sample sample = new Sample(builder, Math.max(1, wanted));
          reader.read(task.part(), sample);
          given += sample.given;
        }
      }
      return given;
    }
  }

  private TableRecords(TableOptions options, Origin origin, Agreement agreement, Pipelines<?> parts)
      throws InputException {
    super(new Ledger(origin.names(), ": row ", List.of()));
    this.options = options;
    this.origin = origin;
    this.agreement = agreement;
    this.parts = parts;
    this.schema = options.rawColumn() == null ? AvroSchemas.of(agreement.columns()) : null;
    this.resolution =
        schema == null || options.stored() == null ? null : resolution(schema, options.stored());
  }

  /**
   * Creates a source that was not read yet.
   *
   * @param origin closed with the source, but not if creating it fails
   * @param tasks the parts, in input order
   * @param readers creates a reader of parts; its converter turns rows into those of a database, or
   *     is null
   * @throws InputException if the rows do not fit the schema of the database
   */
  public static <P> TableRecords of(
      TableOptions options,
      Origin origin,
      Agreement agreement,
      List<Task<P>> tasks,
      Function<@Nullable RowConverter, ? extends PartReader<P>> readers)
      throws InputException {
    return new TableRecords(options, origin, agreement, new Pipelines<>(tasks, readers));
  }

  /**
   * Opens a table.
   *
   * @throws InputException if the input cannot be read, or its files do not agree; the message
   *     names the file and the column
   */
  public static TableRecords open(TableRequest request, TableSource source) throws IOException {
    TableOptions options = request.options();
    Table table = source.open(request);
    try {
      PartitionColumns partitions =
          PartitionColumns.of(
              table.files(), TableFile::name, TableFile::directories, options.partitions());
      List<TableColumns> files = new ArrayList<>();
      List<Task<TableReader.Piece>> tasks = new ArrayList<>();
      for (TableFile file : table.files()) {
        TableColumns columns = TableColumns.of(options, file, partitions.of(file.directories()));
        boolean ruledOut = columns.isRuledOut();
        for (TableFile.Part part : file.parts()) {
          TableReader.Piece piece = new TableReader.Piece(columns, part);
          tasks.add(
              new Task<>(tasks.size(), files.size(), piece, ruledOut ? 0 : part.bytes(), ruledOut));
        }
        files.add(columns);
      }
      Agreement agreement = Agreement.of(options, files, partitions).withNotes(table.notes());
      return of(
          options,
          table,
          agreement,
          tasks,
          converter -> new TableReader(options, agreement, converter));
    } catch (IOException | RuntimeException | Error e) {
      try {
        table.close();
      } catch (IOException lessImportant) {
        e.addSuppressed(lessImportant);
      }
      throw e;
    }
  }

  private static RowResolution resolution(RowSchema written, RowSchema stored)
      throws InputException {
    try {
      return RowResolution.of(written, stored, true);
    } catch (IllegalArgumentException e) {
      throw new InputException(
          "the rows do not fit the schema of the database: "
              + e.getMessage()
              + " (bsdb stat --schema shows that schema)",
          e);
    }
  }

  @Override
  public String unit() {
    return "rows";
  }

  /** Returns the schema of the rows that come out; null if a raw column is the value. */
  public @Nullable RowSchema schema() {
    return resolution == null ? schema : resolution.stored();
  }

  @Override
  public @Nullable String valueSchema() {
    RowSchema made = schema();
    return made == null ? null : made.json();
  }

  @Override
  public List<Path> databases() {
    return origin.databases();
  }

  @Override
  public List<String> notes() {
    return agreement.notes();
  }

  /** Returns the names of the files, in reading order. */
  public List<String> files() {
    return origin.names();
  }

  @Override
  public int sample(DatabaseBuilder builder, int records) throws IOException {
    return parts.sample(newConverter(), builder, records);
  }

  /** Passes up to a number of a part's records to the builder. */
  private static final class Sample implements PartReader.Sink {
    private final int wanted;
    private final RowBatch batch;
    private int given;

    Sample(DatabaseBuilder builder, int wanted) {
      this.wanted = wanted;
      this.batch =
          new RowBatch(
              Batch.copying(
                  (key, keyFrom, keyLength, value, valueFrom, valueLength) -> {
                    if (given < wanted) {
                      given++;
                      builder.sample(
                          Arrays.copyOfRange(key, keyFrom, keyFrom + keyLength),
                          Arrays.copyOfRange(value, valueFrom, valueFrom + valueLength));
                    }
                  }));
    }

    @Override
    public RowBatch empty() {
      return batch;
    }

    @Override
    public boolean take(RowBatch full) throws IOException {
      full.records().handOn();
      return given < wanted;
    }
  }

  @Override
  protected InputReport read(Supplier<Batch> batches, InputListener listener) throws IOException {
    List<? extends Task<?>> tasks = parts.tasks();
    RowPipeline<?> pipeline = parts.pipeline(this::newConverter, batches, options.threads());
    long[] done = new long[tasks.size() + 1]; // bytes before each part
    for (int i = 0; i < tasks.size(); i++) {
      done[i + 1] = done[i] + tasks.get(i).bytes();
    }
    long allBytes = done[tasks.size()];
    try (Rejects rejects = begin(options.rejects(), false, pipeline::stop)) {
      pipeline.run(
          (number, batch) -> {
            Task<?> task = tasks.get((int) number);
            enter(task.file(), batch, rejects);
            long bytes = done[task.number()] + (long) (batch.done() * task.bytes());
            listener.progress(bytes, allBytes, ledger.records());
          });
    }
    InputReport report = ledger.report(allBytes).withFiles(origin.counts());
    if (options.where() == null) {
      return report;
    }
    long ruledOut = tasks.stream().filter(Task::ruledOut).count();
    return report.withLeftOut(
        new InputReport.LeftOut(ledger.leftOut(), origin.ruledOut(), ruledOut));
  }

  private @Nullable RowConverter newConverter() {
    return resolution == null || resolution.isIdentity() ? null : resolution.newConverter();
  }

  @Override
  public void close() {
    super.close();
    try {
      origin.close();
    } catch (IOException afterReading) {
      // nothing was written, so nothing can be lost
    }
  }
}
