package tech.bsdb.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

class RequestOrderTest {
  @Test
  void aRoundAsksForEveryKeyOnce() {
    RequestOrder order = new RequestOrder(FakeAnswers.keys(100), 0, null, 1, 3, 9);
    Set<Integer> asked = new HashSet<>();
    for (int i = 0; i < 100; i++) {
      asked.add(order.next());
    }
    assertThat(asked).hasSize(100).allMatch(request -> request >= 0 && request < 100);
  }

  @Test
  void workersBeginElsewhere() {
    KeySet keys = FakeAnswers.keys(100);
    assertThat(new RequestOrder(keys, 0, null, 0, 4, 9).next()).isZero();
    assertThat(new RequestOrder(keys, 0, null, 3, 4, 9).next()).isEqualTo(75);
  }

  @Test
  void absentKeysHaveTheirShare() {
    RequestOrder order = new RequestOrder(FakeAnswers.keys(100), 0.3, null, 0, 1, 9);
    int absent = 0;
    for (int i = 0; i < 100_000; i++) {
      absent += order.next() < 0 ? 1 : 0;
    }
    assertThat(absent).isCloseTo(30_000, within(1_000));
  }

  @Test
  void allOrNoneMayBeAbsent() {
    RequestOrder all = new RequestOrder(FakeAnswers.keys(100), 1, null, 0, 1, 9);
    for (int i = 0; i < 1000; i++) {
      assertThat(all.next()).isNegative();
    }
  }
}
