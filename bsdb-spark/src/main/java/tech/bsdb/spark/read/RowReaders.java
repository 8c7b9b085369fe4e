package tech.bsdb.spark.read;

import java.io.IOException;
import java.io.UncheckedIOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.spark.TaskContext;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.util.SerializableConfiguration;

/** Creates the readers of a query's tasks. Immutable; travels to the executors. */
final class RowReaders implements PartitionReaderFactory {
  private static final long serialVersionUID = 1L;

  private final RowPlan plan;
  private final SerializableConfiguration configuration;
  private final long cacheBytes;

  RowReaders(RowPlan plan, Configuration configuration, long cacheBytes) {
    this.plan = plan;
    this.configuration = new SerializableConfiguration(configuration);
    this.cacheBytes = cacheBytes;
  }

  @Override
  public PartitionReader<InternalRow> createReader(InputPartition split) {
    RecordRows rows = new RecordRows(plan);
    Configuration settings = configuration.value();
    TaskContext task = TaskContext.get();
    try {
      if (split instanceof KeySplit keys) {
        return new LookupReader(keys, rows, KeyCheck.of(plan), settings, cacheBytes, task).begin();
      }
      if (split instanceof RangeSplit range) {
        return range.counted()
            ? CountReader.of(range, settings, cacheBytes, task)
            : new RangeReader(range, rows, KeyCheck.of(plan), settings, cacheBytes, task);
      }
      return new ScanReader((RecordSplit) split, rows, settings, cacheBytes, task);
    } catch (IOException e) {
      throw new UncheckedIOException(String.valueOf(e.getMessage()), e);
    }
  }
}
