package tech.bsdb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;

/** Which keys are in a range. */
class KeyRangeTest {
  private static byte[] key(int... bytes) {
    byte[] key = new byte[bytes.length];
    for (int i = 0; i < bytes.length; i++) {
      key[i] = (byte) bytes[i];
    }
    return key;
  }

  @Test
  void allKeysAreInAll() {
    KeyRange all = KeyRange.all();
    assertThat(all.contains(key())).isTrue();
    assertThat(all.contains(key(0xFF, 0xFF))).isTrue();
    assertThat(KeyRange.prefix(key()).contains(key())).isTrue();
    assertThat(KeyRange.prefix(key()).contains(key(0xFF))).isTrue();
  }

  @Test
  void aPrefixIsFollowedByItsSuccessor() {
    KeyRange range = KeyRange.prefix(key('a', 0xFF, 0xFF));
    assertThat(range.contains(key('a', 0xFF))).isFalse();
    assertThat(range.contains(key('a', 0xFF, 0xFE, 0xFF))).isFalse();
    assertThat(range.contains(key('a', 0xFF, 0xFF))).isTrue();
    assertThat(range.contains(key('a', 0xFF, 0xFF, 0))).isTrue();
    assertThat(range.contains(key('a', 0xFF, 0xFF, 0xFF, 0xFF))).isTrue();
    assertThat(range.contains(key('b'))).isFalse();
    assertThat(range.contains(key('b', 0))).isFalse();
  }

  @Test
  void aPrefixOfTheLastBytesHasNoEnd() {
    KeyRange range = KeyRange.prefix(key(0xFF, 0xFF));
    assertThat(range.contains(key(0xFF))).isFalse();
    assertThat(range.contains(key(0xFF, 0xFE))).isFalse();
    assertThat(range.contains(key(0xFF, 0xFF))).isTrue();
    assertThat(range.contains(key(0xFF, 0xFF, 0xFF, 7))).isTrue();
  }

  @Test
  void aByteIsAnUnsignedNumber() {
    KeyRange range = KeyRange.prefix(key(0x7F));
    assertThat(range.contains(key(0x7F, 0xFF))).isTrue();
    assertThat(range.contains(key(0x80))).isFalse();
    assertThat(KeyRange.all().from(key(0x80)).contains(key(0x7F))).isFalse();
    assertThat(KeyRange.all().to(key(0x80)).contains(key(0x7F))).isTrue();
  }

  @Test
  void boundsAreInclusiveOrNot() {
    byte[] bound = key(5);
    byte[] next = key(5, 0);
    KeyRange all = KeyRange.all();
    assertThat(all.from(bound).contains(bound)).isTrue();
    assertThat(all.after(bound).contains(bound)).isFalse();
    assertThat(all.after(bound).contains(next)).isTrue();
    assertThat(all.to(bound).contains(bound)).isFalse();
    assertThat(all.through(bound).contains(bound)).isTrue();
    assertThat(all.through(bound).contains(next)).isFalse();
    assertThat(all.to(key()).contains(key())).isFalse();
    assertThat(all.through(key()).contains(key())).isTrue();
    assertThat(all.after(key()).contains(key())).isFalse();
  }

  @Test
  void keysAreCopied() {
    byte[] from = key(3);
    byte[] to = key(7);
    byte[] prefix = key(4);
    KeyRange range = KeyRange.all().from(from).to(to);
    KeyRange ofPrefix = KeyRange.prefix(prefix);
    from[0] = 0;
    to[0] = 100;
    prefix[0] = 9;
    assertThat(range.contains(key(2))).isFalse();
    assertThat(range.contains(key(8))).isFalse();
    assertThat(ofPrefix.contains(key(4, 1))).isTrue();
    assertThat(ofPrefix.contains(key(9))).isFalse();
  }

  @Test
  void nullIsRefused() {
    KeyRange all = KeyRange.all();
    for (Runnable call :
        new Runnable[] {
          () -> KeyRange.prefix(null),
          () -> all.from(null),
          () -> all.after(null),
          () -> all.to(null),
          () -> all.through(null),
          () -> all.contains(null)
        }) {
      assertThatThrownBy(call::run).isInstanceOf(NullPointerException.class);
    }
  }

  /** Each step narrows the range; none widens it. */
  @Test
  void stepsNarrowTheRange() {
    SplittableRandom random = Seeds.random("KeyRangeTest");
    for (int round = 0; round < 3000; round++) {
      RandomKeys keys = new RandomKeys(random, 4);
      KeyRange range = KeyRange.all();
      List<Predicate<byte[]>> conditions = new ArrayList<>();
      for (int i = random.nextInt(4); i >= 0; i--) {
        RangeStep step = RangeStep.random(random, keys.next(), conditions.isEmpty());
        range = step.narrow(range);
        conditions.add(step::admits);
      }
      for (int i = 0; i < 20; i++) {
        byte[] key = keys.next();
        assertThat(range.contains(key))
            .isEqualTo(conditions.stream().allMatch(condition -> condition.test(key)));
      }
    }
  }
}
