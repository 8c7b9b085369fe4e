package tech.bsdb.data;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tech.bsdb.error.CorruptDatabaseException;
import tech.bsdb.format.PackedPage;
import tech.bsdb.format.Page;
import tech.bsdb.format.RecordFrame;
import tech.bsdb.io.Extent;
import tech.bsdb.io.PageSource;

/**
 * Reads records of the packed layout: a page and a number in its directory give a bin, whose few
 * records are compared with the key (FORMAT.md §12). Pages are numbered from 0 across all files.
 * Thread-safe; each thread passes its own extent and scratch.
 */
public final class PackedReader implements Closeable {
  private static final int LINE = 64;

  private final DataFile[] files;

  /** For each file the number of its first page; then the number of all pages. */
  private final long[] starts;

  /** Creates a reader, which closes the files. */
  public PackedReader(List<DataFile> files) {
    this.files = files.toArray(DataFile[]::new);
    this.starts = new long[files.size() + 1];
    for (int i = 0; i < files.size(); i++) {
      starts[i + 1] = starts[i] + files.get(i).pages().pages() - 2;
    }
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

  /** Prefetches a bin's directory entry. */
  public long touchEntry(long page, int slot) {
    int number = number(page);
    long start = page - starts[number] + 1 << Page.SHIFT;
    return files[number].pages().touch(start + PackedPage.entry(slot));
  }

  /** Prefetches the first two cache lines of a bin whose page has been read into the extent. */
  public long touchBin(long page, int slot, Extent extent) {
    int at = extent.window().offset() + PackedPage.entry(slot);
    int start =
        extent.window().buffer().getShort(at) & Page.SIZE - 1; // in the page, even if damaged
    int number = number(page);
    long position = (page - starts[number] + 1 << Page.SHIFT) + start;
    return files[number].pages().touch(position) + files[number].pages().touch(position + LINE);
  }

  /**
   * Finds a key's record in a bin.
   *
   * @param page the page in which the bin starts
   * @param slot the bin's number among those that start in the page
   * @param extent the bin's pages, already read
   * @param values receives the value
   * @return the array that holds the value, or null if the bin has no record with the key
   */
  public byte @Nullable [] value(
      long page, int slot, byte[] key, Extent extent, Values values, Scratch scratch)
      throws IOException {
    ByteBuffer buffer = extent.window().buffer();
    int base = extent.window().offset();
    int entries = buffer.getInt(base + PackedPage.entry(slot));
    int at = entries & 0xFFFF;
    int end = entries >>> 16;
    if (at < PackedPage.LEAST_START || at > end || end > Page.PAYLOAD) {
      throw corrupt(page, 0, "a directory", "a bin at bytes " + at + " to " + end);
    }
    if (extent.count() > 1) {
      return streamed(page, slot, key, extent, values, scratch);
    }
    int keyLength = key.length;
    while (at < end) {
      int header = buffer.getInt(base + at);
      int length = header & 0xFF;
      if (length == 0) {
        return streamed(page, slot, key, extent, values, scratch);
      }
      int valueLength = header >>> 8 & 0xFFFF;
      int valueAt = at + RecordFrame.SHORT + length;
      if (valueAt + valueLength > end) {
        throw corrupt(page, at, "a record that ends in its bin", valueLength + " bytes of value");
      }
      if (length == keyLength && RecordBytes.equal(buffer, base + at + RecordFrame.SHORT, key)) {
        byte[] value = values.make(valueLength);
        RecordBytes.copy(buffer, base + valueAt, value, values.offset(), valueLength);
        return value;
      }
      at = valueAt + valueLength;
    }
    if (slot >= PackedPage.bins(buffer.getShort(base))) {
      throw corrupt(page, 0, "bin " + slot, "a page without it");
    }
    return null;
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
        byte[] value = values.make(valueLength);
        cursor.read(value, values.offset(), valueLength);
        return value;
      }
      cursor.skip(valueLength + (keyLength == key.length ? 0L : keyLength));
    }
    return null;
  }

  private CorruptDatabaseException corrupt(long page, int at, String expected, String found) {
    int number = number(page);
    long start = page - starts[number] + 1 << Page.SHIFT;
    return files[number].corrupt(start + at, expected, found);
  }

  @Override
  public void close() throws IOException {
    PlainReader.closeAll(files);
  }
}
