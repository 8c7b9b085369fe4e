package tech.bsdb.trino;

import io.trino.spi.connector.Connector;
import io.trino.spi.connector.ConnectorContext;
import io.trino.spi.connector.ConnectorIndexProvider;
import io.trino.spi.connector.ConnectorMetadata;
import io.trino.spi.connector.ConnectorPageSourceProvider;
import io.trino.spi.connector.ConnectorSession;
import io.trino.spi.connector.ConnectorSplitManager;
import io.trino.spi.connector.ConnectorTransactionHandle;
import io.trino.spi.session.PropertyMetadata;
import io.trino.spi.transaction.IsolationLevel;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;

/** A catalog. Each process of a cluster has one, with its own open databases. Thread-safe. */
public final class BsdbConnector implements Connector {
  /** The session property for joins by lookups. */
  static final String LOOKUP_JOINS = "lookup_joins";

  private final CatalogSettings settings;
  private final OpenTables open;
  private final RowTypes types;
  private final ConnectorContext context;
  private final Map<ConnectorTransactionHandle, TableMetadata> transactions =
      new ConcurrentHashMap<>();

  BsdbConnector(CatalogSettings settings, ConnectorContext context) {
    this.settings = settings;
    this.context = context;
    this.types = new RowTypes(context.getTypeManager().getTypeOperators());
    this.open = new OpenTables(types);
  }

  /** Which joins by the whole key are lookup joins. */
  enum LookupJoins {
    /** Those of large tables. */
    AUTOMATIC,
    ALWAYS,
    NEVER;

    /**
     * A scan of fewer records costs less than Trino's lookup join of a million keys. Nothing tells
     * how many keys there will be.
     */
    private static final long LARGE = 10_000_000;

    /** Whether a table is joined by lookups. */
    boolean include(BsdbTable table) {
      return this == ALWAYS || (this == AUTOMATIC && table.records() >= LARGE);
    }
  }

  /** A transaction, which sees one version of each table. */
  public record Transaction(UUID id) implements ConnectorTransactionHandle {}

  @Override
  public ConnectorTransactionHandle beginTransaction(
      IsolationLevel isolation, boolean readOnly, boolean autoCommit) {
    Transaction transaction = new Transaction(UUID.randomUUID());
    transactions.put(transaction, new TableMetadata(settings, open, types));
    return transaction;
  }

  @Override
  public ConnectorMetadata getMetadata(
      ConnectorSession session, ConnectorTransactionHandle transaction) {
    TableMetadata metadata = transactions.get(transaction);
    if (metadata == null) {
      throw new IllegalStateException("the transaction has ended: " + transaction);
    }
    return metadata;
  }

  @Override
  public void commit(ConnectorTransactionHandle transaction) {
    end(transaction);
  }

  @Override
  public void rollback(ConnectorTransactionHandle transaction) {
    end(transaction);
  }

  private void end(ConnectorTransactionHandle transaction) {
    TableMetadata metadata = transactions.remove(transaction);
    if (metadata != null) {
      metadata.close();
    }
  }

  @Override
  public ConnectorSplitManager getSplitManager() {
    return new TableSplits(settings, open, context.getNodeManager());
  }

  @Override
  public ConnectorPageSourceProvider getPageSourceProvider() {
    return new TablePages(open);
  }

  @Override
  public ConnectorIndexProvider getIndexProvider() {
    return new KeyIndex(open);
  }

  @Override
  public List<PropertyMetadata<?>> getSessionProperties() {
    return List.of(
        PropertyMetadata.enumProperty(
            LOOKUP_JOINS,
            "Which joins by the whole key look up the keys of the other side",
            LookupJoins.class,
            LookupJoins.AUTOMATIC,
            false));
  }

  @Override
  public void shutdown() {
    open.close();
  }
}
