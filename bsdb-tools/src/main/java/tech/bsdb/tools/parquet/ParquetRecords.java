package tech.bsdb.tools.parquet;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tech.bsdb.DatabaseBuilder;
import tech.bsdb.tools.input.Batch;
import tech.bsdb.tools.input.DeleteField;
import tech.bsdb.tools.input.InputException;
import tech.bsdb.tools.input.InputListener;
import tech.bsdb.tools.input.InputReport;
import tech.bsdb.tools.input.Ledger;
import tech.bsdb.tools.input.PipedSource;
import tech.bsdb.tools.input.Rejects;
import tech.bsdb.tools.parquet.ParquetFile.RowGroup;
import tech.bsdb.tools.parquet.RowPipeline.Task;
import tech.bsdb.tools.rows.AvroSchemas;
import tech.bsdb.tools.rows.RowResolution;
import tech.bsdb.tools.rows.RowSchema;
import tech.bsdb.tools.rows.RowType.Column;
import tech.bsdb.tools.rows.RowType.Scalar;
import tech.bsdb.tools.source.FileSources;
import tech.bsdb.tools.source.SourceFile;

/**
 * All rows of Parquet files as records, in input order: by path below a directory, by row within a
 * file.
 *
 * <p>All footers are read first, so that the schema is known and mismatches are found before
 * anything is written. Then the selected columns of the row groups are read, several groups at a
 * time. Memory is bounded by a share of the heap, except for row groups that are larger. A {@link
 * #place} is {@code FILE: row N}, rows counted from 1.
 */
public final class ParquetRecords extends PipedSource {
  /** Number of column chunks whose footers are kept instead of read again: about 50 MB. */
  private static final int MAX_KEPT_CHUNKS = 100_000;

  private static final int MAX_SAMPLED_ROW_GROUPS = 16;

  private final ParquetOptions options;
  private final FileSources sources;
  private final List<ParquetFile> files;
  private final List<Column> columns;
  private final List<Scalar> parts;
  private final List<String> notes;
  private final @Nullable RowSchema schema;
  private final @Nullable RowResolution resolution;

  private ParquetRecords(
      ParquetOptions options,
      FileSources sources,
      List<ParquetFile> files,
      List<Column> columns,
      List<Scalar> parts,
      List<String> notes)
      throws InputException {
    super(new Ledger(files.stream().map(ParquetFile::name).toList(), ": row ", List.of()));
    this.options = options;
    this.sources = sources;
    this.files = files;
    this.columns = columns;
    this.parts = parts;
    this.notes = notes;
    this.schema = options.rawColumn() == null ? AvroSchemas.of(columns) : null;
    this.resolution =
        schema == null || options.stored() == null ? null : resolution(schema, options.stored());
  }

