package tech.bsdb.write;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class KeyOrderLimitsTest {
  /** However many partitions there are, a small part of them is in the last file that is used. */
  @ParameterizedTest
  @ValueSource(longs = {1 << 20, 3 << 20, 64 << 20, 1L << 40})
  void filesAreDeletedInSteps(long memoryBytes) {
    KeyOrderLimits limits = new KeyOrderLimits(memoryBytes, 2);
    int[] files = limits.filesOfPartitions();
    int sampled = limits.sampledPartitions();
    assertThat(files).hasSize(limits.partitions()).isSorted();
    assertThat(files[files.length - 1]).isLessThan(64);
    for (int used = sampled; used <= files.length; used++) {
      int last = files[used - 1];
      int inLast = 0;
      while (inLast < used - sampled && files[used - 1 - inLast] == last) {
        inLast++;
      }
      assertThat(inLast).isLessThanOrEqualTo(3 + (used - sampled) / 4);
    }
    int evenly = 0;
    while (files[evenly] == files[0]) {
      evenly++;
    }
    assertThat(evenly).isLessThanOrEqualTo((sampled + 3) / 4);
  }
}
