package tech.bsdb.format;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A record's header byte for byte, at every length at which its form changes. */
class RecordFrameTest {
  @ParameterizedTest
  @CsvSource({
    "1,     0,          010000",
    "1,     1,          010100",
    "255,   0,          ff0000",
    "255,   255,        ffff00",
    "255,   256,        ff0001",
    "5,     32510,      05fe7e",
    "0,     0,          00ffff 0000 00000000",
    "0,     7,          00ffff 0000 07000000",
    "1,     32511,      00ffff 0100 ff7e0000",
    "256,   0,          00ffff 0001 00000000",
    "65535, 65535,      00ffff ffff ffff0000",
    "65535, 2147483639, 00ffff ffff f7ffff7f",
  })
  void headersAreThese(int keyLength, int valueLength, String expected) {
    byte[] target = new byte[12];
    int end = RecordFrame.put(target, 1, keyLength, valueLength);
    String hex = expected.replace(" ", "");
    assertThat(HexFormat.of().formatHex(target, 1, end)).isEqualTo(hex);
    assertThat(RecordFrame.headerLength(keyLength, valueLength)).isEqualTo(hex.length() / 2);
    assertThat(RecordFrame.headLengthAt(target, 1)).isEqualTo(hex.length() / 2);
    assertThat(RecordFrame.length(keyLength, valueLength))
        .isEqualTo(hex.length() / 2 + (long) keyLength + valueLength);
  }

  @Test
  void noShortHeaderLooksLikeAWideOneOrLikePadding() {
    byte[] target = new byte[9];
    for (int keyLength = 0; keyLength <= 300; keyLength++) {
      for (int valueLength = 0; valueLength <= 40_000; valueLength += 1 + valueLength / 100) {
        int end = RecordFrame.put(target, 0, keyLength, valueLength);
        assertThat(end == RecordFrame.WIDE).isEqualTo(target[0] == 0);
        assertThat(target[0] == 0 && target[1] == 0 && target[2] == 0).isFalse();
      }
    }
  }
}
