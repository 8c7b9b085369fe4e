package tech.bsdb.trino;

import static io.trino.testing.TestingSession.testSessionBuilder;

import io.trino.Session;
import io.trino.plugin.memory.MemoryPlugin;
import io.trino.testing.DistributedQueryRunner;
import io.trino.testing.MaterializedResult;
import java.util.List;
import java.util.Map;
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
        runner.installPlugin(new BsdbPlugin());
        runner.installPlugin(new MemoryPlugin());
        runner.createCatalog("memory", "memory", Map.of());
        return runner;
      } catch (Exception e) {
        throw new IllegalStateException("Trino does not start", e);
      }
    }
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

  /** A session whose joins look up no keys. */
  static Session withoutLookupJoins(Session session) {
    return Session.builder(session)
        .setCatalogSessionProperty(session.getCatalog().orElseThrow(), "lookup_joins", "false")
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
