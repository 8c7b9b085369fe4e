package tech.bsdb.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.SplittableRandom;
import java.util.function.LongUnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tech.bsdb.Seeds;

class BinSampleTest {
  private static BinSample.Pages near(long bins, long pages, String stated, long bin, long all) {
    BinSample sample = BinSample.read(bins, pages, stated);
    assertThat(sample).isNotNull();
    return sample.near(bin, all);
  }

  @Test
  void theExampleOfTheFormat() {
    LongUnaryOperator page = bin -> bin == 4285 ? 140 : bin == 8571 ? 288 : bin / 30;
    assertThat(BinSample.write(30_000, 1000, page)).isEqualTo("-2 3 0 0 0 0");
    assertThat(BinSample.write(30_000, 256, bin -> bin * 256 / 30_000)).isEqualTo("0");
    assertThat(BinSample.write(30_000, 255, bin -> 0)).isNull();
    assertThat(BinSample.write(1, 300, bin -> 0)).as("one bin of many pages").isEqualTo("-150");
  }

  /** The numbers of the formula, worked out by hand. */
  @Test
  void theWindowIsThatOfTheFormula() {
    // S = 2, parts start at pages 0 and 130, the last page is 255; a bin in the middle of part 0:
    // centre 65, sd = 256 / 10000 * sqrt(0.25 * 5000) = 0.905, 3 sd + 1 = 3.715
    assertThat(near(10_000, 256, "2", 2500, 10_000)).isEqualTo(new BinSample.Pages(65, 61, 70));
    // the first bin of part 1: no deviation
    assertThat(near(10_000, 256, "2", 5000, 10_000)).isEqualTo(new BinSample.Pages(130, 130, 132));
    assertThat(near(10_000, 256, "2", 0, 10_000)).isEqualTo(new BinSample.Pages(0, 0, 2));
    // the last one: f = 0.9998, centre 254.975, sd 0.0256
    assertThat(near(10_000, 256, "2", 9999, 10_000)).isEqualTo(new BinSample.Pages(254, 253, 256));
    // the last bin of part 0 is not looked for beyond the part's end, and the page after it
    assertThat(near(10_000, 256, "2", 4999, 10_000).last()).isEqualTo(131);
    assertThat(near(7, 1, null, 3, 9)).isEqualTo(new BinSample.Pages(0, 0, 1));
  }

  @ParameterizedTest
  @CsvSource({
    "256, ''",
    "256, 1 2",
    "256, x",
    "256, ' 1'",
    "256, '1 '",
    "256, 1.0",
    "256, 128",
    "256, -129",
    "256, 9223372036854775807",
    "256, -9223372036854775808",
    "384, 0 -200",
    "384, 200 0",
    "255, 0",
    "255, ''",
    "100, 0",
    "0, 0",
    "-5, 0"
  })
  void whatIsNoSampleIsRefused(long pages, String stated) {
    assertThatThrownBy(() -> BinSample.read(1000, pages, stated))
        .isInstanceOfAny(IllegalArgumentException.class, ArithmeticException.class);
  }

  @Test
  void theLimitsAreSamples() {
    assertThat(BinSample.read(1000, 256, "127")).isNotNull();
    assertThat(BinSample.read(1000, 256, "-128")).isNotNull();
    assertThat(BinSample.read(1000, 384, "100 -28")).as("equal pages").isNotNull();
    assertThat(BinSample.read(1000, 256, null)).as("an older writer's").isNull();
    assertThat(BinSample.read(1000, 255, null)).isNotNull();
    assertThat(BinSample.read(1000, 0, null)).isNull();
  }

  /**
   * Bins of random signatures start within the window, but for a few of a thousand. The bins of one
   * part leave it together, so the share is taken over at least 2,000 parts.
   */
  @ParameterizedTest
  @CsvSource({"300, 255", "300, 300", "30000, 5000", "400000, 20000", "70000, 300000"})
  void nearlyAllBinsAreWithin(int records, int pages) {
    SplittableRandom random = Seeds.random("BinSampleTest");
    long parts = Math.max(1, Math.min(2048, pages / 128));
    long draws = (1999 + parts) / parts;
    long outside = 0;
    long longest = 0;
    for (long draw = 0; draw < draws; draw++) {
      LongUnaryOperator page = pages(random, records, pages);
      BinSample sample = BinSample.read(records, pages, BinSample.write(records, pages, page));
      assertThat(sample).isNotNull();
      for (int bin = 0; bin < records; bin++) {
        BinSample.Pages near = sample.near(bin, records);
        long start = page.applyAsLong(bin);
        outside += start < near.first() || start > near.last() - 1 ? 1 : 0;
        longest = Math.max(longest, near.last() - near.first() + 1);
        if (near.centre() < near.first() || near.centre() > near.last()) {
          throw new AssertionError("bin " + bin + ": " + near);
        }
      }
    }
    assertThat((double) outside / draws / records).isLessThanOrEqualTo(0.01);
    double deviation = Math.sqrt(records / 4.0 / parts) * pages / records;
    assertThat((double) longest).isLessThanOrEqualTo(6 * deviation + 6);
  }

  /** The pages at which as many bins as records start, with signatures drawn at random. */
  private static LongUnaryOperator pages(SplittableRandom random, int records, int pages) {
    int[] before = new int[records + 1]; // records before each bin
    for (int i = 0; i < records; i++) {
      before[random.nextInt(records) + 1]++;
    }
    for (int bin = 0; bin < records; bin++) {
      before[bin + 1] += before[bin];
    }
    return bin -> (long) before[(int) bin] * (pages - 1) / records;
  }
}
