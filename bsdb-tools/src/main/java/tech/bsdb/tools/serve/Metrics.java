package tech.bsdb.tools.serve;

import io.prometheus.metrics.core.metrics.CounterWithCallback;
import io.prometheus.metrics.core.metrics.GaugeWithCallback;
import io.prometheus.metrics.core.metrics.Histogram;
import io.prometheus.metrics.core.metrics.SummaryWithCallback;
import io.prometheus.metrics.expositionformats.ExpositionFormatWriter;
import io.prometheus.metrics.expositionformats.ExpositionFormats;
import io.prometheus.metrics.expositionformats.OpenMetricsTextFormatWriter;
import io.prometheus.metrics.expositionformats.PrometheusTextFormatWriter;
import io.prometheus.metrics.instrumentation.jvm.JvmMetrics;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.prometheus.metrics.model.snapshots.InfoSnapshot;
import io.prometheus.metrics.model.snapshots.InfoSnapshot.InfoDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.Quantiles;
import io.prometheus.metrics.model.snapshots.Unit;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.DoubleSupplier;
import java.util.function.LongSupplier;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;
import tech.bsdb.Statistics;
import tech.bsdb.store.Lease;
import tech.bsdb.tools.publish.FollowStatus;
import tech.bsdb.tools.serve.client.Connections;
import tech.bsdb.tools.serve.client.Credentials;
import tech.bsdb.tools.serve.client.HeldMemory;
import tech.bsdb.tools.serve.client.LookupCounts;
import tech.bsdb.tools.serve.cluster.Cluster;
import tech.bsdb.tools.serve.dataset.DataSet;
import tech.bsdb.tools.serve.dataset.DataSet.DataSetRemovedException;
import tech.bsdb.tools.serve.dataset.DataSets;
import tech.bsdb.tools.serve.dataset.PerDataSet;
import tech.bsdb.tools.serve.resp.RespService;
import tech.bsdb.tools.serve.resp.RespStatistics;

/** The content of {@code /metrics}, in the Prometheus or OpenMetrics text format. Thread-safe. */
final class Metrics {
  private static final double[] BOUNDS = {
    25e-6, 50e-6, 100e-6, 250e-6, 500e-6, 1e-3, 2.5e-3, 5e-3, 10e-3, 25e-3, 50e-3, 0.1, 0.25, 0.5,
    1, 2.5, 5, 10
  };

  private static final double[] QUANTILES = {0.5, 0.9, 0.99, 0.999};

  private final PrometheusRegistry registry = new PrometheusRegistry();
  private final Histogram durations =
      Histogram.builder()
          .name("bsdb_http_request_duration_seconds")
          .help("Time from a request's head until its answer is handed to the socket")
          .unit(Unit.SECONDS)
          .classicOnly()
          .classicUpperBounds(BOUNDS)
          .register(registry);

  private final DataSets sets;
  private final PerDataSet<CachedMemoryUse> memory;

  /** Metrics of a service on data sets, whose own metrics have their names as a label. */
  Metrics(DataSets sets) {
    this.sets = sets;
    this.memory = new PerDataSet<>(sets, set -> new CachedMemoryUse());
  }

  /** Returns the durations of requests since the start. */
  Histogram durations() {
    return durations;
  }

