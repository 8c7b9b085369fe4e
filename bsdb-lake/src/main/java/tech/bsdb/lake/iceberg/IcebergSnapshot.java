package tech.bsdb.lake.iceberg;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeSet;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.iceberg.BaseTable;
import org.apache.iceberg.FileScanTask;
import org.apache.iceberg.HasTableOperations;
import org.apache.iceberg.ManifestContent;
import org.apache.iceberg.ManifestFile;
import org.apache.iceberg.ManifestFiles;
import org.apache.iceberg.Snapshot;
import org.apache.iceberg.StaticTableOperations;
import org.apache.iceberg.Table;
import org.apache.iceberg.TableMetadata;
import org.apache.iceberg.TableProperties;
import org.apache.iceberg.TableScan;
import org.apache.iceberg.exceptions.NotFoundException;
import org.apache.iceberg.exceptions.RuntimeIOException;
import org.apache.iceberg.hadoop.HadoopFileIO;
import org.apache.iceberg.hadoop.HadoopTables;
import org.apache.iceberg.io.CloseableIterable;
import org.apache.iceberg.mapping.NameMapping;
import org.apache.iceberg.mapping.NameMappingParser;
import org.apache.iceberg.types.Types.NestedField;
import org.jspecify.annotations.Nullable;
import tech.bsdb.lake.AsOf;
import tech.bsdb.lake.LakeFailures;
import tech.bsdb.lake.LakeTable;
import tech.bsdb.tools.input.InputException;
import tech.bsdb.tools.source.HadoopPlace;
import tech.bsdb.tools.table.TableFile;
import tech.bsdb.tools.where.Where;

/** A snapshot of an Iceberg table. Thread-safe. */
final class IcebergSnapshot {
  private static final String HINT = "version-hint.text";

  /** Of a message. */
  private static final int MOST_SNAPSHOTS = 10;

  private final HadoopPlace place;
  private final Table table;
  private final TableScan scan;
  private final List<NestedField> fields = new ArrayList<>();
  private final Map<String, String> unreadable = new LinkedHashMap<>();
  private final @Nullable NameMapping nameMapping;

  /**
   * Opens a snapshot.
   *
   * @param asOf which one; null for the current one
   * @param where which rows are wanted; null for all
   * @throws InputException if there is none, or it cannot be read
   */
  IcebergSnapshot(HadoopPlace place, @Nullable AsOf asOf, @Nullable Where where)
      throws InputException {
    this.place = place;
    try {
      this.table = loaded();
      checkEncryption();
      TableScan all = scan(asOf);
      this.scan =
          where == null ? all : all.filter(new IcebergFilter(all.schema()).of(where.condition()));
      for (NestedField field : scan.schema().columns()) {
        Optional<String> what = IcebergType.unreadable(field.type());
        if (what.isEmpty()) {
          fields.add(field);
        } else {
          unreadable.put(field.name(), what.get());
        }
      }
      String mapping = table.properties().get(TableProperties.DEFAULT_NAME_MAPPING);
      this.nameMapping = mapping == null ? null : NameMappingParser.fromJson(mapping);
    } catch (IOException | RuntimeException e) {
      throw LakeFailures.explain(place.shown(), String.valueOf(e.getMessage()), e);
    }
  }

  private Table loaded() throws IOException {
    try {
      return load();
    } catch (RuntimeIOException e) {
      if (LakeFailures.isDamage(e)) {
        String which = place.directory() ? "/metadata/ (its newest *.metadata.json)" : "";
        throw LakeFailures.damaged(place.shown() + which, "the table", "name an older one (-i)", e);
      }
      throw e;
    }
  }

  private Table load() throws IOException {
    if (!place.directory()) {
      requireMetadata(place.path().getName());
      return new BaseTable(
          new StaticTableOperations(
              place.path().toString(), new HadoopFileIO(place.configuration())),
          place.shown());
    }
    List<String> names = metadata();
    if (!names.contains(HINT)) {
      throw withoutHint(names);
    }
    return new HadoopTables(place.configuration()).load(place.path().toString());
  }

