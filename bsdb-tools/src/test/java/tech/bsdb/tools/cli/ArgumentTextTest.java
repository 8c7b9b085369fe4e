package tech.bsdb.tools.cli;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.nio.file.InvalidPathException;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ArgumentTextTest {
  @Test
  void everyTwoBytesInTextRoundTrip() {
    Set<String> seen = new HashSet<>();
    for (int i = 0; i < 1 << 16; i++) {
      byte[] bytes = {'a', (byte) (i >> 8), (byte) i, 'z'};
      String text = ArgumentText.of(bytes);

      assertThat(ArgumentText.bytes(text)).as("%04x", i).isEqualTo(bytes);
      assertThat(seen.add(text)).as("%04x", i).isTrue();
    }
  }

  @Test
  void encodedSurrogatesAndOverlongFormsRoundTrip() {
    for (byte[] bytes :
        new byte[][] {
          {(byte) 0xED, (byte) 0xB3, (byte) 0xBF}, // what U+DCFF would be
          {(byte) 0xED, (byte) 0xA0, (byte) 0x80, (byte) 0xED, (byte) 0xB0, (byte) 0x80},
          {(byte) 0xC0, (byte) 0x80},
          {(byte) 0xF4, (byte) 0x90, (byte) 0x80, (byte) 0x80},
          {(byte) 0xF0, (byte) 0x9F, (byte) 0x98},
          "\uFFFD😀".getBytes(UTF_8)
        }) {
      assertThat(ArgumentText.bytes(ArgumentText.of(bytes))).isEqualTo(bytes);
    }
    assertThatIllegalArgumentException().isThrownBy(() -> ArgumentText.bytes("\uD83D"));
  }

  @Test
  void invalidBytesAreShownAsHexDigits() {
    String text = ArgumentText.of(new byte[] {'k', (byte) 0xFF, (byte) 0xC3, (byte) 0xBC});

    assertThat(ArgumentText.isText(text)).isFalse();
    assertThat(ArgumentText.shown(text)).isEqualTo("k\\xffü");
    assertThat(ArgumentText.isText("kü")).isTrue();
    assertThat(ArgumentText.shown("kü")).isEqualTo("kü");
  }

  @Test
  void controlCharactersAreShownAsHexDigits() {
    assertThat(ArgumentText.shown("a\nb\r\tc\u001b[2J\u007f\u0000é\u009b"))
        .isEqualTo("a\\x0ab\\x0d\tc\\x1b[2J\\x7f\\x00é\\xc2\\x9b");
  }

  @Test
  void aNameEncodesToTheSameBytesInTheLocale() {
    String latin = ArgumentText.of("ü".getBytes(ISO_8859_1));

    assertThat(ArgumentText.name("ü", UTF_8)).isEqualTo("ü");
    assertThat(ArgumentText.name("ü", ISO_8859_1)).isEqualTo("Ã¼");
    assertThat(ArgumentText.name(latin, ISO_8859_1)).isEqualTo("ü");
    assertThatExceptionOfType(InvalidPathException.class)
        .isThrownBy(() -> ArgumentText.name(latin, UTF_8))
        .withMessageContaining("not UTF-8")
        .withMessageContaining("\\xfc");
    assertThatExceptionOfType(InvalidPathException.class)
        .isThrownBy(() -> ArgumentText.name("ü", US_ASCII))
        .withMessageContaining("LC_ALL=C.UTF-8");
  }
}
