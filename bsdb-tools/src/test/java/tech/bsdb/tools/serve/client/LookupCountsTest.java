package tech.bsdb.tools.serve.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;

class LookupCountsTest {
  private final LookupCounts whole = new LookupCounts(5);
  private final LookupCounts first = whole.part();
  private final LookupCounts second = whole.part();

  @Test
  void partsAreCountedInTheWhole() {
    first.found(1, 2);
    second.found(10, 0);
    second.error(3);
    whole.found(100, 0);
    assertThat(first.byOutcome()).isEqualTo(Map.of("hits", 1L, "misses", 2L, "errors", 0L));
    assertThat(second.byOutcome()).isEqualTo(Map.of("hits", 10L, "misses", 0L, "errors", 3L));
    assertThat(whole.byOutcome()).isEqualTo(Map.of("hits", 111L, "misses", 2L, "errors", 3L));
  }

  @Test
  void lookupsInFlightAreBoundedTogether() {
    assertThat(first.enter(3)).isTrue();
    assertThat(second.enter(3)).isFalse();
    assertThat(second.enter(2)).isTrue();
    assertThat(first.isFull()).isTrue();
    assertThat(whole.inFlight()).isEqualTo(5);
    second.leave(2);
    first.leave(3);
    assertThat(second.enter(9)).as("more than the bound, alone").isTrue();
    assertThat(first.enter(1)).isFalse();
    first.enterAgain(1);
    assertThat(whole.inFlight()).isEqualTo(10);
  }
}
