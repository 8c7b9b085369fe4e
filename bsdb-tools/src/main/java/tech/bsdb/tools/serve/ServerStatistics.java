package tech.bsdb.tools.serve;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryUsage;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;
import tech.bsdb.Database;
import tech.bsdb.MemoryUse;
import tech.bsdb.Statistics;
import tech.bsdb.store.Lease;
import tech.bsdb.store.Refusal;
import tech.bsdb.store.Store;
import tech.bsdb.store.StoredVersion;
import tech.bsdb.tools.publish.FollowStatus;
import tech.bsdb.tools.serve.client.Connections;
import tech.bsdb.tools.serve.client.LookupCounts;
import tech.bsdb.tools.serve.cluster.Cluster;
import tech.bsdb.tools.serve.cluster.ClusterView;
import tech.bsdb.tools.serve.dataset.DataSet;
import tech.bsdb.tools.serve.dataset.DataSet.DataSetRemovedException;
import tech.bsdb.tools.serve.dataset.DataSets;
import tech.bsdb.tools.serve.dataset.PerDataSet;
import tech.bsdb.tools.serve.resp.RespService;
import tech.bsdb.tools.serve.resp.RespStatistics;

/** The content of {@code /stats}. Thread-safe. */
final class ServerStatistics {
  private static final long KEPT_NANOS = 5_000_000_000L;

  private final ServeOptions options;
  private final DataSets sets;
  private final @Nullable Cluster cluster;
  private final @Nullable FollowStatus following;
  private final Connections connections;
  private final @Nullable RespService resp;
  private final Requests requests;
  private final IoTotals io;
  private final String transport;
  private final Instant started = Instant.now();
  private final PerDataSet<Details> details;

  ServerStatistics(
      ServeOptions options,
      DataSets sets,
      @Nullable Cluster cluster,
      @Nullable FollowStatus following,
      Connections connections,
      @Nullable RespService resp,
      Requests requests,
      IoTotals io,
      String transport) {
    this.options = options;
    this.sets = sets;
    this.details = new PerDataSet<>(sets, Details::new);
    this.cluster = cluster;
    this.following = following;
    this.connections = connections;
    this.resp = resp;
    this.requests = requests;
    this.io = io;
    this.transport = transport;
  }

  /** Returns the current figures, those of one data set in detail. */
  Map<String, @Nullable Object> now(DataSet shown) throws IOException {
    Map<String, @Nullable Object> all = new LinkedHashMap<>();
    all.put("server", server());
    all.put("dataset", sets.areNamed() ? shown.name() : null);
    try (Lease lease = shown.acquire()) {
      Details of = details.of(shown);
      all.put("database", database(lease, of.memory));
      all.put("store", shown.database().followsStore() ? of.store(lease.version()) : null);
    }
    all.put("datasets", sets.areNamed() ? dataSets() : null);
    all.put("cluster", cluster == null ? null : cluster(cluster));
    all.put("follow", following == null ? null : following.forPrograms());
    all.put("requests", requests());
    all.put("resp", resp == null ? null : resp(resp));
    all.put("lookups", lookups(requests.lookups()));
    Latencies latencies = requests.latencies();
    Map<String, @Nullable Object> latency = latency(latencies.total());
    Map<String, @Nullable Object> recent = latency(latencies.recent());
    recent.put("seconds", Latencies.WINDOW_SECONDS);
    latency.put("recent", recent);
    all.put("latency", latency);
    all.put("io", Map.of("reads", io.reads(), "bytes", io.bytes()));
    all.put("memory", memory());
    return all;
  }

  private static Map<String, @Nullable Object> cluster(Cluster of) {
    ClusterView view = of.view();
    Cluster.RefusedFile refused = of.refused();
    Map<String, @Nullable Object> map = new LinkedHashMap<>();
    map.put("file", of.file().toString());
    map.put("node", view.self().name());
    map.put("primary", view.group().primary().name());
    map.put("slots", view.slots().toString());
    map.put("handedOver", view.handedOver().toString());
    map.put("nodes", view.topology().nodes().size());
    map.put("changes", of.changes());
    map.put("changedAt", seconds(of.changedAt()));
    map.put(
        "refused",
        refused == null ? null : Map.of("reason", refused.reason(), "at", seconds(refused.at())));
    return map;
  }

