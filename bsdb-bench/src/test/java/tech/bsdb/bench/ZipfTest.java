package tech.bsdb.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tech.bsdb.bench.RequestOrder.Zipf;

class ZipfTest {
  private static final int DRAWS = 400_000;

  @ParameterizedTest
  @ValueSource(doubles = {0.5, 0.99, 1, 1.5, 3})
  void ranksComeInProportionToTheirPower(double exponent) {
    int ranks = 1000;
    Zipf zipf = new Zipf(ranks, exponent);
    SplittableRandom random = new SplittableRandom(7);
    int[] drawn = new int[ranks];
    for (int i = 0; i < DRAWS; i++) {
      drawn[zipf.draw(random)]++;
    }
    double whole = 0;
    for (int rank = 1; rank <= ranks; rank++) {
      whole += Math.pow(rank, -exponent);
    }
    for (int rank : new int[] {1, 2, 3, 10, 100, 1000}) {
      double expected = DRAWS * Math.pow(rank, -exponent) / whole;
      assertThat((double) drawn[rank - 1])
          .as("rank %d", rank)
          .isCloseTo(expected, within(5 * Math.sqrt(expected) + 1));
    }
  }

  @Test
  void theSameSeedDrawsTheSame() {
    assertThat(RequestOrder.draw(1000, 1.1, 5)).isEqualTo(RequestOrder.draw(1000, 1.1, 5));
    assertThat(RequestOrder.draw(1000, 1.1, 5)).isNotEqualTo(RequestOrder.draw(1000, 1.1, 6));
  }

  @Test
  void oneRankIsDrawnAlways() {
    assertThat(new Zipf(1, 1).draw(new SplittableRandom(1))).isZero();
  }

  @Test
  void refusesWhatIsNoDistribution() {
    assertThatThrownBy(() -> new Zipf(0, 1)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> new Zipf(1, 0)).isInstanceOf(IllegalArgumentException.class);
  }
}
