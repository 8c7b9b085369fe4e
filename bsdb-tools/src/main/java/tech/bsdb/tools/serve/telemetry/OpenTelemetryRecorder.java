package tech.bsdb.tools.serve.telemetry;

import io.opentelemetry.api.GlobalOpenTelemetry;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.common.AttributesBuilder;
import io.opentelemetry.api.metrics.DoubleHistogram;
import io.opentelemetry.api.metrics.Meter;
import io.opentelemetry.api.metrics.ObservableDoubleMeasurement;
import io.opentelemetry.api.metrics.ObservableMeasurement;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanBuilder;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.propagation.TextMapGetter;
import io.opentelemetry.context.propagation.TextMapPropagator;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.autoconfigure.AutoConfiguredOpenTelemetrySdk;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot;
import io.prometheus.metrics.model.snapshots.InfoSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import io.prometheus.metrics.model.snapshots.Quantile;
import io.prometheus.metrics.model.snapshots.SummarySnapshot;
import io.prometheus.metrics.model.snapshots.SummarySnapshot.SummaryDataPointSnapshot;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Records spans and metrics with OpenTelemetry, by its semantic conventions for HTTP servers. No
 * key and no other part of a target that a client chooses is recorded: paths are those of routes.
 *
 * <p>Contexts are passed explicitly; none is ever a thread's current one, because a request may be
 * answered by several threads, and a thread answers many requests.
 */
final class OpenTelemetryRecorder implements Telemetry {
  private static final String SCOPE = "tech.bsdb.serve";
  private static final String DISABLED = "otel.sdk.disabled";

  /** The agent's spans of what arrives by Netty, which it takes for unanswered. */
  private static final String NETTY = "otel.instrumentation.netty.enabled";

  private static final AttributeKey<String> METHOD = AttributeKey.stringKey("http.request.method");
  private static final AttributeKey<String> METHOD_AS_SENT =
      AttributeKey.stringKey("http.request.method_original");
  private static final AttributeKey<Long> STATUS =
      AttributeKey.longKey("http.response.status_code");
  private static final AttributeKey<String> ROUTE = AttributeKey.stringKey("http.route");
  private static final AttributeKey<String> SCHEME = AttributeKey.stringKey("url.scheme");
  private static final AttributeKey<String> PATH = AttributeKey.stringKey("url.path");
  private static final AttributeKey<String> HOST = AttributeKey.stringKey("server.address");
  private static final AttributeKey<Long> PORT = AttributeKey.longKey("server.port");
  private static final AttributeKey<String> CLIENT = AttributeKey.stringKey("client.address");
  private static final AttributeKey<String> AGENT = AttributeKey.stringKey("user_agent.original");
  private static final AttributeKey<String> PROTOCOL =
      AttributeKey.stringKey("network.protocol.version");
  private static final AttributeKey<String> ERROR = AttributeKey.stringKey("error.type");
  private static final AttributeKey<String> DATASET = AttributeKey.stringKey("bsdb.dataset");
  private static final AttributeKey<String> VERSION = AttributeKey.stringKey("bsdb.version");
  private static final AttributeKey<Long> KEYS = AttributeKey.longKey("bsdb.keys.asked");
  private static final AttributeKey<Long> FOUND = AttributeKey.longKey("bsdb.keys.found");

  /** The methods that the conventions know; names of others could be anything. */
  private static final Set<String> METHODS =
      Set.of("GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH");

  private static final String OTHER = "_OTHER";

  /** What stands for a path without a route. */
  private static final String HIDDEN = "REDACTED";

  /**
   * In seconds: those of {@code /metrics}, because lookups are faster than the usual first 5 ms.
   */
  private static final List<Double> BOUNDS =
      List.of(
          25e-6, 50e-6, 1e-4, 25e-5, 5e-4, 1e-3, 25e-4, 5e-3, 1e-2, 25e-3, 5e-2, 0.1, 0.25, 0.5,
          1.0, 2.5, 5.0, 10.0);