  private void requireMetadata(String name) throws InputException {
    if (!isMetadata(name)) {
      throw new InputException(
          place.shown()
              + ": is not an Iceberg table: name its directory, or a file of its metadata, such as"
              + " metadata/00003-....metadata.json");
    }
  }

  private static boolean isMetadata(String name) {
    return name.endsWith(".metadata.json") || name.endsWith(".metadata.json.gz");
  }

  /** Returns the names in the directory of the metadata. */
  private List<String> metadata() throws IOException {
    Path directory = new Path(place.path(), "metadata");
    FileSystem fileSystem = directory.getFileSystem(place.configuration());
    try {
      return Arrays.stream(fileSystem.listStatus(directory))
          .map(FileStatus::getPath)
          .map(Path::getName)
          .sorted()
          .toList();
    } catch (FileNotFoundException none) {
      throw LakeFailures.noTable(
          place, "an Iceberg table", "metadata", "it has no directory named metadata", none);
    }
  }

  /**
   * The table of a catalog, which alone knows the current metadata: the newest may be of no commit.
   */
  private InputException withoutHint(List<String> names) {
    List<String> files = names.stream().filter(IcebergSnapshot::isMetadata).toList();
    return new InputException(
        files.isEmpty()
            ? place.shown() + ": is not an Iceberg table: metadata has no *.metadata.json"
            : ("%s: is the table of a catalog (metadata has no %s), and only the catalog knows"
                    + " which metadata is current: name the file that it has as metadata_location"
                    + " (Spark, Trino: the newest row of the table's metadata_log_entries), such as"
                    + " -i %s/metadata/%s")
                .formatted(place.shown(), HINT, place.shown(), files.get(files.size() - 1)));
  }

  private void checkEncryption() throws InputException {
    TableMetadata metadata = ((HasTableOperations) table).operations().current();
    String key = table.properties().get(TableProperties.ENCRYPTION_TABLE_KEY);
    if (key != null || !metadata.encryptionKeys().isEmpty()) {
      throw encrypted(place.shown(), key == null ? "" : " (" + key + ")");
    }
  }

  static InputException encrypted(String name, String key) {
    return new InputException(
        name + ": is encrypted" + key + ", and bsdb has no access to the keys of tables");
  }

  private TableScan scan(@Nullable AsOf asOf) throws InputException {
    TableScan current = table.newScan();
    if (asOf == null) {
      return current;
    }
    OptionalLong id = asOf.number();
    if (id.isPresent() && table.snapshot(id.getAsLong()) != null) {
      return current.useSnapshot(id.getAsLong());
    }
    if (table.refs().containsKey(asOf.text())) {
      return current.useRef(asOf.text());
    }
    Optional<Instant> time = asOf.time();
    if (time.isEmpty()) {
      throw noSnapshot(asOf, "is no snapshot, branch or tag of the table, and no time");
    }
    if (table.history().stream()
        .noneMatch(entry -> entry.timestampMillis() <= time.get().toEpochMilli())) {
      throw noSnapshot(asOf, "is before the first snapshot of the table");
    }
    return current.asOfTime(time.get().toEpochMilli());
  }

  private InputException noSnapshot(AsOf asOf, String why) {
    List<Snapshot> snapshots = new ArrayList<>();
    table.snapshots().forEach(snapshots::add);
    Collections.reverse(snapshots);
    List<String> listed =
        snapshots.stream()
            .limit(MOST_SNAPSHOTS)
            .map(each -> each.snapshotId() + " of " + time(each))
            .toList();
    return new InputException(
        "%s: %s %s (%s: %s%s; branches and tags: %s)"
            .formatted(
                place.shown(),
                asOf,
                why,
                "snapshots",
                listed.isEmpty() ? "none" : String.join(", ", listed),
                snapshots.size() > MOST_SNAPSHOTS ? ", and older ones" : "",
                table.refs().isEmpty()
                    ? "none"
                    : String.join(", ", new TreeSet<>(table.refs().keySet()))));
  }

