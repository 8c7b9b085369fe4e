package tech.bsdb.tools.serve.telemetry;

import io.opentelemetry.api.baggage.propagation.W3CBaggagePropagator;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.propagation.ContextPropagators;
import io.opentelemetry.context.propagation.TextMapPropagator;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.metrics.SdkMeterProvider;
import io.opentelemetry.sdk.metrics.data.MetricData;
import io.opentelemetry.sdk.testing.exporter.InMemoryMetricReader;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import java.util.Collection;
import java.util.List;

/** OpenTelemetry that keeps in memory what it is told, as the SDK is by default otherwise. */
public final class Recording {
  private final InMemorySpanExporter spans = InMemorySpanExporter.create();
  private final InMemoryMetricReader metrics = InMemoryMetricReader.create();
  private final OpenTelemetrySdk sdk =
      OpenTelemetrySdk.builder()
          .setTracerProvider(
              SdkTracerProvider.builder()
                  .addSpanProcessor(SimpleSpanProcessor.create(spans))
                  .build())
          .setMeterProvider(SdkMeterProvider.builder().registerMetricReader(metrics).build())
          .setPropagators(
              ContextPropagators.create(
                  TextMapPropagator.composite(
                      W3CTraceContextPropagator.getInstance(), W3CBaggagePropagator.getInstance())))
          .build();
  private boolean closed;
  private List<SpanData> sent = List.of();

  /** Returns what records here; when it is closed, nothing is lost. */
  public Telemetry telemetry() {
    return new OpenTelemetryRecorder(
        sdk,
        () -> {
          sent = spans();
          closed = true;
        });
  }

  /** Whether the recorder was closed. */
  public boolean isClosed() {
    return closed;
  }

  /** Returns the spans that had ended when the recorder was closed. */
  public List<SpanData> sent() {
    return sent;
  }

  /** Returns the spans that have ended. */
  public List<SpanData> spans() {
    return spans.getFinishedSpanItems();
  }

  /** Returns the metrics. */
  public Collection<MetricData> metrics() {
    return metrics.collectAllMetrics();
  }
}
