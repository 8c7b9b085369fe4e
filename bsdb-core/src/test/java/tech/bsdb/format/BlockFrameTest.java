package tech.bsdb.format;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A block's header byte for byte. */
class BlockFrameTest {
  @ParameterizedTest
  @CsvSource({
    "1, 03",
    "63, 7f",
    "64, 8101",
    "4096, 8140",
    "32767, ffff03",
    "65536, 818008",
    "2147483657, 93808080 10"
  })
  void storedBlocksBeginSo(long rawLength, String expected) {
    byte[] target = new byte[BlockFrame.MAX];
    int length = BlockFrame.putStored(target, rawLength);
    assertThat(HexFormat.of().formatHex(target, 0, length)).isEqualTo(expected.replace(" ", ""));
  }

  @ParameterizedTest
  @CsvSource({
    "63, 10, 7e 0a",
    "64, 127, 8001 7f",
    "4096, 128, 8040 8001",
    "1048576, 1048575, 80808001 ffff3f"
  })
  void compressedBlocksBeginSo(long rawLength, long frameLength, String expected) {
    byte[] target = new byte[BlockFrame.MAX];
    int length = BlockFrame.putCompressed(target, rawLength, frameLength);
    assertThat(HexFormat.of().formatHex(target, 0, length)).isEqualTo(expected.replace(" ", ""));
  }

  @Test
  void theLongestHeaderFits() {
    byte[] target = new byte[BlockFrame.MAX];
    assertThat(BlockFrame.putCompressed(target, 67_108_864, 67_371_008))
        .isLessThanOrEqualTo(BlockFrame.MAX);
    assertThat(BlockFrame.putCompressed(target, Integer.MAX_VALUE, Integer.MAX_VALUE))
        .isLessThanOrEqualTo(BlockFrame.MAX);
    assertThat(BlockFrame.putStored(target, Integer.MAX_VALUE + 65_544L))
        .isLessThanOrEqualTo(BlockFrame.MAX);
  }
}
