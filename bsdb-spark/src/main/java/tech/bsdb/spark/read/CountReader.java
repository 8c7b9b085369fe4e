package tech.bsdb.spark.read;

import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.spark.TaskContext;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.jspecify.annotations.Nullable;

/** One row, with the number of a database's keys in a range. */
final class CountReader implements PartitionReader<InternalRow> {
  private final long count;
  private int row = -1;

  private CountReader(long count) {
    this.count = count;
  }

  /** Counts the keys. */
  static CountReader of(
      RangeSplit split, Configuration configuration, long cacheBytes, @Nullable TaskContext task)
      throws IOException {
    Runnable checkRunning = task == null ? () -> {} : task::killTaskIfInterrupted;
    try (OpenShard opened =
        OpenShard.open(split.place(), configuration, cacheBytes, checkRunning)) {
      return new CountReader(opened.database().count(split.interval().range()));
    }
  }

  @Override
  public boolean next() {
    return ++row == 0;
  }

  @Override
  public InternalRow get() {
    return new GenericInternalRow(new Object[] {count});
  }

  @Override
  public void close() {}
}
