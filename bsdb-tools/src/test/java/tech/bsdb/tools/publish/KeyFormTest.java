package tech.bsdb.tools.publish;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.UUID;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class KeyFormTest {
  private static List<byte[]> keys(String... keys) {
    return Stream.of(keys).map(key -> key.getBytes(UTF_8)).toList();
  }

  private static List<byte[]> numbers(int from, int to) {
    return IntStream.range(from, to)
        .mapToObj(i -> ByteBuffer.allocate(4).putInt(i).array())
        .toList();
  }

  private static boolean fits(List<byte[]> old, List<byte[]> added) {
    return KeyForm.of(old).misfit(added).isEmpty();
  }

  @Test
  void formsAreDescribed() {
    String uuid = UUID.nameUUIDFromBytes(new byte[1]).toString();
    assertThat(KeyForm.of(keys("1", "22")).words()).isEqualTo("all decimal digits");
    assertThat(KeyForm.of(keys(uuid)).words()).isEqualTo("all UUIDs, all of 36 bytes");
    assertThat(KeyForm.of(keys("00ff00ff", "ABCDEF01")).words())
        .isEqualTo("all hexadecimal, all of 8 bytes");
    assertThat(KeyForm.of(keys("face", "bed")).words()).isEqualTo("UTF-8 text");
    assertThat(KeyForm.of(keys("größe", "")).words()).isEqualTo("UTF-8 text");
    assertThat(KeyForm.of(numbers(0, 300)).words())
        .as("numbers below 128 are no text though they are UTF-8")
        .isEqualTo("all binary, all of 4 bytes");
    assertThat(KeyForm.of(List.of("a".getBytes(UTF_8), "\u00e9x".getBytes(ISO_8859_1))).words())
        .isEqualTo("bytes of any kind");
  }

  @Test
  void keysOfADifferentFormAreFound() {
    String uuid = UUID.nameUUIDFromBytes(new byte[1]).toString();
    assertThat(fits(keys("1", "22"), keys("3", "x"))).isFalse();
    assertThat(fits(keys(uuid), keys("00ff00ff"))).isFalse();
    assertThat(fits(keys("00ff00ff"), keys("00ff00fg"))).isFalse();
    assertThat(fits(keys("00ff00ff"), keys("00ff00ff00"))).as("a longer digest").isFalse();
    assertThat(fits(keys("apple"), numbers(1, 9))).isFalse();
    assertThat(fits(numbers(1, 9), keys("apple"))).isFalse();
    assertThat(fits(numbers(1, 9), List.of(new byte[8]))).as("longer numbers").isFalse();
    assertThat(fits(keys("ab1", "ab2"), keys("item-1", "item-22")))
        .as("no key that long")
        .isFalse();
    assertThat(KeyForm.of(keys("1", "22")).misfit(keys("3", "x", "y")))
        .hasValueSatisfying(key -> assertThat(key).asString(UTF_8).isEqualTo("x"));
  }

  @Test
  void keysOfTheSameFormAreAccepted() {
    assertThat(fits(keys("1", "22"), keys("4444"))).isTrue();
    assertThat(fits(keys("98", "99"), keys("99", "100"))).as("numbers grow").isTrue();
    assertThat(fits(keys("a", "b"), keys("b", "x"))).isTrue();
    assertThat(fits(keys("a", "bb"), keys("1"))).isTrue();
    assertThat(fits(keys("u8", "u9"), keys("u9", "u10"))).isTrue();
    assertThat(fits(keys("00ff00ff"), keys("12345678"))).isTrue();
    assertThat(fits(numbers(1, 9), numbers(5, 1000))).isTrue();
    assertThat(fits(List.of(new byte[1], keys("a").get(0)), keys("abc", "d"))).isTrue();
  }
}
