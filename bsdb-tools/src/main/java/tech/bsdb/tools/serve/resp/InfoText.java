package tech.bsdb.tools.serve.resp;

import java.lang.management.ManagementFactory;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tech.bsdb.Statistics;
import tech.bsdb.store.Lease;
import tech.bsdb.tools.cli.TextResource;
import tech.bsdb.tools.serve.cluster.ClusterView;
import tech.bsdb.tools.serve.cluster.Topology.ClusterNode;
import tech.bsdb.tools.serve.dataset.DataSet;
import tech.bsdb.tools.serve.dataset.DataSet.DataSetRemovedException;

/**
 * The text of {@code INFO}: the sections of {@code info.txt}, with figures in place of their names
 * in braces. A line whose figure is a map stands for one of each entry, whose key is in place of
 * the asterisk.
 *
 * @param figures those of the server, as {@code /stats} names them, and of {@code info}
 */
record InfoText(Map<String, @Nullable Object> figures) {
  private static final String[] SECTIONS =
      TextResource.text(InfoText.class, "info.txt").split("(?=# )", -1);
  private static final Pattern FIGURE = Pattern.compile("\\{(\\w+)\\.(\\w+)}");

  /** Takes the figures of a service. */
  static InfoText of(RespService service) {
    Map<String, @Nullable Object> figures = new HashMap<>(service.figures());
    figures.put("info", info(service));
    return new InfoText(figures);
  }

  /**
   * Returns sections.
   *
   * @param wanted their names in lower case; empty, {@code default}, {@code all} and {@code
   *     everything} stand for several
   */
  String sections(Set<String> wanted) {
    boolean all = wanted.contains("all") || wanted.contains("everything");
    boolean usual = all || wanted.isEmpty() || wanted.contains("default");
    StringBuilder text = new StringBuilder();
    for (String section : SECTIONS) {
      String name = section.substring(2, section.indexOf('\n')).toLowerCase(Locale.ROOT);
      if (wanted.contains(name) || (name.equals("commandstats") ? all : usual)) {
        text.append(text.isEmpty() ? "" : "\r\n");
        section.lines().forEach(line -> append(line, text));
      }
    }
    return text.toString();
  }

  private void append(String line, StringBuilder text) {
    Matcher named = FIGURE.matcher(line);
    if (!named.find()) {
      text.append(line).append("\r\n");
      return;
    }
    Map<?, ?> part = (Map<?, ?>) Objects.requireNonNull(figures.get(named.group(1)), line);
    Object figure = Objects.requireNonNullElse(part.get(named.group(2)), 0);
    Map<?, ?> each = figure instanceof Map<?, ?> map ? map : Map.of("", figure);
    String before = line.substring(0, named.start());
    each.forEach(
        (key, value) ->
            text.append(before.replace("*", key.toString())).append(value).append("\r\n"));
  }

  /** Returns the figures that {@code /stats} has not. */
  private static Map<String, Object> info(RespService service) {
    ClusterView cluster = service.clusterView();
    long up = ManagementFactory.getRuntimeMXBean().getUptime() / 1000;
    Map<String, Object> map = new HashMap<>();
    map.put("version", CommandTable.REDIS_VERSION);
    map.put("mode", cluster == null ? "standalone" : "cluster");
    map.put("os", System.getProperty("os.name") + " " + System.getProperty("os.version"));
    map.put("pid", ProcessHandle.current().pid());
    map.put("port", service.configuration().getOrDefault("port", "0"));
    map.put("seconds", up);
    map.put("days", up / 86_400);
    map.put("clients", service.limits.connections());
    map.put("swaps", service.sets.all().stream().mapToLong(each -> each.database().swaps()).sum());
    map.put("role", role(cluster));
    // Clients take a replica at 0 for one that has not got its data yet.
    map.put("offset", cluster == null ? 0 : 1);
    map.put("cluster", cluster == null ? 0 : 1);
    Map<String, Object> keys = new LinkedHashMap<>();
    Map<String, Object> served = new LinkedHashMap<>();
    for (DataSet each : service.sets.all()) {
      try (Lease lease = each.acquire()) {
        Statistics statistics = each.version(lease).statistics;
        keys.put(
            String.valueOf(each.number()), "keys=" + statistics.records() + ",expires=0,avg_ttl=0");
        Map<String, Object> version = version(lease, statistics);
        if (service.hasNames()) {
          served.put("set_" + each.number(), "name=" + each.name() + joined(version));
        } else {
          version.forEach((key, value) -> served.put(key, value));
        }
      } catch (DataSetRemovedException gone) {
        // it was here a moment ago
      }
    }
    map.put("keys", keys);
    map.put("served", served);
    return map;
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

  private static Map<String, Object> role(@Nullable ClusterView cluster) {
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
    return map;
  }
}
