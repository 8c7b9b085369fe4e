package tech.bsdb.flink;

import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Stream;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.table.api.ValidationException;
import org.apache.flink.table.catalog.ResolvedSchema;
import org.apache.flink.table.catalog.UniqueConstraint;
import org.apache.flink.table.connector.sink.DynamicTableSink;
import org.apache.flink.table.connector.source.DynamicTableSource;
import org.apache.flink.table.factories.DynamicTableSinkFactory;
import org.apache.flink.table.factories.DynamicTableSourceFactory;
import org.apache.flink.table.factories.FactoryUtil;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.LogicalTypeRoot;
import org.apache.flink.table.types.logical.RowType;
import org.jspecify.annotations.Nullable;
import tech.bsdb.BuildOptions;
import tech.bsdb.Layout;
import tech.bsdb.flink.TableOptions.Duplicates;
import tech.bsdb.flink.TableOptions.Format;
import tech.bsdb.flink.TableOptions.Read;
import tech.bsdb.flink.lookup.LookupSettings;
import tech.bsdb.flink.lookup.LookupTable;
import tech.bsdb.flink.rows.ColumnTypes;
import tech.bsdb.flink.rows.KeyWriter;
import tech.bsdb.flink.sink.SinkSettings;
import tech.bsdb.flink.sink.SinkTable;
import tech.bsdb.store.ReloadOptions;
import tech.bsdb.tools.rows.AvroSchemas;

/** Makes the tables of the connector {@code bsdb}. */
public final class BsdbTableFactory implements DynamicTableSourceFactory, DynamicTableSinkFactory {
  /** Called by Flink. */
  public BsdbTableFactory() {}

  @Override
  public String factoryIdentifier() {
    return "bsdb";
  }

  @Override
  public Set<ConfigOption<?>> requiredOptions() {
    return Set.of(TableOptions.PATH);
  }

  @Override
  public Set<ConfigOption<?>> optionalOptions() {
    return TableOptions.optional();
  }

  @Override
  public DynamicTableSource createDynamicTableSource(Context context) {
    ReadableConfig options = options(context);
    Keys keys = Keys.of(context, options);
    Read read = options.get(TableOptions.LOOKUP_READ);
    boolean async = options.getOptional(TableOptions.LOOKUP_ASYNC).orElse(read == Read.PLACE);
    Duration poll = options.get(TableOptions.LOOKUP_POLL);
    try {
      Object unused = ReloadOptions.defaults().withPoll(poll);
    } catch (IllegalArgumentException e) {
      throw new ValidationException("'lookup.poll': " + e.getMessage(), e);
    }
    LookupSettings settings =
        new LookupSettings(
            options.get(TableOptions.PATH),
            read == Read.PLACE,
            options.getOptional(TableOptions.LOOKUP_DIRECTORY).orElse(null),
            poll,
            keys.columns(),
            keys.join(),
            inRange(options, TableOptions.LOOKUP_BATCH, 1, 65_536),
            inRange(options, TableOptions.LOOKUP_THREADS, 1, 256));
    return LookupTable.of(settings, async, context.getPhysicalRowDataType());
  }

  @Override
  public DynamicTableSink createDynamicTableSink(Context context) {
    ReadableConfig options = options(context);
    Keys keys = Keys.of(context, options);
    RowType columns = (RowType) context.getPhysicalRowDataType().getLogicalType();
    Duplicates duplicates = options.getOptional(TableOptions.SINK_DUPLICATES).orElse(null);
    SinkSettings settings =
        new SinkSettings(
            options.get(TableOptions.PATH),
            columns,
            keys.columns(),
            keys.join(),
            schema(options.get(TableOptions.VALUE_FORMAT), columns, keys.columns()),
            inRange(options, TableOptions.SINK_SHARDS, 1, 16_384),
            layout(options),
            options.get(TableOptions.SINK_ORDERED),
            options.get(TableOptions.SINK_MEMORY).getBytes(),
            options.getOptional(TableOptions.SINK_KEEP).isEmpty()
                ? -1
                : inRange(options, TableOptions.SINK_KEEP, 0, 1_000_000),
            options.getOptional(TableOptions.SINK_DIRECTORY).orElse(null));
    try {
      settings.check();
    } catch (IllegalArgumentException e) {
      throw new ValidationException(e.getMessage(), e);
    }
    return new SinkTable(settings, duplicates == null ? null : duplicates == Duplicates.ERROR);
  }

