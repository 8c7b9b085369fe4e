package tech.bsdb.hash;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.BitSet;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import tech.bsdb.Seeds;

/** Buckets of every size are solved, and each of their keys gets a slot of its own. */
class BucketSolverTest {
  private final SplittableRandom random = Seeds.random("BucketSolverTest");

  @Test
  void everySizeIsSolved() throws Exception {
    for (int size = 0; size <= BucketLayout.MAX_KEYS; size++) {
      int bits = size % 33;
      long[] high = random.longs(size).sorted().toArray();
      long[] low = random.longs(size).toArray();
      long first = random.nextLong(1L << 56);
      HashConstruction.Solution solution =
          new BucketSolver(7, bits).solve(high, low, 0, size, first);
      assertThat(solution.first()).isEqualTo(first);
      BitSet given = new BitSet();
      for (int slot : solution.slots()) {
        assertThat(slot).isBetween(0, size - 1);
        assertThat(given.get(slot)).as("slot %s of %s given before", slot, size).isFalse();
        given.set(slot);
      }
    }
  }

  @Test
  void theSameBucketHasTheSameSolution() throws Exception {
    long[] high = random.longs(500).sorted().toArray();
    long[] low = random.longs(500).toArray();
    BucketSolver solver = new BucketSolver(1, 13);
    HashConstruction.Solution one = solver.solve(high, low, 100, 400, 17);
    HashConstruction.Solution two = solver.solve(high, low, 100, 400, 17);
    assertThat(two.block()).isEqualTo(one.block());
    assertThat(two.slots()).isEqualTo(one.slots());
  }

  @Test
  void oneKeyMoreThanFitsIsRefused() {
    int size = BucketLayout.MAX_KEYS + 1;
    long[] high = random.longs(size).sorted().toArray();
    assertThatThrownBy(() -> new BucketSolver(1, 0).solve(high, high, 0, size, 0))
        .isInstanceOf(BucketOverflowException.class)
        .hasMessageContaining(String.valueOf(size));
  }
}
