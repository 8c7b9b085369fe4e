package tech.bsdb.spark.write;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.spark.SparkContext;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.functions;
import org.apache.spark.unsafe.hash.Murmur3_x86_32;
import org.apache.spark.util.SerializableConfiguration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tech.bsdb.DuplicatePolicy;
import tech.bsdb.spark.write.ShardTask.ShardResult;
import tech.bsdb.store.Pointer;
import tech.bsdb.tools.publish.BuiltSet;
import tech.bsdb.tools.publish.DistantStore;
import tech.bsdb.tools.source.DistantDirectory;
import tech.bsdb.tools.source.DistantDirectory.Entry;

/**
 * One write, on the driver: begins a version, lets tasks build and send its shards, and makes it
 * current, or removes it.
 *
 * <p>The version has a marker that names this write. A write removes those that other writes have
 * left, and their versions, so that of two writes to one store at once the later one wins and the
 * earlier one fails.
 */
final class SetWrite {
  private static final Logger LOG = LoggerFactory.getLogger(SetWrite.class);
  private static final int SHUFFLE_SEED = 42;
  private static final String MARKER_START = "spark ";

  private final SparkSession session;
  private final WriteSettings settings;
  private final Configuration hadoop;
  private final String marker;

  SetWrite(SparkSession session, WriteSettings settings, Configuration hadoop) {
    this.session = session;
    this.settings = settings;
    this.hadoop = hadoop;
    this.marker = MARKER_START + session.sparkContext().applicationId() + " " + UUID.randomUUID();
  }

  /**
   * Writes rows as a new version. If its name is that of the current version, the write was done
   * before, should what is built be the same.
   *
   * @param onlyFirst whether to refuse if the store has a version already
   */
  void run(Dataset<Row> data, boolean onlyFirst) throws IOException {
    RecordPlan plan = RecordPlan.of(data.schema(), settings);
    try (DistantDirectory directory = DistantDirectory.open(settings.path(), hadoop)) {
      DistantStore store = new DistantStore(directory, BuiltSet.attempts(directory));
      List<Entry> entries = store.entries();
      Pointer now = store.pointer();
      if (now != null && now.current().equals(settings.version())) {
        List<ShardResult> results = shards(data, plan, now.current(), null);
        if (!built(results).isIn(store, now.current())) {
          throw taken(directory, now.current());
        }
        LOG.info("{} was written before, with the same content", directory.location(now.current()));
        store.unmark(now.current());
        String before = now.chain().isEmpty() ? null : now.chain().get(0);
        end(store, directory, now.current(), before, results);
        return;
      }
      if (onlyFirst && now != null) {
        throw new IllegalArgumentException(
            directory.location("")
                + " has a version already, and nothing can be appended to it; replace it with"
                + " mode(\"overwrite\") or INSERT OVERWRITE");
      }
      String version = begin(store, directory, entries);
      List<ShardResult> results;
      Pointer before;
      try {
        results = shards(data, plan, version, marker);
        before = built(results).commit(directory, store, version, marker, any -> {});
      } catch (Exception | Error e) { // also those of Spark, which Scala does not declare
        if (abort(store, version, e)) {
          throw overtaken(directory, version, e);
        }
        throw e;
      }
      end(store, directory, version, before == null ? null : before.current(), results);
    }
  }

  private String begin(DistantStore store, DistantDirectory directory, List<Entry> entries)
      throws IOException {
    for (String left : store.unfinished(entries)) {
      String by = store.marker(left);
      if (by != null && by.startsWith(MARKER_START) && store.remove(left)) {
        LOG.warn("removed {}, which {} began and did not complete", directory.location(left), by);
      }
    }
    for (String left : store.abandoned(entries)) {
      if (store.remove(left)) {
        LOG.warn("removed {}, which holds shards without a manifest", directory.location(left));
      }
    }
    List<Entry> rest = store.entries();
    String wanted = settings.version();
    String version = wanted == null ? DistantStore.freeName(rest) : wanted;
    if (store.continues(rest, version, marker)) {
      throw new IllegalStateException(version + " was begun by this write already");
    }
    try {
      store.mark(version, marker);
    } catch (FileAlreadyExistsException e) {
      throw overtaken(directory, version, e);
    }
    return version;
  }

