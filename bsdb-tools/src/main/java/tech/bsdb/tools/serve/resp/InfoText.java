package tech.bsdb.tools.serve.resp;

import java.lang.management.ManagementFactory;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tech.bsdb.Statistics;
import tech.bsdb.store.Lease;
import tech.bsdb.tools.serve.cluster.ClusterView;
import tech.bsdb.tools.serve.cluster.Topology.ClusterNode;
import tech.bsdb.tools.serve.dataset.DataSet;
import tech.bsdb.tools.serve.dataset.DataSet.DataSetRemovedException;

/**
 * The text of {@code INFO}: sections of figures, under the names that Redis gives them.
 *
 * @param figures those of the server, as {@code /stats} names them
 */
record InfoText(RespService service, Map<String, @Nullable Object> figures) {
  /** Takes the figures of a service. */
  InfoText(RespService service) {
    this(service, service.figures());
  }

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
    sections()
        .forEach(
            (title, lines) -> {
              String name = title.toLowerCase(Locale.ROOT);
              if (wanted.contains(name) || (name.equals("commandstats") ? all : usual)) {
                text.append(text.isEmpty() ? "# " : "\r\n# ").append(title).append("\r\n");
                lines.forEach(
                    (key, value) -> text.append(key).append(':').append(value).append("\r\n"));
              }
            });
    return text.toString();
  }

  private Map<String, Map<String, Object>> sections() {
    Map<String, Map<String, Object>> sections = new LinkedHashMap<>();
    sections.put("Server", server());
    sections.put("Clients", clients());
    sections.put("Memory", memory());
    sections.put("Persistence", Map.of("loading", 0));
    sections.put("Stats", stats());
    ClusterView cluster = service.clusterView();
    sections.put("Replication", replication(cluster));
    sections.put("Errorstats", each("errors", "errorstat_", "count="));
    sections.put("Commandstats", each("byCommand", "cmdstat_", "calls="));
    sections.put("Cluster", Map.of("cluster_enabled", cluster == null ? 0 : 1));
    Map<String, Object> keys = new LinkedHashMap<>();
    Map<String, Object> served = new LinkedHashMap<>();
    for (DataSet each : service.sets.all()) {
      try (Lease lease = each.acquire()) {
        Statistics statistics = each.version(lease).statistics;
        long records = statistics.records();
        keys.put("db" + each.number(), "keys=" + records + ",expires=0,avg_ttl=0");
        Map<String, Object> version = version(lease, statistics);
        if (service.hasNames()) {
          served.put("data_set_" + each.number(), "name=" + each.name() + joined(version));
        } else {
          version.forEach((key, value) -> served.put("data_" + key, value));
        }
      } catch (DataSetRemovedException gone) {
        // it was here a moment ago
      }
    }
    sections.put("Keyspace", keys);
    sections.put("Bsdb", served);
    return sections;
  }

  private static Map<String, Object> version(Lease lease, Statistics statistics) {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("version", lease.version());
    map.put("id", statistics.databaseId());
    map.put("opened_at", lease.openedAt());
    map.put("layout", statistics.layout());
    map.put("engine", statistics.engine());
    return map;
  }

  private static String joined(Map<String, Object> entries) {
    return entries.entrySet().stream()
        .map(entry -> "," + entry.getKey() + "=" + entry.getValue())
        .collect(Collectors.joining());
  }

  /** Returns a figure of the server; 0 if it is not known. */
  private Object figure(String part, String name) {
    Map<?, ?> of = (Map<?, ?>) Objects.requireNonNull(figures.get(part), part);
    return Objects.requireNonNullElse(of.get(name), 0);
  }

  /** Returns a line for each entry of a figure of Redis clients. */
  private Map<String, Object> each(String name, String key, String value) {
    Map<String, Object> lines = new LinkedHashMap<>();
    ((Map<?, ?>) figure("resp", name)).forEach((of, count) -> lines.put(key + of, value + count));
    return lines;
  }

  private Map<String, Object> server() {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("redis_version", CommandTable.REDIS_VERSION);
    map.put("redis_mode", service.cluster == null ? "standalone" : "cluster");
    map.put("bsdb_version", figure("server", "version"));
    map.put("os", System.getProperty("os.name") + " " + System.getProperty("os.version"));
    map.put("arch_bits", 64);
    map.put("java_version", figure("server", "java"));
    map.put("process_id", ProcessHandle.current().pid());
    map.put("tcp_port", service.configuration().getOrDefault("port", "0"));
    long up = ManagementFactory.getRuntimeMXBean().getUptime() / 1000;
    map.put("uptime_in_seconds", up);
    map.put("uptime_in_days", up / 86_400);
    return map;
  }

  private Map<String, Object> clients() {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("connected_clients", figure("resp", "connections"));
    map.put("maxclients", service.limits.connections());
    map.put("blocked_clients", 0);
    return map;
  }

  private Map<String, Object> memory() {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("used_memory", figure("memory", "heapUsedBytes"));
    map.put("used_memory_rss", figure("memory", "residentBytes"));
    map.put("maxmemory", 0);
    map.put("maxmemory_policy", "noeviction");
    return map;
  }

  private Map<String, Object> stats() {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("total_connections_received", figure("resp", "accepted"));
    map.put("total_commands_processed", figure("resp", "commands"));
    map.put("keyspace_hits", figure("lookups", "hits"));
    map.put("keyspace_misses", figure("lookups", "misses"));
    map.put("expired_keys", 0);
    map.put("evicted_keys", 0);
    map.put(
        "data_version_swaps",
        service.sets.all().stream().mapToLong(each -> each.database().swaps()).sum());
    return map;
  }

  private static Map<String, Object> replication(@Nullable ClusterView cluster) {
    Map<String, Object> map = new LinkedHashMap<>();
    if (cluster != null && cluster.isReplica()) {
      ClusterNode primary = cluster.group().primary();
      map.put("role", "slave");
      map.put("master_host", primary.host());
      map.put("master_port", primary.respPort());
      map.put("master_link_status", "up");
      map.put("slave_repl_offset", 1);
      map.put("slave_read_only", 1);
    } else {
      map.put("role", "master");
    }
    map.put("connected_slaves", 0);
    // Clients take a replica at 0 for one that has not got its data yet.
    map.put("master_repl_offset", cluster == null ? 0 : 1);
    return map;
  }
}
