package tech.bsdb.bench;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class StrideTest {
  private static final long SECOND = 1_000_000_000;

  @Test
  void slowLookupsAreAllTimed() {
    assertThat(after(499_000)).isEqualTo(1);
  }

  @Test
  void quickOnesAreSampled() {
    assertThat(after(600_000)).isEqualTo(8);
    assertThat(after(3_000_000)).isEqualTo(32);
    assertThat(after(Long.MAX_VALUE)).isEqualTo(1024);
  }

  @Test
  void followsTheRateBothWays() {
    Stride stride = new Stride();
    stride.begin(0);
    stride.adapt(SECOND, 3_000_000);
    stride.adapt(2 * SECOND, 3_001_000);
    assertThat(stride.get()).isEqualTo(1);
  }

  private static int after(long inOneSecond) {
    Stride stride = new Stride();
    stride.begin(0);
    stride.adapt(SECOND, inOneSecond);
    return stride.get();
  }
}
