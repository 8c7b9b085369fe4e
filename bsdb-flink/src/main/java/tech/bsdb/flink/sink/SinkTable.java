package tech.bsdb.flink.sink;

import java.time.Instant;
import java.util.UUID;
import org.apache.flink.api.common.functions.Partitioner;
import org.apache.flink.api.common.typeinfo.PrimitiveArrayTypeInfo;
import org.apache.flink.api.java.functions.KeySelector;
import org.apache.flink.api.java.tuple.Tuple3;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.DataStreamSink;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.table.api.ValidationException;
import org.apache.flink.table.connector.ChangelogMode;
import org.apache.flink.table.connector.ProviderContext;
import org.apache.flink.table.connector.sink.DataStreamSinkProvider;
import org.apache.flink.table.connector.sink.DynamicTableSink;
import org.apache.flink.table.connector.sink.abilities.SupportsOverwrite;
import org.apache.flink.table.data.RowData;
import org.apache.flink.types.RowKind;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tech.bsdb.DuplicatePolicy;
import tech.bsdb.store.VersionName;

/**
 * A table that is written: {@code INSERT OVERWRITE} replaces its rows, {@code INSERT INTO} adds to
 * them by their keys. A batch publishes one version; a stream, one at each checkpoint with changes.
 */
public final class SinkTable implements DynamicTableSink, SupportsOverwrite {
  private static final Logger LOG = LoggerFactory.getLogger(SinkTable.class);

  /** Tells writes of one second apart. */
  private static final int NAME_DIGITS = 6;

  private final SinkSettings settings;
  private final @Nullable Boolean failOnDuplicates;
  private boolean overwrite;

  /**
   * Creates a table.
   *
   * @param failOnDuplicates whether several rows with one key fail the write, as those of a batch
   *     do; else the last stays, as that of a stream does; null if users did not say
   */
  public SinkTable(SinkSettings settings, @Nullable Boolean failOnDuplicates) {
    this.settings = settings;
    this.failOnDuplicates = failOnDuplicates;
  }

  @Override
  public ChangelogMode getChangelogMode(ChangelogMode requested) {
    ChangelogMode.Builder mode = ChangelogMode.newBuilder().addContainedKind(RowKind.INSERT);
    if (!requested.containsOnly(RowKind.INSERT)) {
      mode.addContainedKind(RowKind.UPDATE_AFTER).addContainedKind(RowKind.DELETE);
    }
    return mode.build();
  }

  @Override
  public void applyOverwrite(boolean replaced) {
    overwrite = replaced;
  }

  @Override
  public SinkRuntimeProvider getSinkRuntimeProvider(Context context) {
    boolean bounded = context.isBounded();
    if (overwrite && !bounded) {
      throw new ValidationException(
          "INSERT OVERWRITE needs the batch mode (SET 'execution.runtime-mode' = 'batch'): a"
              + " stream never has all rows");
    }
    if (Boolean.TRUE.equals(failOnDuplicates) && !bounded) {
      throw new ValidationException(
          "'sink.duplicates' = 'error' needs the batch mode: in a stream, a later row of a key"
              + " replaces the earlier one");
    }
    boolean last = !bounded || Boolean.FALSE.equals(failOnDuplicates);
    DuplicatePolicy duplicates = last ? DuplicatePolicy.LAST : DuplicatePolicy.ERROR;
    boolean merged = !overwrite;
    return new DataStreamSinkProvider() {
      @Override
      public DataStreamSink<?> consumeDataStream(ProviderContext named, DataStream<RowData> rows) {
        return write(settings, merged, bounded, duplicates, named, rows);
      }
    };
  }

  private static DataStreamSink<?> write(
      SinkSettings settings,
      boolean merged,
      boolean bounded,
      DuplicatePolicy duplicates,
      ProviderContext named,
      DataStream<RowData> rows) {
    boolean checkpointed =
        !bounded && rows.getExecutionEnvironment().getCheckpointConfig().isCheckpointingEnabled();
    if (!bounded && !checkpointed) {
      LOG.warn(
          "{}: no checkpoints are taken, so that a version is published only when the input ends;"
              + " SET 'execution.checkpointing.interval' = '1 min' publishes one each minute",
          settings.path());
    }
    String id = UUID.randomUUID().toString();
    WritePlan plan =
        new WritePlan(
            settings,
            VersionName.ofTime(Instant.now()) + "-" + id.substring(0, NAME_DIGITS),
            WritePlan.MARKER_START + id,
            bounded,
            merged,
            duplicates,
            checkpointed);
    int parallelism = Math.min(settings.shards(), rows.getParallelism());
    SingleOutputStreamOperator<Tuple3<Integer, byte[], byte[]>> changes =
        rows.flatMap(new RecordEncoder(settings))
            .returns(RecordEncoder.type())
            .setParallelism(rows.getParallelism());
    SingleOutputStreamOperator<byte[]> reports =
        changes
            .partitionCustom(new ToSubtask(), new ShardOf())
            .transform(
                "build shards",
                PrimitiveArrayTypeInfo.BYTE_PRIMITIVE_ARRAY_TYPE_INFO,
                new ShardWriter(plan))
            .setParallelism(parallelism);
    SingleOutputStreamOperator<Void> published =
        reports
            .global()
            .transform(
                "publish", org.apache.flink.api.common.typeinfo.Types.VOID, new Publisher(plan))
            .setParallelism(1)
            .setMaxParallelism(1);
    named.generateUid("bsdb-encode").ifPresent(changes::uid);
    named.generateUid("bsdb-build").ifPresent(reports::uid);
    named.generateUid("bsdb-publish").ifPresent(published::uid);
    DataStreamSink<Void> ended =
        published.sinkTo(new DiscardingSink<>()).name("bsdb " + settings.path()).setParallelism(1);
    named.generateUid("bsdb-end").ifPresent(ended::uid);
    return ended;
  }

  @Override
  public DynamicTableSink copy() {
    SinkTable copy = new SinkTable(settings, failOnDuplicates);
    copy.overwrite = overwrite;
    return copy;
  }

  @Override
  public String asSummaryString() {
    return "bsdb " + settings.path();
  }

  /** The shard of a change. */
  private static final class ShardOf
      implements KeySelector<Tuple3<Integer, byte[], byte[]>, Integer> {
    private static final long serialVersionUID = 1L;

    @Override
    public Integer getKey(Tuple3<Integer, byte[], byte[]> change) {
      return change.f0 < 0 ? ~change.f0 : change.f0;
    }
  }

  /** The subtask of a shard. */
  private static final class ToSubtask implements Partitioner<Integer> {
    private static final long serialVersionUID = 1L;

    @Override
    public int partition(Integer shard, int subtasks) {
      return shard % subtasks;
    }
  }
}