  // Building

  /**
   * Lets tasks build the shards.
   *
   * @param marker what the version's marker says; null if nothing is to be sent
   */
  private List<ShardResult> shards(
      Dataset<Row> data, RecordPlan plan, String version, @Nullable String marker) {
    SparkContext context = session.sparkContext();
    Broadcast<SerializableConfiguration> shared =
        JavaSparkContext.fromSparkContext(context).broadcast(new SerializableConfiguration(hadoop));
    try {
      int[] places = places(settings.shards());
      RDD<InternalRow> rows = data.queryExecution().toRdd();
      RDD<InternalRow> records =
          rows.toJavaRDD()
              .mapPartitionsWithIndex(new RecordEncoding(plan, settings, places), false)
              .rdd();
      RDD<InternalRow> routed = routed(records, plan);
      if (routed.getNumPartitions() != settings.shards()) {
        throw new IllegalStateException(
            "Spark made " + routed.getNumPartitions() + " partitions of " + settings.shards());
      }
      ShardTask task = new ShardTask(settings, plan.schema(), version, marker, shared);
      return routed.toJavaRDD().mapPartitionsWithIndex(task, true).collect();
    } finally {
      shared.unpersist();
    }
  }

  /**
   * Numbers that Spark's shuffle sends to given partitions: for each shard, the least one that goes
   * to the partition of the same number. A shuffle by a column puts a row into partition {@code
   * pmod(murmur3(column, 42), partitions)}, so the number of a shard would meet that of others in
   * one partition, and leave others empty.
   */
  private static int[] places(int shards) {
    int[] places = new int[shards];
    Arrays.fill(places, -1);
    int found = 0;
    for (int number = 0; found < shards; number++) {
      int shard = Math.floorMod(Murmur3_x86_32.hashInt(number, SHUFFLE_SEED), shards);
      if (places[shard] < 0) {
        places[shard] = number;
        found++;
      }
    }
    return places;
  }

  /** The records of each shard in the partition of its number. */
  private RDD<InternalRow> routed(RDD<InternalRow> records, RecordPlan plan) {
    // Adaptive execution would drop the partitions of a shuffle without records.
    SparkSession still = ClassicMethods.cloned(session);
    still.conf().set("spark.sql.adaptive.enabled", false);
    Dataset<Row> all = ClassicMethods.dataFrame(still, records, plan.shuffled());
    Dataset<Row> routed = all.repartition(settings.shards(), functions.col("place"));
    if (settings.sorted()) {
      routed = routed.sortWithinPartitions(order().toArray(new Column[0]));
    }
    return routed.queryExecution().toRdd();
  }

  /**
   * Rows by key, or first by a hash of it, which most comparisons get no further than; and those of
   * one key so that the one to keep is the first or the last.
   */
  private List<Column> order() {
    List<Column> order = new ArrayList<>();
    if (!settings.neighborsByKey()) {
      order.add(functions.xxhash64(functions.col("key")));
    }
    order.add(functions.col("key"));
    if (settings.onDuplicate() == DuplicatePolicy.FIRST) {
      order.add(functions.col("order").asc_nulls_last());
    } else if (settings.onDuplicate() == DuplicatePolicy.LAST) {
      order.add(functions.col("order").asc_nulls_first());
    }
    return order;
  }

  // Ending

  /**
   * Puts shards together.
   *
   * @throws IllegalArgumentException if there can be no such shards
   */
  private static BuiltSet built(List<ShardResult> results) {
    List<BuiltSet.Shard> shards = new ArrayList<>();
    for (ShardResult result : results) {
      BuiltSet.Shard shard = result.shard();
      if (shard == null) {
        throw new IllegalArgumentException(result.failure());
      }
      shards.add(shard);
    }
    return BuiltSet.of(shards);
  }

  private static FileAlreadyExistsException taken(DistantDirectory directory, String version) {
    return new FileAlreadyExistsException(
        directory.location(version),
        null,
        "a version with this name already exists, and is not what this write would store;"
            + " choose another name with .option(\"version\", NAME)");
  }

