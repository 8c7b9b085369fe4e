package tech.bsdb.lake.delta;

import io.delta.kernel.Scan;
import io.delta.kernel.Snapshot;
import io.delta.kernel.Table;
import io.delta.kernel.data.FilteredColumnarBatch;
import io.delta.kernel.data.Row;
import io.delta.kernel.defaults.engine.DefaultEngine;
import io.delta.kernel.engine.Engine;
import io.delta.kernel.exceptions.KernelException;
import io.delta.kernel.exceptions.TableNotFoundException;
import io.delta.kernel.internal.InternalScanFileUtils;
import io.delta.kernel.internal.data.ScanStateRow;
import io.delta.kernel.internal.util.ColumnMapping;
import io.delta.kernel.types.StructField;
import io.delta.kernel.types.StructType;
import io.delta.kernel.utils.CloseableIterator;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.hadoop.conf.Configuration;
import org.jspecify.annotations.Nullable;
import tech.bsdb.lake.AsOf;
import tech.bsdb.lake.LakeFailures;
import tech.bsdb.lake.LakeTable;
import tech.bsdb.lake.delta.DeltaType.UnreadableException;
import tech.bsdb.tools.input.InputException;
import tech.bsdb.tools.rows.RowType.Column;
import tech.bsdb.tools.source.HadoopPlace;
import tech.bsdb.tools.table.TableFile;
import tech.bsdb.tools.where.Where;

/** A version of a Delta Lake table. Thread-safe. */
final class DeltaSnapshot {
  private final HadoopPlace place;
  private final NotedFiles opened;
  private final Engine engine;
  private final Snapshot snapshot;
  private final List<Field> fields = new ArrayList<>();
  private final Map<String, String> unreadable = new LinkedHashMap<>();
  private final Map<List<Integer>, Projection> projections = new ConcurrentHashMap<>();

  /**
   * A column that can be read.
   *
   * @param partition whether its values are in the log and not in the files
   */
  record Field(StructField stored, Column column, boolean partition) {
    /** Returns the column's name in the files and the log. */
    String physicalName() {
      return ColumnMapping.getPhysicalName(stored);
    }
  }

  /**
   * What is read of all files.
   *
   * @param fields the columns that are in the files, in their order in a batch
   * @param state Kernel's state of the scan
   * @param physical the columns as the files have them, whose strings are binary
   */
  record Projection(List<Field> fields, Row state, StructType physical) {}

  /**
   * Opens a version.
   *
   * @param asOf which one; null for the current one
   * @throws InputException if there is none, or it cannot be read
   */
  DeltaSnapshot(HadoopPlace place, @Nullable AsOf asOf) throws InputException {
    this.place = place;
    this.opened = new NotedFiles(place.configuration());
    this.engine = DefaultEngine.create(opened);
    this.snapshot = load(asOf);
    for (String feature : snapshot.getProtocol().getReaderFeatures()) {
      if (feature.startsWith("catalogManaged") || feature.startsWith("catalogOwned")) {
        throw new InputException(
            place.shown()
                + ": its versions are managed by a catalog (feature \""
                + feature
                + "\"), which may have some that are not in the directory; write its rows to a"
                + " plain table, or to Parquet, with the engine that knows the catalog");
      }
    }
    Set<String> partitions = new HashSet<>(snapshot.getPartitionColumnNames());
    for (StructField field : snapshot.getSchema().fields()) {
      try {
        Column column = DeltaType.column(field);
        fields.add(new Field(field, column, partitions.contains(field.getName())));
      } catch (UnreadableException e) {
        unreadable.put(field.getName(), e.getMessage());
      }
    }
  }

  private Snapshot load(@Nullable AsOf asOf) throws InputException {
    try {
      Table table = Table.forPath(engine, place.path().toString());
      if (asOf == null) {
        return table.getLatestSnapshot(engine);
      }
      OptionalLong version = asOf.number();
      if (version.isPresent()) {
        return table.getSnapshotAsOfVersion(engine, version.getAsLong());
      }
      Optional<Instant> time = asOf.time();
      if (time.isPresent()) {
        return table.getSnapshotAsOfTimestamp(engine, time.get().toEpochMilli());
      }
      throw new InputException(
          "%s: %s: expects a version such as %s, or a time such as 2024-01-31T12:00:00Z"
              .formatted(place.shown(), asOf, table.getLatestSnapshot(engine).getVersion()));
    } catch (TableNotFoundException none) {
      throw LakeFailures.noTable(
          place, "a Delta Lake table", "_delta_log", "it has no _delta_log with versions", none);
    } catch (RuntimeException e) {
      throw explain(asOf == null ? "" : ": " + asOf, e);
    }
  }

