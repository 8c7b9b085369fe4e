package tech.bsdb.tools.text;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import org.junit.jupiter.api.Test;

final class Utf8Test {
  private final CharsetDecoder truth = StandardCharsets.UTF_8.newDecoder();
  private final CharBuffer chars = CharBuffer.allocate(100);

  @Test
  void agreesWithTheDecoderOnEverySequenceOfUpToThreeBytes() {
    byte[] bytes = new byte[3];
    for (int number = 0; number < 1 << 24; number++) {
      bytes[0] = (byte) (number >> 16);
      bytes[1] = (byte) (number >> 8);
      bytes[2] = (byte) number;
      if (bytes[0] >= 0 && number % 251 != 0) {
        continue; // ASCII first: a sequence of two, seen elsewhere
      }
      if (Utf8.isValid(bytes, 0, 3) != decodes(bytes, 0, 3)) {
        assertThat(Utf8.isValid(bytes, 0, 3)).as("%06x", number).isEqualTo(decodes(bytes, 0, 3));
      }
    }
  }

  @Test
  void agreesWithTheDecoderOnSequencesOfFourBytes() {
    byte[] bytes = new byte[4];
    for (int lead = 0xEF; lead <= 0xFF; lead++) {
      for (int second = 0x7E; second <= 0xC1; second++) {
        for (int third : new int[] {0x7F, 0x80, 0xBF, 0xC0}) {
          for (int fourth : new int[] {0x00, 0x7F, 0x80, 0xBF, 0xC0, 0xFF}) {
            bytes[0] = (byte) lead;
            bytes[1] = (byte) second;
            bytes[2] = (byte) third;
            bytes[3] = (byte) fourth;
            assertThat(Utf8.isValid(bytes, 0, 4))
                .as("%x %x %x %x", lead, second, third, fourth)
                .isEqualTo(decodes(bytes, 0, 4));
          }
        }
      }
    }
  }

  @Test
  void agreesWithTheDecoderInEveryRangeOfDamagedText() {
    Random random = new Random(1);
    byte[] text = "plain ASCII, Grüße, 中文字符, 😀 and the rest".getBytes(StandardCharsets.UTF_8);
    for (int round = 0; round < 200; round++) {
      byte[] damaged = text.clone();
      damaged[random.nextInt(damaged.length)] = (byte) random.nextInt();
      for (int from = 0; from <= damaged.length; from++) {
        int to = from + random.nextInt(damaged.length - from + 1);
        assertThat(Utf8.isValid(damaged, from, to)).isEqualTo(decodes(damaged, from, to));
      }
    }
  }

  private boolean decodes(byte[] bytes, int from, int to) {
    truth.reset();
    chars.clear();
    return !truth.decode(ByteBuffer.wrap(bytes, from, to - from), chars, true).isError();
  }
}
