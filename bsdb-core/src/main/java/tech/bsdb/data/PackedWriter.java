package tech.bsdb.data;

import java.io.IOException;
import java.util.List;
import java.util.function.IntConsumer;
import tech.bsdb.format.PackedPage;
import tech.bsdb.format.Page;
import tech.bsdb.format.PageEncoder;

/**
 * Writes bins of records into the pages of the packed layout (FORMAT.md §12). Not thread-safe.
 *
 * <p>In aligned pages, a bin that fits in a page lies in one page, and the bin after one of several
 * pages starts a page. In spanning pages, bins follow each other without gaps.
 */
public final class PackedWriter {
  /** Bytes of a bin in the directory of its page. */
  private static final int ENTRY = PackedPage.directory(1) - PackedPage.directory(0);

  private final boolean spanning;
  private final IntConsumer pageSink;
  private final List<PageEncoder> files;
  private int file;
  private PageEncoder pages;
  private final int[] starts = new int[PackedPage.MOST_BINS + 1];
  private final int[] filters = new int[PackedPage.MOST_BINS];
  private final byte[] records = new byte[Page.PAYLOAD];
  private final byte[] directory = new byte[PackedPage.directory(PackedPage.MOST_BINS)];
  private int bins;
  private int used;
  private boolean severalPages;

  /**
   * Creates a writer.
   *
   * @param files receive the pages, one after another, from the first one on
   * @param spanning whether bins may span pages to leave no gaps
   * @param pageSink receives for each page the number of bins that start in it
   */
  public PackedWriter(List<PageEncoder> files, boolean spanning, IntConsumer pageSink) {
    this.files = files;
    this.pages = files.get(0);
    this.spanning = spanning;
    this.pageSink = pageSink;
  }

  /**
   * The number of pages to expect for records of equal length with random signatures.
   *
   * <p>In aligned pages, the bin that does not fit leaves a gap: that of the last lattice point
   * before a point of a renewal process whose steps are bins, with a Poisson number of records
   * each.
   *
   * @param records the number of records
   * @param length the length of a record, with its header
   * @param bins the number of bins
   */
  public static long expectedPages(long records, long length, long bins, boolean spanning) {
    double perBin = (double) records / bins;
    double gap = spanning ? ENTRY / 2.0 : length * (perBin + 1) / 2;
    double bytes = (double) records * length + (double) bins * ENTRY;
    double room = Page.PAYLOAD - PackedPage.directory(0) - gap;
    return Math.max(1, (long) Math.ceil(bytes / room));
  }

  /** Bytes of records that still fit in the page. */
  private int room() {
    return Page.PAYLOAD - PackedPage.directory(bins) - used;
  }

  /**
   * Starts the next bin.
   *
   * @param length the total length of its records in bytes
   * @param filter the bits of its records, or 0 for no filter
   * @see PackedPage#filterBit
   */
  public void startBin(long length, int filter) throws IOException {
    int free = room() - PackedPage.entry(0); // its directory entry takes as much
    boolean fits = spanning ? free >= Math.min(length, 1) : free >= length;
    boolean empty = bins == 0 && used == 0;
    if (bins == PackedPage.MOST_BINS || severalPages || !fits && !empty) {
      endPage(false);
    }
    filters[bins] = filter;
    starts[bins++] = used;
  }

  /**
   * Appends whole bins whose records follow each other in an array.
   *
   * @param bytes the records of all of them
   * @param ends where each bin ends; the first starts at 0
   * @param filters the filter of each bin
   * @param count the number of bins
   */
  public void putBins(byte[] bytes, int[] ends, byte[] filters, int count) throws IOException {
    int copied = 0; // bytes up to here are in the page or written
    int at = 0;
    for (int i = 0; i < count; i++) {
      int length = ends[i] - at;
      if (bins < PackedPage.MOST_BINS
          && !severalPages
          && length <= room() - PackedPage.entry(0) - (at - copied)) {
        this.filters[bins] = filters[i];
        starts[bins++] = used + at - copied;
      } else {
        take(bytes, copied, at);
        copied = at;
        startBin(length, filters[i]);
        if (length > room()) {
          put(bytes, at, length);
          copied = ends[i];
        }
      }
      at = ends[i];
    }
    take(bytes, copied, at);
  }

  /** Copies bytes into the page, where they fit. */
  private void take(byte[] bytes, int from, int to) {
    System.arraycopy(bytes, from, records, used, to - from);
    used += to - from;
  }

  /** Appends bytes of the current bin. */
  public void put(byte[] bytes, int offset, int length) throws IOException {
    int from = offset;
    int left = length;
    while (left > 0) {
      int room = room();
      if (room == 0) {
        endPage(true);
        severalPages = !spanning;
        room = room();
      }
      int part = Math.min(left, room);
      System.arraycopy(bytes, from, records, used, part);
      used += part;
      from += part;
      left -= part;
    }
  }

  /**
   * Moves to the file of a range of bins, of which each file gets an equal share.
   *
   * @param range the number of the range that follows; they ascend
   * @param ranges the number of all ranges
   */
  public void enter(long range, long ranges) throws IOException {
    while (file < range * files.size() / ranges) {
      finish();
      pages = files.get(++file);
    }
  }

  /** The number of the current file. */
  public int file() {
    return file;
  }

  /** Writes the last page, unless it is empty. */
  public void finish() throws IOException {
    if (bins > 0 || used > 0) {
      endPage(false);
    }
  }

  private void endPage(boolean continues) throws IOException {
    int length = PackedPage.directory(bins);
    putDirectory(length, continues);
    pages.put(directory, 0, length);
    pages.put(records, 0, used);
    pages.pad();
    pageSink.accept(bins);
    bins = 0;
    used = 0;
    severalPages = false;
  }

  private void putDirectory(int length, boolean continues) {
    putShort(0, PackedPage.head(bins, continues));
    for (int i = 0; i < bins; i++) {
      putShort(PackedPage.entry(i), PackedPage.entry(length + starts[i], filters[i]));
    }
    putShort(PackedPage.entry(bins), length + used);
  }

  private void putShort(int at, int value) {
    directory[at] = (byte) value;
    directory[at + 1] = (byte) (value >>> 8);
  }
}