  /**
   * Explains why the log cannot be read.
   *
   * @param asOf what was asked for, as a part of a message
   */
  private InputException explain(String asOf, RuntimeException e) {
    return isDamage(e)
        ? LakeFailures.damaged(
            lastOpened(), "the log of " + place.shown(), LakeFailures.ANOTHER_VERSION, e)
        : LakeFailures.explain(place.shown() + asOf, withoutPath(e), e);
  }

  /**
   * Whether a failure means that a file is damaged, and not that Kernel does not know something.
   */
  static boolean isDamage(RuntimeException e) {
    return !(e instanceof KernelException) && LakeFailures.isDamage(e);
  }

  /**
   * Returns the file that this thread opened last, as users know it: no error of Kernel names it.
   */
  String lastOpened() {
    return shown(opened.last());
  }

  /** Returns a message of Kernel, most of which begin with the table's path. */
  private String withoutPath(RuntimeException e) {
    String message = String.valueOf(e.getMessage());
    int end = message.indexOf(": ");
    return message.startsWith(place.path().toUri().getScheme() + ":/") && end > 0
        ? message.substring(message.indexOf(": ") + 2)
        : message;
  }

  /**
   * Returns the table.
   *
   * @param where which rows are wanted; null for all
   */
  LakeTable table(@Nullable Where where) throws InputException {
    DeltaFilter filter = where == null ? null : DeltaFilter.of(place.shown(), where, fields);
    String note =
        "%s: version %s of %s (the same again: --as-of %s)"
            .formatted(
                place.shown(),
                snapshot.getVersion(),
                Instant.ofEpochMilli(timestamp()),
                snapshot.getVersion());
    List<TableFile> files = new ArrayList<>();
    for (Row file : scanFiles()) {
      if (filter == null || filter.admits(InternalScanFileUtils.getPartitionValues(file))) {
        files.add(new DeltaFile(this, file));
      }
    }
    if (files.isEmpty()) {
      files.add(new DeltaFile(this, null)); // has the columns
    }
    files.sort(Comparator.comparing(TableFile::name)); // the log's order depends on checkpoints
    return new LakeTable(files, List.of(note));
  }

  private long timestamp() throws InputException {
    try {
      return snapshot.getTimestamp(engine);
    } catch (RuntimeException e) {
      throw explain("", e);
    }
  }

  private List<Row> scanFiles() throws InputException {
    List<Row> files = new ArrayList<>();
    Scan scan = scan(fields.stream().filter(field -> !field.partition()).toList());
    try (CloseableIterator<FilteredColumnarBatch> batches = scan.getScanFiles(engine)) {
      while (batches.hasNext()) {
        try (CloseableIterator<Row> rows = batches.next().getRows()) {
          rows.forEachRemaining(files::add);
        }
      }
    } catch (IOException e) {
      throw LakeFailures.explain(place.shown(), "", e);
    } catch (RuntimeException e) {
      throw explain("", e);
    }
    return files;
  }

  private Scan scan(List<Field> read) {
    StructType schema = new StructType(read.stream().map(Field::stored).toList());
    return snapshot.getScanBuilder().withReadSchema(schema).build();
  }

  /** Returns what is read for columns, given by their indexes. */
  Projection projection(List<Integer> columns) {
    return projections.computeIfAbsent(
        columns,
        wanted -> {
          List<Field> read =
              wanted.stream().map(fields::get).filter(field -> !field.partition()).toList();
          Row state = scan(read).getScanState(engine);
          return new Projection(
              read,
              state,
              DeltaType.withTextAsBytes(ScanStateRow.getPhysicalDataReadSchema(state)));
        });
  }

  List<Field> fields() {
    return fields;
  }

  Map<String, String> unreadable() {
    return unreadable;
  }

  Engine engine() {
    return engine;
  }

  Configuration configuration() {
    return place.configuration();
  }

  String name() {
    return place.shown();
  }

  /** Returns what a file's error says of the version that needs it. */
  String words() {
    return "version " + snapshot.getVersion() + " of the table";
  }

  /** Returns the path of a file as users know it. */
  static String shown(Row file) {
    return shown(InternalScanFileUtils.getAddFileStatus(file).getPath());
  }

  private static String shown(String path) {
    return path.toLowerCase(Locale.ROOT).startsWith("file:")
        ? path.replaceFirst("(?i)^file:/*", "/")
        : path;
  }
}
