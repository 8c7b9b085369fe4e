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
public final class PlainReader extends RecordReader {
  /** Creates a reader, which closes the files. */
  public PlainReader(List<DataFile> files, RecordAddress addresses) {
    super(files, addresses);
  }

  @Override
  int further(long address) {
    return addresses.detail(address);
  }

  @Override
  public boolean holds(long address, Extent extent) {
    return addresses.detail(address) < PageSource.MAX_RUN - 1;
  }

  @Override
  public byte @Nullable [] decode(
      long address, byte[] key, Extent extent, Values values, Scratch scratch) throws IOException {
    if (extent.count() == 1) {
      ByteBuffer buffer = extent.buffer();
      long found = find(buffer, extent.offset(), inPage(address), key);
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
    DataFile[] files = files();
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
    PageCursor cursor = scratch.cursor(file(address), extent, 1);
    cursor.seek(addresses.position(address));
    return cursor.valueOf(key, Long.MAX_VALUE, values);
  }

  @Override
  int take(PlacedRecords records, int from, int to, Extent extent, Scratch scratch)
      throws IOException {
    int number = decodeInPages(records, from, to, extent, scratch.values);
    if (number == to) {
      return to;
    }
    long address = records.addresses()[number];
    byte[] key = records.keys()[number];
    records.values()[number] = decodeAnywhere(address, key, extent, scratch.values, scratch);
    return number + 1;
  }

  /**
   * Decodes the values of records, up to the first one with a wide header or of several pages.
   *
   * @param extent their first pages, if the file has them, and already read
   * @return the number of that record, or {@code to}
   */
  private int decodeInPages(PlacedRecords records, int from, int to, Extent extent, Values values)
      throws IOException {
    ByteBuffer buffer = extent.buffer();
    int start = extent.offset();
    long first = extent.first() << Page.SHIFT;
    int bytes = extent.count() << Page.SHIFT;
    for (int number = from; number < to; number++) {
      long address = records.addresses()[number];
      long at = addresses.position(address) - first;
      if (at >= bytes || inPage(address) >= Page.PAYLOAD) {
        return number;
      }
      byte[] key = records.keys()[number];
      long found = find(buffer, start + ((int) at & -Page.SIZE), inPage(address), key);
      if (found == Found.UNCLEAR) {
        return number;
      }
      records.values()[number] =
          found < 0 ? null : values.take(buffer, Found.offset(found), Found.length(found));
    }
    return to;
  }
}
