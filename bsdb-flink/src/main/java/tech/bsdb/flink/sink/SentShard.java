package tech.bsdb.flink.sink;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tech.bsdb.BuildListener;
import tech.bsdb.BuildOptions;
import tech.bsdb.BuildReport;
import tech.bsdb.Database;
import tech.bsdb.DatabaseBuilder;
import tech.bsdb.RecordBatch;
import tech.bsdb.flink.sink.ShardReport.Origin;
import tech.bsdb.tools.publish.BuiltSet;
import tech.bsdb.tools.source.DistantDirectory;
import tech.bsdb.transfer.Download;
import tech.bsdb.transfer.Shipment;
import tech.bsdb.transfer.TransferOptions;

/**
 * One shard of a subtask: where its last version is, a copy of it here once it is needed, and the
 * build of the next one once there are changes. Not thread-safe.
 */
final class SentShard implements Closeable {
  private static final long BATCH_BYTES = 1 << 20;

  private final WritePlan plan;
  private final int number;
  private final Path work;
  private @Nullable Origin origin;
  private BuiltSet.@Nullable Shard shard;
  private @Nullable Path here;
  private @Nullable Database base;
  private @Nullable DatabaseBuilder builder;
  private @Nullable RecordBatch batch;
  private int builds;

  /**
   * Creates a shard.
   *
   * @param origin where it is; null if it has to be built first
   * @param shard what is known of its files; null if it was there when the job began
   * @param work a directory of this shard alone
   */
  SentShard(
      WritePlan plan,
      int number,
      @Nullable Origin origin,
      BuiltSet.@Nullable Shard shard,
      Path work)
      throws IOException {
    this.plan = plan;
    this.number = number;
    this.origin = origin;
    this.shard = shard;
    this.work = Files.createDirectories(work);
  }

  /** Whether a new version differs from the last. */
  boolean isChanged() {
    return builder != null || origin == null;
  }

  @Nullable Origin origin() {
    return origin;
  }

  BuiltSet.@Nullable Shard shard() {
    return shard;
  }

  /** Takes a record, or with a null value the deletion of a key. */
  void change(DistantDirectory store, byte[] key, byte @Nullable [] value) throws IOException {
    DatabaseBuilder building = builder;
    if (building == null) {
      building = begin(store);
    }
    RecordBatch records = batch;
    if (records == null) {
      records = building.newBatch();
      batch = records;
    }
    if (value != null) {
      records.add(key, 0, key.length, value, 0, value.length);
    } else {
      records.delete(key, 0, key.length);
    }
    if (records.bytes() >= BATCH_BYTES) {
      building.add(records);
      records.clear();
    }
  }

  private DatabaseBuilder begin(DistantDirectory store) throws IOException {
    Path target = work.resolve("build-" + ++builds);
    BuildListener listener = (stage, done, total) -> {};
    DatabaseBuilder begun;
    if (origin == null && !plan.merged()) {
      begun = DatabaseBuilder.create(target, options(), listener);
    } else { // keys may be deleted, which needs a base, even if it is empty
      Database opened = Database.open(here(store));
      base = opened;
      begun = DatabaseBuilder.from(opened, target, limited(BuildOptions.of(opened)), listener);
    }
    builder = begun;
    return begun;
  }

  /** The options of the build of this shard without a base. */
  private BuildOptions options() {
    return limited(plan.settings().build(number));
  }

  private BuildOptions limited(BuildOptions build) {
    return build
        .withMemoryBytes(plan.settings().memoryBytes())
        .withThreads(1)
        .withTemporaryDirectory(work)
        .withDuplicates(plan.duplicates());
  }

  /** The directory of the last version here, which is brought if it is elsewhere. */
  private Path here(DistantDirectory store) throws IOException {
    Path found = here;
    if (found == null) {
      Origin last = origin;
      found = last == null ? empty() : brought(store, last);
      here = found;
    }
    return found;
  }

  private Path empty() throws IOException {
    Path target = work.resolve("empty");
    try (DatabaseBuilder builder = DatabaseBuilder.create(target, options())) {
      Object unused = builder.finish();
    }
    return target;
  }

  private Path brought(DistantDirectory store, Origin last) throws IOException {
    try {
      return download(store, last);
    } catch (NoSuchFileException removed) {
      // The version may have given way to newer ones, which have the same shard.
      Origin newer = ShardWriter.Base.current(store).shards().get(number);
      if (newer == null || !newer.databaseId().equals(last.databaseId())) {
        throw removed;
      }
      return download(store, newer);
    }
  }

  private Path download(DistantDirectory store, Origin from) throws IOException {
    Shipment.Part part = new Shipment.Part(from.databaseId(), "");
    Shipment shipment =
        new Shipment(
            from.directory(), from.databaseId(), from.records(), new byte[0], List.of(part));
    Path staging = work.resolve("base");
    Download download =
        new Download(store, shipment, staging, TransferOptions.defaults(), () -> {});
    download.run(List.of(), List.of());
    return download.directory(part);
  }

  /**
   * Builds and sends what has changed.
   *
   * @param version the version that it belongs to
   * @throws tech.bsdb.error.DuplicateKeyException if a key occurs more than once, and must not
   */
  void send(DistantDirectory store, String version, String marker, int threads) throws IOException {
    DatabaseBuilder existing = builder;
    DatabaseBuilder building = existing == null ? begin(store) : existing;
    RecordBatch records = batch;
    if (records != null) {
      building.add(records);
      batch = null;
    }
    BuildReport report = building.finish();
    endBuild();
    Path built = work.resolve("build-" + builds);
    BuiltSet.Shard made = BuiltSet.Shard.of(number, plan.settings().shards(), built, report);
    made.send(built, store, version, marker, threads, attempts -> {});
    Path old = here;
    here = built;
    shard = made;
    origin = new Origin(version, made.directory(version), made.databaseId(), made.records());
    if (old != null) {
      ShardWriter.remove(old);
    }
  }

  private void endBuild() throws IOException {
    DatabaseBuilder building = builder;
    Database from = base;
    builder = null;
    base = null;
    try {
      if (building != null) {
        building.close();
      }
    } finally {
      if (from != null) {
        from.close();
      }
    }
  }

  /** Gives up what was not sent. */
  @Override
  public void close() throws IOException {
    batch = null;
    endBuild();
  }
}
