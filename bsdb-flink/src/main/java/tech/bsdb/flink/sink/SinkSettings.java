package tech.bsdb.flink.sink;

import java.io.Serializable;
import java.util.List;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.RowType;
import org.jspecify.annotations.Nullable;
import tech.bsdb.BuildOptions;
import tech.bsdb.Layout;
import tech.bsdb.flink.rows.KeyWriter;

/**
 * What a table writes, and how. Immutable; travels to the task managers.
 *
 * @param path the location of the store, as users write it
 * @param columns the columns of the table, with their types
 * @param keys the columns of the primary key, in order
 * @param keyJoin the text between them
 * @param schema the schema of the rows, or null if one column's bytes are the value
 * @param shards the number of shards
 * @param layout how records are stored
 * @param ordered whether the order of the keys is stored
 * @param memoryBytes the memory that the build of a shard may use
 * @param keep how many old versions stay, or -1 for all
 * @param directory where subtasks build; null for the directories of the task manager
 */
public record SinkSettings(
    String path,
    RowType columns,
    List<String> keys,
    String keyJoin,
    @Nullable String schema,
    int shards,
    Layout layout,
    boolean ordered,
    long memoryBytes,
    int keep,
    @Nullable String directory)
    implements Serializable {
  /** Copies the list. */
  public SinkSettings {
    keys = List.copyOf(keys);
  }

  /** What records are made of: jobs that are restored must make them alike. */
  String form() {
    return String.join(keyJoin, keys) + " " + schema;
  }

  /** The writer of the keys of rows. */
  KeyWriter keyWriter() {
    List<Integer> places = keys.stream().map(columns.getFieldNames()::indexOf).toList();
    List<LogicalType> types = places.stream().map(columns::getTypeAt).toList();
    return new KeyWriter(places, types, keys, keyJoin);
  }

  /**
   * Checks the settings of builds.
   *
   * @throws IllegalArgumentException if one is out of range; the message names the option
   */
  public void check() {
    try {
      Object unused = BuildOptions.defaults().withMemoryBytes(memoryBytes);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException("'sink.memory': " + e.getMessage(), e);
    }
  }

  /** The options of the build of a shard without a base. */
  BuildOptions build(int shard) {
    BuildOptions build =
        BuildOptions.defaults()
            .withLayout(layout)
            .withOrderedKeys(ordered)
            .withValueSchema(schema)
            .withShards(shards);
    return shards == 1 ? build : build.withOnlyShard(shard);
  }
}
