package tech.bsdb.tools.input;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_16LE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class JsonLinesInputTest {
  private static final Format FORMAT = new Format.JsonLines("id");

  @TempDir Path directory;

  @Test
  void theValueIsTheUnchangedLine() throws IOException {
    String[] lines = {
      "{\"id\":\"a\",\"n\":1.0e3}",
      " { \"n\" : [1, {\"id\":\"inner\"}], \"id\" : \"b\" } ",
      "{\"id\":\"\\u00e9\\n\\\"\",\"x\":\"\\/\"}",
    };
    Readings read = read("\uFEFF" + String.join("\r\n", lines));
    assertThat(read.records())
        .containsExactly("a→" + lines[0], "b→" + lines[1], "Ã©\n\"→" + lines[2]);
    assertThat(read.lines()).containsExactly(1L, 2L, 3L);
  }

  @Test
  void numbersAndBooleansAreKeysByTheirText() throws IOException {
    String digits = "123456789".repeat(500);
    for (String key :
        new String[] {
          "1", "-0", "1.50", "1E+3", "12345678901234567890123", "0.1e-9", digits, "true", "false"
        }) {
      String line = "{\"id\": " + key + " }";
      assertThat(read(line + "\n").records()).containsExactly(key + "→" + line);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"id\":1",
        "{\"id\":1}}",
        "{\"id\":1} x",
        "{\"id\":1}{\"id\":2}",
        "[1]",
        "1",
        "\"id\"",
        "null",
        "   ",
        "{id:1}",
        "{'id':1}",
        "{\"id\":01}",
        "{\"id\":NaN}",
        "{\"id\":1,}",
        "{\"id\":\"a\tb\"}",
        "{\"id\":1} // comment",
        "{",
        "{}x",
        "\uFEFF{\"id\":1}",
        "{\"id\":+1}",
        "{\"id\":.5}",
        "{\"id\":1,\"x\":\"\u0000\"}",
        "{\"id\":1 \"x\":2}",
        "{\"id\"}",
        "{\u0000\"\u0000i\u0000d\u0000\"\u0000:\u00001\u0000}\u0000",
        "\u0000{\u0000}",
        "{\"id\":1,\"x\":\"\\x\"}"
      })
  void linesThatAreNotJsonObjectsAreBad(String line) throws IOException {
    Readings read = read("{\"id\":1}\n" + line + "\n");
    assertThat(read.message()).startsWith(directory.resolve("in.jsonl") + ":2: not a JSON object");
  }

  @Test
  void theKeyFieldMustOccurOnceAndBeText() throws IOException {
    assertBad("{}", "no field \"id\" in the JSON object");
    assertBad("{\"x\":{\"id\":1}}", "no field \"id\" in the JSON object");
    assertBad("{\"id\":null}", "the key field is null, an object or an array");
    assertBad("{\"id\":{\"id\":1}}", "the key field is null, an object or an array");
    assertBad("{\"id\":[1]}", "the key field is null, an object or an array");
    assertBad("{\"id\":1,\"id\":1}", "the key field comes twice");
    assertBad("{\"id\":null,\"id\":1}", "the key field comes twice");
    assertBad("{\"id\":1,\"\\u0069d\":2}", "the key field comes twice");
    assertBad("{\"id\":\"\"}", "empty key");
    assertBad("{\"id\":\"\\ud800\"}", "the key is not utf8");
    assertBad("{\"id\":\"" + "x".repeat(65_536) + "\"}", "key longer than");
    assertBad("", "empty line");
    assertThat(read("{\"x\":1,\"x\":2,\"\":3,\"id\":1}\n").records()).hasSize(1);
  }

  @Test
  void deepAndLongJsonIsRead() throws IOException {
    String deep = "[".repeat(100_000) + "]".repeat(100_000);
    String line =
        "{\"x\":"
            + deep
            + ",\""
            + "n".repeat(200_000)
            + "\":1,\"id\":\"k\",\"s\":\""
            + "s".repeat(300_000)
            + "\"}";
    assertThat(read(line).records()).containsExactly("k→" + line);
  }

  @Tag("nightly")
  @Test
  void manyDifferentNamesAreRead() throws IOException {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < 50_000; i++) {
      text.append("{\"name").append(i).append("\":1,\"id\":").append(i).append("}\n");
    }
    assertThat(read(text.toString()).records()).hasSize(50_000);
  }

  @Test
  void invalidUtf8IsABadLineAndOtherEncodingsAreStoredAsUtf8() throws IOException {
    Path latin1 =
        Readings.file(directory, "in.jsonl", "{\"id\":1}\n{\"id\":2,\"x\":\"ä\"}\n", ISO_8859_1);
    Readings read = Readings.read(Readings.skipping(latin1).withFormat(FORMAT));
    assertThat(read.records()).containsExactly("1→{\"id\":1}");
    assertThat(read.report().rejectedByReason())
        .isEqualTo(Map.of("invalid bytes for the encoding", 1L));
    Path utf16 = Readings.file(directory, "in16.jsonl", "\uFEFF{\"id\":2,\"x\":\"ä\"}", UTF_16LE);
    read = Readings.read(Readings.of(utf16).withFormat(FORMAT).withEncoding(UTF_16LE));
    assertThat(read.records()).containsExactly("2→{\"id\":2,\"x\":\"Ã¤\"}");
  }

  @Test
  void keysMayBeHexButValuesAreText() throws IOException {
    Path file = Readings.file(directory, "in.jsonl", "{\"id\":\"6162\"}\n");
    InputOptions options = Readings.of(file).withFormat(FORMAT).withKeyEncoding(Encoding.HEX);
    assertThat(Readings.read(options).records()).containsExactly("ab→{\"id\":\"6162\"}");
    assertThatThrownBy(() -> Readings.read(options.withValueEncoding(Encoding.HEX)))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void givesTheSameForAnyChunksAndThreads() throws IOException {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < 500; i++) {
      text.append(i % 7 == 3 ? "bad" : "{\"id\":" + i + "}").append(i % 5 == 0 ? "\r\n" : "\n");
    }
    Path file = Readings.file(directory, "in.jsonl", text.toString());
    Readings expected = Readings.read(Readings.skipping(file).withFormat(FORMAT).withThreads(1));
    assertThat(expected.records()).hasSize(429);
    for (int chunk : new int[] {1, 7, 100}) {
      Readings read =
          Readings.read(Readings.skipping(file).withFormat(FORMAT).withThreads(4), chunk);
      assertThat(read).isEqualTo(expected);
    }
  }

  private Readings read(String text) throws IOException {
    return Readings.read(
        Readings.of(Readings.file(directory, "in.jsonl", text)).withFormat(FORMAT));
  }

  private void assertBad(String line, String reason) throws IOException {
    Readings read = read("{\"id\":1}\n" + line + "\n");
    assertThat(read.failure()).isInstanceOf(BadInputException.class);
    assertThat(read.message()).startsWith(directory.resolve("in.jsonl") + ":2: " + reason);
  }
}
