package tech.bsdb.tools.input;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.Random;
import org.junit.jupiter.api.Test;

final class ByteSearchTest {

  @Test
  void findsTheFirstAndTheLastByteInEveryRange() {
    Random random = new Random(1);
    byte[] bytes = new byte[40];
    for (int round = 0; round < 200; round++) {
      for (int i = 0; i < bytes.length; i++) {
        bytes[i] = (byte) (random.nextInt(4) == 0 ? '\n' : (byte) random.nextInt());
      }
      for (int from = 0; from <= bytes.length; from++) {
        for (int to = from; to <= bytes.length; to++) {
          for (byte wanted : new byte[] {'\n', 0, (byte) 0x80, (byte) 0xFF}) {
            assertThat(ByteSearch.indexOf(bytes, from, to, wanted))
                .isEqualTo(first(bytes, from, to, wanted));
            assertThat(ByteSearch.lastIndexOf(bytes, from, to, wanted))
                .isEqualTo(last(bytes, from, to, wanted));
          }
        }
      }
    }
  }

  @Test
  void doesNotConfuseNeighbouringValues() {
    // The trick of finding zero bytes eight at a time is wrong about bytes above a zero if done
    // carelessly.
    byte[] bytes = {11, 10, 11, 9, 10, 11, 9, 8, (byte) 138, (byte) 139};
    assertThat(ByteSearch.indexOf(bytes, 0, 8, (byte) 10)).isEqualTo(1);
    assertThat(ByteSearch.indexOf(bytes, 2, 10, (byte) 10)).isEqualTo(4);
    assertThat(ByteSearch.indexOf(bytes, 2, 10, (byte) 139)).isEqualTo(9);
  }

  @Test
  void findsSeveralBytesAtTheFirstOccurrence() {
    Random random = new Random(2);
    for (int round = 0; round < 20_000; round++) {
      StringBuilder text = new StringBuilder();
      for (int i = random.nextInt(30); i > 0; i--) {
        text.append((char) ('a' + random.nextInt(2)));
      }
      StringBuilder wanted = new StringBuilder();
      for (int i = 1 + random.nextInt(4); i > 0; i--) {
        wanted.append((char) ('a' + random.nextInt(2)));
      }
      byte[] bytes = text.toString().getBytes(StandardCharsets.US_ASCII);
      int from = random.nextInt(bytes.length + 1);
      assertThat(
              ByteSearch.indexOf(
                  bytes, from, bytes.length, wanted.toString().getBytes(StandardCharsets.US_ASCII)))
          .as("%s in %s from %d", wanted, text, from)
          .isEqualTo(text.indexOf(wanted.toString(), from));
    }
  }

  @Test
  void doesNotLookBeyondTheRange() {
    byte[] bytes = "abcab".getBytes(StandardCharsets.US_ASCII);
    byte[] wanted = "ab".getBytes(StandardCharsets.US_ASCII);
    assertThat(ByteSearch.indexOf(bytes, 1, 4, wanted)).isEqualTo(-1);
    assertThat(ByteSearch.indexOf(bytes, 1, 5, wanted)).isEqualTo(3);
  }

  private static int first(byte[] bytes, int from, int to, byte wanted) {
    for (int i = from; i < to; i++) {
      if (bytes[i] == wanted) {
        return i;
      }
    }
    return -1;
  }

  private static int last(byte[] bytes, int from, int to, byte wanted) {
    for (int i = to - 1; i >= from; i--) {
      if (bytes[i] == wanted) {
        return i;
      }
    }
    return -1;
  }
}
