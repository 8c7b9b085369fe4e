package tech.bsdb.trino;

import io.trino.spi.Plugin;
import io.trino.spi.connector.Connector;
import io.trino.spi.connector.ConnectorContext;
import io.trino.spi.connector.ConnectorFactory;
import java.util.List;
import java.util.Map;

/** What Trino loads: the connector {@code bsdb}. */
public final class BsdbPlugin implements Plugin {
  /** Creates the plug-in, which has no state. */
  public BsdbPlugin() {}

  @Override
  public Iterable<ConnectorFactory> getConnectorFactories() {
    return List.of(new Factory());
  }

  private static final class Factory implements ConnectorFactory {
    @Override
    public String getName() {
      return "bsdb";
    }

    @Override
    public Connector create(
        String catalog, Map<String, String> properties, ConnectorContext context) {
      return new BsdbConnector(CatalogSettings.of(properties), context);
    }
  }
}
