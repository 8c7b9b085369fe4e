package tech.bsdb.tools.serve.telemetry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.File;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Predicate;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

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

  @Test
  void theFirstCauseIsNamed() {
    Map<String, String> settings =
        Map.of(
            "otel.sdk.disabled",
            "false",
            "otel.metrics.exporter",
            "none",
            "otel.traces.sampler",
            "traceidratio",
            "otel.traces.sampler.arg",
            "7");
    assertThatThrownBy(() -> with(settings).close())
        .isInstanceOf(IOException.class)
        .hasMessageContaining("ConfigurationException: ")
        .hasMessageContaining(": java.lang.IllegalArgumentException: ");
  }

  @ParameterizedTest
  @ValueSource(strings = {"api", "context", "common", "sdk", "sdk-trace"})
  void aMissingJarIsAnError(String missing) {
    assertThatThrownBy(
            () -> ofClassPath(jar -> !jar.matches(".*/opentelemetry-" + missing + "-[0-9][^/]*")))
        .isInstanceOf(IOException.class)
        .hasMessageContainingAll("BSDB_CLASSPATH", "NoClassDefFoundError: io/opentelemetry/");
    assertThat(said).isEmpty();
  }

  /** Libraries of clusters, such as HBase, bring the API in versions of their own. */
  @Test
  void anOldApiThatNobodySetUpIsOff(@TempDir Path folder) throws Exception {
    Path old = folder.resolve("io/opentelemetry/api/GlobalOpenTelemetry.java");
    Files.createDirectories(old.getParent());
    Files.writeString(old, "package io.opentelemetry.api; public class GlobalOpenTelemetry {}");
    assertThat(ToolProvider.getSystemJavaCompiler().run(null, null, null, old.toString())).isZero();
    Object telemetry =
        ofClassPath(jar -> !jar.contains("/opentelemetry-sdk"), folder.toUri().toURL());
    assertThat(said)
        .containsExactly(
            "OpenTelemetry is off: the API on the class path is too old, and there is no SDK");
    assertThat(telemetry.getClass().getName()).startsWith(Telemetry.class.getName());
  }

  /** Reads another class path: some places, and of the one of tests what is chosen. */
  private Object ofClassPath(Predicate<String> chosen, URL... first) throws Exception {
    List<URL> places = new ArrayList<>(List.of(first));
    for (String place : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
      if (chosen.test(place)) {
        places.add(Path.of(place).toUri().toURL());
      }
    }
    String disabled = System.getProperty("otel.sdk.disabled");
    System.setProperty("otel.sdk.disabled", "false");
    try (URLClassLoader loader =
        new URLClassLoader(places.toArray(new URL[0]), ClassLoader.getPlatformClassLoader())) {
      Consumer<String> say = said::add;
      return loader
          .loadClass(Telemetry.class.getName())
          .getMethod("ofClassPath", Consumer.class)
          .invoke(null, say);
    } catch (InvocationTargetException e) {
      throw e.getCause() instanceof Exception failure ? failure : e;
    } finally {
      System.setProperty("otel.sdk.disabled", disabled);
    }
  }
}
