package tech.bsdb.data;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tech.bsdb.format.Page;
import tech.bsdb.format.RecordAddress;
import tech.bsdb.format.RecordFrame;
import tech.bsdb.io.CheckedPages;
import tech.bsdb.io.Extent;
import tech.bsdb.io.PageSource;
import tech.bsdb.io.ShownFile;

/** Reads records of the blocked and compact layouts. */
public final class PlainReader implements RecordReader {
  private final DataFile[] files;
  private final Pieces pieces;
  private final RecordAddress addresses;

  /** Creates a reader, which closes the files. */
  public PlainReader(List<DataFile> files, RecordAddress addresses) {
    this.files = files.toArray(DataFile[]::new);
    this.pieces = new Pieces(this.files);
    this.addresses = addresses;
  }

  @Override
  public void locate(long address, Extent extent) throws IOException {
    locate(
        file(files, address), addresses.position(address), 1 + addresses.detail(address), extent);
  }

  /** Sets the extent to {@code count} pages from a position on, or fewer at the end of the file. */
  static void locate(DataFile file, long position, int count, Extent extent) throws IOException {
    CheckedPages pages = file.pages();
    long first = position >>> Page.SHIFT;
    long left = pages.pages() - 1 - first;
    if (first < 1 || left < 1 || ((int) position & Page.SIZE - 1) >= Page.PAYLOAD) {
      throw file.corrupt(position, "a record", "an address outside of the records");
    }
    extent.set(pages, first, (int) Math.min(Math.min(count, PageSource.MAX_RUN), left));
  }

  @Override
  public RecordAddress addresses() {
    return addresses;
  }

  @Override
  public Pieces pieces() {
    return pieces;
  }

  @Override
  public DataFile[] files() {
    return files;
  }

  @Override
  public boolean holds(long address, Extent extent) {
    return addresses.detail(address) < PageSource.MAX_RUN - 1;
  }

  @Override
  public byte @Nullable [] decode(
      long address, byte[] key, Extent extent, Values values, Scratch scratch) throws IOException {
    if (extent.count() == 1) {
      ByteBuffer buffer = extent.window().buffer();
      long found = find(buffer, extent.window().offset(), inPage(address), key);
      if (found >= 0) {
        return values.take(buffer, Found.offset(found), Found.length(found));
      }
      if (found == Found.ABSENT) {
        return null;
      }
    }
    return decodeAnywhere(address, key, extent, values, scratch);
  }

  /**
   * The buffer that shows the page of the record at an address, if the record lies in one page of
   * memory that needs no verification; otherwise null.
   */
  public @Nullable ByteBuffer known(long address) {
    int file = RecordAddress.file(address);
    if (address < 0 || file >= files.length || addresses.detail(address) != 0) {
      return null;
    }
    CheckedPages pages = files[file].pages();
    long position = addresses.position(address);
    long page = position >>> Page.SHIFT;
    boolean inside =
        page >= 1 && page < pages.pages() - 1 && ((int) position & Page.SIZE - 1) < Page.PAYLOAD;
    return inside ? pages.known(page) : null;
  }

  /** Finds a key's value in the record at an address, in the buffer that {@link #known} returns. */
  public long find(ByteBuffer buffer, long address, byte[] key) {
    int inPage = inPage(address);
    int page = ShownFile.offset(addresses.position(address)) - inPage;
    return find(buffer, page, inPage, key);
  }

