package tech.bsdb.spark.write;

import java.io.File;
import java.io.IOException;
import java.io.Serializable;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.TaskKilledException;
import org.apache.spark.api.java.function.Function2;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.executor.CommitDeniedException;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.unsafe.Platform;
import org.apache.spark.unsafe.types.UTF8String;
import org.apache.spark.util.SerializableConfiguration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tech.bsdb.BuildListener;
import tech.bsdb.BuildOptions;
import tech.bsdb.BuildReport;
import tech.bsdb.DatabaseBuilder;
import tech.bsdb.RecordBatch;
import tech.bsdb.error.DuplicateKeyException;
import tech.bsdb.tools.publish.Attempts;
import tech.bsdb.tools.publish.BuiltSet;
import tech.bsdb.tools.source.DistantDirectory;

/**
 * Builds the shard of a partition on a local disk, and sends it to the store. Several attempts may
 * build the same shard; only the one that Spark's commit coordinator admits sends it.
 *
 * @param schema the schema of the rows, or null
 * @param version the name of the version
 * @param marker what its marker says, as long as it may be written to; null if nothing is to be
 *     sent
 * @param configuration that of Hadoop
 */
record ShardTask(
    WriteSettings settings,
    @Nullable String schema,
    String version,
    @Nullable String marker,
    Broadcast<SerializableConfiguration> configuration)
    implements Function2<Integer, Iterator<InternalRow>, Iterator<ShardTask.ShardResult>> {
  private static final Logger LOG = LoggerFactory.getLogger(ShardTask.class);
  private static final long BATCH_BYTES = 1 << 20;

  @Override
  public Iterator<ShardResult> call(Integer shard, Iterator<InternalRow> rows) throws Exception {
    TaskContext context = TaskContext.get();
    Path work = Files.createTempDirectory(localDirectory(shard), "bsdb-shard-" + shard + "-");
    try {
      return List.of(build(shard, rows, work, context)).iterator();
    } catch (CancellationException e) {
      context.killTaskIfInterrupted();
      throw e;
    } finally {
      remove(work);
    }
  }

  /** The directory of the user, or one of Spark's, which may be on several disks. */
  private Path localDirectory(int shard) throws IOException {
    String given = settings.temporaryDirectory();
    if (given != null) {
      return Files.createDirectories(Path.of(given));
    }
    File[] own = SparkEnv.get().blockManager().diskBlockManager().localDirs();
    return own[shard % own.length].toPath();
  }

  private static void remove(Path directory) {
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    } catch (IOException e) {
      LOG.warn("{} could not be removed: {}", directory, e.toString());
    }
  }

  private ShardResult build(int shard, Iterator<InternalRow> rows, Path work, TaskContext context)
      throws IOException, CommitDeniedException {
    Path target = work.resolve("shard");
    BuildOptions options = settings.build(shard, schema, context.cpus(), work);
    BadRows bad = new BadRows();
    BuildReport report;
    BuildListener listener = (stage, done, total) -> checkNotKilled(context);
    try (DatabaseBuilder builder = DatabaseBuilder.create(target, options, listener)) {
      add(rows, builder, bad);
      report = builder.finish();
    } catch (DuplicateKeyException e) {
      return new ShardResult(
          null,
          bad,
          "the key "
              + DuplicateKeyException.show(e.key())
              + " occurs more than once; .option(\"onDuplicate\", \"last\") with"
              + " .option(\"orderBy\", COLUMN) keeps one of such rows");
    }
    LOG.info("built shard {} of {}: {} records", shard, settings.shards(), report.records());
    requireCommit(context);
    return result(shard, target, report, bad, context);
  }

  private static void checkNotKilled(TaskContext context) {
    if (context.isInterrupted()) {
      throw new TaskKilledException("the task was killed while it built a shard");
    }
  }

  private static void add(Iterator<InternalRow> rows, DatabaseBuilder builder, BadRows bad)
      throws IOException {
    RecordBatch batch = builder.newBatch();
    Cell key = new Cell();
    Cell value = new Cell();
    while (rows.hasNext()) {
      InternalRow row = rows.next();
      if (row.isNullAt(1)) {
        bad.add(BadRows.decode(row.getBinary(3)));
        continue;
      }
      key.take(row, 1);
      value.take(row, 3);
      batch.add(key.bytes, 0, key.length, value.bytes, 0, value.length);
      if (batch.bytes() >= BATCH_BYTES) {
        builder.add(batch);
        batch.clear();
      }
    }
    builder.add(batch);
  }

  /** A copy of bytes in a row of Spark's binary form, in memory that is used again. */
  private static final class Cell {
    private byte[] bytes = new byte[1 << 10];
    private int length;

    void take(InternalRow row, int ordinal) {
      UTF8String at = row.getUTF8String(ordinal); // any bytes, without a copy
      length = at.numBytes();
      if (length > bytes.length) {
        bytes = new byte[Math.max(length, (int) Math.min(2L * bytes.length, 1 << 30))];
      }
      at.writeToMemory(bytes, Platform.BYTE_ARRAY_OFFSET);
    }
  }

  /** Fails unless this attempt may send the shard: at any time, only one of them may. */
  private static void requireCommit(TaskContext context) throws CommitDeniedException {
    boolean admitted =
        SparkEnv.get()
            .outputCommitCoordinator()
            .canCommit(
                context.stageId(),
                context.stageAttemptNumber(),
                context.partitionId(),
                context.attemptNumber());
    if (!admitted) {
      throw new CommitDeniedException(
          "another attempt sends shard " + context.partitionId(),
          context.stageId(),
          context.partitionId(),
          context.attemptNumber());
    }
  }

  private ShardResult result(
      int shard, Path built, BuildReport report, BadRows bad, TaskContext context)
      throws IOException {
    BuiltSet.Shard described = BuiltSet.Shard.of(shard, settings.shards(), built, report);
    if (marker != null) {
      Configuration hadoop = configuration.value().value();
      try (DistantDirectory store = DistantDirectory.open(settings.path(), hadoop)) {
        described.send(
            built,
            store,
            version,
            marker,
            settings.numbers().uploadThreads(),
            attempts -> stopIfKilled(attempts, context));
      }
    }
    return new ShardResult(described, bad, null);
  }

  private static void stopIfKilled(Attempts attempts, TaskContext context) {
    if (context.isInterrupted()) {
      attempts.stop();
    }
  }

  /**
   * What the task of a shard tells the driver.
   *
   * @param shard the shard; null after a failure
   * @param bad the bad rows that this shard was told of
   * @param failure why there can be no such shard, so that another attempt would fail alike; or
   *     null
   */
  record ShardResult(BuiltSet.@Nullable Shard shard, BadRows bad, @Nullable String failure)
      implements Serializable {}
}
