package tech.bsdb;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Values of every distribution of lengths in the packed layouts, whose pages depend on the lengths
 * of all records: every engine finds each record.
 */
@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RecordSizesTest {
  private static final int MOST = 1 << 20;

  /** How long values are. */
  enum Lengths {
    EQUAL {
      @Override
      int next(SplittableRandom random) {
        return 32;
      }
    },
    /** 0 to 1 MiB, each power of two as often as the next. */
    MIXED {
      @Override
      int next(SplittableRandom random) {
        int most = 1 << random.nextInt(21);
        return random.nextInt(8) == 0 ? most : random.nextInt(most + 1);
      }
    },
    /** Half of them are below 90 bytes. */
    LOGNORMAL {
      @Override
      int next(SplittableRandom random) {
        return (int) Math.min(MOST, Math.exp(4.5 + 1.5 * random.nextGaussian()));
      }
    },
    /** Half of them are below 50 bytes, and one in a thousand above 100 KB. */
    HEAVY_TAILED {
      @Override
      int next(SplittableRandom random) {
        return (int) Math.min(MOST, 20 * Math.pow(1 - random.nextDouble(), -1.25));
      }
    };

    abstract int next(SplittableRandom random);
  }

  @TempDir Path directory;

  static List<Arguments> cases() {
    List<Arguments> cases = new ArrayList<>();
    for (Layout layout : List.of(Layout.PACKED, Layout.PACKED_COMPRESSED)) {
      for (int count : new int[] {0, 1, 2, 63, 64, 65, 1000, 5000}) {
        cases.add(Arguments.of(layout, Lengths.EQUAL, count));
      }
      for (Lengths lengths : List.of(Lengths.LOGNORMAL, Lengths.HEAVY_TAILED)) {
        for (int count : new int[] {1, 3, 300, 5000}) {
          cases.add(Arguments.of(layout, lengths, count));
        }
      }
      for (int count : new int[] {2, 20, 150}) {
        cases.add(Arguments.of(layout, Lengths.MIXED, count));
      }
    }
    return cases;
  }

  @Sampled(3)
  @ParameterizedTest
  @MethodSource("cases")
  void everyEngineFindsAll(Layout layout, Lengths lengths, int count) throws Exception {
    SplittableRandom random = Seeds.random("RecordSizesTest " + layout + " " + lengths);
    Truth truth = new Truth();
    for (int i = 0; i < count; i++) {
      byte[] value = new byte[lengths.next(random)];
      if (random.nextBoolean()) { // else of zeros, which can be compressed
        random.nextBytes(value);
      }
      truth.add(Truth.bytes(random, 13), value);
    }
    for (int i = 0; i < Math.max(20, count); i++) {
      truth.absent(Truth.bytes(random, 13));
    }
    Path target = directory.resolve("db");
    truth.build(
        target,
        BuildOptions.defaults()
            .withLayout(layout)
            .withDataFiles(1 + random.nextInt(3))
            .withMemoryBytes(1 << 20)
            .withDictionaryBytes(4096));
    truth.check(target);
  }
}
