package tech.bsdb.trino;

import io.airlift.slice.Slice;
import io.trino.spi.StandardErrorCode;
import io.trino.spi.TrinoException;
import io.trino.spi.connector.ColumnHandle;
import io.trino.spi.connector.ColumnMetadata;
import io.trino.spi.connector.ConnectorMetadata;
import io.trino.spi.connector.ConnectorResolvedIndex;
import io.trino.spi.connector.ConnectorSession;
import io.trino.spi.connector.ConnectorTableHandle;
import io.trino.spi.connector.ConnectorTableMetadata;
import io.trino.spi.connector.ConnectorTableVersion;
import io.trino.spi.connector.Constraint;
import io.trino.spi.connector.ConstraintApplicationResult;
import io.trino.spi.connector.LimitApplicationResult;
import io.trino.spi.connector.PointerType;
import io.trino.spi.connector.RelationColumnsMetadata;
import io.trino.spi.connector.SchemaTableName;
import io.trino.spi.predicate.TupleDomain;
import io.trino.spi.statistics.ColumnStatistics;
import io.trino.spi.statistics.Estimate;
import io.trino.spi.statistics.TableStatistics;
import io.trino.spi.type.Type;
import io.trino.spi.type.VarbinaryType;
import io.trino.spi.type.VarcharType;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tech.bsdb.Statistics;
import tech.bsdb.tools.rows.RowSchema;
import tech.bsdb.tools.rows.RowType.Column;
import tech.bsdb.tools.rows.RowType.Scalar;
import tech.bsdb.trino.BsdbColumn.Origin;
import tech.bsdb.trino.BsdbConnector.LookupJoins;
import tech.bsdb.trino.CatalogSettings.TableSettings;
import tech.bsdb.trino.OpenTables.Use;
import tech.bsdb.trino.TableFinder.Found;

/**
 * The tables as one transaction sees them: of each, a single version, which stays open until the
 * transaction ends.
 */
final class TableMetadata implements ConnectorMetadata, AutoCloseable {
  /** The only schema. */
  static final String SCHEMA = "default";

  private static final Logger LOG = LoggerFactory.getLogger(TableMetadata.class);
  private static final String KEY = "_key";
  private static final String VALUE = "_value";

  private final CatalogSettings settings;
  private final TableFinder finder;
  private final OpenTables open;
  private final RowTypes types;

  /** The versions that were asked for, by table and name of the version. Guarded by this. */
  private final Map<List<@Nullable String>, Pinned> pinned = new HashMap<>();

  private boolean closed;

  /** A version, open, and the table that it is. */
  private record Pinned(BsdbTable table, List<BsdbColumn> columns, Use use) {}

  TableMetadata(CatalogSettings settings, OpenTables open, RowTypes types) {
    this.settings = settings;
    this.finder = new TableFinder(settings);
    this.open = open;
    this.types = types;
  }

  @Override
  public List<String> listSchemaNames(ConnectorSession session) {
    return List.of(SCHEMA);
  }

  @Override
  public List<SchemaTableName> listTables(ConnectorSession session, Optional<String> schema) {
    return schema.isPresent() && !schema.get().equals(SCHEMA)
        ? List.of()
        : finder.tables().keySet().stream().map(name -> new SchemaTableName(SCHEMA, name)).toList();
  }

  @Override
  public @Nullable ConnectorTableHandle getTableHandle(
      ConnectorSession session,
      SchemaTableName name,
      Optional<ConnectorTableVersion> start,
      Optional<ConnectorTableVersion> end) {
    if (start.isPresent()) {
      throw new TrinoException(
          StandardErrorCode.NOT_SUPPORTED, "a table is read in one version: FOR VERSION AS OF");
    }
    String location = location(name);
    return location == null
        ? null
        : pin(name.getTableName(), location, end.map(TableMetadata::version).orElse(null)).table();
  }

