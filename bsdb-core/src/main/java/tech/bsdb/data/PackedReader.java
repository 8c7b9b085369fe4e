package tech.bsdb.data;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tech.bsdb.format.PackedPage;
import tech.bsdb.format.Page;
import tech.bsdb.format.RecordFrame;
import tech.bsdb.io.CheckedPages;
import tech.bsdb.io.Extent;
import tech.bsdb.io.PageSource;
import tech.bsdb.io.ShownFile;
import tech.bsdb.io.Touches;

/**
 * Reads records of the packed layout: a page and a number in its directory give a bin, whose few
 * records are compared with the key (FORMAT.md §12). Pages are numbered from 0 across all files.
 * Thread-safe; each thread passes its own extent and scratch.
 */
public final class PackedReader implements Closeable {
  /**
   * Pages of fewer bins hold long records, which are too far from where equal bins would put them.
   */
  private static final int LEAST_GUESSED = 40;

  /** Bytes before the expected start of a bin at which to start prefetching. */
  private static final int BEFORE = 192;

  /**
   * Bytes to prefetch from there on: eight lines, which hold the records of four bins of five,
   * where four lines hold those of every other one (records of 48 bytes).
   */
  private static final int LIKELY = 8 * Touches.LINE;

  /** 256 times the average length of a bin in a full page, by the number of bins. */
  private static final int[] BYTES_PER_BIN = bytesPerBin();

  private static final int SLOT_SHIFT = 9;
  private static final int PAGE_SHIFT = 17;

  private final DataFile[] files;

  /** For each file the number of its first page; then the number of all pages. */
  private final long[] starts;

  private final Pieces pieces;

  /** Creates a reader, which closes the files. */
  public PackedReader(List<DataFile> files) {
    this.files = files.toArray(DataFile[]::new);
    this.starts = new long[files.size() + 1];
    for (int i = 0; i < files.size(); i++) {
      starts[i + 1] = starts[i] + files.get(i).pages().pages() - 2;
    }
    this.pieces = new Pieces(this.files);
  }

  private static int[] bytesPerBin() {
    int[] lengths = new int[PackedPage.MOST_BINS + 1];
    for (int bins = 1; bins < lengths.length; bins++) {
      lengths[bins] = (Page.PAYLOAD - PackedPage.directory(bins) << 8) / bins;
    }
    return lengths;
  }

  /** The pages of the only file; null if there are several. */
  public @Nullable CheckedPages only() {
    return files.length == 1 ? files[0].pages() : null;
  }

  /** The file of a page. */
  public DataFile file(long page) {
    return files[number(page)];
  }

  /** The number of a page in its file. */
  public long pageInFile(long page) {
    return page - starts[number(page)] + 1;
  }

  private int number(long page) {
    int number = 0;
    while (number < files.length - 1 && page >= starts[number + 1]) {
      number++;
    }
    return number;
  }

  /** Sets the extent to a run of pages, or to as many of them as are read at once. */
  public void locate(long page, int count, Extent extent) {
    int number = number(page);
    long left = starts[number + 1] - page;
    extent.set(
        files[number].pages(),
        page - starts[number] + 1,
        (int) Math.min(Math.min(count, PageSource.MAX_RUN), left));
  }

  /*
   * For many keys in files in memory, a bin is a number: 46 bits for the place of its page among the pieces of all files,
   * in pages; 8 for the bin's number in the page; 9 for the number of bins that start there.
   */

  /** A bin in files in memory as one number, which is not negative. */
  public long place(int page, int slot, int starting) {
    int number = number(page);
    long at = pieces.place(number, page - starts[number] + 1 << Page.SHIFT);
    return at >>> Page.SHIFT << PAGE_SHIFT | slot << SLOT_SHIFT | starting;
  }

  /** Where the page of a bin is among the pieces of all files. */
  private static long at(long place) {
    return place >>> PAGE_SHIFT << Page.SHIFT;
  }

  private static int slot(long place) {
    return (int) (place >>> SLOT_SHIFT) & 0xFF;
  }

  /** Reads the directory entries of bins and the ones after them; does not verify them. */
  public void readEntries(long[] places, int[] entries, int from, int to) {
    @Nullable ByteBuffer[] all = pieces.all();
    for (int i = from; i < to; i++) {
      long at = at(places[i]);
      int entry = ShownFile.offset(at) + PackedPage.entry(slot(places[i]));
      entries[i] = all[ShownFile.piece(at)].getInt(entry);
    }
  }

  /**
   * Touches bins, given their directory entries: two cache lines of the records of each. With
   * filters, replaces those that cannot have the key's record by {@code absent} instead.
   *
   * @param lows for each key the second half of its signature
   * @param filters whether the bins have filters
   * @param scratch memory for as many numbers as there are bins
   */
  public void touchBins(
      long[] places,
      int[] entries,
      long[] lows,
      boolean filters,
      long absent,
      long[] scratch,
      int from,
      int to) {
    int count = 0;
    for (int i = from; i < to; i++) {
      long at = at(places[i]);
      if (filters
          && !PackedPage.mayHold(entries[i], PackedPage.filterBitNumber(lows[i]))
          && pieces.isKnown(at)) { // otherwise the entry may be damaged
        places[i] = absent;
      } else {
        scratch[count++] = at + PackedPage.start(entries[i]); // a line follows in any case
      }
    }
    Touches.loadTwo(pieces.all(), scratch, count);
  }