  /**
   * What the sum and the count of a summary have after its name. They are gauges, because what
   * reads OTLP for Prometheus would add {@code _total} to counters.
   */
  private static final String SUM = "_sum";

  private static final String COUNT = "_count";

  private static final TextMapGetter<Function<String, List<String>>> HEADERS =
      new TextMapGetter<>() {
        @Override
        @SuppressWarnings("deprecation") // every getter must have it; nothing calls it
        public Iterable<String> keys(Function<String, List<String>> headers) {
          return List.of();
        }

        /** Of several headers, {@code traceparent} is invalid, and others are one list. */
        @Override
        public @Nullable String get(@Nullable Function<String, List<String>> headers, String name) {
          List<String> values = headers == null ? List.of() : headers.apply(name);
          boolean none = values.isEmpty() || (values.size() > 1 && name.equals(TraceParent.NAME));
          return none ? null : String.join(",", values);
        }
      };

  private final Tracer tracer;
  private final TextMapPropagator propagator;
  private final Meter meter;
  private final DoubleHistogram durations;
  private final AutoCloseable end;
  private @Nullable AutoCloseable exporting;

  /**
   * Records.
   *
   * @param end sends what has not been sent
   */
  OpenTelemetryRecorder(OpenTelemetry api, AutoCloseable end) {
    this.end = end;
    this.tracer = api.getTracer(SCOPE);
    this.propagator = api.getPropagators().getTextMapPropagator();
    this.meter = api.getMeter(SCOPE);
    this.durations =
        meter
            .histogramBuilder("http.server.request.duration")
            .setDescription("Duration of HTTP server requests.")
            .setUnit("s")
            .setExplicitBucketBoundariesAdvice(BOUNDS)
            .build();
  }

  /**
   * Does what {@link Telemetry#ofClassPath} says, now that OpenTelemetry is there.
   *
   * @param sdk whether the SDK is there, and not only the API
   */
  static Telemetry ofClassPath(boolean sdk, Consumer<String> say) {
    if ("true".equalsIgnoreCase(setting(DISABLED))) {
      return NONE;
    }
    if (sdk) {
      return configured(say);
    }
    OpenTelemetry global;
    try {
      global = GlobalOpenTelemetry.getOrNoop();
    } catch (NoSuchMethodError e) { // that of a cluster, for its own libraries
      say.accept("OpenTelemetry is off: the API on the class path is too old, and there is no SDK");
      return NONE;
    }
    if (global == OpenTelemetry.noop()) {
      say.accept("OpenTelemetry is off: its API is on the class path, but no SDK and no agent");
      return NONE;
    }
    say.accept("OpenTelemetry is on, as the agent has set it up");
    if (!"false".equalsIgnoreCase(setting(NETTY))) {
      say.accept(
          "set OTEL_INSTRUMENTATION_NETTY_ENABLED=false: the agent's own spans of requests show"
              + " keys, and end with the connection");
    }
    return new OpenTelemetryRecorder(global, () -> {});
  }

  private static Telemetry configured(Consumer<String> say) {
    OpenTelemetrySdk sdk =
        AutoConfiguredOpenTelemetrySdk.builder()
            .disableShutdownHook() // it would not wait for the requests that are being finished
            .build()
            .getOpenTelemetrySdk();
    say.accept("OpenTelemetry is on, as the variables OTEL_* say");
    return new OpenTelemetryRecorder(sdk, sdk);
  }

  /** Returns a setting as OpenTelemetry reads it: of the process, or of the environment. */
  private static @Nullable String setting(String name) {
    return System.getProperty(name, System.getenv(name.toUpperCase(Locale.ROOT).replace('.', '_')));
  }

  @Override
  public boolean isOn() {
    return true;
  }