  private @Nullable String location(SchemaTableName name) {
    return name.getSchemaName().equals(SCHEMA) ? finder.tables().get(name.getTableName()) : null;
  }

  private static String version(ConnectorTableVersion asked) {
    if (asked.getPointerType() != PointerType.TARGET_ID
        || !(asked.getVersionType() instanceof VarcharType)) {
      throw new TrinoException(
          StandardErrorCode.NOT_SUPPORTED,
          "versions have names: FOR VERSION AS OF 'NAME', not a time or a number");
    }
    return ((Slice) asked.getVersion()).toStringUtf8();
  }

  /** The version of a table that this transaction sees. */
  private synchronized Pinned pin(String name, String location, @Nullable String version) {
    if (closed) {
      throw new IllegalStateException("the transaction has ended");
    }
    List<@Nullable String> asked = asked(name, version);
    Pinned known = pinned.get(asked);
    if (known != null) {
      return known;
    }
    try {
      Found found = TableFinder.find(location, version);
      Use use = open.use(name, found.location(), found.statistics().databaseId());
      try {
        Pinned table = table(name, found, use);
        pinned.put(asked, table);
        return table;
      } catch (IOException | RuntimeException e) {
        use.close();
        throw e;
      }
    } catch (IOException e) {
      throw BsdbErrors.of(name, e);
    } catch (IllegalArgumentException e) {
      throw new TrinoException(StandardErrorCode.NOT_SUPPORTED, name + ": " + e.getMessage(), e);
    }
  }

  private static List<@Nullable String> asked(String name, @Nullable String version) {
    List<@Nullable String> asked = new ArrayList<>();
    asked.add(name);
    asked.add(version);
    return asked;
  }

  /** The columns of a table, which is not opened for them. */
  private synchronized List<BsdbColumn> columns(String name, String location) throws IOException {
    Pinned known = pinned.get(asked(name, null));
    return known == null
        ? columns(name, RowSchema.stored(TableFinder.find(location, null).statistics()))
        : known.columns();
  }

  private Pinned table(String name, Found found, Use use) throws IOException {
    TableSettings table = settings.table(name);
    RowSchema rows = use.rows();
    List<Column> stored = rows == null ? List.of() : rows.types();
    List<BsdbColumn> columns = columns(name, rows);
    List<BsdbColumn> keys = new ArrayList<>();
    for (String part : table.key()) {
      keys.add(keyColumn(name, part, columns, stored));
    }
    Statistics statistics = found.statistics();
    BsdbTable handle =
        new BsdbTable(
            name,
            found.location(),
            found.version(),
            statistics.databaseId(),
            statistics.records(),
            statistics.approximateWidth() > 0,
            statistics.ordered(),
            columns.get(stored.size()),
            keys,
            table.keyJoin(),
            TupleDomain.all(),
            OptionalLong.empty());
    KeyCheck.check(handle, use, types, KeyCheck.FEW);
    return new Pinned(handle, columns, use);
  }

  /** The fields of the rows, the key, and the value if it is not a row. */
  private List<BsdbColumn> columns(String table, @Nullable RowSchema rows) {
    Type bytes = settings.table(table).text() ? VarcharType.VARCHAR : VarbinaryType.VARBINARY;
    List<BsdbColumn> columns = new ArrayList<>();
    Set<String> names = new HashSet<>();
    List<Column> stored = rows == null ? List.of() : rows.types();
    for (Column column : stored) {
      Type type = types.of(column.type(), column.name()).type();
      columns.add(new BsdbColumn(unused(column.name(), names), type, Origin.FIELD, column.name()));
    }
    columns.add(new BsdbColumn(unused(KEY, names), bytes, Origin.KEY, ""));
    if (rows == null) {
      columns.add(new BsdbColumn(VALUE, bytes, Origin.VALUE, ""));
    }
    return columns;
  }

