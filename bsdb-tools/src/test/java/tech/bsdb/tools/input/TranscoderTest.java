package tech.bsdb.tools.input;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tech.bsdb.tools.text.Utf8;

final class TranscoderTest {

  @ParameterizedTest
  @ValueSource(
      strings = {
        "UTF-16",
        "UTF-16LE",
        "UTF-16BE",
        "UTF-32",
        "UTF-32LE",
        "GBK",
        "GB18030",
        "Shift_JIS",
        "ISO-2022-JP"
      })
  void givesTheSameTextForAnyReadSizes(String name) throws IOException {
    Charset encoding = Charset.forName(name);
    StringBuilder text = new StringBuilder();
    Random random = new Random(1);
    String letters =
        "abc \n\r漢字日本語中文" + (name.startsWith("UTF") || name.equals("GB18030") ? "😀é" : "");
    int[] points = letters.codePoints().toArray();
    while (text.length() < 200_000) {
      text.appendCodePoint(points[random.nextInt(points.length)]);
    }
    byte[] encoded = text.toString().getBytes(encoding);
    for (int piece : new int[] {1, 3, 1000, 1 << 20}) {
      byte[] utf8 = read(new Transcoder(GzipMembersTest.inPieces(encoded, piece), encoding));
      assertThat(new String(utf8, UTF_8)).isEqualTo(text.toString());
    }
  }

  @Test
  void theByteOrderMarkIsNotText() throws IOException {
    assertThat(utf8("feff0061", "UTF-16")).isEqualTo("61");
    assertThat(utf8("fffe6100", "UTF-16")).isEqualTo("61");
    assertThat(utf8("0061", "UTF-16")).isEqualTo("61");
    assertThat(utf8("fffe6100", "UTF-16LE")).isEqualTo("61");
    assertThat(utf8("feff0061", "UTF-16BE")).isEqualTo("61");
    assertThat(utf8("6100fffe", "UTF-16LE")).isEqualTo("61efbbbf");
    assertThat(utf8("8431953361", "GB18030")).isEqualTo("61");
    assertThat(utf8("", "UTF-16")).isEmpty();
    assertThat(utf8("fffe", "UTF-16LE")).isEmpty();
  }

  @Test
  void invalidBytesAreMarkedAndCanBeRestored() throws IOException {
    // A lone high surrogate before a line feed: the line feed stays.
    assertThat(utf8("6100 00d8 0a00 6200", "UTF-16LE"))
        .isEqualTo("61 ff8080ff8d88 0a 62".replace(" ", ""));
    assertThat(utf8("6100 00dc 6200", "UTF-16LE")).isEqualTo("61ff8080ff8d8c62");
    assertThat(utf8("6100 62", "UTF-16LE")).isEqualTo("61ff8682");
    assertThat(utf8("6100 00d8", "UTF-16LE")).isEqualTo("61ff8080ff8d88");
    assertThat(utf8("61 81 0a 62", "GBK")).isEqualTo("61ff88810a62");
    assertThat(utf8("61 80", "US-ASCII")).isEqualTo("61ff8880");
    byte[] marked = HexFormat.of().parseHex("61ff8881ff808a62");
    assertThat(Transcoder.restore(marked, 0, marked.length))
        .isEqualTo(new byte[] {'a', (byte) 0x81, 10, 'b'});
    assertThat(Transcoder.restore(marked, 1, 4)).isEqualTo(new byte[] {(byte) 0x81});
  }

  @Test
  void invalidBytesAreAllRestored() throws IOException {
    byte[] bad = new byte[300_000];
    Arrays.fill(bad, (byte) 0xF0);
    byte[] marked = read(new Transcoder(new ByteArrayInputStream(bad), StandardCharsets.US_ASCII));
    assertThat(Transcoder.restore(marked, 0, marked.length)).isEqualTo(bad);
  }

  @Test
  void invalidInputNeverBecomesValidText() throws IOException {
    Random random = new Random(3);
    Charset encoding = StandardCharsets.UTF_16LE;
    for (int round = 0; round < 2000; round++) {
      byte[] bytes = new byte[random.nextInt(12)];
      for (int i = 0; i < bytes.length; i++) {
        bytes[i] = (byte) new int[] {0, 'a', 0xD8, 0xDC, 10, 0xFF, 0xFE}[random.nextInt(7)];
      }
      byte[] utf8 = read(new Transcoder(new ByteArrayInputStream(bytes), encoding));
      String text = new String(bytes, encoding);
      text = text.startsWith("\uFEFF") ? text.substring(1) : text;
      boolean valid = text.indexOf('\uFFFD') < 0;
      assertThat(Utf8.isValid(utf8, 0, utf8.length))
          .as(HexFormat.of().formatHex(bytes))
          .isEqualTo(valid);
      if (valid) {
        assertThat(new String(utf8, UTF_8)).isEqualTo(text);
      }
    }
  }

  private static String utf8(String hex, String encoding) throws IOException {
    byte[] bytes = HexFormat.of().parseHex(hex.replace(" ", ""));
    return HexFormat.of()
        .formatHex(
            read(new Transcoder(new ByteArrayInputStream(bytes), Charset.forName(encoding))));
  }

  private static byte[] read(InputStream in) throws IOException {
    try (in) {
      return in.readAllBytes();
    }
  }
}