  /**
   * Registers all other metrics.
   *
   * @param resp null if Redis clients are not served
   */
  void register(
      Connections connections,
      @Nullable RespService resp,
      Requests requests,
      IoTotals io,
      @Nullable AccessLog log,
      Credentials credentials) {
    HeldMemory memory = connections.memory();
    LookupCounts lookups = requests.lookups();
    JvmMetrics.builder().register(registry);
    CounterWithCallback.builder()
        .name("bsdb_http_requests_total")
        .help("Answered requests")
        .labelNames("status")
        .callback(
            each ->
                requests
                    .byStatus()
                    .forEach((status, count) -> each.call(count, String.valueOf(status))))
        .register(registry);
    gauge("bsdb_http_requests_in_flight", "Requests in progress", requests::inFlight);
    gauge(
        "bsdb_http_connections",
        "Open connections",
        () -> connections.count() - (resp == null ? 0 : resp.connected()));
    gauge(
        "bsdb_http_held_bytes",
        "Bytes held for clients: unanswered bodies, values being read and answers not yet"
            + " read by the client",
        () -> memory.held());
    gauge(
        "bsdb_http_held_limit_bytes", "The bound on bytes held for clients", () -> memory.limit());
    CounterWithCallback.builder()
        .name("bsdb_http_held_refusals_total")
        .help("Requests refused because too much memory was held, by bound")
        .labelNames("bound")
        .callback(
            each -> {
              each.call((double) memory.refusals(), "server");
              each.call((double) memory.clientRefusals(), "client");
            })
        .register(registry);
    dataSetCounter("bsdb_lookup_hits_total", "Keys found", set -> set.counts().hits());
    dataSetCounter("bsdb_lookup_misses_total", "Keys absent", set -> set.counts().misses());
    dataSetCounter(
        "bsdb_lookup_errors_total", "Keys whose lookup failed", set -> set.counts().errors());
    gauge("bsdb_lookups_in_flight", "Lookups in progress", lookups::inFlight);
    dataSetCounter(
        "bsdb_io_reads_total",
        "Reads by the engine; none for mapped files, which the kernel reads",
        io::reads);
    dataSetCounter("bsdb_io_read_bytes_total", "Bytes of those reads", io::bytes);
    dataSetCounter(
        "bsdb_version_swaps_total", "Versions put into service", set -> set.database().swaps());
    dataSetGauge(
        "bsdb_version_refused",
        "1 while the current version is rejected and an older one is served",
        set -> set.database().refused() == null ? 0 : 1);
    gauge(
        "bsdb_draining",
        "1 while draining: clients are sent elsewhere",
        () -> connections.draining() ? 1 : 0);
    if (log != null) {
      counter(
          "bsdb_access_log_dropped_total",
          "Access log lines dropped because the log could not keep up",
          log::dropped);
      counter(
          "bsdb_access_log_failed_total",
          "Access log lines lost because they could not be written",
          log::failed);
    }
    Instant expires = credentials.expires();
    if (expires != null) {
      gauge(
          "bsdb_tls_certificate_expiry_seconds",
          "Time until the first certificate of the chain in use expires; negative afterwards",
          () -> secondsUntil(Objects.requireNonNullElse(credentials.expires(), expires)));
    }
    GaugeWithCallback.builder()
        .name("bsdb_file_reload_refused")
        .help("1 while the last reload of a file failed and the previous one stays in use")
        .labelNames("file")
        .callback(
            each -> {
              each.call(credentials.certificatesRefused() ? 1 : 0, "certificate");
              each.call(credentials.tokensRefused() ? 1 : 0, "tokens");
              each.call(log != null && log.reopenFailed() ? 1 : 0, "access_log");
            })
        .register(registry);
    registerDatabaseGauges();
    if (resp != null) {
      register(resp);
    }
  }

  /** Registers what a store says that follows a source. */
  void register(FollowStatus following) {
    GaugeWithCallback.builder()
        .name("bsdb_follow_state")
        .help("1 for what is being done about the source, 0 for all else")
        .labelNames("state")
        .callback(
            each -> {
              FollowStatus.State now = following.state();
              for (FollowStatus.State state : FollowStatus.State.values()) {
                each.call(state == now ? 1 : 0, state.name().toLowerCase(Locale.ROOT));
              }
            })
        .register(registry);
    gauge(
        "bsdb_follow_behind",
        "1 while the source has a version that the store has not",
        () -> following.isBehind() ? 1 : 0);
    gauge(
        "bsdb_follow_checked_timestamp_seconds",
        "When the source was last read successfully; 0 if never",
        () -> secondsAt(following.checkedAt()));
    gauge(
        "bsdb_follow_pulled_timestamp_seconds",
        "When a version was last pulled; 0 if none was since the start",
        () -> secondsAt(following.pulledAt()));
    gauge(
        "bsdb_follow_consecutive_failures",
        "Attempts to follow the source that failed since the last success",
        following::failures);
    counter(
        "bsdb_follow_failures_total",
        "Attempts to follow the source that failed",
        following::allFailures);
    counter(
        "bsdb_follow_fetched_bytes_total",
        "Bytes that came from the source",
        following::fetchedBytes);
    gauge(
        "bsdb_follow_pull_bytes",
        "Bytes that the pull under way has to bring; 0 if there is none",
        following::pullBytes);
    gauge(
        "bsdb_follow_pull_remaining_bytes",
        "The part of them that is still to come",
        following::remainingBytes);
  }

