package tech.bsdb.tools.serve.batch;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.Locale;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import tech.bsdb.tools.SeedInFailure;

@ExtendWith(SeedInFailure.class)
final class KeyEncodingTest {
  private static final long SEED = SeedInFailure.SEED;

  @Test
  void encodingsHaveNames() throws Exception {
    assertThat(KeyEncoding.of("text")).isEqualTo(KeyEncoding.TEXT);
    assertThat(KeyEncoding.of("hex")).isEqualTo(KeyEncoding.HEX);
    assertThat(KeyEncoding.of("base64url")).isEqualTo(KeyEncoding.BASE64URL);
    for (String wrong : new String[] {"", "HEX", "base64", "utf8"}) {
      assertThatExceptionOfType(RequestRefusedException.class)
          .isThrownBy(() -> KeyEncoding.of(wrong))
          .withMessage("key_encoding must be one of text, hex, base64url")
          .satisfies(e -> assertThat(e.status()).isEqualTo(400))
          .satisfies(e -> assertThat(e.getStackTrace()).isEmpty());
    }
  }

  @Test
  void whatWasEncodedComesBack() throws Exception {
    Random random = new Random(SEED);
    for (int round = 0; round < 5_000; round++) {
      byte[] key = new byte[random.nextInt(40)];
      random.nextBytes(key);
      String hex = HexFormat.of().formatHex(key);
      String base64 = Base64.getUrlEncoder().encodeToString(key);
      String seed = "-Dbsdb.seed=" + SEED;
      assertThat(decode(KeyEncoding.HEX, hex)).as(seed).isEqualTo(key);
      assertThat(decode(KeyEncoding.HEX, hex.toUpperCase(Locale.ROOT))).as(seed).isEqualTo(key);
      assertThat(decode(KeyEncoding.BASE64URL, base64)).as(seed).isEqualTo(key);
      assertThat(decode(KeyEncoding.BASE64URL, base64.replace("=", ""))).as(seed).isEqualTo(key);
      assertThat(decode(KeyEncoding.TEXT, new String(key, ISO_8859_1))).as(seed).isEqualTo(key);
    }
  }

  @Test
  void whatIsNotInTheEncodingIsRefused() {
    for (String wrong :
        new String[] {"0", "0g", "g0", "000", "0 ", "é0", "0x", "@0", "`0", "/0", ":0", "G0"}) {
      refuses(KeyEncoding.HEX, wrong);
    }
    for (String wrong :
        new String[] {
          "A",
          "A=",
          "A==",
          "A===",
          "=",
          "==",
          "====",
          "AA=",
          "AA===",
          "AAA==",
          "AAAA=",
          "AAAA====",
          "AA==AA",
          "AB",
          "AAB",
          "AB==",
          "AA+A",
          "AA/A",
          "AA A",
          "AA\nA",
          "AAAAA",
          "A\u00e9AA"
        }) {
      refuses(KeyEncoding.BASE64URL, wrong);
    }
  }

  @Test
  void everyShortTextIsJudgedAsTheStandardDecoderDoes() {
    String alphabet = "AQgw-_9z=+/ ";
    for (int length = 0; length <= 4; length++) {
      for (int number = 0; number < Math.pow(alphabet.length(), length); number++) {
        StringBuilder text = new StringBuilder();
        for (int i = 0, rest = number; i < length; i++, rest /= alphabet.length()) {
          text.append(alphabet.charAt(rest % alphabet.length()));
        }
        String written = text.toString();
        String expected = canonical(written);
        String actual;
        try {
          actual = HexFormat.of().formatHex(decode(KeyEncoding.BASE64URL, written));
        } catch (RequestRefusedException e) {
          actual = "refused";
        }
        assertThat(actual).as(written).isEqualTo(expected);
      }
    }
  }

  /** What the JDK makes of it, if that would write it so again. */
  private static String canonical(String written) {
    try {
      byte[] key = Base64.getUrlDecoder().decode(written);
      String padded = Base64.getUrlEncoder().encodeToString(key);
      return written.equals(padded) || written.equals(padded.replace("=", ""))
          ? HexFormat.of().formatHex(key)
          : "refused";
    } catch (IllegalArgumentException e) {
      return "refused";
    }
  }

  private static void refuses(KeyEncoding encoding, String wrong) {
    assertThatExceptionOfType(RequestRefusedException.class)
        .as(wrong)
        .isThrownBy(() -> decode(encoding, wrong))
        .withMessageStartingWith("the key is not " + encoding.label())
        .satisfies(e -> assertThat(e.status()).isEqualTo(400));
  }

  private static byte[] decode(KeyEncoding encoding, String written)
      throws RequestRefusedException {
    byte[] longer = ("<" + written + ">").getBytes(ISO_8859_1);
    int end = encoding.decodeInPlace(longer, 1, longer.length - 1);
    byte[] key = encoding.decode(written.getBytes(ISO_8859_1));
    assertThat(longer).startsWith('<').endsWith('>');
    assertThat(Arrays.copyOfRange(longer, 1, end)).isEqualTo(key);
    return key;
  }
}
