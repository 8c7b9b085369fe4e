package tech.bsdb.tools.inspect;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class KeyReaderTest {
  @Test
  void linesEndAtLineFeedsAndLoseTheirCarriageReturn() throws IOException {
    assertThat(lines("a\nb c\r\n\n\r\nd\re\n")).containsExactly("a", "b c", "", "", "d\re");
  }

  @Test
  void theLastLineMayLackItsEnd() throws IOException {
    assertThat(lines("a\nb")).containsExactly("a", "b");
    assertThat(lines("a\nb\r")).containsExactly("a", "b\r");
    assertThat(lines("")).isEmpty();
  }

  @Test
  void keysKeepTheirBytes() throws IOException {
    assertThat(lines("\u00ff\u0000\n")).containsExactly("\u00ff\u0000");
  }

  @Test
  void aByteOrderMarkIsNotPartOfTheFirstKey() throws IOException {
    String mark = "\u00ef\u00bb\u00bf";

    assertThat(lines(mark + "a\n" + mark + "b\n")).containsExactly("a", mark + "b");
    assertThat(lines(mark)).isEmpty();
    assertThat(lines(mark + "\n")).containsExactly("");
    for (String other :
        List.of("\u00ef", "\u00ef\u00bb", "\u00ef\u00bb\nx", "\u00ef\u00bb\u00be")) {
      assertThat(String.join("\n", lines(other))).isEqualTo(other);
    }
  }

  @Test
  void longLinesAndShortReadsAreSupported() throws IOException {
    String text = ("x".repeat(100_000) + "\n").repeat(3) + "end";

    assertThat(lines(text)).hasSize(4).endsWith("x".repeat(100_000), "end");
    KeyReader lines = new KeyReader(new ByteArrayInputStream("a\nb\n".getBytes(ISO_8859_1)));
    lines.next();
    assertThat(lines.drained()).isFalse();
    lines.next();
    assertThat(lines.drained()).isTrue();
  }

  /** Returns the first ones byte by byte, as a terminal or a pipe may. */
  private static InputStream inPieces(byte[] bytes) {
    return new ByteArrayInputStream(bytes) {
      @Override
      public synchronized int read(byte[] to, int from, int length) {
        return super.read(to, from, pos < 8 ? Math.min(1, length) : length);
      }
    };
  }

  private static List<String> lines(String text) throws IOException {
    KeyReader lines = new KeyReader(inPieces(text.getBytes(ISO_8859_1)));
    List<String> all = new ArrayList<>();
    for (byte[] line = lines.next(); line != null; line = lines.next()) {
      all.add(new String(line, ISO_8859_1));
    }
    return all;
  }
}
