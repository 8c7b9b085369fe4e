package tech.bsdb.spark.read;

import org.apache.hadoop.conf.Configuration;
import org.apache.spark.sql.connector.read.Batch;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.types.StructType;

/** Counts the keys of a range in each shard, from the order of the keys; Spark adds the numbers. */
final class RangeCountScan implements Scan, Batch {
  private final StoredTable table;
  private final RowPlan plan;
  private final RangeFilters range;
  private final Configuration configuration;

  RangeCountScan(StoredTable table, RowPlan plan, RangeFilters range, Configuration configuration) {
    this.table = table;
    this.plan = plan;
    this.range = range;
    this.configuration = configuration;
  }

  @Override
  public StructType readSchema() {
    return CountScan.SCHEMA;
  }

  @Override
  public String description() {
    return "bsdb " + table.describe() + ", count of the range " + range.describe();
  }

  @Override
  public Batch toBatch() {
    return this;
  }

  /** Also databases without records: the sum of no numbers would be null. */
  @Override
  public InputPartition[] planInputPartitions() {
    return table.places().stream()
        .map(place -> new RangeSplit(place, range.interval(), true))
        .toArray(InputPartition[]::new);
  }

  @Override
  public PartitionReaderFactory createReaderFactory() {
    return new RowReaders(plan, configuration, table.options().cacheBytes());
  }
}
