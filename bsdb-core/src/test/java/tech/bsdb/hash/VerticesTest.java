package tech.bsdb.hash;

import static org.assertj.core.api.Assertions.assertThat;

import it.unimi.dsi.sux4j.mph.solve.Linear3SystemSolver;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import tech.bsdb.Seeds;

/** The vertices of a key are those of sux4j's solver, which chose the values that stand at them. */
class VerticesTest {
  @Test
  void verticesAreAsSux4jHasThem() {
    SplittableRandom random = Seeds.random("VerticesTest");
    int[] expected = new int[3];
    for (int round = 0; round < 100_000; round++) {
      long high = random.nextLong();
      long low = random.nextLong();
      long seed = (long) random.nextInt(256) << 56;
      Linear3SystemSolver.signatureToEquation(
          new long[] {high, low}, seed, BucketLayout.VERTICES, expected);
      long packed = Vertices.of(high, low, seed);
      assertThat(
              new int[] {Vertices.get(packed, 0), Vertices.get(packed, 1), Vertices.get(packed, 2)})
          .as("%s %s %s", high, low, seed)
          .isEqualTo(expected);
    }
  }
}