  private List<Map<String, @Nullable Object>> dataSets() {
    List<Map<String, @Nullable Object>> list = new ArrayList<>();
    for (DataSet set : sets.all()) {
      try (Lease lease = set.acquire()) {
        Statistics s = lease.database().statistics();
        Refusal refused = set.database().refused();
        Map<String, @Nullable Object> map = new LinkedHashMap<>();
        map.put("name", set.name());
        map.put("number", set.number());
        map.put("version", lease.version());
        map.put("openedAt", seconds(lease.openedAt()));
        map.put("records", s.records());
        map.put("databaseBytes", s.databaseBytes());
        map.put("refused", refused == null ? null : refused(refused));
        map.put("lookups", lookups(set.counts()));
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
    map.put("startedAt", seconds(started));
    map.put("java", System.getProperty("java.version"));
    map.put("transport", transport);
    map.put("mode", options.async() ? "async" : "sync");
    map.put("state", connections.draining() ? "draining" : "serving");
    map.put("prefix", options.prefix());
    map.put("json", options.values() != ValueKind.BYTES);
    return map;
  }

  private static Map<String, @Nullable Object> database(Lease lease, CachedMemoryUse memory) {
    Statistics s = lease.database().statistics();
    Map<String, @Nullable Object> map = new LinkedHashMap<>();
    map.put("directory", s.directory().toString());
    map.put("version", lease.version());
    map.put("id", s.databaseId());
    map.put("builtAt", builtAt(s.directory()));
    map.put("openedAt", seconds(lease.openedAt()));
    map.put("openSeconds", lease.openTook().toNanos() / 1e9);
    map.put("engine", s.engine());
    map.put("records", s.records());
    map.put("layout", s.layout());
    map.put("approximateWidth", s.approximateWidth());
    map.put("checksumBits", s.checksumBits());
    map.put("filterBits", s.filterBits());
    map.put("ordered", s.ordered());
    map.put("shard", s.isSet() ? null : s.shard());
    map.put("shards", s.shards());
    map.put("heldShards", s.isPartialSet() ? s.heldShardRanges() : null);
    map.put("wholeSetId", s.wholeSetId());
    map.put("keyBytes", s.keyBytes());
    map.put("valueBytes", s.valueBytes());
    map.put("longestKey", s.longestKey());
    map.put("longestValue", s.longestValue());
    map.put("hashBytes", s.hashBytes());
    map.put("indexBytes", s.indexBytes());
    map.put("filterBytes", s.filterBytes());
    map.put("orderBytes", s.orderBytes());
    map.put("dataBytes", s.dataBytes());
    map.put("databaseBytes", s.databaseBytes());
    MemoryUse use = memory.at(lease.database());
    map.put("residentBytes", use.residentBytes());
    map.put("hugePageBytes", use.hugePageBytes());
    return map;
  }

  /** Returns the manifest's time: a build writes it last. */
  private static @Nullable String builtAt(Path directory) {
    try {
      return seconds(Files.getLastModifiedTime(Database.manifest(directory)).toInstant());
    } catch (IOException gone) {
      return null;
    }
  }

  /** What is kept for a while about a data set, because it takes time to find out. */
  private static final class Details {
    private final DataSet set;
    private final CachedMemoryUse memory = new CachedMemoryUse();
    private List<Map<String, @Nullable Object>> versions = List.of();
    private long versionsNanos = System.nanoTime() - KEPT_NANOS;

    Details(DataSet set) {
      this.set = set;
    }

    Map<String, @Nullable Object> store(String serving) {
      Map<String, @Nullable Object> map = new LinkedHashMap<>();
      map.put("directory", set.directory().toString());
      map.put("swaps", set.database().swaps());
      Refusal refused = set.database().refused();
      map.put("refused", refused == null ? null : refused(refused));
      try {
        Store store = Store.open(set.directory());
        map.put("current", store.current());
        map.put("versions", versions(store, serving));
      } catch (IOException e) {
        map.put("error", String.valueOf(e.getMessage()));
        map.put("versions", List.of());
      }
      return map;
    }

    /** Returns the versions, at most five seconds old: listing them reads every manifest. */
    private synchronized List<Map<String, @Nullable Object>> versions(Store store, String serving)
        throws IOException {
      if (System.nanoTime() - versionsNanos >= KEPT_NANOS) {
        List<Map<String, @Nullable Object>> found = new ArrayList<>();
        for (StoredVersion version : store.versions()) {
          Map<String, @Nullable Object> map = new LinkedHashMap<>();
          map.put("name", version.name());
          map.put("current", version.current());
          map.put("serving", version.name().equals(serving));
          map.put("modified", seconds(version.modified()));
          map.put("records", version.records());
          map.put("bytes", version.bytes());
          found.add(map);
        }
        versions = found;
        versionsNanos = System.nanoTime();
      }
      return versions;
    }
  }

  static Map<String, @Nullable Object> refused(Refusal refusal) {
    Map<String, @Nullable Object> map = new LinkedHashMap<>();
    map.put("version", refusal.version());
    map.put("reason", refusal.reason());
    map.put("at", seconds(refusal.at()));
    return map;
  }

  private Map<String, @Nullable Object> requests() {
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
    map.put("connections", connections.count() - (resp == null ? 0 : resp.connected()));
    map.put("byStatus", byStatus);
    return map;
  }

  private static Map<String, @Nullable Object> resp(RespService of) {
    RespStatistics statistics = of.statistics();
    Map<String, @Nullable Object> map = new LinkedHashMap<>();
    map.put("connections", of.connected());
    map.put("commands", statistics.answered());
    map.put("byCommand", statistics.commands());
    map.put("errors", statistics.errors());
    map.put("latency", latency(statistics.latencies()));
    return map;
  }

  private static Map<String, Long> lookups(LookupCounts counts) {
    Map<String, Long> map = new LinkedHashMap<>();
    map.put("hits", counts.hits());
    map.put("misses", counts.misses());
    map.put("errors", counts.errors());
    return map;
  }

  private static Map<String, @Nullable Object> latency(Histogram of) {
    Map<String, @Nullable Object> map = new LinkedHashMap<>();
    map.put("count", of.getTotalCount());
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

  private static String seconds(Instant instant) {
    return instant.truncatedTo(ChronoUnit.SECONDS).toString();
  }
}
