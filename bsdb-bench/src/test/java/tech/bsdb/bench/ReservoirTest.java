package tech.bsdb.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import org.junit.jupiter.api.Test;
import tech.bsdb.bench.KeySource.Reservoir;

class ReservoirTest {
  @Test
  void keysKeepTheirValues() {
    KeySet keys = sampled(500, 100, 3);
    assertThat(keys.present().length).isEqualTo(100);
    assertThat(keys.sourceRecords()).isEqualTo(500);
    byte[][] values = keys.values();
    assertThat(values).isNotNull();
    for (int i = 0; i < 100; i++) {
      assertThat(values[i]).isEqualTo(FakeAnswers.valueOf(keys.present()[i]));
    }
  }

  @Test
  void theSameSeedSamplesTheSame() {
    assertThat(Arrays.deepEquals(sampled(500, 100, 3).present(), sampled(500, 100, 3).present()))
        .isTrue();
    assertThat(Arrays.deepEquals(sampled(500, 100, 3).present(), sampled(500, 100, 4).present()))
        .isFalse();
  }

  @Test
  void lateRecordsAreAsLikelyAsEarlyOnes() {
    int late = 0;
    for (int seed = 0; seed < 200; seed++) {
      for (byte[] key : sampled(1000, 100, seed).present()) {
        late += key[6] >= '5' ? 1 : 0; // key000500 and up
      }
    }
    assertThat(late).isCloseTo(10_000, within(500));
  }

  private static KeySet sampled(int records, int capacity, long seed) {
    KeySet all = FakeAnswers.keys(records);
    Reservoir reservoir = new Reservoir(capacity, true, seed);
    for (byte[] key : all.present()) {
      int place = reservoir.offer();
      if (place >= 0) {
        reservoir.put(place, key, FakeAnswers.valueOf(key));
      }
    }
    return reservoir.shuffled("a test");
  }
}