  /**
   * Finds a key's value in the record at an offset of a page, if that has a short header and ends
   * in the page.
   *
   * @param page where the page starts in the buffer
   * @param inPage the offset, below {@link Page#PAYLOAD}
   * @return see {@link Found}
   */
  /*
   * Once the record's key length has been compared with the key's, the code uses the key's own length. The processor,
   * which predicts the branch correctly, can then load the rest of the record without waiting for the header.
   */
  public static long find(ByteBuffer buffer, int page, int inPage, byte[] key) {
    int header = buffer.getInt(page + inPage);
    int keyLength = key.length;
    if ((header & 0xFF) != keyLength || keyLength == 0) {
      return (header & 0xFF) == 0 ? Found.UNCLEAR : Found.ABSENT;
    }
    int keyAt = inPage + RecordFrame.SHORT;
    int valueAt = keyAt + keyLength;
    int valueLength = header >>> 8 & 0xFFFF;
    if (valueAt + valueLength > Page.PAYLOAD) {
      return Found.UNCLEAR;
    }
    return RecordBytes.equal(buffer, page + keyAt, key)
        ? Found.at(page + valueAt, valueLength)
        : Found.ABSENT;
  }

  private byte @Nullable [] decodeAnywhere(
      long address, byte[] key, Extent extent, Values values, Scratch scratch) throws IOException {
    PageCursor cursor = scratch.cursor(file(files, address), extent, 1);
    cursor.seek(addresses.position(address));
    return cursor.valueOf(key, Long.MAX_VALUE, values);
  }

  private int inPage(long address) {
    return (int) addresses.position(address) & Page.SIZE - 1;
  }

  @Override
  public boolean readTogether(PlacedRecords records, boolean anyway, Extent extent, Scratch scratch)
      throws IOException {
    PageRun run = new PageRun(records, files, addresses, 0);
    while (run.next()) {
      if (!anyway && run.isScattered()) {
        return false;
      }
      run.read(extent);
      int number = run.start();
      while (number < run.end()) {
        number = decodeInPages(records, number, run.end(), extent, scratch.values);
        if (number < run.end()) {
          long address = records.address(number);
          byte[] key = records.key(number);
          records.note(number, decodeAnywhere(address, key, extent, scratch.values, scratch));
          number++;
          if (number < run.end()) {
            extent.readOnce(); // unless that had to read pages of its own
          }
        }
      }
    }
    return true;
  }

  /**
   * Decodes the values of records, up to the first one with a wide header or of several pages.
   *
   * @param extent their first pages, if the file has them, and already read
   * @return the number of that record, or {@code to}
   */
  private int decodeInPages(PlacedRecords records, int from, int to, Extent extent, Values values)
      throws IOException {
    ByteBuffer buffer = extent.window().buffer();
    int start = extent.window().offset();
    long first = extent.first() << Page.SHIFT;
    int bytes = extent.count() << Page.SHIFT;
    for (int number = from; number < to; number++) {
      long address = records.address(number);
      long at = addresses.position(address) - first;
      if (at >= bytes || inPage(address) >= Page.PAYLOAD) {
        return number;
      }
      byte[] key = records.key(number);
      long found = find(buffer, start + ((int) at & -Page.SIZE), inPage(address), key);
      if (found == Found.UNCLEAR) {
        return number;
      }
      records.note(
          number, found < 0 ? null : values.take(buffer, Found.offset(found), Found.length(found)));
    }
    return to;
  }

  /** Returns the file that an address refers to. */
  static DataFile file(DataFile[] files, long address) throws IOException {
    return files[number(files, address)];
  }

  /** Returns the number of the file that an address refers to. */
  static int number(DataFile[] files, long address) throws IOException {
    int number = RecordAddress.file(address);
    if (address < 0 || number >= files.length) {
      throw files[0].corrupt(
          0, "one of " + files.length + " data files", "an address in file " + number);
    }
    return number;
  }

  @Override
  public void close() throws IOException {
    pieces.drop();
    closeAll(files);
  }

  /** Closes all files, then fails if any could not be closed. */
  static void closeAll(DataFile[] files) throws IOException {
    IOException failure = null;
    for (DataFile file : files) {
      try {
        file.close();
      } catch (IOException | RuntimeException e) {
        if (failure == null) {
          failure = new IOException("a data file could not be closed: " + e.getMessage(), e);
        } else {
          failure.addSuppressed(e);
        }
      }
    }
    if (failure != null) {
      throw failure;
    }
  }
}
