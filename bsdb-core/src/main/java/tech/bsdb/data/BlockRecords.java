package tech.bsdb.data;

import java.io.IOException;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import tech.bsdb.format.RecordFrame;

/**
 * Reads the records of compressed bins one by one, over a cursor that moves from bin to bin
 * (FORMAT.md §12). Decompresses one block at a time; records of stored blocks are read where they
 * are. Not thread-safe.
 *
 * <p>After {@link #next}, either {@link #matches} or {@link #key} must be called, and then either
 * {@link #value} or {@link #skipValue}.
 */
final class BlockRecords {
  private static final byte[] NO_BYTES = new byte[0];

  private final BinCursor cursor;
  private final Scratch scratch;
  private CompressedReader.Blocks blocks;
  private DataFile file;

  /** Byte offset of the current block, and how many bytes of its records are still to come. */
  private long block;

  private long left;
  private boolean stored;

  /** The parts of the bin in which the last records of this block and of the one before it lie. */
  private int part;

  private int partBefore;

  /** The current block, unless stored; the next byte; the end. */
  private byte[] raw = NO_BYTES;

  private int at;
  private int rawLength;

  /** The raw length of the current block, and the length of its frame unless stored. */
  private long length;

  private long contentLength;

  private int keyLength;
  private int valueLength;

  /** What the lookup has reserved for blocks. */
  private long reserved;

  BlockRecords(BinCursor cursor, DataFile file, CompressedReader.Blocks blocks, Scratch scratch) {
    this.cursor = cursor;
    this.file = file;
    this.blocks = blocks;
    this.scratch = scratch;
  }

  /** Starts again where the cursor is, in a file of any database, and forgets the current block. */
  void restart(DataFile file, CompressedReader.Blocks blocks) {
    this.file = file;
    this.blocks = blocks;
    this.part = 0;
    this.raw = NO_BYTES;
    this.left = 0;
    this.reserved = 0;
  }

  /** Starts with the next bin, into which the cursor has moved. */
  void startBin() {
    part = 0;
  }

  /**
   * Passes over blocks of which all records lie in smaller parts of the bin. Returns false if the
   * bin has no other block.
   */
  boolean skipTo(int wanted) throws IOException {
    while (cursor.hasMore()) {
      openHeader();
      if (part >= wanted) {
        return true;
      }
      cursor.skip(stored ? length : contentLength);
    }
    return false;
  }

  /** Whether the bin has more records. */
  boolean hasMore() throws IOException {
    return left > 0 || cursor.hasMore();
  }

  /** Moves to the next record, which must be there, and reads its header. */
  void next() throws IOException {
    if (left == 0) {
      openHeader();
      openContent(null);
    }
    long header;
    if (stored) {
      long start = cursor.position();
      header = cursor.nextHeader();
      if (header == RecordFrame.PADDING) {
        throw file.corrupt(start, "a record", "padding");
      }
    } else {
      header = CompressedReader.header(raw, at, rawLength, file, block);
      at += RecordFrame.headerLength(header);
    }
    keyLength = RecordFrame.keyLength(header);
    valueLength = RecordFrame.valueLength(header);
    long whole = RecordFrame.headerLength(header) + (long) keyLength + valueLength;
    if (whole > left) {
      throw file.corrupt(
          block, "a record that ends in its block", whole + " bytes of " + left + " left");
    }
    left -= whole;
  }

  private void openHeader() throws IOException {
    block = cursor.position();
    partBefore = part;
    part = cursor.next();
    long lengthAndKind = cursor.nextLeb128();
    length = lengthAndKind >>> 1;
    if (length == 0) {
      throw file.corrupt(block, "a block", "a length of 0 bytes");
    }
    stored = (lengthAndKind & 1) != 0;
    if (stored) {
      cursor.expect(length);
    } else {
      rawLength = CompressedReader.Blocks.rawLength(lengthAndKind, file, block);
      contentLength = cursor.nextLeb128();
      cursor.expect(contentLength);
    }
  }

  /**
   * Opens the block whose header has been read.
   *
   * @param values reserves the memory of a large block, or null
   */
  void openContent(@Nullable Values values) throws IOException {
    if (!stored) {
      if (values != null && rawLength > Values.UNASKED && 2L * rawLength > reserved) {
        values.reserve(2L * rawLength - reserved); // the block and its frame
        reserved = 2L * rawLength;
      }
      raw = NO_BYTES; // free for the next block
      raw = blocks.decompress(cursor, file, block, rawLength, contentLength, scratch);
      at = 0;
    }
    left = length;
  }

  /** Whether the record has the key. */
  boolean matches(byte[] key) throws IOException {
    boolean same = keyLength == key.length;
    if (!stored) {
      same = same && Arrays.equals(raw, at, at + keyLength, key, 0, keyLength);
      at += keyLength;
    } else if (same) {
      same = cursor.matches(key);
    } else {
      cursor.skip(keyLength);
    }
    return same;
  }

  /** Returns a copy of the key. */
  byte[] key() throws IOException {
    byte[] key = new byte[keyLength];
    read(key, 0, keyLength);
    return key;
  }

  /** Bytes of the value. */
  int valueLength() {
    return valueLength;
  }

  /** Copies the value. */
  void value(byte[] target, int offset) throws IOException {
    read(target, offset, valueLength);
  }

  private void read(byte[] target, int offset, int length) throws IOException {
    if (stored) {
      cursor.read(target, offset, length);
    } else {
      System.arraycopy(raw, at, target, offset, length);
      at += length;
    }
  }

  /** Passes over the value. */
  void skipValue() throws IOException {
    if (stored) {
      cursor.skip(valueLength);
    } else {
      at += valueLength;
    }
  }

  /** Whether the current block has more records. */
  boolean hasMoreInBlock() {
    return left > 0;
  }

  /** The part of the bin in which the last record of the current block lies, 0 to 255. */
  int part() {
    return part;
  }

  /** That of the block before it in the bin, or 0. */
  int partBefore() {
    return partBefore;
  }

  /** Where the current block starts in the file. */
  long block() {
    return block;
  }
}
