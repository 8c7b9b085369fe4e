package tech.bsdb.data;

import com.github.luben.zstd.Zstd;
import java.io.IOException;
import org.jspecify.annotations.Nullable;
import tech.bsdb.format.RecordFrame;

/**
 * Reads compressed blocks one after another, of a bin or at an address (FORMAT.md §4, §12). The
 * content of a block that is stored uncompressed is left to the caller: the records that follow at
 * the cursor. Not thread-safe.
 */
final class BlockReader {
  /** A block of a ZSTD frame has at least 4 bytes, and at most so many after decompression. */
  private static final long MOST_OF_FOUR = 128 << 10;

  private final Scratch scratch;

  /** The parts of the bin in which the last records of this block and of the one before it lie. */
  private int part;

  private int partBefore;

  private long position;
  private boolean stored;
  private long length;
  private long contentLength;

  /** What the lookup has reserved for blocks. */
  private long reserved;

  BlockReader(Scratch scratch) {
    this.scratch = scratch;
  }

  /** Starts with the first block of a bin, or with one at an address. */
  void start() {
    part = 0;
    reserved = 0;
  }

  /**
   * Reads the header of the next block.
   *
   * @param ofBin whether the block is one of a bin
   */
  void open(PageCursor cursor, boolean ofBin) throws IOException {
    position = cursor.position();
    if (ofBin) {
      partBefore = part;
      part = cursor.next();
    }
    long lengthAndKind = cursor.nextLeb128();
    length = lengthAndKind >>> 1;
    stored = (lengthAndKind & 1) != 0;
    if (length == 0 || (!stored && length > RecordFrame.MAX_VALUE)) {
      throw cursor.corrupt(position, "a block", "a length of " + length + " bytes");
    }
    contentLength = stored ? length : cursor.nextLeb128();
    cursor.require(contentLength);
  }

  /**
   * Decompresses the block, which is not a stored one, after its header. Copies the frame first: if
   * a mapped file was cut short, the copy throws an {@link InternalError} that can be caught,
   * whereas ZSTD would crash the virtual machine.
   *
   * @param values reserves the memory of a large block, or null
   */
  byte[] raw(PageCursor cursor, CompressedReader.Blocks blocks, @Nullable Values values)
      throws IOException {
    // No writer makes a longer one.
    if (contentLength > Math.min(Zstd.compressBound(length), Integer.MAX_VALUE)) {
      throw cursor.corrupt(position, "a ZSTD frame", "a length of " + contentLength + " bytes");
    }
    DataFile file = cursor.file();
    int frameLength = (int) contentLength;
    if (length > (frameLength >>> 2) * MOST_OF_FOUR) { // before so many bytes are allocated
      throw cursor.corrupt(
          position, "a ZSTD frame of " + length + " bytes", "a length of " + frameLength);
    }
    cursor.expect(frameLength);
    if (values != null && length > Values.UNASKED && 2 * length > reserved) {
      values.reserve(2 * length - reserved); // the block and its frame
      reserved = 2 * length;
      cursor.reserve(values);
    }
    byte[] frame = scratch.frame(frameLength);
    cursor.read(frame, 0, frameLength);
    return blocks.decompress(frame, frameLength, (int) length, file, position, scratch);
  }

  /** Where the block starts in the file. */
  long position() {
    return position;
  }

  /** Whether the block is stored uncompressed. */
  boolean isStored() {
    return stored;
  }

  /**
   * The length of the block's records; of a block that is not stored, no more than an array has.
   */
  long length() {
    return length;
  }

  /** The number of bytes that follow the header. */
  long contentLength() {
    return contentLength;
  }

  /** The part of the bin in which the last record of the block lies, 0 to 255. */
  int part() {
    return part;
  }

  /** That of the block before it in the bin, or 0. */
  int partBefore() {
    return partBefore;
  }
}
