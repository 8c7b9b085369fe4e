package tech.bsdb.tools.input;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_16BE;
import static java.nio.charset.StandardCharsets.UTF_16LE;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.Charset;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tech.bsdb.RecordBatch;

final class TextInputTest {
  @TempDir Path directory;

  @Test
  void splitsAtTheFirstSeparatorAndTrimsNothing() throws IOException {
    Readings read = read("a b c\nkey  two\nk \n\tx \ty\n");
    assertThat(read.records()).containsExactly("a→b c", "key→ two", "k→", "\tx→\ty");
    assertThat(read.lines()).containsExactly(1L, 2L, 3L, 4L);
    assertThat(read.report()).isEqualTo(new InputReport(4, 4, Map.of(), 0, 24));
  }

  @ParameterizedTest
  @ValueSource(strings = {"|", "||", ".", "\\d", "\t", "::", "→", "aab", "ß|"})
  void theSeparatorIsALiteral(String separator) throws IOException {
    String text = "k" + separator + "v\nkk" + separator + separator + "v" + separator + "\n";
    Readings read = Readings.read(separated(Readings.file(directory, "a", text), separator));
    String shown = new String(separator.getBytes(UTF_8), ISO_8859_1);
    assertThat(read.records()).containsExactly("k→v", "kk→" + shown + "v" + shown);
  }

  @Test
  void linesEndAtLineFeedsWithOrWithoutACarriageReturnBefore() throws IOException {
    assertThat(read("a 1\r\nb 2\n").records()).containsExactly("a→1", "b→2");
    assertThat(read("a 1\rb 2\n").records()).as("a lone one is data").containsExactly("a→1\rb 2");
    assertThat(read("a 1\r\r\n").records()).containsExactly("a→1\r");
    assertThat(read("a \r\n").records()).containsExactly("a→");
    assertThat(read("a 1\u2028x\u0085\u000b\u000c\n").records()).hasSize(1);
  }

  @Test
  void aLastLineWithoutLineFeedCounts() throws IOException {
    assertThat(read("a 1\nb 2").records()).containsExactly("a→1", "b→2");
    assertThat(read("a 1\nb 2\r").records())
        .as("no line feed follows")
        .containsExactly("a→1", "b→2\r");
    assertThat(read("a 1").report()).isEqualTo(new InputReport(1, 1, Map.of(), 0, 3));
  }

  @Test
  void anEmptyFileHasNoRecords() throws IOException {
    assertThat(read("").report()).isEqualTo(new InputReport(0, 0, Map.of(), 0, 0));
    assertThat(read("\uFEFF").report()).isEqualTo(new InputReport(0, 0, Map.of(), 0, 3));
  }

  @Test
  void badLinesAreNamedWithTheOptionThatAllowsThem() throws IOException {
    assertBad(
        "a 1\nb\nc",
        2,
        "no separator \" \" in the line (--on-bad-line skip leaves such lines out)");
    assertBad("a 1\n\nc 1", 2, "empty line (--on-bad-line skip");
    assertBad("a 1\n\r\nc 1", 2, "empty line");
    assertBad("a 1\n\n", 2, "empty line");
    assertBad(" 1\n", 1, "empty key (--allow-empty-key allows it, --on-bad-line skip");
    assertBad("a 1\nb 2\n" + "k".repeat(65_536) + " v", 3, "key longer than 65535 bytes");
    assertThat(read("k".repeat(65_535) + " v").records()).hasSize(1);
    assertThat(RecordBatch.MAX_KEY_LENGTH).isEqualTo(65_535);
  }

  @Test
  void theFirstBadLineIsNamed() throws IOException {
    StringBuilder text = new StringBuilder();
    for (int i = 1; i <= 10_000; i++) {
      text.append(i % 1000 == 777 ? "bad\n" : "k" + i + " v\n");
    }
    Path file = Readings.file(directory, "many.txt", text.toString());
    for (int round = 0; round < 20; round++) {
      Readings read = Readings.read(Readings.of(file).withThreads(4), 100);
      assertThat(read.message()).startsWith(file + ":777: ");
      assertThat(((BadInputException) read.failure()).line()).isEqualTo(777);
      assertThat(((BadInputException) read.failure()).file()).isEqualTo(file.toString());
      assertThat(read.records()).hasSizeLessThan(777);
    }
  }

  @Test
  void skippedLinesAreCountedByReasonAndKeepLineNumbers() throws IOException {
    Path file = Readings.file(directory, "a", "a 1\nbad\n\n\nb 2\n 3\nc 3\nbad".getBytes(UTF_8));
    Readings read = Readings.read(Readings.skipping(file));
    assertThat(read.records()).containsExactly("a→1", "b→2", "c→3");
    assertThat(read.lines()).containsExactly(1L, 5L, 7L);
    InputReport report = read.report();
    assertThat(report.lines()).isEqualTo(8);
    assertThat(report.records()).isEqualTo(3);
    assertThat(report.rejected()).isEqualTo(5);
    assertThat(report.rejectedByReason())
        .containsExactlyInAnyOrderEntriesOf(
            Map.of("empty line", 2L, "no separator", 2L, "empty key", 1L));
    assertThat(report.rejectedByReason().keySet()).first().isEqualTo("empty line");
  }

  @Test
  void anEmptyKeyIsAKeyIfAllowed() throws IOException {
    Path file = Readings.file(directory, "a", " v\n \n");
    assertThat(Readings.read(Readings.of(file).withAllowEmptyKey(true)).records())
        .containsExactly("→v", "→");
  }

