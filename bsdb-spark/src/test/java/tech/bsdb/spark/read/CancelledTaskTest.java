package tech.bsdb.spark.read;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.spark.TaskContext;
import org.apache.spark.TaskContext$;
import org.apache.spark.TaskKilledException;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tech.bsdb.BuildOptions;
import tech.bsdb.Database;
import tech.bsdb.spark.read.RangeFilters.KeyInterval;
import tech.bsdb.spark.read.RecordRows.RowPlan;
import tech.bsdb.spark.read.RowReaders.RangeSplit;
import tech.bsdb.spark.read.RowReaders.RecordSplit;
import tech.bsdb.spark.read.ShardCache.OpenShard.ShardOpener;

/** Tasks that are cancelled while they read. */
class CancelledTaskTest {
  private static final StructType KEYS = new StructType().add("key", DataTypes.BinaryType, false);

  @TempDir Path directory;

  @Test
  void aScanEndsSoonAfterItsTask() throws Exception {
    Path database = Stored.plain(directory.resolve("db"), 10_000, BuildOptions.defaults());
    String id = Database.statistics(database).databaseId();
    ShardPlace place = new ShardPlace(database.toString(), "", id, 0, 10_000, 1);
    RecordRows rows = new RecordRows(new RowPlan(null, KEYS, List.of(), "", KEYS));
    TaskContext task = TaskContext$.MODULE$.empty();
    RecordSplit whole = new RecordSplit(place, 0, 1);
    ShardOpener opener = new ShardOpener(new Configuration(), 0, task);
    try (CursorReader reader = CursorReader.scan(whole, rows, opener)) {
      requireEnd(reader, task);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"k", "k1"})
  void aRangeEndsSoonAfterItsTask(String prefix) throws Exception {
    BuildOptions options = BuildOptions.defaults().withOrderedKeys(true);
    Path database = Stored.plain(directory.resolve("db"), 10_000, options);
    String id = Database.statistics(database).databaseId();
    ShardPlace place = new ShardPlace(database.toString(), "", id, 0, 10_000, 1);
    StructType both = KEYS.add("value", DataTypes.BinaryType, false);
    KeyInterval interval = KeyInterval.ALL.startingWith(prefix.getBytes(UTF_8));
    for (StructType columns : List.of(KEYS, both)) {
      RecordRows rows = new RecordRows(new RowPlan(null, columns, List.of(), "", both));
      TaskContext task = TaskContext$.MODULE$.empty();
      RangeSplit split = new RangeSplit(place, interval, false);
      ShardOpener opener = new ShardOpener(new Configuration(), 0, task);
      try (CursorReader reader = CursorReader.range(split, rows, null, opener)) {
        requireEnd(reader, task);
      }
    }
  }

  private static void requireEnd(ShardReader reader, TaskContext task) throws Exception {
    assertThat(reader.next()).isTrue();
    assertThat(reader.get().getBinary(0)).isNotEmpty();
    task.markInterrupted("no longer wanted");
    assertThatThrownBy(
            () -> {
              for (int i = 0; i < 1_000; i++) {
                assertThat(reader.next()).isTrue();
              }
            })
        .isInstanceOf(TaskKilledException.class);
  }
}