  /** Registers the cluster. */
  void register(Cluster cluster) {
    gauge(
        "bsdb_cluster_nodes",
        "Nodes of the cluster, with replicas",
        () -> cluster.view().topology().nodes().size());
    gauge(
        "bsdb_cluster_slots",
        "Slots of this node, or of its primary",
        () -> cluster.view().slots().size());
    gauge(
        "bsdb_cluster_handed_over_slots",
        "Slots that have moved to other nodes and are still answered here",
        () -> cluster.view().handedOver().size());
    counter(
        "bsdb_cluster_topology_changes_total",
        "Topologies that took effect since the start",
        cluster::changes);
    gauge(
        "bsdb_cluster_topology_refused",
        "1 while the file of the topology is rejected and the previous one stays in use",
        () -> cluster.refused() == null ? 0 : 1);
  }

  /** Registers what Redis clients do. */
  private void register(RespService resp) {
    RespStatistics statistics = resp.statistics();
    gauge("bsdb_resp_connections", "Open connections of Redis clients", resp::connected);
    counter(
        "bsdb_resp_connections_accepted_total",
        "Connections of Redis clients that were accepted",
        statistics::connections);
    CounterWithCallback.builder()
        .name("bsdb_resp_commands_total")
        .help("Commands of Redis clients, except those that are unknown or not permitted")
        .labelNames("command")
        .callback(each -> statistics.commands().forEach((name, count) -> each.call(count, name)))
        .register(registry);
    CounterWithCallback.builder()
        .name("bsdb_resp_errors_total")
        .help("Error replies to Redis clients, by their code")
        .labelNames("code")
        .callback(each -> statistics.errors().forEach((code, count) -> each.call(count, code)))
        .register(registry);
    SummaryWithCallback.builder()
        .name("bsdb_resp_command_duration_seconds")
        .help("Time from the arrival of commands until their replies are handed to the socket")
        .unit(Unit.SECONDS)
        .callback(
            each -> {
              org.HdrHistogram.Histogram of = statistics.latencies();
              Quantiles.Builder quantiles = Quantiles.builder();
              for (double quantile : QUANTILES) {
                quantiles.quantile(quantile, of.getValueAtPercentile(100 * quantile) / 1e9);
              }
              double sum = of.getTotalCount() == 0 ? 0 : of.getMean() * of.getTotalCount() / 1e9;
              each.call(of.getTotalCount(), sum, quantiles.build());
            })
        .register(registry);
  }

  private static double secondsAt(@Nullable Instant moment) {
    return moment == null ? 0 : moment.toEpochMilli() / 1e3;
  }

  private static double secondsUntil(Instant moment) {
    return Duration.between(Instant.now(), moment).toMillis() / 1e3;
  }

  private void registerDatabaseGauges() {
    registerInfo();
    databaseGauge(
        "bsdb_database_records",
        "Records in the database",
        (set, lease) -> statistics(lease).records());
    databaseGauge(
        "bsdb_database_size_bytes",
        "Size of all files",
        (set, lease) -> statistics(lease).databaseBytes());
    databaseGauge(
        "bsdb_database_resident_bytes",
        "Bytes of mapped or loaded files that are in memory",
        (set, lease) -> memory.of(set).at(lease.database()).residentBytes());
    databaseGauge(
        "bsdb_database_huge_page_bytes",
        "Bytes of those that are in huge pages",
        (set, lease) -> memory.of(set).at(lease.database()).hugePageBytes());
    databaseGauge(
        "bsdb_database_open_timestamp_seconds",
        "When the version was opened",
        (set, lease) -> lease.openedAt().toEpochMilli() / 1e3);
    databaseGauge(
        "bsdb_database_open_duration_seconds",
        "How long opening took, including preloading",
        (set, lease) -> lease.openTook().toNanos() / 1e9);
  }