  /** The buffer that shows the page of a bin, or null if the page must be verified first. */
  public @Nullable ByteBuffer known(long place) {
    long at = at(place);
    return pieces.isKnown(at) ? pieces.piece(at) : null;
  }

  /** Finds a key's record in the buffer that {@link #known} returns. */
  public static long find(ByteBuffer buffer, long place, long low, byte[] key) {
    int starting = (int) place & (1 << SLOT_SHIFT) - 1;
    int filterBit = PackedPage.filterBitNumber(low);
    return find(buffer, ShownFile.offset(at(place)), slot(place), starting, filterBit, key);
  }

  /** Whether all files are in memory. */
  public boolean isShown() {
    return Arrays.stream(files).allMatch(file -> file.pages().isShown());
  }

  /**
   * Prefetches a bin's directory entry and, without waiting for it, the cache lines where its
   * records probably are. In a full page of records of one length, a bin starts at most about half
   * the square root of the number of bins from where bins of one length would.
   *
   * @param buffer holds the page, from {@code page} on
   * @param starting the number of bins that start in the page
   * @return a meaningless number that the caller must use, so that the loads are not optimized away
   */
  public static long touchLikely(ByteBuffer buffer, int page, int slot, int starting) {
    long sum = buffer.getInt(page + PackedPage.entry(slot));
    if (starting >= LEAST_GUESSED) {
      int start = PackedPage.directory(starting) + (slot * BYTES_PER_BIN[starting] >>> 8);
      int at = page + Math.max(0, Math.min(start - BEFORE, Page.SIZE - LIKELY));
      sum += buffer.get(at) + buffer.get(at + Touches.LINE);
      sum += buffer.get(at + 2 * Touches.LINE) + buffer.get(at + 3 * Touches.LINE);
      sum += buffer.get(at + 4 * Touches.LINE) + buffer.get(at + 5 * Touches.LINE);
      sum += buffer.get(at + 6 * Touches.LINE) + buffer.get(at + 7 * Touches.LINE);
    }
    return sum;
  }

  /**
   * Finds a key's record in a bin, if the bin is in one page and all its headers are short.
   *
   * @param page where the page starts in the buffer
   * @param slot the bin's number among those that start in the page
   * @param starting the number of bins that start in the page
   * @param filterBit the number of the key's bit in the filter of its bin, 0 to 3
   * @return see {@link Found}
   */
  public static long find(
      ByteBuffer buffer, int page, int slot, int starting, int filterBit, byte[] key) {
    int entries = buffer.getInt(page + PackedPage.entry(slot));
    int at = page + PackedPage.start(entries);
    int end = page + PackedPage.start(entries >>> 16);
    if (at - page < PackedPage.directory(starting) || at > end || end - page > Page.PAYLOAD) {
      return Found.UNCLEAR;
    }
    if (!PackedPage.mayHold(entries, filterBit)) {
      return Found.ABSENT;
    }
    if (slot == starting - 1 && PackedPage.continues(buffer.getShort(page))) {
      return Found.UNCLEAR;
    }
    while (at < end) {
      int header = buffer.getInt(at);
      int keyLength = header & 0xFF;
      int valueLength = header >>> 8 & 0xFFFF;
      int keyAt = at + RecordFrame.SHORT;
      int valueAt = keyAt + keyLength;
      at = valueAt + valueLength;
      if (keyLength == 0 || at > end) {
        return Found.UNCLEAR;
      }
      if (keyLength == key.length && RecordBytes.equal(buffer, keyAt, key)) {
        return Found.at(valueAt, valueLength);
      }
    }
    return Found.ABSENT;
  }

  /**
   * Finds a key's record in a bin.
   *
   * @param page the page in which the bin starts
   * @param slot the bin's number among those that start in the page
   * @param starting the number of bins that start in the page
   * @param filterBit the number of the key's bit in the filter of its bin, 0 to 3
   * @param extent the bin's pages, already read
   * @param values receives the value
   * @return the array that holds the value, or null if the bin has no record with the key
   */
  public byte @Nullable [] value(
      long page,
      int slot,
      int starting,
      int filterBit,
      byte[] key,
      Extent extent,
      Values values,
      Scratch scratch)
      throws IOException {
    ByteBuffer buffer = extent.buffer();
    int base = extent.offset();
    long found = find(buffer, base, slot, starting, filterBit, key);
    if (found >= 0) {
      return values.take(buffer, Found.offset(found), Found.length(found));
    }
    if (found == Found.ABSENT) {
      return null;
    }
    PageCursor cursor = scratch.cursor(file(page), extent, PageSource.MAX_RUN);
    cursor.enterBin(extent.first(), slot, true);
    while (cursor.hasMore()) {
      byte[] value = cursor.valueOf(key, Long.MAX_VALUE, values);
      if (value != null) {
        return value;
      }
    }
    return null;
  }

  @Override
  public void close() throws IOException {
    pieces.drop();
    DataFile.closeAll(List.of(files));
  }
}
