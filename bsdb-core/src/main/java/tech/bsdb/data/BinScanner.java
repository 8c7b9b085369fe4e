package tech.bsdb.data;

import java.io.Closeable;
import java.io.IOException;
import java.util.List;
import tech.bsdb.error.CorruptDatabaseException;
import tech.bsdb.format.RecordFrame;
import tech.bsdb.io.Window;

/**
 * Iterates over all bins of a packed database and the keys in each. Reads large runs of pages and
 * verifies each page. Not thread-safe.
 */
public final class BinScanner implements Closeable {
  private static final int AHEAD = 64;

  private final DataFile[] files;
  private int current;
  private BinCursor cursor;

  /** The number of the current file's first page among those of all files. */
  private long pagesBefore;

  private long firstPage;
  private int slot = -1;
  private byte[] key = new byte[0];

  /** Creates a scanner, which closes the files, at least one. */
  public BinScanner(List<DataFile> files) {
    this.files = files.toArray(DataFile[]::new);
    this.cursor = new BinCursor(this.files[0], new Window(), AHEAD);
  }

  /**
   * Advances to the next bin; false at the end. All keys of the current one must have been read.
   */
  public boolean nextBin() throws IOException {
    while (!cursor.nextBin()) {
      if (current == files.length - 1) {
        return false;
      }
      pagesBefore += files[current].pages().pages() - 2;
      current++;
      cursor = new BinCursor(files[current], new Window(), AHEAD);
    }
    firstPage = pagesBefore + cursor.page();
    slot = cursor.slot();
    return true;
  }

  /** Advances to the next record of the bin; false at its end. */
  public boolean nextRecord() throws IOException {
    if (!cursor.hasMore()) {
      return false;
    }
    long header = cursor.nextHeader();
    if (header == RecordFrame.PADDING) {
      throw corrupt("a record", "padding");
    }
    cursor.expect((long) RecordFrame.keyLength(header) + RecordFrame.valueLength(header));
    key = new byte[RecordFrame.keyLength(header)];
    cursor.read(key, 0, key.length);
    cursor.skip(RecordFrame.valueLength(header));
    return true;
  }

  /** The key of the record. */
  public byte[] key() {
    return key;
  }

  /** The page in which the bin starts, among those of all files, from 0. */
  public long firstPage() {
    return firstPage;
  }

  /** The page that the scan has reached. */
  public long page() {
    return pagesBefore + cursor.page();
  }

  /** The number of the bin among those that start in its first page. */
  public int slot() {
    return slot;
  }

  /** Describes damage where the scan is. */
  public CorruptDatabaseException corrupt(String expected, String found) {
    return cursor.corrupt(cursor.position(), expected, found);
  }

  @Override
  public void close() throws IOException {
    PlainReader.closeAll(files);
  }
}
