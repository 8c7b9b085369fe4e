package tech.bsdb.data;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tech.bsdb.error.CorruptDatabaseException;
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
  private static final int BEFORE = 96;

  /**
   * Bytes to prefetch from there on. More would find more records, but each line costs absent keys
   * time (measured: 4 lines are as good as 6 for present keys, and 8 % better for absent ones).
   */
  private static final int LIKELY = 4 * Touches.LINE;

  /** 256 times the average length of a bin in a full page, by the number of bins. */
  private static final int[] BYTES_PER_BIN = bytesPerBin();

  private static final int SLOT_SHIFT = 9;
  private static final int PAGE_SHIFT = 17;

  /** log2 of the number of pages in a piece of a file in memory. */
  private static final int PIECE_BITS = ShownFile.PIECE_SHIFT - Page.SHIFT;

  private final DataFile[] files;

  /** For each file the number of its first page; then the number of all pages. */
  private final long[] starts;

  /* The pieces of the files in memory; for each piece its file's pages and its first page there. */
  private final int[] firstPieces;
  private final @Nullable ByteBuffer[] pieces;
  private final CheckedPages[] owners;
  private final long[] firstPages;

  /** Creates a reader, which closes the files. */
  public PackedReader(List<DataFile> files) {
    this.files = files.toArray(DataFile[]::new);
    this.starts = new long[files.size() + 1];
    for (int i = 0; i < files.size(); i++) {
      starts[i + 1] = starts[i] + files.get(i).pages().pages() - 2;
    }
    this.firstPieces = new int[files.size()];
    List<ByteBuffer> shown = new ArrayList<>();
    List<CheckedPages> of = new ArrayList<>();
    for (int i = 0; i < firstPieces.length; i++) {
      CheckedPages pages = files.get(i).pages();
      firstPieces[i] = shown.size();
      shown.addAll(pages.pieces());
      of.addAll(Collections.nCopies(pages.pieces().size(), pages));
    }
    this.pieces = shown.toArray(ByteBuffer[]::new);
    this.owners = of.toArray(CheckedPages[]::new);
    this.firstPages = new long[pieces.length];
    for (int i = 1; i < pieces.length; i++) {
      firstPages[i] = owners[i] == owners[i - 1] ? firstPages[i - 1] + (1 << PIECE_BITS) : 0;
    }
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
   * For many keys in files in memory, a bin is a number: 28 bits for the piece of a file, numbered across all files, 18 for
   * the page in the piece, 8 for the bin's number in the page, 9 for the number of bins that start there.
   */

  /** A bin in files in memory as one number, which is not negative. */
  public long place(int page, int slot, int starting) {
    int number = number(page);
    long inFile = page - starts[number] + 1;
    long piece = firstPieces[number] + (inFile >>> PIECE_BITS);
    long inPiece = inFile & (1 << PIECE_BITS) - 1;
    return (piece << PIECE_BITS | inPiece) << PAGE_SHIFT | slot << SLOT_SHIFT | starting;
  }

  private static int piece(long place) {
    return (int) (place >>> PAGE_SHIFT + PIECE_BITS);
  }

  private static int inPiece(long place) {
    return (int) (place >>> PAGE_SHIFT) & (1 << PIECE_BITS) - 1;
  }

  private static int slot(long place) {
    return (int) (place >>> SLOT_SHIFT) & 0xFF;
  }

  /** The directory entry of a bin and the one after it; not verified. */
  public int entries(long place) {
    return pieces[piece(place)].getInt(
        (inPiece(place) << Page.SHIFT) + PackedPage.entry(slot(place)));
  }

  /** Touches two cache lines of the records of a bin, given its directory entries. */
  public int touch(long place, int entries) {
    ByteBuffer piece = pieces[piece(place)];
    int at = (inPiece(place) << Page.SHIFT) + PackedPage.start(entries); // even if damaged
    return piece.get(at) + piece.get(at + Touches.LINE); // the footer of the file follows
  }

  /** Whether the page of a bin needs no verification. */
  private boolean isKnown(long place) {
    int piece = piece(place);
    return owners[piece].isKnown(firstPages[piece] + inPiece(place));
  }

  /**
   * Whether a bin may have a record, given its directory entries: true if they are not verified.
   */
  public boolean mayHold(long place, int entries, long low) {
    return PackedPage.mayHold(entries, PackedPage.filterBitNumber(low)) || !isKnown(place);
  }

  /** The buffer that shows the page of a bin, or null if the page must be verified first. */
  public @Nullable ByteBuffer known(long place) {
    return isKnown(place) ? pieces[piece(place)] : null;
  }

  /** Finds a key's record in the buffer that {@link #known} returns. */
  public static long find(ByteBuffer buffer, long place, long low, byte[] key) {
    int starting = (int) place & (1 << SLOT_SHIFT) - 1;
    int filterBit = PackedPage.filterBitNumber(low);
    return find(buffer, inPiece(place) << Page.SHIFT, slot(place), starting, filterBit, key);
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
    ByteBuffer buffer = extent.window().buffer();
    int base = extent.window().offset();
    long found = find(buffer, base, slot, starting, filterBit, key);
    if (found >= 0) {
      return values.take(buffer, Found.offset(found), Found.length(found));
    }
    if (found == Found.ABSENT) {
      return null;
    }
    int entries = buffer.getInt(base + PackedPage.entry(slot));
    int at = PackedPage.start(entries);
    int end = PackedPage.start(entries >>> 16);
    if (at < PackedPage.directory(starting) || at > end || end > Page.PAYLOAD) {
      throw corrupt(page, "a directory", "a bin at bytes " + at + " to " + end);
    }
    return streamed(page, slot, key, extent, values, scratch);
  }

  /** Like {@link #value}, for wide headers and bins of several pages. */
  private byte @Nullable [] streamed(
      long page, int slot, byte[] key, Extent extent, Values values, Scratch scratch)
      throws IOException {
    DataFile file = files[number(page)];
    BinCursor cursor = scratch.bins(file, extent);
    cursor.over(file, extent, slot, PageSource.MAX_RUN);
    while (cursor.hasMore()) {
      long header = cursor.nextHeader();
      if (header == RecordFrame.PADDING) {
        throw cursor.corrupt(cursor.position(), "a record", "padding");
      }
      int keyLength = RecordFrame.keyLength(header);
      int valueLength = RecordFrame.valueLength(header);
      cursor.expect((long) keyLength + valueLength);
      if (keyLength == key.length && cursor.matches(key)) {
        return cursor.take(valueLength, values);
      }
      cursor.skip(valueLength + (keyLength == key.length ? 0L : keyLength));
    }
    return null;
  }

  private CorruptDatabaseException corrupt(long page, String expected, String found) {
    return file(page).corrupt(pageInFile(page) << Page.SHIFT, expected, found);
  }

  @Override
  public void close() throws IOException {
    Arrays.fill(pieces, null); // which keep memory on Java 17
    PlainReader.closeAll(files);
  }
}
