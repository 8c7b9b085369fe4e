package tech.bsdb.data;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import tech.bsdb.error.MemoryBudgetExceededException;

/** Values that share an array follow each other there, from its start after each clearing. */
class ValuesTest {
  private final ByteBuffer buffer = ByteBuffer.wrap(new byte[] {0, 1, 2, 3, 4, 5, 6, 7});

  @Test
  void contiguousValuesFollowEachOther() throws Exception {
    Values values = Values.contiguous();
    for (int batch = 0; batch < 3; batch++) {
      byte[] first = values.take(buffer, 1, 3);
      assertThat(values.offset()).isZero();
      assertThat(values.length(first)).isEqualTo(3);
      byte[] second = values.take(new byte[] {9, 8}, 0, 2);
      assertThat(values.offset()).isEqualTo(3);
      assertThat(values.length(second)).isEqualTo(2);
      assertThat(Arrays.copyOf(values.array(), 5)).containsExactly(1, 2, 3, 9, 8);
      values.clear();
    }
  }

  @Test
  void aBudgetIsAskedForWhatTheArrayGrows() throws Exception {
    Values values = Values.contiguous();
    values.use(bytes -> bytes <= 4);
    values.take(buffer, 0, 4);
    values.clear();
    values.take(buffer, 4, 4);
    assertThat(values.array()).containsExactly(4, 5, 6, 7);
    assertThatThrownBy(() -> values.make(5)).isInstanceOf(MemoryBudgetExceededException.class);
  }

  @Test
  void separateValuesAreTheCallers() throws Exception {
    Values values = Values.separate();
    byte[] one = values.take(buffer, 2, 2);
    byte[] other = values.take(buffer, 2, 2);
    assertThat(one).containsExactly(2, 3).isNotSameAs(other);
  }
}
