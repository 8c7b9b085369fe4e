package tech.bsdb.data;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tech.bsdb.format.Page;
import tech.bsdb.format.RecordAddress;
import tech.bsdb.format.RecordFrame;
import tech.bsdb.io.CheckedPages;
import tech.bsdb.io.Extent;
import tech.bsdb.io.PageSource;
import tech.bsdb.io.ShownFile;
import tech.bsdb.io.Touches;

/** Reads records of the blocked and compact layouts. */
public final class PlainReader implements RecordReader {
  private final DataFile[] files;
  private final RecordAddress addresses;

  /** Creates a reader, which closes the files. */
  public PlainReader(List<DataFile> files, RecordAddress addresses) {
    this.files = files.toArray(DataFile[]::new);
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
  public List<@Nullable ShownFile> shown() {
    return shown(files);
  }

  /** The files in memory. */
  static List<@Nullable ShownFile> shown(DataFile[] files) {
    List<@Nullable ShownFile> shown = new ArrayList<>();
    for (DataFile file : files) {
      shown.add(file.pages().shown());
    }
    return shown;
  }

  @Override
  public void aim(long address, Touches touches, int first) throws IOException {
    touches.add(first + number(files, address), addresses.position(address));
  }

  @Override
  public boolean holds(long address, Extent extent) {
    return addresses.detail(address) < PageSource.MAX_RUN - 1;
  }

  /*
   * Once the record's key length has been compared with the key's, the code uses the key's own length. The processor,
   * which predicts the branch correctly, can then load the rest of the record without waiting for the header.
   */
  @Override
  public byte @Nullable [] decode(
      long address, byte[] key, Extent extent, Values values, Scratch scratch) throws IOException {
    long position = addresses.position(address);
    int inPage = (int) position & Page.SIZE - 1;
    int keyLength = key.length;
    if (extent.count() == 1 && keyLength - 1 >>> 8 == 0) {
      ByteBuffer buffer = extent.window().buffer();
      int at = extent.window().offset() + inPage;
      int header = buffer.getInt(at);
      if ((header & 0xFF) == keyLength) {
        int valueLength = header >>> 8 & 0xFFFF;
        int valueAt = inPage + RecordFrame.SHORT + keyLength;
        if (valueAt + valueLength > Page.PAYLOAD) {
          throw file(files, address)
              .corrupt(position, "a record that ends in its page", valueLength + " bytes of value");
        }
        if (!RecordBytes.equal(buffer, at + RecordFrame.SHORT, key)) {
          return null;
        }
        return values.take(buffer, extent.window().offset() + valueAt, valueLength);
      }
      if ((header & 0xFF) != 0) {
        return null;
      }
    }
    DataFile file = file(files, address);
    PayloadCursor cursor = scratch.cursor(file, extent);
    cursor.seek(position);
    return valueAt(cursor, file, key, values);
  }

  /** Reads the record at the cursor and returns its value, or null if it has another key. */
  static byte @Nullable [] valueAt(PayloadCursor cursor, DataFile file, byte[] key, Values values)
      throws IOException {
    long position = cursor.position();
    long header = cursor.nextHeader();
    if (header == RecordFrame.PADDING) {
      throw file.corrupt(position, "a record", "padding");
    }
    if (RecordFrame.keyLength(header) != key.length) {
      return null;
    }
    int valueLength = RecordFrame.valueLength(header);
    cursor.expect((long) key.length + valueLength);
    cursor.reserve(values);
    if (!cursor.matches(key)) {
      return null;
    }
    return cursor.take(valueLength, values);
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
