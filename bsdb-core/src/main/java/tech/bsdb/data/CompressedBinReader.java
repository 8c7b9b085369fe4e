package tech.bsdb.data;

import java.io.Closeable;
import java.io.IOException;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import tech.bsdb.format.RecordFrame;
import tech.bsdb.io.Extent;
import tech.bsdb.io.PageSource;

/**
 * Reads records of the packed layout whose bins are compressed (FORMAT.md §12). The headers of a
 * bin's blocks tell the one that can have a record, which nearly always lies in one page. It is
 * decompressed and searched. Thread-safe; each thread passes its own extent and scratch.
 */
public final class CompressedBinReader implements Closeable {
  private final PackedReader pages;
  private final CompressedReader.Blocks blocks;

  /**
   * Creates a reader.
   *
   * @param pages locates the pages; closed by the caller
   * @param dictionary the dictionary used to compress the blocks, or null
   * @throws IllegalArgumentException if it is not a dictionary
   */
  public CompressedBinReader(PackedReader pages, byte @Nullable [] dictionary) {
    this.pages = pages;
    this.blocks = new CompressedReader.Blocks(dictionary);
  }

  /**
   * Finds a key's record in a bin.
   *
   * @param page the page in which the bin starts
   * @param slot the bin's number among those that start in the page
   * @param part the part of the bin in which the key's signature lies, 0 to 255
   * @param extent the bin's pages, already read
   * @param values receives the value
   * @return the array that holds the value, or null if the bin has no record with the key
   */
  public byte @Nullable [] value(
      long page, int slot, int part, byte[] key, Extent extent, Values values, Scratch scratch)
      throws IOException {
    DataFile file = pages.file(page);
    PageCursor cursor = scratch.cursor(file, extent, PageSource.MAX_RUN);
    cursor.enterBin(extent.first(), slot, true);
    BlockReader block = scratch.block;
    block.start();
    while (cursor.hasMore()) {
      block.open(cursor, true);
      if (block.part() < part) {
        cursor.skip(block.contentLength());
        continue;
      }
      byte[] value;
      if (block.isStored()) {
        value = null;
        for (long left = block.length(); left > 0 && value == null; ) {
          value = cursor.valueOf(key, left, values);
          left -= cursor.recordLength();
        }
      } else {
        byte[] raw = block.raw(cursor, blocks, values);
        value = find(raw, (int) block.length(), key, file, block.position(), values);
      }
      if (value != null || block.part() > part) {
        return value;
      }
    }
    return null;
  }

  private static byte @Nullable [] find(
      byte[] raw, int length, byte[] key, DataFile file, long block, Values values)
      throws IOException {
    int at = 0;
    while (at < length) {
      long header = CompressedReader.header(raw, at, length, file, block);
      int keyAt = at + RecordFrame.headerLength(header);
      int valueAt = keyAt + RecordFrame.keyLength(header);
      int valueLength = RecordFrame.valueLength(header);
      if (Arrays.equals(raw, keyAt, valueAt, key, 0, key.length)) {
        return values.take(raw, valueAt, valueLength);
      }
      at = valueAt + valueLength;
    }
    return null;
  }

  /** Frees the dictionary. */
  @Override
  public void close() {
    blocks.close();
  }
}
