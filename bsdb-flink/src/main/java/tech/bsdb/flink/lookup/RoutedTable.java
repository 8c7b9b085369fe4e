package tech.bsdb.flink.lookup;

import java.util.Optional;
import org.apache.flink.table.connector.source.abilities.SupportsLookupCustomShuffle;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.types.DataType;
import org.jspecify.annotations.Nullable;
import tech.bsdb.ShardedBuild;
import tech.bsdb.flink.lookup.LookupTable.LookupPlan;
import tech.bsdb.flink.rows.KeyWriter;
import tech.bsdb.tools.rows.BadRowException;

/**
 * A table whose rows go to the subtask of their shard, if a query has the hint {@code
 * LOOKUP('table'='users', 'shuffle'='true')} (FLIP-462). Each subtask then reads its part of the
 * shards only, however many there are: a subtask has a range of the key slots that a set divides
 * among its shards. The one class that Flink 1 cannot load.
 */
final class RoutedTable extends LookupTable implements SupportsLookupCustomShuffle {
  private @Nullable LookupPlan plan;

  RoutedTable(LookupSettings settings, boolean async, DataType columns) {
    super(settings, async, columns);
  }

  @Override
  public LookupRuntimeProvider getLookupRuntimeProvider(LookupContext context) {
    plan = plan(context.getKeys());
    return super.getLookupRuntimeProvider(context);
  }

  @Override
  public Optional<InputDataPartitioner> getPartitioner() {
    return Optional.ofNullable(plan).map(ByShard::new);
  }

  /** Routes the rows that are looked up by the slots of their keys. */
  private static final class ByShard implements InputDataPartitioner {
    private static final long serialVersionUID = 1L;

    private final LookupPlan plan;
    private transient @Nullable KeyWriter keys;

    ByShard(LookupPlan plan) {
      this.plan = plan;
    }

    @Override
    public int partition(RowData asked, int partitions) {
      KeyWriter writer = keys;
      if (writer == null) {
        writer = plan.keyWriter();
        keys = writer;
      }
      try {
        byte[] key = writer.write(asked);
        return key == null ? 0 : ShardedBuild.shardOf(key, 0, key.length, partitions);
      } catch (BadRowException e) {
        return 0; // the lookup tells
      }
    }
  }
}