  @Override
  public RequestSpan began(RequestHead head) {
    String template = head.route().template();
    boolean known = METHODS.contains(head.method());
    String method = known ? head.method() : OTHER;
    String verb = known ? method : "HTTP";
    SpanBuilder builder =
        tracer
            .spanBuilder(template.isEmpty() ? verb : verb + " " + template)
            .setSpanKind(SpanKind.SERVER)
            .setParent(propagator.extract(Context.root(), head.headers(), HEADERS))
            .setAttribute(METHOD, method)
            .setAttribute(SCHEME, head.scheme())
            .setAttribute(PATH, template.isEmpty() ? HIDDEN : template)
            .setAttribute(PROTOCOL, head.version())
            .setAttribute(CLIENT, head.client());
    AttributesBuilder metric =
        Attributes.builder()
            .put(METHOD, method)
            .put(SCHEME, head.scheme())
            .put(PROTOCOL, head.version());
    if (!known) {
      builder.setAttribute(METHOD_AS_SENT, head.method());
    }
    if (!template.isEmpty()) {
      builder.setAttribute(ROUTE, template);
      metric.put(ROUTE, template);
    }
    if (!head.route().dataset().isEmpty()) {
      builder.setAttribute(DATASET, head.route().dataset());
    }
    head.headers().apply("user-agent").stream()
        .findFirst()
        .ifPresent(agent -> builder.setAttribute(AGENT, agent));
    head.headers().apply("host").stream().findFirst().ifPresent(host -> server(host, builder));
    return new Recorded(builder.startSpan(), metric);
  }

  /** Adds what the client calls this server: a name or address, and a port unless it is usual. */
  private static void server(String host, SpanBuilder to) {
    int colon = host.lastIndexOf(':');
    boolean port = colon > host.lastIndexOf(']') && host.substring(colon).matches(":[0-9]{1,5}");
    String name = port ? host.substring(0, colon) : host;
    if (!name.isEmpty()) {
      boolean six = name.startsWith("[") && name.endsWith("]");
      to.setAttribute(HOST, six ? name.substring(1, name.length() - 1) : name);
    }
    if (port) {
      to.setAttribute(PORT, Long.parseLong(host.substring(colon + 1)));
    }
  }

  /** One request. */
  private final class Recorded implements RequestSpan {
    private final Span span;
    private final AttributesBuilder metric;
    private volatile @Nullable Throwable failure;

    /**
     * Goes on with a span.
     *
     * @param metric what the request's duration has of its attributes
     */
    Recorded(Span span, AttributesBuilder metric) {
      this.span = span;
      this.metric = metric;
    }

    @Override
    public String traceId() {
      return span.getSpanContext().isValid() ? span.getSpanContext().getTraceId() : "";
    }

    @Override
    public void failed(Throwable cause) {
      failure = cause; // its message may show a key
    }

    @Override
    public void answered(int status, long nanos, Lookup lookup) {
      span.setAttribute(STATUS, (long) status);
      if (!lookup.version().isEmpty()) { // otherwise nothing was looked up
        span.setAttribute(VERSION, lookup.version());
        span.setAttribute(KEYS, lookup.found() + lookup.absent());
        span.setAttribute(FOUND, lookup.found());
      }
      Throwable cause = failure;
      String error = status < 500 ? "" : cause == null ? "" + status : cause.getClass().getName();
      metric.put(STATUS, (long) status);
      ended(error, nanos);
    }

    @Override
    public void abandoned(long nanos) {
      Throwable cause = failure;
      ended(cause == null ? "connection_closed" : cause.getClass().getName(), nanos);
    }

    private void ended(String error, long nanos) {
      if (!error.isEmpty()) {
        metric.put(ERROR, error);
        span.setAttribute(ERROR, error);
        span.setStatus(StatusCode.ERROR);
      }
      durations.record(nanos / 1e9, metric.build(), Context.root().with(span));
      span.end();
    }
  }

  @Override
  public void opened(String dataset, String version, Duration took) {
    Instant now = Instant.now();
    version("open version", dataset, version, now.minus(took)).end(now);
  }

  @Override
  public void refused(String dataset, String version) {
    version("refuse version", dataset, version, Instant.now()).setStatus(StatusCode.ERROR).end();
  }