  /** A name in lower case that no other column has. */
  private static String unused(String name, Set<String> names) {
    String lower = name.toLowerCase(Locale.ENGLISH);
    String free = lower;
    for (int i = 1; !names.add(free); i++) {
      free = lower + "_" + i;
    }
    return free;
  }

  private static BsdbColumn keyColumn(
      String table, String name, List<BsdbColumn> columns, List<Column> stored) {
    for (int i = 0; i < stored.size(); i++) {
      BsdbColumn column = columns.get(i);
      if (column.name().equals(name)) {
        if (stored.get(i).type() instanceof Scalar scalar
            && KeyPart.hasText(scalar, column.type())) {
          return column;
        }
        throw new TrinoException(
            StandardErrorCode.CONFIGURATION_INVALID,
            "bsdb.table.%s.key: column %s is %s, whose values do not tell keys; leave the property out, and use %s"
                .formatted(table, name, column.type().getDisplayName(), KEY));
      }
    }
    throw new TrinoException(
        StandardErrorCode.CONFIGURATION_INVALID,
        stored.isEmpty()
            ? "bsdb.table.%s.key: the values are not rows; the key is the column %s"
                .formatted(table, KEY)
            : "bsdb.table.%s.key: there is no column %s; the columns are %s"
                .formatted(
                    table,
                    name,
                    String.join(
                        ", ",
                        columns.subList(0, stored.size()).stream()
                            .map(BsdbColumn::name)
                            .toList())));
  }

  /** What this transaction knows about a table of its own. */
  private synchronized Pinned pinned(ConnectorTableHandle handle) {
    BsdbTable table = (BsdbTable) handle;
    for (Pinned each : pinned.values()) {
      if (each.table().id().equals(table.id()) && each.table().name().equals(table.name())) {
        return each;
      }
    }
    throw new IllegalStateException("the table is of another transaction: " + table.describe());
  }

  private static ColumnMetadata metadata(BsdbColumn column, boolean hidden) {
    return ColumnMetadata.builder()
        .setName(column.name())
        .setType(column.type())
        .setHidden(hidden)
        .setNullable(column.origin() == Origin.FIELD)
        .build();
  }

  private static boolean isHidden(BsdbColumn column, List<BsdbColumn> all) {
    return column.origin() == Origin.KEY
        && all.stream().noneMatch(each -> each.origin() == Origin.VALUE);
  }

  @Override
  public ConnectorTableMetadata getTableMetadata(
      ConnectorSession session, ConnectorTableHandle handle) {
    Pinned table = pinned(handle);
    return new ConnectorTableMetadata(
        new SchemaTableName(SCHEMA, table.table().name()), metadata(table.columns()));
  }

  private static List<ColumnMetadata> metadata(List<BsdbColumn> columns) {
    return columns.stream().map(column -> metadata(column, isHidden(column, columns))).toList();
  }

  @Override
  public SchemaTableName getTableName(ConnectorSession session, ConnectorTableHandle handle) {
    return new SchemaTableName(SCHEMA, ((BsdbTable) handle).name());
  }

  @Override
  public Map<String, ColumnHandle> getColumnHandles(
      ConnectorSession session, ConnectorTableHandle handle) {
    Map<String, ColumnHandle> columns = new LinkedHashMap<>();
    for (BsdbColumn column : pinned(handle).columns()) {
      columns.put(column.name(), column);
    }
    return columns;
  }

  @Override
  public ColumnMetadata getColumnMetadata(
      ConnectorSession session, ConnectorTableHandle handle, ColumnHandle column) {
    return metadata((BsdbColumn) column, isHidden((BsdbColumn) column, pinned(handle).columns()));
  }

