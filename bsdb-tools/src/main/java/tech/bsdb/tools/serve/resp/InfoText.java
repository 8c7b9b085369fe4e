package tech.bsdb.tools.serve.resp;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import tech.bsdb.Statistics;
import tech.bsdb.store.Lease;
import tech.bsdb.tools.serve.cluster.ClusterView;
import tech.bsdb.tools.serve.cluster.Topology.ClusterNode;
import tech.bsdb.tools.serve.dataset.DataSet.DataSetRemovedException;

/** The text of {@code INFO}: sections of figures, under the names that Redis gives them. */
record InfoText(RespService service) {
  /**
   * Returns sections.
   *
   * @param wanted their names in lower case; empty, {@code default}, {@code all} and {@code
   *     everything} stand for several
   */
  String of(Set<String> wanted) {
    boolean all = wanted.contains("all") || wanted.contains("everything");
    boolean usual = all || wanted.isEmpty() || wanted.contains("default");
    StringBuilder text = new StringBuilder();
    sections(all || wanted.contains("commandstats"))
        .forEach(
            (title, figures) -> {
              String name = title.toLowerCase(Locale.ROOT);
              boolean always = !name.equals("commandstats");
              if (wanted.contains(name) || (always ? usual : all)) {
                if (!text.isEmpty()) {
                  text.append("\r\n");
                }
                text.append("# ").append(title).append("\r\n");
                figures.forEach(
                    (key, value) -> text.append(key).append(':').append(value).append("\r\n"));
              }
            });
    return text.toString();
  }

  private Map<String, Map<String, Object>> sections(boolean commands) {
    Map<String, Map<String, Object>> sections = new LinkedHashMap<>();
    sections.put("Server", server());
    sections.put("Clients", clients());
    sections.put("Memory", memory());
    sections.put("Persistence", Map.of("loading", 0));
    sections.put("Stats", stats());
    Map<String, Object> replication = new LinkedHashMap<>();
    ClusterView cluster = service.clusterView();
    if (cluster != null && cluster.isReplica()) {
      ClusterNode primary = cluster.group().primary();
      replication.put("role", "slave");
      replication.put("master_host", primary.host());
      replication.put("master_port", primary.respPort());
      replication.put("master_link_status", "up");
      replication.put("slave_repl_offset", 1);
      replication.put("slave_read_only", 1);
    } else {
      replication.put("role", "master");
    }
    replication.put("connected_slaves", 0);
    // Clients take a replica at 0 for one that has not got its data yet.
    replication.put("master_repl_offset", cluster == null ? 0 : 1);
    sections.put("Replication", replication);
    Map<String, Object> errors = new LinkedHashMap<>();
    service
        .statistics()
        .errors()
        .forEach((code, count) -> errors.put("errorstat_" + code, "count=" + count));
    sections.put("Errorstats", errors);
    if (commands) {
      Map<String, Object> counts = new LinkedHashMap<>();
      service
          .statistics()
          .commands()
          .forEach((name, count) -> counts.put("cmdstat_" + name, "calls=" + count));
      sections.put("Commandstats", counts);
    }
    sections.put("Cluster", Map.of("cluster_enabled", cluster == null ? 0 : 1));
    Map<String, Object> keys = new LinkedHashMap<>();
    Map<String, Object> served = new LinkedHashMap<>();
    for (Selectable each : service.all()) {
      try (Lease lease = each.acquire()) {
        long records = each.version(lease.database()).records();
        keys.put("db" + each.number(), "keys=" + records + ",expires=0,avg_ttl=0");
        served.putAll(service.hasNames() ? named(each, lease) : unnamed(lease));
      } catch (DataSetRemovedException gone) {
        // it was here a moment ago
      }
    }
    sections.put("Keyspace", keys);
    sections.put("Bsdb", served);
    return sections;
  }

  private static Map<String, Object> unnamed(Lease lease) {
    Statistics statistics = lease.database().statistics();
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("data_version", lease.version());
    map.put("data_id", statistics.databaseId());
    map.put("data_opened_at", lease.openedAt());
    map.put("data_layout", statistics.layout());
    map.put("data_engine", statistics.engine());
    return map;
  }

  private static Map<String, Object> named(Selectable of, Lease lease) {
    Statistics statistics = lease.database().statistics();
    return Map.of(
        "data_set_" + of.number(),
        "name="
            + of.set().name()
            + ",version="
            + lease.version()
            + ",id="
            + statistics.databaseId()
            + ",opened_at="
            + lease.openedAt()
            + ",layout="
            + statistics.layout()
            + ",engine="
            + statistics.engine());
  }

  private Map<String, Object> server() {
    Map<String, Object> map = new LinkedHashMap<>();
    String version = InfoText.class.getPackage().getImplementationVersion();
    map.put("redis_version", CommandTable.REDIS_VERSION);
    map.put("redis_mode", service.cluster() == null ? "standalone" : "cluster");
    map.put("bsdb_version", version == null ? "development" : version);
    map.put("os", System.getProperty("os.name") + " " + System.getProperty("os.version"));
    map.put("arch_bits", 64);
    map.put("java_version", System.getProperty("java.version"));
    map.put("process_id", ProcessHandle.current().pid());
    map.put("tcp_port", service.configuration().getOrDefault("port", "0"));
    long up = ManagementFactory.getRuntimeMXBean().getUptime() / 1000;
    map.put("uptime_in_seconds", up);
    map.put("uptime_in_days", up / 86_400);
    return map;
  }

  private Map<String, Object> clients() {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("connected_clients", service.connected());
    map.put("maxclients", service.limits().connections());
    map.put("blocked_clients", 0);
    return map;
  }

  private static Map<String, Object> memory() {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("used_memory", ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed());
    map.put("used_memory_rss", residentBytes());
    map.put("maxmemory", 0);
    map.put("maxmemory_policy", "noeviction");
    return map;
  }

  private static long residentBytes() {
    try {
      for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
        if (line.startsWith("VmRSS:")) {
          return Long.parseLong(line.replaceAll("[^0-9]", "")) * 1024;
        }
      }
    } catch (IOException notLinux) {
      return 0;
    }
    return 0;
  }

  private Map<String, Object> stats() {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("total_connections_received", service.statistics().connections());
    map.put("total_commands_processed", service.statistics().answered());
    map.put("keyspace_hits", service.counts().hits());
    map.put("keyspace_misses", service.counts().misses());
    map.put("expired_keys", 0);
    map.put("evicted_keys", 0);
    map.put(
        "data_version_swaps",
        service.all().stream().mapToLong(each -> each.set().database().swaps()).sum());
    return map;
  }
}