  private Span version(String name, String dataset, String version, Instant began) {
    SpanBuilder builder = tracer.spanBuilder(name).setNoParent().setStartTimestamp(began);
    if (!dataset.isEmpty()) {
      builder.setAttribute(DATASET, dataset);
    }
    return builder.setAttribute(VERSION, version).startSpan();
  }

  /** One instrument for each metric, which all observe the same collection. */
  @Override
  public void export(Supplier<MetricSnapshots> metrics) {
    Map<String, ObservableDoubleMeasurement> instruments = new LinkedHashMap<>();
    for (MetricSnapshot metric : metrics.get()) {
      String name = name(metric);
      String help = metric.getMetadata().getHelp();
      if (metric instanceof SummarySnapshot) {
        instruments.put(name + SUM, gauge(name + SUM, help, unit(name)));
        instruments.put(name + COUNT, gauge(name + COUNT, help, ""));
      }
      if (metric instanceof CounterSnapshot) {
        instruments.put(
            name,
            meter
                .counterBuilder(name)
                .ofDoubles()
                .setDescription(help)
                .setUnit(unit(name))
                .buildObserver());
      } else if (!(metric instanceof HistogramSnapshot)) { // that is http.server.request.duration
        instruments.put(name, gauge(name, help, unit(name)));
      }
    }
    exporting =
        meter.batchCallback(
            () -> metrics.get().forEach(metric -> observe(metric, instruments)),
            instruments.values().iterator().next(),
            instruments.values().toArray(ObservableMeasurement[]::new));
  }

  /** The name of {@code /metrics}; what reads OTLP for Prometheus adds {@code _total} again. */
  private static String name(MetricSnapshot metric) {
    String name = metric.getMetadata().getName();
    return metric instanceof InfoSnapshot ? name + "_info" : name;
  }

  private ObservableDoubleMeasurement gauge(String name, String help, String unit) {
    return meter.gaugeBuilder(name).setDescription(help).setUnit(unit).buildObserver();
  }

  private static String unit(String name) {
    return name.endsWith("_seconds") ? "s" : name.endsWith("_bytes") ? "By" : "";
  }

  private static void observe(
      MetricSnapshot metric, Map<String, ObservableDoubleMeasurement> instruments) {
    String name = name(metric);
    ObservableDoubleMeasurement to = instruments.get(name);
    if (to == null) {
      return;
    }
    if (metric instanceof CounterSnapshot counter) {
      counter.getDataPoints().forEach(at -> to.record(at.getValue(), attributes(at.getLabels())));
    } else if (metric instanceof GaugeSnapshot gauge) {
      gauge.getDataPoints().forEach(at -> to.record(at.getValue(), attributes(at.getLabels())));
    } else if (metric instanceof InfoSnapshot info) {
      info.getDataPoints().forEach(at -> to.record(1, attributes(at.getLabels())));
    } else if (metric instanceof SummarySnapshot summary) {
      for (SummaryDataPointSnapshot at : summary.getDataPoints()) {
        for (Quantile quantile : at.getQuantiles()) {
          String which = String.format(Locale.ROOT, "%s", quantile.getQuantile());
          to.record(quantile.getValue(), attributes(at.getLabels().add("quantile", which)));
        }
        Attributes attributes = attributes(at.getLabels());
        Objects.requireNonNull(instruments.get(name + SUM)).record(at.getSum(), attributes);
        Objects.requireNonNull(instruments.get(name + COUNT))
            .record((double) at.getCount(), attributes);
      }
    }
  }

  private static Attributes attributes(Labels labels) {
    AttributesBuilder attributes = Attributes.builder();
    labels.forEach(label -> attributes.put(label.getName(), label.getValue()));
    return attributes.build();
  }

  @Override
  public void close() {
    try {
      end.close(); // collects the metrics a last time
      if (exporting != null) {
        exporting.close();
      }
    } catch (RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }
}
