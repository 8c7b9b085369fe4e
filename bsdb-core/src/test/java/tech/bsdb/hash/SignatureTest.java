package tech.bsdb.hash;

import static org.assertj.core.api.Assertions.assertThat;

import it.unimi.dsi.bits.LongArrayBitVector;
import it.unimi.dsi.sux4j.mph.Hashes;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import tech.bsdb.Seeds;

/** A signature is what sux4j computes of the same bytes, wherever in an array they lie. */
class SignatureTest {
  private final SplittableRandom random = Seeds.random("SignatureTest");
  private final Signature signature = new Signature();

  @Test
  void everyShortLengthIsAsSux4jHasIt() {
    for (int length = 0; length <= 100; length++) {
      for (int round = 0; round < 20; round++) {
        check(random(length), random.nextLong());
      }
    }
  }

  @Test
  void longKeysAreAsSux4jHasThem() {
    for (int round = 0; round < 200; round++) {
      check(random(random.nextInt(65_536)), random.nextLong());
    }
    check(random(65_535), 0);
  }

  @Test
  void bytesOfOneValueAreAsSux4jHasThem() {
    for (int length = 0; length <= 100; length++) {
      for (int value : new int[] {0, 0x7F, 0x80, 0xFF}) {
        byte[] key = new byte[length];
        Arrays.fill(key, (byte) value);
        check(key, 0);
      }
    }
  }

  @Test
  void whatStandsBeforeAndBehindTheKeyDoesNotMatter() {
    for (int length = 0; length <= 100; length++) {
      byte[] key = random(length);
      for (int before = 0; before <= 17; before++) {
        byte[] around = random(before + length + 9);
        System.arraycopy(key, 0, around, before, length);
        signature.compute(around, before, length, 7);
        assertThat(new long[] {signature.high, signature.low}).isEqualTo(expected(key, 7));
      }
    }
  }

  private void check(byte[] key, long seed) {
    signature.compute(key, 0, key.length, seed);
    assertThat(new long[] {signature.high, signature.low})
        .as("%s bytes, seed %s", key.length, seed)
        .isEqualTo(expected(key, seed));
  }

  /** By sux4j, which numbers the bits of a vector from the lowest of its first word. */
  private static long[] expected(byte[] key, long seed) {
    long[] words = new long[(key.length + 7) / 8];
    ByteBuffer.wrap(Arrays.copyOf(key, words.length * 8))
        .order(ByteOrder.LITTLE_ENDIAN)
        .asLongBuffer()
        .get(words);
    long[] pair = new long[2];
    Hashes.spooky4(LongArrayBitVector.wrap(words, key.length * 8L), seed, pair);
    return pair;
  }

  private byte[] random(int length) {
    byte[] bytes = new byte[length];
    random.nextBytes(bytes);
    return bytes;
  }
}
