package tech.bsdb.tools.serve;

import io.prometheus.metrics.core.metrics.CounterWithCallback;
import io.prometheus.metrics.core.metrics.GaugeWithCallback;
import io.prometheus.metrics.core.metrics.Histogram;
import io.prometheus.metrics.core.metrics.Info;
import io.prometheus.metrics.expositionformats.ExpositionFormatWriter;
import io.prometheus.metrics.expositionformats.ExpositionFormats;
import io.prometheus.metrics.expositionformats.OpenMetricsTextFormatWriter;
import io.prometheus.metrics.expositionformats.PrometheusTextFormatWriter;
import io.prometheus.metrics.instrumentation.jvm.JvmMetrics;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.prometheus.metrics.model.snapshots.Unit;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import java.util.function.DoubleSupplier;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import tech.bsdb.Statistics;
import tech.bsdb.store.Lease;
import tech.bsdb.store.ReloadingDatabase;

/** What {@code /metrics} says, in the format that Prometheus reads. Thread-safe. */
final class Metrics {
  private static final double[] BOUNDS = {
    25e-6, 50e-6, 100e-6, 250e-6, 500e-6, 1e-3, 2.5e-3, 5e-3, 10e-3, 25e-3, 50e-3, 0.1, 0.25, 0.5,
    1, 2.5, 5, 10
  };

  private final PrometheusRegistry registry = new PrometheusRegistry();
  private final Histogram durations =
      Histogram.builder()
          .name("bsdb_http_request_duration_seconds")
          .help("From a request's head to its answer, handed to the socket")
          .unit(Unit.SECONDS)
          .classicOnly()
          .classicUpperBounds(BOUNDS)
          .register(registry);

  private final Info info =
      Info.builder()
          .name("bsdb_database_info")
          .help("What is served")
          .labelNames("version", "id", "layout", "engine")
          .register(registry);
  private final ReloadingDatabase database;
  private final MemoryLook memory = new MemoryLook();

  /** Metrics of what serves from a database. */
  Metrics(ReloadingDatabase database) {
    this.database = database;
  }

  /** The durations of requests since the start. */
  Histogram durations() {
    return durations;
  }

  /** Registers all else. */
  void register(
      Connections connections, IoTotals io, @Nullable AccessLog log, Credentials credentials) {
    JvmMetrics.builder().register(registry);
    Requests requests = connections.requests();
    CounterWithCallback.builder()
        .name("bsdb_http_requests_total")
        .help("Requests that were answered")
        .labelNames("status")
        .callback(
            each ->
                requests
                    .byStatus()
                    .forEach((status, count) -> each.call(count, String.valueOf(status))))
        .register(registry);
    gauge("bsdb_http_requests_in_flight", "Requests not answered yet", requests::inFlight);
    gauge("bsdb_http_connections", "Open connections", connections::count);
    gauge(
        "bsdb_http_held_bytes",
        "Bodies that are not answered, values under way and answers that are not taken",
        () -> requests.memory().held());
    gauge(
        "bsdb_http_held_limit_bytes", "The most that may be held", () -> requests.memory().limit());
    CounterWithCallback.builder()
        .name("bsdb_http_held_refusals_total")
        .help("How often a request was refused because too much was held, by what bound")
        .labelNames("bound")
        .callback(
            each -> {
              each.call((double) requests.memory().refusals(), "server");
              each.call((double) requests.memory().clientRefusals(), "client");
            })
        .register(registry);
    counter("bsdb_lookup_hits_total", "Keys that were found", requests::hits);
    counter("bsdb_lookup_misses_total", "Keys that are absent", requests::misses);
    counter("bsdb_lookup_errors_total", "Keys whose lookup failed", requests::errors);
    gauge("bsdb_lookups_in_flight", "Lookups under way", requests::lookupsInFlight);
    counter(
        "bsdb_io_reads_total",
        "Reads by the engine; none where files are mapped, since the kernel reads those",
        io::reads);
    counter("bsdb_io_read_bytes_total", "Bytes of those reads", io::bytes);
    counter("bsdb_version_swaps_total", "Versions that went live", database::swaps);
    gauge(
        "bsdb_version_refused",
        "1 while the current version is refused and an older one serves",
        () -> database.refused() == null ? 0 : 1);
    gauge(
        "bsdb_draining",
        "1 while clients are sent elsewhere",
        () -> connections.draining() ? 1 : 0);
    if (log != null) {
      counter(
          "bsdb_access_log_dropped_total",
          "Lines the access log left out, because it could not keep up",
          log::dropped);
      counter(
          "bsdb_access_log_failed_total",
          "Lines the access log lost, because they could not be written",
          log::failed);
    }
    Instant expires = credentials.expires();
    if (expires != null) {
      gauge(
          "bsdb_tls_certificate_expiry_seconds",
          "Until the first certificate of the chain in use expires; negative afterwards",
          () -> secondsUntil(Objects.requireNonNullElse(credentials.expires(), expires)));
    }
    GaugeWithCallback.builder()
        .name("bsdb_file_reload_refused")
        .help("1 while a file could not be reloaded and the one before stays in use")
        .labelNames("file")
        .callback(
            each -> {
              each.call(credentials.certificatesRefused() ? 1 : 0, "certificate");
              each.call(credentials.tokensRefused() ? 1 : 0, "tokens");
              each.call(log != null && log.refused() ? 1 : 0, "access_log");
            })
        .register(registry);
    served();
  }

  private static double secondsUntil(Instant moment) {
    return Duration.between(Instant.now(), moment).toMillis() / 1e3;
  }

  private void served() {
    of("bsdb_database_records", "Records", lease -> statistics(lease).records());
    of("bsdb_database_size_bytes", "All files", lease -> statistics(lease).databaseBytes());
    of(
        "bsdb_database_resident_bytes",
        "Bytes of mapped or loaded files that are in memory",
        lease -> memory.at(lease.database()).residentBytes());
    of(
        "bsdb_database_huge_page_bytes",
        "Bytes of those in huge pages",
        lease -> memory.at(lease.database()).hugePageBytes());
    of(
        "bsdb_database_open_timestamp_seconds",
        "When the version was opened",
        lease -> lease.openedAt().toEpochMilli() / 1e3);
    of(
        "bsdb_database_open_duration_seconds",
        "How long opening took, preloading included",
        lease -> lease.openTook().toNanos() / 1e9);
  }

  private static Statistics statistics(Lease lease) {
    return lease.database().statistics();
  }

  /** A figure of the version that is served. */
  private interface Figure {
    double of(Lease lease);
  }

  private void of(String name, String help, Figure figure) {
    gauge(
        name,
        help,
        () -> {
          try (Lease lease = database.acquire()) {
            return figure.of(lease);
          }
        });
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
   * The page.
   *
   * @param accept the header of that name, which may ask for OpenMetrics
   */
  Reply page(@Nullable String accept) throws IOException {
    ExpositionFormats formats = ExpositionFormats.init();
    OpenMetricsTextFormatWriter open = formats.getOpenMetricsTextFormatWriter();
    PrometheusTextFormatWriter plain = formats.getPrometheusTextFormatWriter();
    boolean asked = open.accepts(accept);
    ExpositionFormatWriter writer = asked ? open : plain;
    try (Lease lease = database.acquire()) {
      Statistics s = statistics(lease);
      info.setLabelValues(lease.version(), s.databaseId(), s.layout(), s.engine());
    }
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    writer.write(out, registry.scrape());
    return Reply.of(200, asked ? MediaType.OPEN_METRICS : MediaType.METRICS, out.toByteArray());
  }
}
