package tech.bsdb.data;

import java.io.Closeable;
import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tech.bsdb.Layout;
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
  private final CompressedReader.@Nullable Blocks blocks;
  private final Scratch scratch = new Scratch();
  private int current;
  private BinCursor cursor;
  private @Nullable BlockRecords compressed;

  /** The number of the current file's first page among those of all files. */
  private long pagesBefore;

  private long firstPage;
  private int slot = -1;
  private int filter;
  private byte[] key = new byte[0];

  /**
   * Creates a scanner, which closes the files, at least one.
   *
   * @param layout one of the packed layouts
   * @param dictionary the dictionary of compressed bins, or null
   * @throws IllegalArgumentException if it is not a dictionary; the files stay open
   */
  public BinScanner(List<DataFile> files, Layout layout, byte @Nullable [] dictionary) {
    this.files = files.toArray(DataFile[]::new);
    this.blocks = layout.isCompressed() ? new CompressedReader.Blocks(dictionary, 1) : null;
    this.cursor = cursor();
  }

  private BinCursor cursor() {
    BinCursor made = new BinCursor(files[current], new Window(), AHEAD);
    compressed = blocks == null ? null : new BlockRecords(made, files[current], blocks, scratch);
    return made;
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
      cursor = cursor();
    }
    if (compressed != null) {
      compressed.startBin();
    }
    firstPage = pagesBefore + cursor.page();
    slot = cursor.slot();
    filter = cursor.filter();
    return true;
  }

  /** Advances to the next record of the bin; false at its end. */
  public boolean nextRecord() throws IOException {
    BlockRecords records = compressed;
    if (records != null) {
      if (!records.hasMore()) {
        return false;
      }
      records.next();
      key = records.key();
      records.skipValue();
      return true;
    }
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

  /**
   * Whether a lookup finds the record, which lies in the given part of the bin, by the headers of
   * the compressed blocks.
   */
  public boolean leadsTo(int part) {
    BlockRecords records = compressed;
    return records == null || (part >= records.partBefore() && part <= records.part());
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

  /** The filter of the bin. */
  public int filter() {
    return filter;
  }

  /** Describes damage where the scan is. */
  public CorruptDatabaseException corrupt(String expected, String found) {
    return cursor.corrupt(cursor.position(), expected, found);
  }

  @Override
  public void close() throws IOException {
    try {
      scratch.close();
      PlainReader.closeAll(files);
    } finally {
      if (blocks != null) {
        blocks.close();
      }
    }
  }
}
