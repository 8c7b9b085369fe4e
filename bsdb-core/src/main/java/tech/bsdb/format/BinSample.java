package tech.bsdb.format;

import java.util.function.LongUnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * A sample of the index of a packed database (FORMAT.md §12): the pages in which the bins of equal
 * parts start. It tells nearly where a bin starts, without the index. Immutable.
 */
public final class BinSample {
  private static final int MOST_PARTS = 2048;

  /** The pages of a part, or more: few enough that bins are near where the sample says. */
  private static final int PAGES_PER_PART = 128;

  /** The sample of fewer pages says nothing that is not known anyway. */
  private static final int LEAST_PAGES = 2 * PAGES_PER_PART;

  /** Of 1,000 bins, 997 start within so many standard deviations. */
  private static final double DEVIATIONS = 3;

  private final long bins;
  private final long pages;

  /** The page in which each part starts; then the last page. */
  private final long[] starts;

  private BinSample(long bins, long pages, long[] starts) {
    this.bins = bins;
    this.pages = pages;
    this.starts = starts;
  }

  /**
   * Writes the sample as the manifest states it.
   *
   * @param bins the number of bins
   * @param pages the number of content pages of all data files
   * @param page the page in which a bin starts
   * @return the numbers, or null if there are too few pages
   */
  public static @Nullable String write(long bins, long pages, LongUnaryOperator page) {
    if (pages < LEAST_PAGES) {
      return null;
    }
    int parts = parts(pages);
    return IntStream.range(1, parts)
        .mapToLong(i -> page.applyAsLong(i * bins / parts) - i * pages / parts)
        .mapToObj(Long::toString)
        .collect(Collectors.joining(" "));
  }

  private static int parts(long pages) {
    return (int) Math.max(1, Math.min(MOST_PARTS, pages / PAGES_PER_PART));
  }

  /**
   * Reads a sample.
   *
   * @param bins the number of bins
   * @param pages the number of content pages of all data files
   * @param stated what the manifest states, or null
   * @return the sample, or null if there is none although there are many pages
   * @throws IllegalArgumentException if it cannot be one of as many pages
   */
  public static @Nullable BinSample read(long bins, long pages, @Nullable String stated) {
    if (stated == null && (pages < 1 || pages >= LEAST_PAGES)) {
      return null;
    }
    int parts = parts(pages);
    String[] numbers = stated == null ? new String[0] : stated.split(" ", -1);
    if (numbers.length != parts - 1) {
      throw new IllegalArgumentException(
          "a sample of " + numbers.length + " numbers for " + pages + " pages");
    }
    BinSample sample = new BinSample(bins, pages, new long[parts + 1]);
    sample.starts[parts] = pages - 1;
    for (int i = 1; i < parts; i++) {
      long start =
          Math.addExact(Long.parseLong(numbers[i - 1]), Math.multiplyExact(i, pages) / parts);
      if (start < sample.starts[i - 1] || start >= pages) {
        throw new IllegalArgumentException("a sample with page " + start + " for part " + i);
      }
      sample.starts[i] = start;
    }
    return sample;
  }

  /**
   * Pages among which a bin probably starts and ends.
   *
   * @param centre the page in which it most probably starts
   * @param first the first one
   * @param last the last one; may be one behind the last page
   */
  public record Pages(long centre, long first, long last) {}

  /**
   * The pages in which a bin probably is. As signatures are evenly distributed, the number of
   * records before a bin has a binomial distribution.
   *
   * @param records the number of records, at least 1
   */
  public Pages near(long bin, long records) {
    int parts = starts.length - 1;
    int part = (int) (((bin + 1) * parts - 1) / bins);
    long from = part * bins / parts;
    long to = (part + 1) * bins / parts;
    double fraction = (double) (bin - from) / (to - from);
    double centre = starts[part] + fraction * (starts[part + 1] - starts[part]);
    double deviation = Math.sqrt(fraction * (1 - fraction) * records / parts) * pages / records;
    double reach = DEVIATIONS * deviation + 1;
    return new Pages(
        (long) centre,
        Math.max(starts[part], (long) Math.floor(centre - reach)),
        Math.min(starts[part + 1] + 1, (long) Math.ceil(centre + reach) + 1));
  }
}
