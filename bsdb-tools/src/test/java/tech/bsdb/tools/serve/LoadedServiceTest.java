package tech.bsdb.tools.serve;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tech.bsdb.OpenOptions;

/** A service whose database lies in its own memory. */
class LoadedServiceTest {
  @TempDir Path folder;

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void itAnswersAsAnyOther(boolean async) throws Exception {
    Serving serving =
        new Serving(Serving.build(folder.resolve("db"), Map.of("apple", "red", "pear", "green")));
    serving.open = OpenOptions.defaults().withEngine(OpenOptions.Engine.MEMORY);
    serving.async = async;
    try (serving) {
      serving.start();
      try (Wire wire = serving.connect()) {
        assertThat(wire.get("/bsdb/apple").text()).isEqualTo("red");
        assertThat(wire.get("/bsdb/plum").status()).isEqualTo(404);
        byte[] keys = "pear\nplum\napple\n".getBytes(StandardCharsets.UTF_8);
        assertThat(wire.post("/bsdb/", "Content-Type: text/plain\r\n", keys).text().lines())
            .containsExactly(
                "{\"key\":\"pear\",\"value\":\"green\"}",
                "{\"key\":\"plum\",\"value\":null}",
                "{\"key\":\"apple\",\"value\":\"red\"}");
        assertThat(wire.get("/stats").text()).contains("\"engine\":\"memory (as asked)\"");
      }
    }
  }
}
