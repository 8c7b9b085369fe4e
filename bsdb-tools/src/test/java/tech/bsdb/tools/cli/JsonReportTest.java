package tech.bsdb.tools.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

class JsonReportTest {
  @Test
  void aReportIsOneObjectOnOneLineInMapOrder() throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    Console console =
        new Console(InputStream.nullInputStream(), out, OutputStream.nullOutputStream(), false);
    Map<String, Object> report = new LinkedHashMap<>();
    report.put("records", 12_345_678_901L);
    report.put("directory", "a \"é\"");
    report.put("seconds", 1.25);
    report.put("complete", true);
    report.put("files", Map.of("x", 1L));
    report.put("none", Map.of());

    JsonReport.print(console, report);
    console.out().flush();

    assertThat(out.toString(UTF_8))
        .isEqualTo(
            "{\"records\":12345678901,\"directory\":\"a"
                + " \\\"é\\\"\",\"seconds\":1.25,\"complete\":true,\"files\":{\"x\":1},\"none\":{}}\n");
  }
}
