package tech.bsdb.data;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import tech.bsdb.format.PackedPage;
import tech.bsdb.format.Page;
import tech.bsdb.format.RecordFrame;
import tech.bsdb.io.Extent;
import tech.bsdb.io.PageSource;

/**
 * Reads records of the packed layout whose bins are compressed (FORMAT.md §12). The headers of a
 * bin's blocks tell the one that can have a record, which nearly always lies in one page. It is
 * decompressed and searched. Thread-safe; each thread passes its own extent and scratch.
 */
public final class CompressedBinReader implements Closeable {
  private static final int NOT_SHORT = -1;

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
    ByteBuffer buffer = extent.window().buffer();
    int base = extent.window().offset();
    int head = buffer.getShort(base) & 0xFFFF;
    int entries = buffer.getInt(base + PackedPage.entry(slot));
    int at = entries & 0xFFFF;
    int end = entries >>> 16;
    int bins = PackedPage.bins(head);
    if (slot >= bins || at < PackedPage.LEAST_START || at > end || end > Page.PAYLOAD) {
      throw file.corrupt(
          extent.first() << Page.SHIFT,
          "bin " + slot,
          "a page of " + bins + " bins, with bytes " + at + " to " + end);
    }
    while (at < end) {
      int own = buffer.get(base + at) & 0xFF;
      int number = shortNumber(buffer, base + at + 1, base + end);
      if (number == NOT_SHORT) {
        return streamed(file, slot, part, key, extent, values, scratch);
      }
      int content = at + 1 + bytesOf(number);
      int length = number >>> 1;
      int contentLength = length;
      if ((number & 1) == 0) {
        contentLength = shortNumber(buffer, base + content, base + end);
        if (contentLength == NOT_SHORT) {
          return streamed(file, slot, part, key, extent, values, scratch);
        }
        content += bytesOf(contentLength);
      }
      if (length == 0 || length > Values.UNASKED || content + contentLength > end) {
        return streamed(file, slot, part, key, extent, values, scratch);
      }
      if (own >= part) {
        long block = (extent.first() << Page.SHIFT) + at;
        byte[] raw;
        if ((number & 1) != 0) {
          raw = scratch.raw(length);
          buffer.get(base + content, raw, 0, length);
        } else {
          raw =
              blocks.decompress(
                  buffer, base + content, contentLength, length, file, block, scratch);
        }
        byte[] value = find(raw, length, key, file, block, values);
        if (value != null || own > part) {
          return value;
        }
      }
      at = content + contentLength;
    }
    return slot + 1 == bins && PackedPage.continues(head)
        ? streamed(file, slot, part, key, extent, values, scratch)
        : null;
  }

  /** Reads a number of at most three bytes in LEB128 that ends by {@code limit}, or fails. */
  private static int shortNumber(ByteBuffer buffer, int from, int limit) {
    int value = 0;
    for (int i = 0; i < 3 && from + i < limit; i++) {
      int part = buffer.get(from + i);
      value |= (part & 0x7F) << 7 * i;
      if (part >= 0) {
        return part == 0 && i > 0 ? NOT_SHORT : value; // no writer makes it longer than needed
      }
    }
    return NOT_SHORT;
  }

  /** The number of bytes of such a number, as a writer encodes it. */
  private static int bytesOf(int number) {
    return number < 1 << 7 ? 1 : number < 1 << 14 ? 2 : 3;
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
        byte[] value = values.make(valueLength);
        System.arraycopy(raw, valueAt, value, values.offset(), valueLength);
        return value;
      }
      at = valueAt + valueLength;
    }
    return null;
  }

  /** Like {@link #value}, for bins of several pages and for large blocks. */
  private byte @Nullable [] streamed(
      DataFile file, int slot, int part, byte[] key, Extent extent, Values values, Scratch scratch)
      throws IOException {
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

  /** Frees the dictionary. */
  @Override
  public void close() {
    blocks.close();
  }
}
