package tech.bsdb.tools.serve;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryUsage;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;
import tech.bsdb.Database;
import tech.bsdb.IoCounters;
import tech.bsdb.MemoryUse;
import tech.bsdb.Statistics;
import tech.bsdb.remote.RemoteTraffic;
import tech.bsdb.store.Lease;
import tech.bsdb.store.Refusal;
import tech.bsdb.store.Store;
import tech.bsdb.store.StoredVersion;
import tech.bsdb.tools.inspect.StatCommand;
import tech.bsdb.tools.publish.FollowStatus;
import tech.bsdb.tools.serve.client.Connections;
import tech.bsdb.tools.serve.client.Credentials;
import tech.bsdb.tools.serve.client.HeldMemory;
import tech.bsdb.tools.serve.client.Latencies;
import tech.bsdb.tools.serve.cluster.Cluster;
import tech.bsdb.tools.serve.cluster.ClusterView;
import tech.bsdb.tools.serve.dataset.DataSet;
import tech.bsdb.tools.serve.dataset.DataSet.DataSetRemovedException;
import tech.bsdb.tools.serve.dataset.DataSets;
import tech.bsdb.tools.serve.dataset.ServedVersion;
import tech.bsdb.tools.serve.resp.RespService;
import tech.bsdb.tools.serve.resp.RespStatistics;

/**
 * The figures of a server, by the names that {@code /stats} gives them: numbers, booleans, texts,
 * moments, and maps and lists of these. The metrics and {@code INFO} take their values from here.
 * Thread-safe.
 *
 * @param cluster null if the server is not a node of one
 * @param following null if no source is followed
 * @param resp null if Redis clients are not served
 * @param log null if no access log is written
 * @param transport the I/O mechanism for connections
 */
