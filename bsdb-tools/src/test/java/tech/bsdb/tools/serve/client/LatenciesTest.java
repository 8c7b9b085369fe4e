package tech.bsdb.tools.serve.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.prometheus.metrics.model.snapshots.HistogramSnapshot.HistogramDataPointSnapshot;
import java.util.Random;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;
import tech.bsdb.tools.SeedInFailure;

class LatenciesTest {
  private static final long HOUR = 3_600_000_000_000L;

  @Test
  void hasTheResolutionOfAHistogramOfTwoDigits() {
    Random random = new Random(SeedInFailure.SEED);
    Latencies latencies = new Latencies();
    Histogram expected = new Histogram(HOUR, 2);
    for (int i = 0; i < 10_000; i++) {
      long nanos = i < 1000 ? i : random.nextLong(HOUR) >>> random.nextInt(42);
      latencies.record(nanos, 1 + i % 3);
      expected.recordValueWithCount(nanos, 1 + i % 3);
    }
    latencies.record(-1, 1);
    expected.recordValue(0);
    latencies.record(2 * HOUR, 1);
    expected.recordValue(HOUR);
    latencies.tick();
    for (double percentile = 0; percentile <= 100; percentile += 0.25) {
      assertThat(latencies.total().getValueAtPercentile(percentile))
          .as("-Dbsdb.seed=%s, percentile %s", SeedInFailure.SEED, percentile)
          .isEqualTo(expected.getValueAtPercentile(percentile));
    }
    assertThat(latencies.total().getTotalCount()).isEqualTo(expected.getTotalCount());
  }

  @Test
  void forgetsWhatIsNotRecent() {
    Latencies latencies = new Latencies();
    latencies.record(1000, 3);
    latencies.tick();
    latencies.record(2000, 1);
    assertThat(latencies.recent().getTotalCount()).as("whole seconds").isEqualTo(3);
    for (int second = 1; second < Latencies.WINDOW_SECONDS; second++) {
      latencies.tick();
    }
    assertThat(latencies.recent().getTotalCount()).isEqualTo(4);
    latencies.tick();
    assertThat(latencies.recent().getTotalCount()).isEqualTo(1);
    assertThat(latencies.total().getTotalCount()).isEqualTo(4);
  }

  @Test
  void aDurationThatEqualsABoundIsWithinIt() {
    Latencies latencies = new Latencies();
    latencies.record(25_000, 2);
    latencies.record(25_001, 3);
    latencies.record(11_000_000_000L, 4);
    HistogramDataPointSnapshot all = latencies.metric().getDataPoints().get(0);
    assertThat(all.getClassicBuckets().getUpperBound(0)).isEqualTo(25e-6);
    assertThat(all.getClassicBuckets().getCount(0)).isEqualTo(2);
    assertThat(all.getClassicBuckets().getCount(1)).isEqualTo(3);
    assertThat(all.getClassicBuckets().getCount(all.getClassicBuckets().size() - 1)).isEqualTo(4);
    assertThat(all.getCount()).isEqualTo(9);
    assertThat(all.getSum()).isEqualTo(44.000125003);
  }
}