  /** Opens no tables, and leaves out those that cannot be read: a query of one says why. */
  @Override
  public Iterator<RelationColumnsMetadata> streamRelationColumns(
      ConnectorSession session,
      Optional<String> schema,
      UnaryOperator<Set<SchemaTableName>> allowed) {
    Map<SchemaTableName, RelationColumnsMetadata> tables =
        new TreeMap<>(Comparator.comparing(SchemaTableName::getTableName));
    for (SchemaTableName name : listTables(session, schema)) {
      try {
        String location = Objects.requireNonNull(location(name), name::toString);
        tables.put(
            name,
            RelationColumnsMetadata.forTable(
                name, metadata(columns(name.getTableName(), location))));
      } catch (IOException | RuntimeException e) {
        LOG.warn("{} is left out of a list of columns: {}", name, e.getMessage());
      }
    }
    tables.keySet().retainAll(allowed.apply(Set.copyOf(tables.keySet())));
    return tables.values().iterator();
  }

  @Override
  public TableStatistics getTableStatistics(ConnectorSession session, ConnectorTableHandle handle) {
    BsdbTable table = (BsdbTable) handle;
    Estimate records = Estimate.of((double) table.records());
    TableStatistics.Builder statistics = TableStatistics.builder().setRowCount(records);
    ColumnStatistics unique =
        ColumnStatistics.builder()
            .setDistinctValuesCount(records)
            .setNullsFraction(Estimate.zero())
            .build();
    statistics.setColumnStatistics(table.key(), unique);
    if (table.keyColumns().size() == 1) {
      statistics.setColumnStatistics(table.keyColumns().get(0), unique);
    }
    return statistics.build();
  }

  /** Takes what tells keys. Trino filters again, so that the keys need not be all that is said. */
  @Override
  public Optional<ConstraintApplicationResult<ConnectorTableHandle>> applyFilter(
      ConnectorSession session, ConnectorTableHandle handle, Constraint constraint) {
    BsdbTable table = (BsdbTable) handle;
    if (table.limit().isPresent()) {
      return Optional.empty();
    }
    KeyFinder keys = new KeyFinder(table);
    TupleDomain<ColumnHandle> wanted =
        table
            .wanted()
            .intersect(constraint.getSummary().filter((column, domain) -> keys.tells(column)));
    if (wanted.equals(table.wanted())) {
      return Optional.empty();
    }
    return Optional.of(
        new ConstraintApplicationResult<>(
            table.withWanted(wanted), constraint.getSummary(), constraint.getExpression(), false));
  }

  @Override
  public Optional<LimitApplicationResult<ConnectorTableHandle>> applyLimit(
      ConnectorSession session, ConnectorTableHandle handle, long limit) {
    BsdbTable table = (BsdbTable) handle;
    if (table.limit().isPresent() && table.limit().getAsLong() <= limit) {
      return Optional.empty();
    }
    return Optional.of(new LimitApplicationResult<>(table.withLimit(limit), false, false));
  }

  @Override
  public Optional<ConnectorResolvedIndex> resolveIndex(
      ConnectorSession session,
      ConnectorTableHandle handle,
      Set<ColumnHandle> indexable,
      Set<ColumnHandle> output,
      TupleDomain<ColumnHandle> wanted) {
    BsdbTable table = (BsdbTable) handle;
    boolean whole =
        indexable.equals(Set.of(table.key()))
            || (!table.keyColumns().isEmpty() && indexable.equals(Set.copyOf(table.keyColumns())));
    if (!whole
        || table.limit().isPresent()
        || !session.getProperty(BsdbConnector.LOOKUP_JOINS, LookupJoins.class).include(table)) {
      return Optional.empty();
    }
    if (!indexable.contains(table.key()) && settings.table(table.name()).checksAll()) {
      try {
        KeyCheck.check(table, pinned(table).use(), types, KeyCheck.ALL);
      } catch (IOException e) {
        throw BsdbErrors.of(table.describe(), e);
      }
    }
    return Optional.of(new ConnectorResolvedIndex(new KeyIndex.Handle(table), wanted));
  }

  @Override
  public synchronized void close() {
    closed = true;
    pinned.values().forEach(each -> each.use().close());
    pinned.clear();
  }
}