record ServerStatistics(
    ServeOptions options,
    Instant started,
    DataSets sets,
    @Nullable Cluster cluster,
    @Nullable FollowStatus following,
    Connections connections,
    @Nullable RespService resp,
    Requests requests,
    @Nullable AccessLog log,
    Credentials credentials,
    String transport) {
  /** Returns the content of {@code /stats}, with one data set in detail. */
  Map<String, @Nullable Object> now(DataSet shown) throws IOException {
    Map<String, @Nullable Object> shared = timed();
    Map<String, @Nullable Object> all = new LinkedHashMap<>();
    all.put("server", shared.get("server"));
    all.put("dataset", sets.areNamed() ? shown.name() : null);
    try (Lease lease = shown.acquire()) {
      all.put("database", database(shown, lease));
      all.put("store", shown.database().followsStore() ? store(shown, lease.version()) : null);
      all.put("remote", remote(shown));
    }
    all.put("datasets", sets.areNamed() ? dataSets() : null);
    all.putAll(shared);
    return all;
  }

  /** Returns the figures of the whole server with the percentiles, which take longer. */
  Map<String, @Nullable Object> timed() {
    Map<String, @Nullable Object> all = shared();
    Latencies latencies = requests.latencies();
    Map<String, @Nullable Object> latency = latency(latencies.total());
    Map<String, @Nullable Object> recent = latency(latencies.recent());
    recent.put("seconds", Latencies.WINDOW_SECONDS);
    latency.put("recent", recent);
    all.put("latency", latency);
    if (resp != null) {
      Map<String, @Nullable Object> commands = resp(resp);
      commands.put("latency", latency(resp.statistics().latencies().total()));
      all.put("resp", commands);
    }
    return all;
  }

  /** Returns the figures of the whole server; null for a part that it does not have. */
  Map<String, @Nullable Object> shared() {
    Map<String, @Nullable Object> all = new LinkedHashMap<>();
    all.put("server", server());
    all.put("cluster", cluster == null ? null : cluster(cluster));
    all.put("follow", following == null ? null : following.figures());
    all.put("requests", requestFigures());
    all.put("resp", resp == null ? null : resp(resp));
    all.put("lookups", requests.lookups().byOutcome());
    all.put("io", io(sets.ioCounters()));
    all.put("memory", memory());
    all.put("accessLog", log == null ? null : log.lost());
    Instant expires = credentials.expires();
    all.put(
        "certificate",
        expires == null
            ? null
            : Map.of("secondsLeft", Duration.between(Instant.now(), expires).toMillis() / 1e3));
    return all;
  }

  /**
   * Returns the figures of one data set, without those that take time to find out.
   *
   * @throws DataSetRemovedException if it is not served any more
   */
  Map<String, @Nullable Object> of(DataSet set) {
    try (Lease lease = set.acquire()) {
      Map<String, @Nullable Object> map = new LinkedHashMap<>();
      map.put("database", database(set, lease));
      map.put("swaps", set.database().swaps());
      map.put("refused", refused(set));
      map.put("lookups", set.counts().byOutcome());
      map.put("io", io(set.database().ioCounters()));
      map.put("remote", remote(set));
      return map;
    }
  }

  /** Returns the figures of requests to where a data set lies; null if that is a directory here. */
  private static @Nullable Map<String, Long> remote(DataSet set) {
    RemoteTraffic traffic = set.database().remoteTraffic();
    if (traffic == null) {
      return null;
    }
    Map<String, Long> map = new LinkedHashMap<>();
    map.put("requests", traffic.requests());
    map.put("bytes", traffic.bytes());
    map.put("retries", traffic.retries());
    map.put("hedges", traffic.hedges());
    return map;
  }

  /** Returns the figures of reads. */
  static Map<String, Long> io(IoCounters of) {
    Map<String, Long> map = new LinkedHashMap<>();
    map.put("reads", of.reads());
    map.put("bytes", of.bytes());
    return map;
  }

  private static Map<String, @Nullable Object> cluster(Cluster of) {
    ClusterView view = of.view();
    Cluster.RefusedFile refused = of.refused();
    Map<String, @Nullable Object> map = new LinkedHashMap<>();
    map.put("file", of.file().toString());
    map.put("node", view.self().name());
    map.put("primary", view.group().primary().name());
    map.put("slots", view.slots().toString());
    map.put("slotCount", view.slots().size());
    map.put("handedOver", view.handedOver().toString());
    map.put("handedOverCount", view.handedOver().size());
    map.put("nodes", view.topology().nodes().size());
    map.put("changes", of.changes());
    map.put("changedAt", of.changedAt());
    map.put(
        "refused", refused == null ? null : Map.of("reason", refused.reason(), "at", refused.at()));
    return map;
  }

  private List<Map<String, @Nullable Object>> dataSets() {
    List<Map<String, @Nullable Object>> list = new ArrayList<>();
    for (DataSet set : sets.all()) {
      try (Lease lease = set.acquire()) {
        Statistics s = lease.database().statistics();
        Map<String, @Nullable Object> map = new LinkedHashMap<>();
        map.put("name", set.name());
        map.put("number", set.number());
        map.put("version", lease.version());
        map.put("openedAt", lease.openedAt());
        map.put("records", s.records());
        map.put("databaseBytes", s.databaseBytes());
        map.put("refused", refused(set));
        map.put("lookups", set.counts().byOutcome());
        list.add(map);
      } catch (DataSetRemovedException gone) {
        // it was here a moment ago
      }
    }
    return list;
  }

  private Map<String, @Nullable Object> server() {
    String version = ServerStatistics.class.getPackage().getImplementationVersion();
    Map<String, @Nullable Object> map = new LinkedHashMap<>();
    map.put("version", version == null ? "development" : version);
    map.put("uptimeSeconds", Duration.between(started, Instant.now()).toMillis() / 1e3);
    map.put("startedAt", started);
    map.put("java", System.getProperty("java.version"));
    map.put("transport", transport);
    map.put("mode", options.async() ? "async" : "sync");
    map.put("state", connections.draining() ? "draining" : "serving");
    map.put("prefix", options.prefix());
    map.put("json", options.values() != ValueKind.BYTES);
    Map<String, Boolean> refused = new TreeMap<>(credentials.refused());
    refused.put("access_log", log != null && log.reopenFailed());
    map.put("refusedFiles", refused);
    return map;
  }

  /** Returns the manifest's time: a build writes it last. */
  private static @Nullable Instant builtAt(Path directory) {
    try {
      return Files.getLastModifiedTime(Database.manifest(directory)).toInstant();
    } catch (IOException gone) {
      return null;
    }
  }

  private static Map<String, @Nullable Object> database(DataSet set, Lease lease) {
    ServedVersion version = set.version(lease);
    Statistics s = version.statistics;
    Map<String, @Nullable Object> map = new LinkedHashMap<>();
    map.put("directory", s.location());
    map.put("version", version.name);
    map.put("id", version.id());
    map.put("builtAt", set.isDistant() ? null : builtAt(s.directory()));
    map.put("openedAt", lease.openedAt());
    map.put("openSeconds", lease.openTook().toNanos() / 1e9);
    map.put("engine", s.engine());
    map.putAll(StatCommand.figures(s));
    MemoryUse use = version.memoryUse();
    map.put("residentBytes", use.residentBytes());
    map.put("hugePageBytes", use.hugePageBytes());
    return map;
  }

  private static Map<String, @Nullable Object> store(DataSet set, String serving) {
    Map<String, @Nullable Object> map = new LinkedHashMap<>();
    map.put("directory", set.database().location());
    map.put("swaps", set.database().swaps());
    map.put("refused", refused(set));
    List<Map<String, @Nullable Object>> versions = new ArrayList<>();
    Path directory = set.database().directory();
    if (directory == null) { // to list versions elsewhere would take many requests
      Refusal refusal = set.database().refused();
      String refused = refusal == null ? "" : refusal.version();
      map.put("current", refused.isEmpty() ? serving : refused);
      map.put("versions", versions);
      return map;
    }
    try {
      Store store = Store.open(directory);
      map.put("current", store.current());
      for (StoredVersion version : set.stored(store)) {
        Map<String, @Nullable Object> of = new LinkedHashMap<>();
        of.put("name", version.name());
        of.put("current", version.current());
        of.put("serving", version.name().equals(serving));
        of.put("modified", version.modified());
        of.put("records", version.records());
        of.put("bytes", version.bytes());
        versions.add(of);
      }
    } catch (IOException e) {
      map.put("error", String.valueOf(e.getMessage()));
    }
    map.put("versions", versions);
    return map;
  }

  /** Returns why the current version of a data set is not served; null if it is. */
  static @Nullable Map<String, @Nullable Object> refused(DataSet set) {
    Refusal refusal = set.database().refused();
    if (refusal == null) {
      return null;
    }
    Map<String, @Nullable Object> map = new LinkedHashMap<>();
    map.put("version", refusal.version());
    map.put("reason", refusal.reason());
    map.put("at", refusal.at());
    return map;
  }

  private Map<String, @Nullable Object> requestFigures() {
    Map<String, Long> byStatus = new LinkedHashMap<>();
    long total = 0;
    for (Map.Entry<Integer, Long> entry : requests.byStatus().entrySet()) {
      byStatus.put(String.valueOf(entry.getKey()), entry.getValue());
      total += entry.getValue();
    }
    Map<String, @Nullable Object> map = new LinkedHashMap<>();
    map.put("total", total);
    map.put("inFlight", requests.inFlight());
    map.put("lookupsInFlight", requests.lookups().inFlight());
    map.put("connections", connections.of(HttpConnection.class).count());
    map.put("byStatus", byStatus);
    HeldMemory held = connections.memory();
    map.put("heldBytes", held.held());
    map.put("heldLimitBytes", held.limit());
    map.put("heldRefusals", Map.of("server", held.refusals(), "client", held.clientRefusals()));
    return map;
  }

  private static Map<String, @Nullable Object> resp(RespService of) {
    RespStatistics statistics = of.statistics();
    Map<String, @Nullable Object> map = new LinkedHashMap<>();
    map.put("connections", of.connected());
    map.put("accepted", of.accepted());
    map.put("commands", statistics.answered());
    map.put("byCommand", statistics.commands());
    map.put("errors", statistics.errors());
    return map;
  }

  /** Returns the percentiles of durations in nanoseconds. */
  static Map<String, @Nullable Object> latency(Histogram of) {
    Map<String, @Nullable Object> map = new LinkedHashMap<>();
    map.put("count", of.getTotalCount());
    map.put("meanSeconds", of.getTotalCount() == 0 ? 0.0 : of.getMean() / 1e9);
    map.put("p50Seconds", of.getValueAtPercentile(50) / 1e9);
    map.put("p90Seconds", of.getValueAtPercentile(90) / 1e9);
    map.put("p99Seconds", of.getValueAtPercentile(99) / 1e9);
    map.put("p999Seconds", of.getValueAtPercentile(99.9) / 1e9);
    map.put("maxSeconds", of.getMaxValue() / 1e9);
    return map;
  }

  private static Map<String, @Nullable Object> memory() {
    MemoryUsage heap = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage();
    Map<String, @Nullable Object> map = new LinkedHashMap<>();
    map.put("heapUsedBytes", heap.getUsed());
    map.put("heapMaxBytes", heap.getMax());
    map.put("residentBytes", residentBytes());
    return map;
  }

  private static @Nullable Long residentBytes() {
    try {
      for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
        if (line.startsWith("VmRSS:")) {
          return Long.parseLong(line.replaceAll("[^0-9]", "")) * 1024;
        }
      }
    } catch (IOException notLinux) {
      return null;
    }
    return null;
  }
}