  @Test
  void aByteOrderMarkIsNotPartOfTheFirstKey() throws IOException {
    assertThat(read("\uFEFFa 1\n\uFEFFb 2").records()).containsExactly("a→1", "ï»¿b→2");
    for (Charset encoding : new Charset[] {UTF_16LE, UTF_16BE}) {
      Path file = Readings.file(directory, "a", "\uFEFFa ö\r\nb 2", encoding);
      assertThat(Readings.read(Readings.of(file).withEncoding(encoding)).records())
          .containsExactly("a→Ã¶", "b→2");
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"UTF-16", "UTF-16LE", "UTF-16BE", "UTF-32", "GBK", "GB18030", "Big5", "Shift_JIS"})
  void storesUtf8ForEveryEncoding(String name) throws IOException {
    Charset encoding = Charset.forName(name);
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < 3000; i++) {
      text.append("中")
          .append(i)
          .append("→".substring(0, i % 2))
          .append(" 文")
          .append(i)
          .append(i % 5 == 0 ? "\r\n" : "\n");
    }
    Path plain = Readings.file(directory, "utf8", text.toString());
    Path other = Readings.file(directory, "other", text.toString(), encoding);
    Readings expected = Readings.read(Readings.of(plain));
    assertThat(expected.records()).hasSize(3000);
    Readings read = Readings.read(Readings.of(other).withEncoding(encoding), 777);
    assertThat(read.failure()).isNull();
    assertThat(read.records()).isEqualTo(expected.records());
    assertThat(read.lines()).isEqualTo(expected.lines());
  }

  @Test
  void bytesInvalidInTheEncodingAreABadLine() throws IOException {
    byte[] latin1 = "a 1\nb \u00e4\nc 3\n".getBytes(ISO_8859_1);
    Path file = Readings.file(directory, "a", latin1);
    assertThat(Readings.read(Readings.of(file)).message())
        .isEqualTo(
            file + ":2: bytes that are not valid UTF-8 (--on-bad-line skip leaves such lines out)");
    assertThat(Readings.read(Readings.skipping(file)).records()).containsExactly("a→1", "c→3");
    assertThat(Readings.read(Readings.of(file).withEncoding(ISO_8859_1)).records())
        .containsExactly("a→1", "b→Ã¤", "c→3");
    assertThat(Readings.read(Readings.of(file).withEncoding(US_ASCII)).message())
        .startsWith(file + ":2: bytes that are not valid US-ASCII");
    byte[] utf16 = "a 1\nb \ud800\nc 3\n".getBytes(UTF_16LE);
    utf16[13] = (byte) 0xD8; // what getBytes() replaced
    utf16[12] = 0;
    Path lone = Readings.file(directory, "b", utf16);
    Readings read = Readings.read(Readings.skipping(lone).withEncoding(UTF_16LE));
    assertThat(read.records()).containsExactly("a→1", "c→3");
    assertThat(read.lines()).containsExactly(1L, 3L);
  }

  @Test
  void hexAndBase64AreDecoded() throws IOException {
    Path file = Readings.file(directory, "a", "00fF AP8=\n7a eg\n61 \n");
    InputOptions options =
        Readings.of(file).withKeyEncoding(Encoding.HEX).withValueEncoding(Encoding.BASE64);
    assertThat(Readings.read(options).records())
        .containsExactly("\u0000\u00ff→\u0000\u00ff", "z→z", "a→");
    assertBad(options, "6 eg", 1, "the key is not hex");
    assertBad(options, "6g eg", 1, "the key is not hex");
    assertBad(options, "66 e!", 1, "the value is not base64");
    assertBad(options, "66 e", 1, "the value is not base64");
    assertBad(options, "66\u0661 eg", 1, "the key is not hex");
    assertBad(options, " eg", 1, "empty key");
  }

  @Test
  void everyFileHasItsOwnLineNumbers() throws IOException {
    Path first = Readings.file(directory, "1", "a 1\nb 2");
    Path second = Readings.file(directory, "2", "c 3\n\nd 4\n");
    Path empty = Readings.file(directory, "0", "");
    InputOptions options =
        Readings.skipping(first)
            .withInputs(
                List.of(second.toString(), empty.toString(), first.toString(), second.toString()));
    Readings read = Readings.read(options, 3);
    assertThat(read.records()).containsExactly("c→3", "d→4", "a→1", "b→2", "c→3", "d→4");
    assertThat(read.places())
        .containsExactly(
            second + ":1", second + ":3", first + ":1", first + ":2", second + ":1", second + ":3");
    assertThat(read.report().lines()).isEqualTo(8);
  }

  @Test
  void anInputIsReadOnce() throws IOException {
    Path file = Readings.file(directory, "a", "a 1\n");
    try (Input input = Input.open(Readings.of(file))) {
      RecordVisitor none = (key, keyFrom, keyLength, value, valueFrom, valueLength) -> {};
      input.forEach(none, InputListener.NONE);
      assertThatThrownBy(() -> input.forEach(none, InputListener.NONE))
          .isInstanceOf(IllegalStateException.class);
      assertThat(input.place(0)).isEqualTo(file + ":1");
      assertThat(input.place(1)).isNull();
      assertThat(input.place(-1)).isNull();
    }
  }

  private Readings read(String text) throws IOException {
    return Readings.read(Readings.of(Readings.file(directory, "in.txt", text)));
  }

  private static InputOptions separated(Path file, String separator) {
    return Readings.of(file).withFormat(new Format.Text(separator));
  }

  private void assertBad(String text, long line, String reason) throws IOException {
    assertBad(Readings.of(directory), text, line, reason);
  }

  private void assertBad(InputOptions options, String text, long line, String reason)
      throws IOException {
    Path file = Readings.file(directory, "bad.txt", text);
    Readings read = Readings.read(options.withInputs(List.of(file.toString())));
    assertThat(read.failure()).isInstanceOf(BadInputException.class);
    assertThat(read.message()).startsWith(file + ":" + line + ": " + reason);
  }
}