  private static Instant time(Snapshot snapshot) {
    return Instant.ofEpochMilli(snapshot.timestampMillis());
  }

  /** Returns the table. */
  LakeTable table() throws InputException {
    Snapshot snapshot = scan.snapshot();
    String note =
        snapshot == null
            ? place.shown() + ": a table without snapshots"
            : "%s: snapshot %s of %s (the same again: --as-of %s)"
                .formatted(
                    place.shown(), snapshot.snapshotId(), time(snapshot), snapshot.snapshotId());
    List<TableFile> files = new ArrayList<>();
    for (FileScanTask task : tasks()) {
      files.add(new IcebergFile(this, task));
    }
    if (files.isEmpty()) {
      files.add(new IcebergFile(this, null)); // has the columns
    }
    files.sort(Comparator.comparing(TableFile::name)); // plans are made in parallel
    return new LakeTable(files, List.of(note));
  }

  private List<FileScanTask> tasks() throws InputException {
    List<FileScanTask> tasks = new ArrayList<>();
    try (CloseableIterable<FileScanTask> planned = scan.planFiles()) {
      planned.forEach(tasks::add);
    } catch (IOException | RuntimeException e) {
      RuntimeException failure =
          e instanceof IOException io ? new UncheckedIOException(io) : (RuntimeException) e;
      String name = LakeFailures.isDamage(failure) ? damagedManifest() : place.shown();
      throw missing(name, failure);
    }
    return tasks;
  }

  /** Returns the file that cannot be read, which no error of a plan names; else the table. */
  private String damagedManifest() {
    Snapshot snapshot = scan.snapshot();
    String reading = snapshot.manifestListLocation();
    try {
      for (ManifestFile manifest : snapshot.allManifests(table.io())) {
        reading = manifest.path();
        try (CloseableIterable<?> entries =
            manifest.content() == ManifestContent.DATA
                ? ManifestFiles.read(manifest, table.io(), table.specs())
                : ManifestFiles.readDeleteManifest(manifest, table.io(), table.specs())) {
          entries.forEach(entry -> {});
        }
      }
    } catch (IOException | RuntimeException e) {
      return reading;
    }
    return place.shown();
  }

  /** Explains why a file cannot be read. */
  InputException missing(String name, RuntimeException failure) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause instanceof NotFoundException || cause instanceof FileNotFoundException) {
        return new InputException(
            ("%s: cannot be read, because a file that the snapshot needs is missing (%s): if the"
                    + " table was moved or copied from %s, its metadata still names the files there"
                    + " (Spark's rewrite_table_path changes that); if not, the snapshot has expired,"
                    + " so build from a newer one")
                .formatted(name, cause.getMessage(), table.location()),
            failure);
      }
    }
    return LakeFailures.isDamage(failure)
        ? LakeFailures.damaged(name, "the snapshot", LakeFailures.ANOTHER_VERSION, failure)
        : LakeFailures.explain(name, String.valueOf(failure.getMessage()), failure);
  }

  /** Returns the columns that can be read. */
  List<NestedField> fields() {
    return fields;
  }

  Map<String, String> unreadable() {
    return unreadable;
  }

  /** Returns a column by its id, also one that is no longer in the schema: deletes may name it. */
  @Nullable NestedField field(int id) {
    NestedField field = scan.schema().findField(id);
    return field != null
        ? field
        : table.schemas().values().stream()
            .map(schema -> schema.findField(id))
            .filter(found -> found != null)
            .findFirst()
            .orElse(null);
  }

  /**
   * Returns the ids of columns in files that have none, by name; null if there are no such files.
   */
  @Nullable NameMapping nameMapping() {
    return nameMapping;
  }

  Table source() {
    return table;
  }

  String name() {
    return place.shown();
  }
}
