package tech.bsdb.trino;

import static io.trino.testing.TestingSession.testSessionBuilder;

import com.google.inject.Key;
import io.trino.Session;
import io.trino.metadata.HandleResolver;
import io.trino.plugin.memory.MemoryPlugin;
import io.trino.server.PluginClassLoader;
import io.trino.server.PluginManager;
import io.trino.server.testing.TestingTrinoServer;
import io.trino.spi.Plugin;
import io.trino.testing.DistributedQueryRunner;
import io.trino.testing.MaterializedResult;
import java.io.File;
import java.io.IOException;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.concurrent.atomic.AtomicInteger;

/** The Trino of all tests of a process: a coordinator and a worker. It ends with the process. */
final class LocalTrino {
  private static final AtomicInteger CATALOGS = new AtomicInteger();

  private LocalTrino() {}

  private static final class Holder {
    static final DistributedQueryRunner RUNNER = start();

    private static DistributedQueryRunner start() {
      try {
        DistributedQueryRunner runner =
            DistributedQueryRunner.builder(testSessionBuilder().build()).setWorkerCount(1).build();
        installPlugin(runner);
        runner.installPlugin(new MemoryPlugin());
        runner.createCatalog("memory", "memory", Map.of());
        return runner;
      } catch (Exception e) {
        throw new IllegalStateException("Trino does not start", e);
      }
    }
  }

  /** Loads the plug-in from its own class path by a class loader of its own, as servers do. */
  private static void installPlugin(DistributedQueryRunner runner) throws IOException {
    List<URL> path = new ArrayList<>();
    String entries = Files.readString(Path.of("target", "plugin.classpath"));
    for (String entry : entries.strip().split(File.pathSeparator, -1)) {
      path.add(Path.of(entry).toUri().toURL());
    }
    PluginClassLoader loader = PluginManager.createClassLoader("bsdb", path);
    for (TestingTrinoServer server : runner.getServers()) {
      server.getInstance(Key.get(HandleResolver.class)).registerClassLoader(loader);
    }
    runner.installPlugin(ServiceLoader.load(Plugin.class, loader).findFirst().orElseThrow());
  }

  static DistributedQueryRunner runner() {
    return Holder.RUNNER;
  }

  /** Makes a catalog, and returns a session in it. */
  static Session catalog(Map<String, String> properties) {
    String name = "bsdb" + CATALOGS.incrementAndGet();
    runner().createCatalog(name, "bsdb", properties);
    return testSessionBuilder().setCatalog(name).setSchema("default").build();
  }

  /** A session with another choice of joins that look up keys. */
  static Session withLookupJoins(Session session, String choice) {
    return Session.builder(session)
        .setCatalogSessionProperty(session.getCatalog().orElseThrow(), "lookup_joins", choice)
        .build();
  }

  static MaterializedResult run(Session session, String query) {
    return runner().execute(session, query);
  }

  /** The rows of a query as text, sorted by it. */
  static List<String> rows(Session session, String query) {
    return run(session, query).getMaterializedRows().stream()
        .map(row -> row.getFields().toString())
        .sorted()
        .toList();
  }

  static String explain(Session session, String query) {
    return (String) run(session, "EXPLAIN " + query).getOnlyValue();
  }
}
