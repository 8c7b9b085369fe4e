package tech.bsdb.tools.serve.telemetry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The SDK is on the class path of tests, without an exporter. */
class SetUpTest {
  private final List<String> said = new ArrayList<>();

  /** Reads the class path with these settings, which are those of the process meanwhile. */
  private Telemetry with(Map<String, String> settings) throws IOException {
    String disabled = System.getProperty("otel.sdk.disabled");
    settings.forEach(System::setProperty);
    try {
      return Telemetry.ofClassPath(said::add);
    } finally {
      settings.keySet().forEach(System::clearProperty);
      System.setProperty("otel.sdk.disabled", disabled);
    }
  }

  @Test
  void disabledIsAsIfItWereNotThere() throws IOException {
    assertThat(with(Map.of("otel.sdk.disabled", "TRUE"))).isSameAs(Telemetry.NONE);
    assertThat(said).isEmpty();
  }

  @Test
  void settingsAreEnough() throws IOException {
    Map<String, String> settings =
        Map.of(
            "otel.sdk.disabled",
            "false",
            "otel.traces.exporter",
            "none",
            "otel.metrics.exporter",
            "none",
            "otel.logs.exporter",
            "none");
    try (Telemetry telemetry = with(settings)) {
      assertThat(telemetry.isOn()).isTrue();
    }
    assertThat(said).containsExactly("OpenTelemetry is on, as the variables OTEL_* say");
  }

  @Test
  void whatIsMissingOrWrongIsNamed() {
    assertThatThrownBy(() -> with(Map.of("otel.sdk.disabled", "false")).close())
        .isInstanceOf(IOException.class)
        .hasMessageContainingAll("OTEL_*", "BSDB_CLASSPATH", "opentelemetry-exporter-otlp");
    assertThat(said).isEmpty();
  }
}
