package tech.bsdb.spark.read;

import java.io.IOException;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.util.List;
import org.apache.spark.TaskContext;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.util.SerializableConfiguration;
import tech.bsdb.spark.read.RangeFilters.KeyInterval;
import tech.bsdb.spark.read.RecordRows.RowPlan;
import tech.bsdb.spark.read.ShardCache.OpenShard;
import tech.bsdb.spark.read.ShardCache.OpenShard.ShardOpener;
import tech.bsdb.spark.read.ShardReader.KeyCheck;

/** What the tasks of a query read, and the readers that do. Immutable; travels to the executors. */
record RowReaders(RowPlan plan, SerializableConfiguration configuration, long cacheBytes)
    implements PartitionReaderFactory {
  /** The keys that one task looks up. */
  record KeySplit(List<KeysOfShard> shards) implements InputPartition {
    /** Copies the list. */
    KeySplit {
      shards = List.copyOf(shards);
    }
  }

  /** The keys of a split that belong to one database. */
  record KeysOfShard(ShardPlace place, List<byte[]> keys) implements Serializable {
    /** Copies the list. */
    KeysOfShard {
      keys = List.copyOf(keys);
    }
  }

  /**
   * The records of a database that one task scans.
   *
   * @param place the database
   * @param part the number of the part of its records, from 0
   * @param parts the number of parts
   */
  record RecordSplit(ShardPlace place, int part, int parts) implements InputPartition {}

  /**
   * The range of a database that one task reads.
   *
   * @param place the database
   * @param interval the range
   * @param counted whether only the number of its keys is wanted
   */
  record RangeSplit(ShardPlace place, KeyInterval interval, boolean counted)
      implements InputPartition {}

  @Override
  public PartitionReader<InternalRow> createReader(InputPartition split) {
    ShardOpener opener = new ShardOpener(configuration.value(), cacheBytes, TaskContext.get());
    RecordRows rows = new RecordRows(plan);
    try {
      if (split instanceof KeySplit keys) {
        return new LookupReader(keys, rows, KeyCheck.of(plan), opener).begin();
      }
      if (split instanceof RangeSplit range) {
        return range.counted()
            ? count(range, opener)
            : CursorReader.range(range, rows, KeyCheck.of(plan), opener);
      }
      return CursorReader.scan((RecordSplit) split, rows, opener);
    } catch (IOException e) {
      throw new UncheckedIOException(String.valueOf(e.getMessage()), e);
    }
  }

  /** One row, with the number of a database's keys in a range. */
  private static PartitionReader<InternalRow> count(RangeSplit split, ShardOpener opener)
      throws IOException {
    long count;
    try (OpenShard opened = opener.open(split.place())) {
      count = opened.database().count(split.interval().range());
    }
    return new PartitionReader<>() {
      private int row = -1;

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
    };
  }
}
