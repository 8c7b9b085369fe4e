package tech.bsdb.index;

import java.io.Closeable;
import tech.bsdb.error.CorruptDatabaseException;
import tech.bsdb.format.Facts;
import tech.bsdb.format.Page;
import tech.bsdb.format.PageCheck;
import tech.bsdb.io.ShownFile;

/**
 * Rejects most absent keys by their signatures, in memory, in the packed layout (FORMAT.md §12,
 * Filter). It takes W + 2.25 bits a record, and about one absent key in 2^W passes. Immutable and
 * thread-safe.
 *
 * <p>A signature has a <em>quotient</em>, which rises with its first half, and a <em>remainder</em>
 * of W bits of its second half. There are about as many quotients as records. For each group of 128
 * quotients the filter holds the number of records of each quotient in unary, then the remainders
 * of these records in the same order: the Elias-Fano code of the quotients beside the remainders. A
 * lookup reads one or two cache lines of its group, and the number of records before the group,
 * from which the group's position follows.
 */
public final class SignatureFilter implements Closeable {
  /*
   * A start has 32 bits, and there may be more records. The difference between the starts of a run of groups has 32
   * bits, so the full number is that of the run's first group plus the difference.
   */
  private static final int RUN_BITS = 16;

  /** The groups of a run, which together hold fewer than 2^32 records. */
  static final int IN_RUN = 1 << RUN_BITS;

  private final FilterShape shape;
  private final ShownFile file;
  private final PageCheck place;
  private final long startsPage;
  private final long[] runs;

  private SignatureFilter(
      FilterShape shape, ShownFile file, PageCheck place, long startsPage, long[] runs) {
    this.shape = shape;
    this.file = file;
    this.place = place;
    this.startsPage = startsPage;
    this.runs = runs;
  }

  /**
   * Takes over a loaded file and verifies that it can be a filter. The caller closes the file if
   * this fails.
   *
   * @param file the loaded file, whose pages have been verified if they are not to be trusted
   * @param place names the file in messages
   * @param pages the number of its pages
   * @param facts the length of remainders and the number of quotients
   * @param records the number of records
   */
  public static SignatureFilter of(
      ShownFile file, PageCheck place, long pages, Facts.Filter facts, long records)
      throws CorruptDatabaseException {
    requirePages(place, pages, facts, records);
    FilterShape shape = new FilterShape(facts.bits(), facts.quotients());
    long startsPage = shape.startsPage(records);
    long groups = shape.groups();
    long[] runs = new long[Math.toIntExact((groups >>> RUN_BITS) + 1)];
    long total = 0;
    for (long group = 0; group <= groups; group++) {
      int start = start(file, startsPage, group);
      total += Integer.toUnsignedLong(start - (int) total);
      int run = (int) (group >>> RUN_BITS);
      if ((group & IN_RUN - 1) == 0) {
        runs[run] = total;
      }
      if (total > records
          || total - runs[run] > 0xFFFF_FFFFL
          || (group == 0 && total != 0)
          || (group == groups && total != records)) {
        throw place.corrupt(
            (startsPage + FilterShape.STARTS.page(group) - 1) << Page.SHIFT,
            "ascending starts from 0 to " + records,
            total + " before group " + group + " of " + groups);
      }
    }
    return new SignatureFilter(shape, file, place, startsPage, runs);
  }

  /**
   * Fails unless a file has as many pages as the filter takes.
   *
   * @param place names the file in messages
   */
  public static void requirePages(PageCheck place, long pages, Facts.Filter facts, long records)
      throws CorruptDatabaseException {
    long needed = new FilterShape(facts.bits(), facts.quotients()).filePages(records);
    if (pages != needed) {
      throw place.corrupt(
          0,
          "a filter of "
              + needed
              + " pages for "
              + records
              + " records and "
              + facts.quotients()
              + " quotients",
          pages + " pages");
    }
  }

  /**
   * Whether a record may have a signature.
   *
   * @return false if there is certainly none
   * @throws CorruptDatabaseException if the bits cannot be those of a filter
   */
  public boolean mayHold(long high, long low) throws CorruptDatabaseException {
    long quotient = shape.quotient(high);
    long group = quotient >>> FilterShape.GROUP_BITS;
    int zeros = (int) quotient & FilterShape.IN_GROUP - 1;
    long before = before(group);
    long start = shape.position(group, before);
    long end = start + FilterShape.IN_GROUP + before(group + 1) - before;
    long from = zeros == 0 ? start : afterZeros(start, end, zeros);
    long count = afterZeros(from, end, 1) - 1 - from;
    int remainder = shape.remainder(low);
    long at = end + (from - start - zeros) * shape.bits();
    for (long i = 0; i < count; i++) {
      if (bits(at) == remainder) {
        return true;
      }
      at += shape.bits();
    }
    return false;
  }

  /** The number of records before a group, or of all. */
  private long before(long group) {
    long run = runs[(int) (group >>> RUN_BITS)];
    return run + Integer.toUnsignedLong(start(file, startsPage, group) - (int) run);
  }

  /** The position after the n-th zero from a position on, which must be before the end. */
  private long afterZeros(long start, long end, int n) throws CorruptDatabaseException {
    long number = start >>> 6;
    long zeros = ~word(number) & -1L << start;
    int left = n;
    for (int count = Long.bitCount(zeros); count < left; count = Long.bitCount(zeros)) {
      left -= count;
      number++;
      if (number << 6 >= end) {
        throw unsound(start);
      }
      zeros = ~word(number);
    }
    for (int i = 1; i < left; i++) {
      zeros &= zeros - 1;
    }
    long after = (number << 6) + Long.numberOfTrailingZeros(zeros) + 1;
    if (after > end) {
      throw unsound(start);
    }
    return after;
  }

  /** The remainder at a position. */
  private int bits(long position) {
    long number = position >>> 6;
    int shift = (int) position & 63;
    long value = word(number) >>> shift;
    if (shift + shape.bits() > Long.SIZE) {
      value |= word(number + 1) << Long.SIZE - shift;
    }
    return (int) value & (1 << shape.bits()) - 1;
  }

  private long word(long number) {
    long page = FilterShape.WORDS.page(number);
    long at = page << Page.SHIFT;
    int offset = ShownFile.offset(at) + FilterShape.WORDS.offset(number, page);
    return file.buffer(at).getLong(offset);
  }

  private static int start(ShownFile file, long startsPage, long group) {
    long page = FilterShape.STARTS.page(group);
    long at = startsPage + page - 1 << Page.SHIFT;
    int offset = ShownFile.offset(at) + FilterShape.STARTS.offset(group, page);
    return file.buffer(at).getInt(offset);
  }

  private CorruptDatabaseException unsound(long position) {
    return place.corrupt(
        FilterShape.WORDS.page(position >>> 6) << Page.SHIFT,
        "a zero for each of " + FilterShape.IN_GROUP + " quotients",
        "fewer");
  }

  @Override
  public void close() {
    file.close();
  }
}