  private ReadableConfig options(Context context) {
    FactoryUtil.TableFactoryHelper helper = FactoryUtil.createTableFactoryHelper(this, context);
    helper.validate();
    return helper.getOptions();
  }

  private static int inRange(
      ReadableConfig options, ConfigOption<Integer> option, int least, int most) {
    int number = options.get(option);
    if (number < least || number > most) {
      throw new ValidationException(
          "'%s' is %s, not in %s to %s".formatted(option.key(), number, least, most));
    }
    return number;
  }

  private static Layout layout(ReadableConfig options) {
    String written = options.getOptional(TableOptions.SINK_LAYOUT).orElse(null);
    if (written == null) {
      boolean ordered = options.get(TableOptions.SINK_ORDERED);
      return BuildOptions.defaults().withOrderedKeys(ordered).layout();
    }
    for (Layout layout : Layout.values()) {
      if (layout.id().equals(written.toLowerCase(Locale.ROOT))) {
        return layout;
      }
    }
    throw new ValidationException(
        "'%s' is %s, not one of %s"
            .formatted(
                TableOptions.SINK_LAYOUT.key(),
                written,
                String.join(", ", Stream.of(Layout.values()).map(Layout::id).toList())));
  }

  /** The schema of the rows, or null if one column's bytes are the value. */
  private static @Nullable String schema(Format format, RowType columns, List<String> keys) {
    if (format == Format.ROW) {
      try {
        return AvroSchemas.of(ColumnTypes.columns(columns)).json();
      } catch (IllegalArgumentException e) {
        throw new ValidationException(e.getMessage(), e);
      }
    }
    List<String> others =
        columns.getFieldNames().stream().filter(name -> !keys.contains(name)).toList();
    if (others.size() != 1) {
      throw new ValidationException(
          "'value-format' = 'raw' needs one column besides the key, not " + others);
    }
    LogicalType type = columns.getTypeAt(columns.getFieldNames().indexOf(others.get(0)));
    if (!type.is(LogicalTypeRoot.VARCHAR) && !type.is(LogicalTypeRoot.VARBINARY)) {
      throw new ValidationException(
          "'value-format' = 'raw' stores the bytes of STRING or BYTES, not of %s %s"
              .formatted(others.get(0), type.asSummaryString()));
    }
    return null;
  }

  /** The columns of the primary key, and what joins them. */
  private record Keys(List<String> columns, String join) {
    static Keys of(Context context, ReadableConfig options) {
      ResolvedSchema schema = context.getCatalogTable().getResolvedSchema();
      List<String> columns =
          schema.getPrimaryKey().map(UniqueConstraint::getColumns).orElse(List.of());
      String name = context.getObjectIdentifier().getObjectName();
      if (columns.isEmpty()) {
        throw new ValidationException(
            "table %s has no key: add PRIMARY KEY (COLUMN) NOT ENFORCED, with the column that the"
                    .formatted(name)
                + " keys of the store are made of");
      }
      String join = options.getOptional(TableOptions.KEY_JOIN).orElse(null);
      if (columns.size() > 1 && join == null) {
        throw new ValidationException(
            "the key of table %s has several columns: 'key-join' is the text between them"
                .formatted(name));
      }
      if (columns.size() > 1 && "".equals(join)) {
        throw new ValidationException(
            "'key-join' is empty, so that keys such as 1, 23 and 12, 3 would be the same");
      }
      RowType row = (RowType) context.getPhysicalRowDataType().getLogicalType();
      List<Integer> places = columns.stream().map(row.getFieldNames()::indexOf).toList();
      List<LogicalType> types = places.stream().map(row::getTypeAt).toList();
      try {
        Object unused = new KeyWriter(places, types, columns, "");
      } catch (IllegalArgumentException e) {
        throw new ValidationException(e.getMessage(), e);
      }
      return new Keys(columns, join == null ? "" : join);
    }
  }
}