  private void end(
      DistantStore store,
      DistantDirectory directory,
      String version,
      @Nullable String before,
      List<ShardResult> results) {
    List<String> removed = settings.keep() < 0 ? List.of() : keep(store, version);
    BadRows bad = new BadRows();
    results.forEach(result -> bad.add(result.bad()));
    List<BuiltSet.Shard> shards = built(results).shards();
    new WriteReport(directory.location(""), version, before, shards, bad, removed)
        .tell(settings, hadoop);
    store.warnings().forEach(LOG::warn);
  }

  private List<String> keep(DistantStore store, String version) {
    try {
      return store.keep(version, settings.keep());
    } catch (IOException e) {
      LOG.warn("version {} is current, but not all old ones were removed", version, e);
      return List.of();
    }
  }

  /**
   * Removes a version, unless it is current.
   *
   * @return whether it is another write's by now, so that it stays
   */
  private boolean abort(DistantStore store, String version, Throwable why) {
    try {
      Pointer now = store.pointer(); // if it cannot be read, the version may be current
      if (!marker.equals(store.marker(version))) {
        return true;
      }
      if (now == null || !now.current().equals(version)) {
        boolean unused = store.remove(version);
      }
    } catch (IOException | RuntimeException e) {
      why.addSuppressed(e);
      LOG.warn("version {} was given up, but not removed; the next write removes it", version, e);
    }
    return false;
  }

  private static WriteFailedException overtaken(
      DistantDirectory directory, String version, Throwable why) {
    return new WriteFailedException(
        directory.location(version)
            + ": another write to this store began before this one had ended, and took over; this"
            + " one has no effect. Let each write end before the next begins, and repeat this one"
            + " if its rows are still wanted",
        why);
  }

  /**
   * What a write did.
   *
   * @param store the location of the store
   * @param version the name of the version
   * @param before the name of the version that was current before, or null
   * @param shards what was built
   * @param bad the rows that were left out
   * @param removed the names of old versions that were removed
   */
  private record WriteReport(
      String store,
      String version,
      @Nullable String before,
      List<BuiltSet.Shard> shards,
      BadRows bad,
      List<String> removed) {
    private static final Logger LOG = LoggerFactory.getLogger(WriteReport.class);

    /** Logs it, and writes it to a file if one is wanted; a failure to do so is logged, too. */
    void tell(WriteSettings settings, Configuration hadoop) {
      LOG.info("{}: version {} is current: {}", store, version, content());
      if (!bad.isEmpty()) {
        LOG.warn(
            "{}: version {} lacks {} rows that were left out: {}",
            store,
            version,
            bad.count(),
            bad.byReason());
      }
      String file = settings.report();
      if (file != null) {
        try {
          write(new Path(file), hadoop);
        } catch (IOException | IllegalArgumentException e) {
          LOG.warn("version {} is current, but its report was not written", version, e);
        }
      }
    }

    private void write(Path file, Configuration hadoop) throws IOException {
      byte[] json = new ObjectMapper().writeValueAsBytes(content());
      Path parent = file.getParent();
      try (DistantDirectory directory =
          DistantDirectory.open(parent == null ? "." : parent.toString(), hadoop)) {
        directory.write(file.getName(), new ByteArrayInputStream(json));
      }
    }

    private Map<String, @Nullable Object> content() {
      Map<String, @Nullable Object> content = new LinkedHashMap<>();
      content.put("store", store);
      content.put("version", version);
      content.put("previous", before);
      content.put("shards", shards.size());
      content.put("records", shards.stream().mapToLong(BuiltSet.Shard::records).sum());
      content.put("bytes", shards.stream().mapToLong(BuiltSet.Shard::bytes).sum());
      content.put(
          "duplicatesDropped", shards.stream().mapToLong(BuiltSet.Shard::duplicatesDropped).sum());
      content.put("valuesCut", shards.stream().mapToLong(BuiltSet.Shard::valuesCut).sum());
      content.put("rowsLeftOut", bad.count());
      content.put("leftOutByReason", bad.byReason());
      content.put("removed", removed);
      return content;
    }
  }
}
