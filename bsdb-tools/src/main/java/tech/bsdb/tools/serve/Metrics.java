package tech.bsdb.tools.serve;

import io.prometheus.metrics.expositionformats.ExpositionFormatWriter;
import io.prometheus.metrics.expositionformats.ExpositionFormats;
import io.prometheus.metrics.expositionformats.OpenMetricsTextFormatWriter;
import io.prometheus.metrics.expositionformats.PrometheusTextFormatWriter;
import io.prometheus.metrics.instrumentation.jvm.JvmMetrics;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.CounterSnapshot.CounterDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot.GaugeDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.InfoSnapshot;
import io.prometheus.metrics.model.snapshots.InfoSnapshot.InfoDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricMetadata;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import io.prometheus.metrics.model.snapshots.Quantiles;
import io.prometheus.metrics.model.snapshots.SummarySnapshot;
import io.prometheus.metrics.model.snapshots.SummarySnapshot.SummaryDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Unit;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.cli.TextResource;
import tech.bsdb.tools.serve.dataset.DataSet;
import tech.bsdb.tools.serve.dataset.DataSet.DataSetRemovedException;
import tech.bsdb.tools.serve.dataset.DataSets;

/**
 * The content of {@code /metrics}, in the Prometheus or OpenMetrics text format: the figures of
 * {@link ServerStatistics} under the names in {@code metrics.txt}, the durations of requests, and
 * what the JVM says of itself. Thread-safe.
 */
record Metrics(ServerStatistics figures) {
  private static final List<Metric> TABLE =
      TextResource.lines(Metrics.class, "metrics.txt").stream().map(Metric::parse).toList();

  /** What the JVM says of itself, which takes long to find out: not before the first scrape. */
  private static final PrometheusRegistry JVM = new PrometheusRegistry();

  static {
    JvmMetrics.builder().register(JVM);
  }

  /**
   * A line of the table.
   *
   * @param labels the name of the label whose values are the keys of a figure that is a map, or
   *     states; of an info, the keys of the figure's entries that are labels
   * @param path the names that lead to the figure. After {@code dataset}, it is one of each data
   *     set, whose name is a label if it has one
   * @param states the metric is 1 if the figure is this text, otherwise 0; empty for other figures
   */
  private record Metric(
      String type,
      MetricMetadata metadata,
      List<String> labels,
      List<String> path,
      List<String> states) {

    static Metric parse(String line) {
      String[] parts = line.split(" ", 4);
      String[] name = parts[1].split("[{}]", -1);
      String[] figure = parts[2].split("=", -1);
      Unit unit = parts[0].equals("summary") ? Unit.SECONDS : null;
      return new Metric(
          parts[0],
          new MetricMetadata(name[0].replaceFirst("_total$", ""), parts[3], unit),
          name.length == 1 ? List.of() : List.of(name[1].split(",", -1)),
          List.of(figure[0].split("\\.", -1)),
          figure.length == 1 ? List.of() : List.of(figure[1].split("\\|", -1)));
    }
  }

  /** A value of a metric, and whose it is. */
  private record Point(Labels labels, @Nullable Object value) {
    double number() {
      return Metrics.number(value);
    }
  }

  /** Returns all metrics as they are now. */
  MetricSnapshots collect() {
    Map<Labels, Map<String, ?>> server = Map.of(Labels.EMPTY, figures.timed());
    DataSets sets = figures.sets();
    Map<Labels, Map<String, ?>> dataSets = new LinkedHashMap<>();
    for (DataSet set : sets.all()) {
      Labels name = sets.areNamed() ? Labels.of("dataset", set.name()) : Labels.EMPTY;
      try {
        dataSets.put(name, Map.of("dataset", figures.of(set)));
      } catch (DataSetRemovedException gone) {
        // it was here a moment ago
      }
    }
    MetricSnapshots.Builder all =
        MetricSnapshots.builder().metricSnapshot(figures.requests().latencies().metric());
    JVM.scrape().forEach(all::metricSnapshot);
    for (Metric metric : TABLE) {
      List<Point> points = new ArrayList<>();
      (metric.path.get(0).equals("dataset") ? dataSets : server)
          .forEach((labels, figures) -> add(metric, labels, figures, points));
      all.metricSnapshot(snapshot(metric, points));
    }
    return all.build();
  }

