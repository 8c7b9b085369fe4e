package tech.bsdb.tools.serve.batch;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

final class AnswerLinesTest {
  private static final byte[] BINARY = {0, (byte) 0xFF};

  @Test
  void aKeyAndItsValueAreALine() {
    AnswerLines lines = new AnswerLines(false, null);
    write(lines, bytes("k\"é"), bytes("v\n\u0001\u007f"));
    write(lines, bytes(""), bytes(""));
    write(lines, bytes("k"), null);
    write(lines, BINARY, BINARY);
    write(lines, BINARY, null);
    assertThat(text(lines)).endsWith("\n");
    assertThat(text(lines).lines())
        .containsExactly(
            "{\"key\":\"k\\\"é\",\"value\":\"v\\n\\u0001\u007f\"}",
            "{\"key\":\"\",\"value\":\"\"}",
            "{\"key\":\"k\",\"value\":null}",
            "{\"key\":{\"base64\":\"AP8=\"},\"value\":{\"base64\":\"AP8=\"}}",
            "{\"key\":{\"base64\":\"AP8=\"},\"value\":null}");
    lines.out().reset();
    assertThat(lines.out().length()).isZero();
  }

  @Test
  void valuesMayBeRanges() {
    for (AnswerWriter writer :
        new AnswerWriter[] {new AnswerLines(false, null), new AnswerLines(true, null)}) {
      writer.write(bytes("key"), bytes("[12]"), 1, 2);
      writer.write(bytes("gone"), bytes("[12]"), 1, AnswerWriter.ABSENT);
      boolean json = text(writer).contains("12}");
      assertThat(text(writer))
          .isEqualTo(
              "{\"key\":\"key\",\"value\":"
                  + (json ? "12" : "\"12\"")
                  + "}\n{\"key\":\"gone\",\"value\":null}\n");
    }
  }

  @Test
  void jsonValuesStandInTheLineAsTheyAre() {
    AnswerLines lines = new AnswerLines(true, null);
    write(lines, bytes("k"), bytes("{ \"a\" : 1.10e400,\n \"b c\": [ true, \"x y\" ] }\n"));
    write(lines, bytes("k"), bytes("{\"a\":"));
    write(lines, bytes("k"), bytes(""));
    write(lines, bytes("k"), BINARY);
    write(lines, bytes("k"), bytes("[".repeat(100_000)));
    write(lines, bytes("k"), null);
    write(lines, bytes("k"), bytes("null"));
    String error = "{\"key\":\"k\",\"error\":\"the value is not JSON\"}\n";
    assertThat(text(lines))
        .isEqualTo(
            "{\"key\":\"k\",\"value\":{\"a\":1.10e400,\"b c\":[true,\"x y\"]}}\n"
                + error.repeat(4)
                + "{\"key\":\"k\",\"value\":null}\n".repeat(2));
  }

  @Test
  void onlyTheFieldsThatWereAskedForAreGiven() throws Exception {
    AnswerLines lines = new AnswerLines(true, Projection.parse("b,c"));
    write(lines, bytes("k"), bytes("{\"a\":1, \"b\":{\"b\": 2}, \"c\":\"\\u0041\"}"));
    write(lines, bytes("k"), bytes("[1]"));
    write(lines, bytes("k"), bytes("{"));
    write(lines, bytes("k"), null);
    assertThat(text(lines).lines())
        .containsExactly(
            "{\"key\":\"k\",\"value\":{\"b\":{\"b\":2},\"c\":\"\\u0041\"}}",
            "{\"key\":\"k\",\"error\":\"the value is not a JSON object\"}",
            "{\"key\":\"k\",\"error\":\"the value is not JSON\"}",
            "{\"key\":\"k\",\"value\":null}");
  }

  @Test
  void framesHaveLengthAndValue() {
    AnswerFrames frames = new AnswerFrames();
    write(frames, bytes("k"), new byte[300]);
    write(frames, bytes("k"), null);
    write(frames, bytes("k"), new byte[0]);
    frames.write(bytes("k"), bytes("xABx"), 1, 2);
    byte[] expected = new byte[4 + 300 + 4 + 4 + 4 + 2];
    expected[2] = 1;
    expected[3] = 300 - 256;
    for (int i = 304; i < 308; i++) {
      expected[i] = -1;
    }
    expected[315] = 2;
    expected[316] = 'A';
    expected[317] = 'B';
    assertThat(frames.out().length()).isEqualTo(expected.length);
    assertThat(frames.out().bytes()).startsWith(expected);
    frames.out().reset();
    assertThat(frames.out().length()).isZero();
  }

  private static byte[] bytes(String text) {
    return text.getBytes(UTF_8);
  }

  private static void write(AnswerWriter writer, byte[] key, byte @Nullable [] value) {
    writer.write(key, value == null ? key : value, 0, value == null ? -1 : value.length);
  }

  private static String text(AnswerWriter writer) {
    return new String(writer.out().bytes(), 0, writer.out().length(), UTF_8);
  }
}
