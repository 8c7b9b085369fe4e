package tech.bsdb.tools.make;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class HeapBudgetTest {
  private long used;
  private long live;
  private int collections;
  private final HeapBudget budget =
      new HeapBudget(
          () -> used,
          () -> {
            collections++;
            used = live;
          });

  private int after(long bytes) {
    used = bytes;
    budget.keep();
    return collections;
  }

  @Test
  void theHeapIsCollectedWhenItIsTwiceWhatIsHeld() {
    assertThat(after(HeapBudget.LEAST)).isZero();
    live = HeapBudget.LEAST - 1;
    assertThat(after(HeapBudget.LEAST + 1)).isEqualTo(1);
    assertThat(after(2 * live)).isEqualTo(1);
    live = 1;
    assertThat(after(2 * HeapBudget.LEAST)).isEqualTo(2);
    assertThat(after(HeapBudget.LEAST)).isEqualTo(2);
    assertThat(after(HeapBudget.LEAST + 1)).isEqualTo(3);
  }
}
