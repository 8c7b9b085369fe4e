package tech.bsdb.bench;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class PaceTest {
  @Test
  void workersTakeTurns() {
    Pace first = new Pace(1000, 1e6, 0, 2);
    Pace second = new Pace(1000, 1e6, 1, 2);
    assertThat(first.next()).isEqualTo(1000);
    assertThat(second.next()).isEqualTo(2000);
    assertThat(first.next()).isEqualTo(3000);
    assertThat(second.next()).isEqualTo(4000);
  }

  @Test
  void countsWhatIsOwed() {
    Pace pace = new Pace(0, 1e6, 0, 1); // due at 0, 1000, 2000 and so on
    assertThat(pace.dueUntil(10_000)).isEqualTo(10);
    pace.next();
    assertThat(pace.dueUntil(10_000)).isEqualTo(9);
    assertThat(pace.dueUntil(10_001)).isEqualTo(10);
    assertThat(pace.dueUntil(0)).isZero();
  }
}