  /**
   * Finds the files and reads their footers.
   *
   * @param sources the source of the files; closed with this object, or immediately if opening
   *     fails
   * @throws InputException if a file is missing, cannot be read, is not a Parquet file, or does not
   *     agree with the others; the message names the file and the column
   */
  public static ParquetRecords open(ParquetOptions options, FileSources sources)
      throws IOException {
    try {
      List<SourceFile> found = sources.files(options.inputs());
      if (options.rejects() != null) {
        List<Path> local = new ArrayList<>();
        found.forEach(file -> addLocal(file, local));
        Rejects.check(options.rejects(), local);
      }
      PartitionColumns partitions = PartitionColumns.of(found, options.partitions());
      List<ParquetFile> files = footers(found, options, partitions);
      keepSomeFooters(files);
      checkNames(options, files);
      boolean widen = options.types().widen();
      TypeMerge columns = new TypeMerge(widen);
      TypeMerge keys = new TypeMerge(widen);
      TypeMerge marks = new TypeMerge(true);
      for (ParquetFile file : files) {
        columns.add(file.name(), file.selection().columns());
        keys.add(file.name(), keyColumns(options, file));
        if (widen) {
          marks.add(file.name(), markColumn(options, file));
        }
      }
      List<String> notes = new ArrayList<>();
      if (!files.isEmpty()) {
        noteUnknownTypes(files.get(0), notes);
      }
      List<Column> all = new ArrayList<>(widened(columns, options));
      List<Column> parts = new ArrayList<>();
      if (widen) {
        parts.addAll(widened(keys, options));
        parts.addAll(widened(marks, options));
      }
      for (Column partition : partitions.columns()) {
        if (!files.isEmpty() && isOwn(partition.name(), files, options, notes)) {
          continue;
        }
        all.add(partition);
      }
      boolean raw = options.rawColumn() != null || options.keysOnly();
      List<Column> row = raw ? List.of() : selected(all, options, files);
      List<Scalar> types = parts.stream().map(part -> (Scalar) part.type()).toList();
      List<Column> stored = storedColumns(options.stored());
      for (ParquetFile file : files) {
        checkKeys(options, file, types, stored);
      }
      return new ParquetRecords(options, sources, files, row, types, notes);
    } catch (IOException | RuntimeException | Error e) {
      close(sources);
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

  private static void close(FileSources sources) {
    try {
      sources.close();
    } catch (IOException afterReading) {
      // nothing was written, so nothing can be lost
    }
  }

  private static void addLocal(SourceFile file, List<Path> paths) {
    Path local = file.local();
    if (local != null) {
      paths.add(local);
    }
  }

  /**
   * Checks that names of columns which differ only in case tell the columns of all files apart.
   *
   * @throws InputException if a file has several columns of a name, and another one that in another
   *     case
   */
  private static void checkNames(ParquetOptions options, List<ParquetFile> files)
      throws InputException {
    for (String name : options.named()) {
      ParquetFile several = null;
      ParquetFile other = null;
      for (ParquetFile file : files) {
        List<String> meant = file.selection().meant(name);
        several = several == null && meant.size() > 1 ? file : several;
        other = other == null && !meant.isEmpty() && !meant.contains(name) ? file : other;
      }
      if (several != null && other != null) {
        throw new InputException(
            "%s: has columns %s, but %s has %s; which one is %s cannot be told (read them separately)"
                .formatted(
                    several.name(),
                    String.join(" and ", several.selection().meant(name)),
                    other.name(),
                    String.join(" and ", other.selection().meant(name)),
                    name));
      }
    }
  }

  /**
   * Checks that keys have the texts that they have in the database, as far as its schema tells.
   *
   * @param parts the types of the parts of the key; empty for those of the file
   * @param stored the columns of the database
   * @throws InputException if a part has another type, which may write the same value otherwise
   */
  private static void checkKeys(
      ParquetOptions options, ParquetFile file, List<Scalar> parts, List<Column> stored)
      throws InputException {
    List<RowSelection.Key> keys = file.selection().keys();
    for (int i = 0; i < keys.size(); i++) {
      boolean partition = keys.get(i).partition() != null; // is not widened
      Scalar own = file.selection().type(keys.get(i));
      Scalar type = partition || parts.isEmpty() ? own : parts.get(i);
      String name = options.keyColumns().get(i);
      Optional<Column> known = Widening.find(stored, name);
      if (known.isPresent()
          && known.get().type() instanceof Scalar there
          && Widening.textsDiffer(type, there)) {
        boolean helps = !partition && Widening.of(type, there).equals(Optional.of(there));
        throw new InputException(
            ("%s: key column %s is %s, but %s in the schema of the database, where the same key may"
                    + " have another text (%s %s)")
                .formatted(
                    file.name(),
                    name,
                    type.describe(),
                    there.describe(),
                    helps ? "--widen gives it that of" : "write the column as",
                    there.describe()));
      }
    }
  }

  /** Returns the columns of a database; none if it has no schema, or one that contains itself. */
  private static List<Column> storedColumns(@Nullable RowSchema stored) {
    try {
      return stored == null ? List.of() : stored.types();
    } catch (IllegalArgumentException containsItself) {
      return List.of();
    }
  }

  /** Returns the key columns, which are merged like those of the row. */
  private static List<Column> keyColumns(ParquetOptions options, ParquetFile file) {
    List<Column> columns = new ArrayList<>();
    List<Scalar> types = file.selection().keyTypes();
    for (int i = 0; i < types.size(); i++) {
      columns.add(new Column(options.keyColumns().get(i), types.get(i), false));
    }
    return columns;
  }

  /** Notes columns of unknown types, as far as one file tells, so that no other is read twice. */
  private static void noteUnknownTypes(ParquetFile file, List<String> notes) {
    for (String column : file.columnsOfUnknownTypes()) {
      notes.add(
          ("%s: column %s has, or contains, a logical type that this version of bsdb does not know;"
                  + " its values are passed on as they are stored")
              .formatted(file.name(), column));
    }
  }

  /** Returns the column that marks deletions, if there is one. */
  private static List<Column> markColumn(ParquetOptions options, ParquetFile file) {
    DeleteField field = options.deleteField();
    RowSelection.Key mark = file.selection().mark();
    return field == null || mark == null
        ? List.of()
        : List.of(new Column(field.field(), file.selection().type(mark), false));
  }

  /** Returns merged columns, with the types that they have in the database if they may. */
  private static List<Column> widened(TypeMerge merge, ParquetOptions options)
      throws InputException {
    RowSchema stored = options.types().widen() ? options.stored() : null;
    try {
      return stored == null ? merge.columns() : Widening.toward(merge.columns(), stored.types());
    } catch (IllegalArgumentException e) {
      throw new InputException("--widen: in the schema of the database, " + e.getMessage(), e);
    }
  }

  /**
   * Whether the files themselves have a partition's column, which takes precedence.
   *
   * @throws InputException if only some of them have it
   */
  private static boolean isOwn(
      String column, List<ParquetFile> files, ParquetOptions options, List<String> notes)
      throws InputException {
    ParquetFile with = null;
    ParquetFile without = null;
    for (ParquetFile file : files) {
      boolean has = file.selection().hasColumn(column);
      with = has && with == null ? file : with;
      without = !has && without == null ? file : without;
    }
    if (with == null) {
      return false;
    }
    if (without != null && options.wants(column)) {
      throw new InputException(
          ("%s has a column %s of its own, %s has it only from its directory; read them separately,"
                  + " or with --partitions ignore")
              .formatted(with.name(), column, without.name()));
    }
    if (options.wants(column)) {
      notes.add(
          ("the files have a column %s of their own, which is used instead of the one from their"
                  + " directories (%s=...)")
              .formatted(column, column));
    }
    return true;
  }

  /** Returns all columns, or the requested ones, each of which must be in some file. */
  private static List<Column> selected(
      List<Column> columns, ParquetOptions options, List<ParquetFile> files) throws InputException {
    if (options.valueColumns().isEmpty()) {
      return columns;
    }
    List<Column> ordered = new ArrayList<>();
    for (String name : options.valueColumns()) {
      Column found = null;
      for (Column column : columns) {
        found = column.name().equals(name) ? column : found;
      }
      for (Column column : found == null ? columns : List.<Column>of()) {
        found = AnyCase.of(column.name()).equals(AnyCase.of(name)) ? column : found;
      }
      if (found == null) {
        throw new InputException(
            "%s: has no column %s for the value (%s)"
                .formatted(files.get(0).name(), name, files.get(0).selection().listed()));
      }
      int before = ordered.indexOf(found);
      if (before >= 0) {
        throw new InputException(
            "--value-fields names %s twice: %s, %s"
                .formatted(found.name(), options.valueColumns().get(before), name));
      }
      ordered.add(found);
    }
    return ordered;
  }

  private static List<ParquetFile> footers(
      List<SourceFile> found, ParquetOptions options, PartitionColumns partitions)
      throws IOException {
    ExecutorService threads =
        Executors.newFixedThreadPool(
            Math.min(2 * options.threads(), Math.max(1, found.size())),
            work -> {
              Thread thread = new Thread(work, "bsdb-footer");
              thread.setDaemon(true);
              return thread;
            });
    try {
      List<Future<ParquetFile>> reading = new ArrayList<>();
      found.forEach(
          file ->
              reading.add(
                  threads.submit(() -> ParquetFile.of(file, options, partitions.of(file)))));
      List<ParquetFile> files = new ArrayList<>();
      for (Future<ParquetFile> file : reading) { // so that the first bad file is reported
        files.add(file.get());
      }
      return List.copyOf(files);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InputException("interrupted while the footers were read", e);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof IOException failure) {
        throw failure;
      }
      if (e.getCause() instanceof Error error) {
        throw error;
      }
      throw new IllegalStateException(e.getCause());
    } finally {
      threads.shutdownNow();
    }
  }

  private static void keepSomeFooters(List<ParquetFile> files) {
    long chunks = 0;
    for (ParquetFile file : files) {
      chunks += file.chunks();
      if (chunks > MAX_KEPT_CHUNKS) {
        file.forgetFooter();
      }
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
    return sources.databases();
  }

  @Override
  public List<String> notes() {
    return notes;
  }

  /** Returns the names of the files, in reading order. */
  public List<String> files() {
    return files.stream().map(ParquetFile::name).toList();
  }

  /** Passes the builder the first rows of row groups from all parts of the input. */
  @Override
  public int sample(DatabaseBuilder builder, int records) throws IOException {
    List<Task> tasks = tasks();
    int groups = Math.min(tasks.size(), MAX_SAMPLED_ROW_GROUPS);
    int given = 0;
    try (RowReader reader = newReader()) {
      for (int i = 0; i < groups && given < records; i++) {
        Task task = tasks.get((int) ((long) i * tasks.size() / groups));
        int wanted = (records - given) / (groups - i);
        Sample sample = new Sample(builder, Math.max(1, wanted));
        reader.read(task.file(), task.rowGroup(), sample);
        given += sample.given;
      }
    }
    return given;
  }

  /** Passes up to a number of a row group's records to the builder. */
  private static final class Sample implements RowReader.Sink {
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
    List<Task> tasks = tasks();
    long allBytes = tasks.stream().mapToLong(task -> task.rowGroup().bytes()).sum();
    RowPipeline pipeline =
        new RowPipeline(
            tasks,
            this::newReader,
            batches,
            options.threads(),
            Runtime.getRuntime().maxMemory() / 4);
    long[] done = new long[tasks.size() + 1]; // bytes before each row group
    for (int i = 0; i < tasks.size(); i++) {
      done[i + 1] = done[i] + tasks.get(i).rowGroup().bytes();
    }
    try (Rejects rejects = begin(options.rejects(), false, pipeline::stop)) {
      pipeline.run(
          (number, batch) -> {
            Task task = tasks.get((int) number);
            enter(task.fileNumber(), batch, rejects);
            RowGroup group = task.rowGroup();
            double share =
                (double) (batch.firstRow() + batch.units() - group.firstRow()) / group.rows();
            long bytes = done[task.number()] + (long) (share * group.bytes());
            listener.progress(bytes, allBytes, ledger.records());
          });
    }
    return ledger
        .report(allBytes)
        .withFiles(
            new InputReport.Files(
                files.size(), sources.directoriesLeftOut(), sources.filesLeftOut()));
  }

  private RowReader newReader() {
    if (resolution == null || resolution.isIdentity()) {
      return new RowReader(options, columns, parts, null);
    }
    return new RowReader(options, columns, parts, resolution.newConverter());
  }

  private List<Task> tasks() {
    List<Task> tasks = new ArrayList<>();
    for (int i = 0; i < files.size(); i++) {
      for (RowGroup group : files.get(i).rowGroups()) {
        tasks.add(new Task(tasks.size(), files.get(i), i, group));
      }
    }
    return tasks;
  }

  @Override
  public void close() {
    super.close();
    close(sources);
  }
}
