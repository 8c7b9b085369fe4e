package tech.bsdb.flink;

import java.time.Duration;
import java.util.Set;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;
import org.apache.flink.configuration.MemorySize;

/** The options of {@code CREATE TABLE ... WITH ('connector' = 'bsdb', ...)}. */
public final class TableOptions {
  static final ConfigOption<String> PATH =
      ConfigOptions.key("path")
          .stringType()
          .noDefaultValue()
          .withDescription("The store or database: a path, or a URI such as s3://bucket/users.");

  static final ConfigOption<String> KEY_JOIN =
      ConfigOptions.key("key-join")
          .stringType()
          .noDefaultValue()
          .withDescription("The text between several columns of the primary key.");

  static final ConfigOption<Read> LOOKUP_READ =
      ConfigOptions.key("lookup.read")
          .enumType(Read.class)
          .defaultValue(Read.COPY)
          .withDescription(
              "How a store elsewhere is read: as a copy that follows it, or in place.");

  static final ConfigOption<String> LOOKUP_DIRECTORY =
      ConfigOptions.key("lookup.directory")
          .stringType()
          .noDefaultValue()
          .withDescription("Where a task manager keeps copies, or pages of what is read in place.");

  static final ConfigOption<Duration> LOOKUP_POLL =
      ConfigOptions.key("lookup.poll")
          .durationType()
          .defaultValue(Duration.ofSeconds(10))
          .withDescription("The interval between two looks for another version.");

  static final ConfigOption<Boolean> LOOKUP_ASYNC =
      ConfigOptions.key("lookup.async")
          .booleanType()
          .noDefaultValue()
          .withDescription("Whether lookups are asynchronous; by default, those read in place.");

  static final ConfigOption<Integer> LOOKUP_BATCH =
      ConfigOptions.key("lookup.batch")
          .intType()
          .defaultValue(256)
          .withDescription("The most keys that an asynchronous lookup takes together.");

  static final ConfigOption<Integer> LOOKUP_THREADS =
      ConfigOptions.key("lookup.threads")
          .intType()
          .defaultValue(2)
          .withDescription("The batches of a subtask at the same time.");

  static final ConfigOption<Format> VALUE_FORMAT =
      ConfigOptions.key("value-format")
          .enumType(Format.class)
          .defaultValue(Format.ROW)
          .withDescription(
              "What is written as a value: a row with a schema, or one column's bytes.");

  static final ConfigOption<Integer> SINK_SHARDS =
      ConfigOptions.key("sink.shards")
          .intType()
          .defaultValue(1)
          .withDescription("The number of shards, each of which one subtask builds.");

  static final ConfigOption<String> SINK_LAYOUT =
      ConfigOptions.key("sink.layout")
          .stringType()
          .noDefaultValue()
          .withDescription("How records are stored: packed, or blocked if they are ordered.");

  static final ConfigOption<Boolean> SINK_ORDERED =
      ConfigOptions.key("sink.ordered")
          .booleanType()
          .defaultValue(false)
          .withDescription("Whether the order of the keys is stored, for ranges.");

  static final ConfigOption<MemorySize> SINK_MEMORY =
      ConfigOptions.key("sink.memory")
          .memoryType()
          .defaultValue(MemorySize.ofMebiBytes(256))
          .withDescription("The memory that the build of a shard may use.");

  static final ConfigOption<Integer> SINK_KEEP =
      ConfigOptions.key("sink.keep")
          .intType()
          .noDefaultValue()
          .withDescription("How many old versions stay; all, if not given.");

  static final ConfigOption<Duplicates> SINK_DUPLICATES =
      ConfigOptions.key("sink.duplicates")
          .enumType(Duplicates.class)
          .noDefaultValue()
          .withDescription(
              "What happens to several rows with one key: error (default of a batch) or last.");

  static final ConfigOption<String> SINK_DIRECTORY =
      ConfigOptions.key("sink.directory")
          .stringType()
          .noDefaultValue()
          .withDescription("Where subtasks build; by default, the task manager's own directories.");

  private TableOptions() {}

  /** All but the required one. */
  static Set<ConfigOption<?>> optional() {
    return Set.of(
        KEY_JOIN,
        LOOKUP_READ,
        LOOKUP_DIRECTORY,
        LOOKUP_POLL,
        LOOKUP_ASYNC,
        LOOKUP_BATCH,
        LOOKUP_THREADS,
        VALUE_FORMAT,
        SINK_SHARDS,
        SINK_LAYOUT,
        SINK_ORDERED,
        SINK_MEMORY,
        SINK_KEEP,
        SINK_DUPLICATES,
        SINK_DIRECTORY);
  }

  /** How a store elsewhere is read. */
  public enum Read {
    /** As a copy on a local disk, which follows it. */
    COPY,
    /** In place, without a copy. */
    PLACE
  }

  /** What values are. */
  public enum Format {
    /** A row with a schema. */
    ROW,
    /** The bytes of one column. */
    RAW
  }

  /** What happens to several rows with one key. */
  public enum Duplicates {
    /** The write fails. */
    ERROR,
    /** The one that arrives last stays. */
    LAST
  }
}
