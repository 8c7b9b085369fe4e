package tech.bsdb.spark.read;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.apache.hadoop.conf.Configuration;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.connector.read.Batch;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.LocalScan;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.connector.read.Statistics;
import org.apache.spark.sql.connector.read.SupportsReportStatistics;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.util.SerializableConfiguration;
import org.jspecify.annotations.Nullable;
import tech.bsdb.ShardedBuild;
import tech.bsdb.spark.read.RecordRows.RowPlan;
import tech.bsdb.spark.read.RowReaders.KeySplit;
import tech.bsdb.spark.read.RowReaders.KeysOfShard;
import tech.bsdb.spark.read.RowReaders.RangeSplit;
import tech.bsdb.spark.read.RowReaders.RecordSplit;

/** Reads a table: all its records, or those of some keys or a range of keys. */
final class TableScan implements Scan, Batch, SupportsReportStatistics {
  /** Up to so many keys are looked up by one task. */
  private static final int FEW_KEYS = 1_000;

  /** So many parts have a sensible size, since they start at sampled records. */
  private static final int MOST_PARTS = 256;

  private final StoredTable table;
  private final RowPlan plan;
  private final @Nullable List<byte[]> keys;
  private final @Nullable RangeFilters range;
  private final Configuration configuration;
  private final long splitBytes;

  /**
   * Creates a scan.
   *
   * @param keys the keys to look up; null for others, too
   * @param range the range of keys to read; null for all keys
   * @param splitBytes the size of files that a task scans, roughly
   */
  TableScan(
      StoredTable table,
      RowPlan plan,
      @Nullable List<byte[]> keys,
      @Nullable RangeFilters range,
      Configuration configuration,
      long splitBytes) {
    this.table = table;
    this.plan = plan;
    this.keys = keys;
    this.range = range;
    this.configuration = configuration;
    this.splitBytes = splitBytes;
  }

  @Override
  public StructType readSchema() {
    return plan.columns();
  }

  @Override
  public String description() {
    String how = range == null ? ", scan of " : ", range " + range.describe() + " of ";
    return "bsdb %s%s%s"
        .formatted(
            table.describe(),
            keys == null ? how : ", lookups of " + keys.size() + " keys in ",
            table.places().size() == 1 ? "one database" : table.places().size() + " shards");
  }

  @Override
  public Batch toBatch() {
    return this;
  }

  @Override
  public Statistics estimateStatistics() {
    long all = table.records();
    long rows = keys == null ? all : Math.min(all, keys.size());
    long bytes = all == 0 ? 0 : (long) ((double) table.bytes() * rows / all);
    return new Size(OptionalLong.of(bytes), OptionalLong.of(rows));
  }

  private record Size(OptionalLong sizeInBytes, OptionalLong numRows) implements Statistics {}

  @Override
  public InputPartition[] planInputPartitions() {
    List<InputPartition> splits = new ArrayList<>();
    if (keys != null) {
      splits.addAll(lookups(keys));
    } else if (range != null) {
      for (ShardPlace place : table.places()) {
        if (place.records() > 0) {
          splits.add(new RangeSplit(place, range.interval(), false));
        }
      }
    } else {
      if (table.approximate()) {
        throw new UnsupportedOperationException(
            ("%s is approximate: it does not store its keys and cannot be scanned; ask for keys"
                    + " (WHERE %s = ...)")
                .formatted(
                    table.describe(), table.rows() == null ? StoredTable.KEY : KeyColumns.RAW));
      }
      table.places().stream()
          .filter(place -> place.records() > 0)
          .forEach(place -> splits.addAll(parts(place)));
    }
    return splits.toArray(new InputPartition[0]);
  }

  /** A database in parts that suit a task. */
  private List<InputPartition> parts(ShardPlace place) {
    long count = Math.min(MOST_PARTS, (place.bytes() + splitBytes - 1) / splitBytes);
    int parts = (int) Math.max(1, Math.min(count, place.records()));
    List<InputPartition> splits = new ArrayList<>();
    for (int part = 0; part < parts; part++) {
      splits.add(new RecordSplit(place, part, parts));
    }
    return splits;
  }

  /** One task for a few keys, otherwise one for each shard that may hold some. */
  private List<InputPartition> lookups(List<byte[]> wanted) {
    Map<Integer, ShardPlace> byNumber = new HashMap<>();
    table.places().forEach(place -> byNumber.put(place.shard(), place));
    Map<ShardPlace, List<byte[]>> byPlace = new LinkedHashMap<>();
    for (byte[] key : wanted) {
      int number =
          table.shards() == 1 ? 0 : ShardedBuild.shardOf(key, 0, key.length, table.shards());
      ShardPlace place = byNumber.get(number);
      if (place != null && place.records() > 0) { // other shards are not of this table
        byPlace.computeIfAbsent(place, none -> new ArrayList<>()).add(key);
      }
    }
    List<KeysOfShard> shards = new ArrayList<>();
    byPlace.forEach((place, some) -> shards.add(new KeysOfShard(place, some)));
    if (shards.isEmpty()) {
      return List.of();
    }
    if (wanted.size() <= FEW_KEYS) {
      return List.of(new KeySplit(shards));
    }
    List<InputPartition> splits = new ArrayList<>();
    shards.forEach(shard -> splits.add(new KeySplit(List.of(shard))));
    return splits;
  }

  @Override
  public PartitionReaderFactory createReaderFactory() {
    return new RowReaders(
        plan, new SerializableConfiguration(configuration), table.options().cacheBytes());
  }

  /** Instead of the records of a range, counts them in each database; Spark adds the numbers. */
  Scan counted(RangeFilters counted) {
    return new Counts(counted);
  }

  private final class Counts implements Scan, Batch {
    private final RangeFilters counted;

    Counts(RangeFilters counted) {
      this.counted = counted;
    }

    @Override
    public StructType readSchema() {
      return CountScan.SCHEMA;
    }

    @Override
    public String description() {
      return "bsdb " + table.describe() + ", count of the range " + counted.describe();
    }

    @Override
    public Batch toBatch() {
      return this;
    }

    /** Also databases without records: the sum of no numbers would be null. */
    @Override
    public InputPartition[] planInputPartitions() {
      return table.places().stream()
          .map(place -> new RangeSplit(place, counted.interval(), true))
          .toArray(InputPartition[]::new);
    }

    @Override
    public PartitionReaderFactory createReaderFactory() {
      return TableScan.this.createReaderFactory();
    }
  }

  /** Answers {@code COUNT(*)} with the number in the manifest. */
  static final class CountScan implements LocalScan {
    /** The column of counts. */
    static final StructType SCHEMA = new StructType().add("count(*)", DataTypes.LongType, false);

    private final StoredTable table;

    CountScan(StoredTable table) {
      this.table = table;
    }

    @Override
    public StructType readSchema() {
      return SCHEMA;
    }

    @Override
    public String description() {
      return "bsdb " + table.describe() + ", count of the manifest";
    }

    @Override
    public InternalRow[] rows() {
      return new InternalRow[] {new GenericInternalRow(new Object[] {table.records()})};
    }
  }
}