  private static Statistics statistics(Lease lease) {
    return lease.database().statistics();
  }

  /** A figure of the version being served. */
  private interface Figure {
    double of(DataSet set, Lease lease);
  }

  private void databaseGauge(String name, String help, Figure figure) {
    dataSetGauge(
        name,
        help,
        set -> {
          try (Lease lease = set.acquire()) {
            return figure.of(set, lease);
          }
        });
  }

  private void dataSetGauge(String name, String help, ToDoubleFunction<DataSet> value) {
    GaugeWithCallback.builder()
        .name(name)
        .help(help)
        .labelNames(labels())
        .callback(each -> forEach(set -> each.call(value.applyAsDouble(set), labelsOf(set))))
        .register(registry);
  }

  private void dataSetCounter(String name, String help, ToLongFunction<DataSet> value) {
    CounterWithCallback.builder()
        .name(name)
        .help(help)
        .labelNames(labels())
        .callback(each -> forEach(set -> each.call((double) value.applyAsLong(set), labelsOf(set))))
        .register(registry);
  }

  private void registerInfo() {
    List<String> names = new ArrayList<>(List.of(labels()));
    names.addAll(List.of("version", "id", "layout", "engine"));
    String[] labels = names.toArray(String[]::new);
    registry.register(
        () -> {
          InfoSnapshot.Builder info =
              InfoSnapshot.builder().name("bsdb_database").help("The version being served");
          forEach(
              set ->
                  info.dataPoint(
                      InfoDataPointSnapshot.builder()
                          .labels(Labels.of(labels, versionOf(set)))
                          .build()));
          return info.build();
        });
  }

  private String[] versionOf(DataSet set) {
    List<String> values = new ArrayList<>(List.of(labelsOf(set)));
    try (Lease lease = set.acquire()) {
      Statistics s = statistics(lease);
      values.addAll(List.of(lease.version(), s.databaseId(), s.layout(), s.engine()));
    }
    return values.toArray(String[]::new);
  }

  /** The label of what a data set has for itself; none where there is only one, without a name. */
  private String[] labels() {
    return sets.areNamed() ? new String[] {"dataset"} : new String[0];
  }

  private String[] labelsOf(DataSet set) {
    return sets.areNamed() ? new String[] {set.name()} : new String[0];
  }

  private void forEach(Consumer<DataSet> action) {
    for (DataSet set : sets.all()) {
      try {
        action.accept(set);
      } catch (DataSetRemovedException gone) {
        // it was here a moment ago
      }
    }
  }

  private void gauge(String name, String help, DoubleSupplier value) {
    GaugeWithCallback.builder()
        .name(name)
        .help(help)
        .callback(each -> each.call(value.getAsDouble()))
        .register(registry);
  }

  private void counter(String name, String help, LongSupplier value) {
    CounterWithCallback.builder()
        .name(name)
        .help(help)
        .callback(each -> each.call((double) value.getAsLong()))
        .register(registry);
  }

  /**
   * Renders the page.
   *
   * @param accept the header of that name, which may request OpenMetrics
   */
  Reply page(@Nullable String accept) throws IOException {
    ExpositionFormats formats = ExpositionFormats.init();
    OpenMetricsTextFormatWriter open = formats.getOpenMetricsTextFormatWriter();
    PrometheusTextFormatWriter plain = formats.getPrometheusTextFormatWriter();
    boolean openMetrics = open.accepts(accept);
    ExpositionFormatWriter writer = openMetrics ? open : plain;
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    writer.write(out, registry.scrape());
    return Reply.of(
        200, openMetrics ? MediaType.OPEN_METRICS : MediaType.METRICS, out.toByteArray());
  }
}
