package tech.bsdb.write;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tech.bsdb.BuildOptions;
import tech.bsdb.DuplicatePolicy;
import tech.bsdb.Layout;
import tech.bsdb.LayoutPlan;
import tech.bsdb.Seeds;
import tech.bsdb.Truth;
import tech.bsdb.data.FramedRecord;
import tech.bsdb.data.RecordWriter;
import tech.bsdb.hash.SignatureFunction;

class SortLimitsTest {
  private static final int KEY = 13;
  private static final int VALUE = 32;

  @TempDir Path directory;

  private final SplittableRandom random = Seeds.random("SortLimitsTest");

  /** However many partitions there are, a small part of them is in the last file that is used. */
  @ParameterizedTest
  @ValueSource(longs = {1 << 20, 3 << 20, 64 << 20, 1L << 40})
  void filesAreDeletedInSteps(long memoryBytes) {
    SortLimits limits = new SortLimits(memoryBytes, 2);
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

  /** The runs of random keys, of which each thread reserves one, against the plan of the build. */
  @ParameterizedTest
  @CsvSource({
    "BLOCKED, 1, 1, 100000",
    "BLOCKED, 4, 2, 300000",
    "COMPACT, 8, 8, 300000",
    "COMPRESSED, 64, 3, 200000",
    "BLOCKED, 64, 8, 50000",
    "BLOCKED, 64, 2, 1000000",
    "PACKED, 1, 1, 100000",
    "PACKED, 4, 2, 300000",
    "PACKED, 8, 8, 300000",
    "PACKED_COMPRESSED, 64, 3, 200000",
    "PACKED, 64, 8, 50000",
    "PACKED, 64, 2, 1000000"
  })
  void aBuildReservesWhatItsPlanSays(Layout layout, int memoryMiB, int threads, int records)
      throws Exception {
    BuildOptions options =
        BuildOptions.defaults()
            .withLayout(layout)
            .withOrderedKeys(true)
            .withMemoryBytes((long) memoryMiB << 20)
            .withThreads(threads);
    SortLimits limits = new SortLimits(options.memoryBytes(), threads);
    long sorted = layout.isPacked() ? largestOfKeys(options, records) : largest(options, records);
    long need = SortLimits.keyNeed(records, KEY * (long) records);
    boolean inMemory = layout.isPacked() && need <= limits.sampleBytes();
    long reserved = inMemory ? sorted : threads * Math.min(limits.runBytes(), sorted);

    long entries = RecordSpill.entryBytes(KEY, VALUE) * records;
    long planned =
        layout.isPacked()
            ? limits.keySortBytes(records, need)
            : limits.sortBytes(records, entries)
                - Math.min(entries, (long) limits.partitions() * SortLimits.CHUNK);
    // The keys are random, and so is the largest run: with a few of them it is rarely a bit longer.
    assertThat(planned).isBetween(reserved - reserved / 10, Math.max(2 * reserved, need / 3));
    LayoutPlan plan = LayoutPlan.of(options, records, KEY, VALUE);
    assertThat(plan.buildMemoryBytes()).isGreaterThanOrEqualTo(planned);
  }

  private long largest(BuildOptions options, int records) throws Exception {
    SignatureFunction function = SignatureFunction.of(options);
    try (KeyOrder order =
        new KeyOrder(
            directory,
            new Nowhere(),
            DuplicatePolicy.FIRST,
            function,
            options.memoryBytes(),
            options.threads())) {
      for (int i = 0; i < records; i++) {
        order.add(Framed.of(Truth.bytes(random, KEY), new byte[VALUE], function));
      }
      order.finish();
      return largest(order.divided());
    }
  }

  private long largestOfKeys(BuildOptions options, int records) throws Exception {
    BuildPlace place = new BuildPlace(directory, directory);
    try (CollectedKeys keys = new CollectedKeys(place, options.memoryBytes(), options.threads())) {
      keys.expect(records, KEY * (long) records);
      keys.addEach(
          to -> {
            for (int i = 0; i < records; i++) {
              to.take(Truth.bytes(random, KEY), 0, KEY);
            }
          });
      KeySpill divided = keys.divided();
      return divided == null ? keys.inMemory().memory() : largest(divided);
    }
  }

  private static long largest(KeySorter.Divided<?> divided) {
    return IntStream.range(0, divided.partitions()).mapToLong(divided::memory).max().orElse(0);
  }

  /** Takes no records, since none is written. */
  private static final class Nowhere implements RecordWriter {
    @Override
    public void add(FramedRecord record) {}

    @Override
    public void finish() {}

    @Override
    public void close() {}
  }

  /** Many more short keys than 32 MiB hold in each partition are not divided again. */
  @Test
  void aBillionKeysAreDividedOnce() {
    SortLimits limits = new SortLimits(1L << 30, 4);
    long keys = 1_000_000_000;
    long entries = (KeyEntries.HEAD + 8) * keys;
    assertThat(limits.keyTemporaryBytes(keys, 8)).isLessThan(entries + entries / 1000);
    long sorted = limits.keySortBytes(keys, SortLimits.keyNeed(keys, 8 * keys));
    assertThat(sorted).isBetween(200L << 20, 400L << 20);
  }
}
