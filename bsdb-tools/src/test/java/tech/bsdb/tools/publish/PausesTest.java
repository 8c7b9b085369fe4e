package tech.bsdb.tools.publish;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import tech.bsdb.tools.publish.Follower.Pauses;

class PausesTest {
  private static final Duration MINUTE = Duration.ofMinutes(1);

  @Test
  void theyGrowWithEachFailureUpToTheLongest() {
    Pauses pauses = new Pauses(MINUTE, Duration.ofMinutes(10), () -> Long.MIN_VALUE); // 0.5
    assertThat(IntStream.range(0, 8).mapToObj(pauses::next).map(Duration::toSeconds))
        .containsExactly(60L, 60L, 120L, 240L, 480L, 600L, 600L, 600L);
    assertThat(pauses.next(Integer.MAX_VALUE)).hasMinutes(10);
  }

  @Test
  void theyVaryByAQuarter() {
    Pauses pauses = new Pauses(MINUTE, MINUTE, new SplittableRandom(5));
    List<Long> millis = IntStream.range(0, 1000).mapToObj(i -> pauses.next(0).toMillis()).toList();
    assertThat(millis).allMatch(each -> each >= 45_000 && each <= 75_000);
    assertThat(millis).anyMatch(each -> each < 47_000).anyMatch(each -> each > 73_000);
  }
}
