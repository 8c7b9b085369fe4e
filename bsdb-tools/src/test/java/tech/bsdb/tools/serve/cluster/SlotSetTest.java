package tech.bsdb.tools.serve.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.BitSet;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tech.bsdb.Rounds;

/** Sets of slots and their texts. */
class SlotSetTest {
  @ParameterizedTest
  @CsvSource({
    "'', '', 0",
    "' ', '', 0",
    "0, 0, 1",
    "16383, 16383, 1",
    "0-16383, 0-16383, 16384",
    "'5-6, 1 ,2-4', 1-6, 6",
    "'0,2,4-4', '0,2,4', 3",
    "'1,2', 1-2, 2"
  })
  void numbersAndRangesAreRead(String text, String shown, int size) {
    SlotSet slots = SlotSet.parse(text);
    assertThat(slots).hasToString(shown);
    assertThat(slots.size()).isEqualTo(size);
    assertThat(slots.isEmpty()).isEqualTo(size == 0);
    assertThat(SlotSet.parse(shown)).isEqualTo(slots).hasSameHashCodeAs(slots);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "a", "1-", "-1", "1--2", "2-1", "16384", "0-16384", "1,,2", ",", "1,1", "0-5,3", "99999",
        "0x1", "1 - 2", "+1", "123456"
      })
  void everythingElseIsRefused(String text) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> SlotSet.parse(text))
        .withMessageContaining("slots");
  }

  @Test
  void setsAreCombinedLikeBits() {
    Random random = new Random(5);
    for (int round = 0; round < Rounds.of(20); round++) {
      BitSet a = bits(random);
      BitSet b = bits(random);
      SlotSet left = SlotSet.parse(text(a));
      SlotSet right = SlotSet.parse(text(b));
      BitSet both = (BitSet) a.clone();
      both.and(b);
      BitSet all = (BitSet) a.clone();
      all.or(b);
      BitSet less = (BitSet) a.clone();
      less.andNot(b);
      assertThat(left.and(right)).isEqualTo(SlotSet.parse(text(both)));
      assertThat(left.plus(right)).isEqualTo(SlotSet.parse(text(all)));
      assertThat(left.minus(right)).isEqualTo(SlotSet.parse(text(less)));
      int slot = random.nextInt(16_384);
      assertThat(left.contains(slot)).isEqualTo(a.get(slot));
    }
  }

  private static BitSet bits(Random random) {
    BitSet bits = new BitSet();
    for (int i = random.nextInt(20); i > 0; i--) {
      int first = random.nextInt(16_384);
      bits.set(first, Math.min(16_384, first + 1 + random.nextInt(1000)));
    }
    return bits;
  }

  private static String text(BitSet bits) {
    StringBuilder text = new StringBuilder();
    bits.stream().forEach(bit -> text.append(text.isEmpty() ? "" : ",").append(bit));
    return text.toString();
  }
}
