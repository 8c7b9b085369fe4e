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

  @ParameterizedTest
  @CsvSource({"1, 0", "255, 32510", "0, 0", "0, 7", "1, 32511", "256, 0", "65535, 1", "9, 9000"})
  void whatWasPutIsDecoded(int keyLength, int valueLength) {
    int length = Math.toIntExact(RecordFrame.length(keyLength, valueLength));
    byte[] target = new byte[length + 7];
    RecordFrame.put(target, 5, keyLength, valueLength);
    long header = RecordFrame.decode(target, 5, 5 + length);
    assertThat(header).isNotNegative();
    assertThat(RecordFrame.keyLength(header)).isEqualTo(keyLength);
    assertThat(RecordFrame.valueLength(header)).isEqualTo(valueLength);
    assertThat(RecordFrame.headerLength(header))
        .isEqualTo(RecordFrame.headerLength(keyLength, valueLength));
    for (int end = 5; end < 5 + length; end += 1 + (end - 5) / 20) {
      assertThat(RecordFrame.decode(target, 5, end)).isEqualTo(RecordFrame.CUT);
    }
    assertThat(RecordFrame.decode(target, 5, 4 + length)).isEqualTo(RecordFrame.CUT);
  }

  @Test
  void theLongestLengthsAreDecoded() {
    long header = RecordFrame.decodeWide(RecordFrame.MAX_KEY, RecordFrame.MAX_VALUE);
    assertThat(RecordFrame.keyLength(header)).isEqualTo(RecordFrame.MAX_KEY);
    assertThat(RecordFrame.valueLength(header)).isEqualTo(RecordFrame.MAX_VALUE);
    assertThat(RecordFrame.headerLength(header)).isEqualTo(RecordFrame.WIDE);
    assertThat(RecordFrame.decodeWide(1, RecordFrame.MAX_VALUE + 1)).isEqualTo(RecordFrame.INVALID);
    assertThat(RecordFrame.decodeWide(1, -1)).isEqualTo(RecordFrame.INVALID);
    assertThat(RecordFrame.decode(0, 0xFFFF)).isEqualTo(RecordFrame.IS_WIDE);
    assertThat(RecordFrame.decode(0, 0)).isEqualTo(RecordFrame.PADDING);
    assertThat(RecordFrame.decode(0, 1)).isEqualTo(RecordFrame.INVALID);
    byte[] wide = {0, -1, -1, 1, 0, -1, -1, -1, -1, 0};
    assertThat(RecordFrame.decode(wide, 0, wide.length)).isEqualTo(RecordFrame.INVALID);
    assertThat(RecordFrame.decode(new byte[3], 0, 3)).isEqualTo(RecordFrame.PADDING);
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