  /** Adds the points of a metric; none if the server does not have that part. */
  private static void add(
      Metric metric, Labels labels, Map<String, ?> figures, List<Point> points) {
    Object figure = figures;
    for (String name : metric.path) {
      if (!(figure instanceof Map<?, ?> part)) {
        return;
      }
      figure = figure(part, name);
    }
    if (metric.type.equals("info") && figure instanceof Map<?, ?> texts) {
      Labels all = labels;
      for (String label : metric.labels) {
        all = all.add(label, String.valueOf(figure(texts, label)));
      }
      points.add(new Point(all, figure));
    } else if (!metric.states.isEmpty()) {
      for (String state : metric.states) {
        Labels all = metric.labels.isEmpty() ? labels : labels.add(metric.labels.get(0), state);
        points.add(new Point(all, state.equals(figure)));
      }
    } else if (!metric.labels.isEmpty() && figure instanceof Map<?, ?> map) {
      map.forEach(
          (key, value) ->
              points.add(new Point(labels.add(metric.labels.get(0), String.valueOf(key)), value)));
    } else {
      points.add(new Point(labels, figure));
    }
  }

  private static @Nullable Object figure(Map<?, ?> part, String name) {
    if (!part.containsKey(name)) {
      throw new IllegalStateException("there is no figure " + name + " among " + part.keySet());
    }
    return part.get(name);
  }

  private static MetricSnapshot snapshot(Metric metric, List<Point> points) {
    return switch (metric.type) {
      case "counter" ->
          new CounterSnapshot(
              metric.metadata,
              points.stream()
                  .map(at -> new CounterDataPointSnapshot(at.number(), at.labels, null, 0))
                  .toList());
      case "gauge" ->
          new GaugeSnapshot(
              metric.metadata,
              points.stream()
                  .map(at -> new GaugeDataPointSnapshot(at.number(), at.labels, null))
                  .toList());
      case "info" ->
          new InfoSnapshot(
              metric.metadata,
              points.stream().map(at -> new InfoDataPointSnapshot(at.labels)).toList());
      default ->
          new SummarySnapshot(metric.metadata, points.stream().map(Metrics::summary).toList());
    };
  }

  /** Returns the percentiles that {@link ServerStatistics#latency} names. */
  private static SummaryDataPointSnapshot summary(Point of) {
    Map<?, ?> latency = (Map<?, ?>) Objects.requireNonNull(of.value);
    double count = number(latency.get("count"));
    return SummaryDataPointSnapshot.builder()
        .count((long) count)
        .sum(count * number(latency.get("meanSeconds")))
        .quantiles(
            Quantiles.builder()
                .quantile(0.5, number(latency.get("p50Seconds")))
                .quantile(0.9, number(latency.get("p90Seconds")))
                .quantile(0.99, number(latency.get("p99Seconds")))
                .quantile(0.999, number(latency.get("p999Seconds")))
                .build())
        .build();
  }

  /** Moments count in seconds, a reason or true as 1, false and what is absent as 0. */
  private static double number(@Nullable Object figure) {
    if (figure instanceof Number number) {
      return number.doubleValue();
    }
    if (figure instanceof Instant moment) {
      return moment.toEpochMilli() / 1e3;
    }
    return figure == null || figure.equals(false) ? 0 : 1;
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
    writer.write(out, collect());
    return Reply.of(
        200, openMetrics ? MediaType.OPEN_METRICS : MediaType.METRICS, out.toByteArray());
  }
}
