package tech.bsdb.tools.input;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class SamplerTest {
  @TempDir Path directory;

  @Test
  void takesRecordsFromTheWholeInput() throws IOException {
    List<String> files = new ArrayList<>();
    int records = 0;
    for (int i = 0; i < 3; i++) {
      StringBuilder text = new StringBuilder(i == 0 ? "\uFEFF" : "");
      for (int line = 0; line < 20_000; line++) {
        text.append(records++).append(" value\n");
      }
      files.add(Readings.file(directory, "f" + i, text.toString()).toString());
    }
    InputOptions options = InputOptions.defaults().withInputs(files);
    for (int wanted : new int[] {1, 2, 10, 1000, 5000, 60_000, 100_000}) {
      List<String> sample = sample(options, wanted);
      assertThat(sample).hasSizeBetween(Math.min(wanted, 60_000) * 9 / 10, wanted);
      assertThat(new HashSet<>(sample)).as("none twice").hasSameSizeAs(sample);
      assertThat(sample).isSortedAccordingTo((a, b) -> Integer.parseInt(a) - Integer.parseInt(b));
      assertThat(sample.get(0)).isEqualTo("0");
      if (wanted >= 10) {
        double mean = sample.stream().mapToInt(Integer::parseInt).average().orElse(0);
        assertThat(mean).isBetween(27_000.0, 33_000.0);
      }
      assertThat(sample(options.withThreads(7), wanted)).isEqualTo(sample);
    }
  }

  @Test
  void takesAllRecordsOfTinyInputs() throws IOException {
    assertThat(sample(text(""), 10)).isEmpty();
    assertThat(sample(text("\n\n\n"), 10)).isEmpty();
    assertThat(sample(text("a 1"), 10)).containsExactly("a");
    assertThat(sample(text("a 1\nb 2"), 10)).containsExactly("a", "b");
    assertThat(sample(text("a 1\nbad\nb 2\n"), 10)).containsExactly("a", "b");
    assertThat(sample(text("a 1\n"), 0)).isEmpty();
  }

  @Test
  void limitsTheBytesOfLongRecords() throws IOException {
    StringBuilder text = new StringBuilder();
    String value = "v".repeat(1 << 20);
    for (int i = 0; i < 60; i++) {
      text.append(i).append(' ').append(value).append('\n');
    }
    assertThat(sample(text(text.toString()), 1000)).hasSizeBetween(20, 40);
  }

  @Test
  void takesJsonLines() throws IOException {
    InputOptions options =
        text("{\"id\":\"a\"}\n{\"id\":\"b\"}\n").withFormat(new Format.JsonLines("id"));
    assertThat(sample(options, 10)).containsExactly("a", "b");
  }

  @Test
  void doesNotSampleInputThatMustBeReadInOrder() throws IOException {
    InputOptions text = text("a 1\n");
    assertThat(sample(text.withEncoding(ISO_8859_1), 10)).isEmpty();
    assertThat(
            sample(
                text.withFormat(new Format.Csv(null, List.of(), Format.Csv.Values.JSON, ',')), 10))
        .isEmpty();
    Path zipped = Readings.file(directory, "a.gz", GzipMembersTest.gzip("a 1\n".getBytes(UTF_8)));
    assertThat(sample(Readings.of(zipped), 10)).isEmpty();
    assertThat(sample(text.withInputs(List.of("-")), 10)).isEmpty();
  }

  private InputOptions text(String text) throws IOException {
    return Readings.of(Readings.file(directory, "in", text));
  }

  private static List<String> sample(InputOptions options, int records) throws IOException {
    List<String> keys = new ArrayList<>();
    try (Input input = Input.open(options)) {
      int given =
          input.sample(
              (key, keyFrom, keyLength, value, valueFrom, valueLength) ->
                  keys.add(new String(key, keyFrom, keyLength, UTF_8)),
              records);
      assertThat(given).isEqualTo(keys.size());
    }
    return keys;
  }
}
