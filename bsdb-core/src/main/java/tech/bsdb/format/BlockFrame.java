package tech.bsdb.format;

/**
 * The header of a compressed block (FORMAT.md §4): two LEB128 numbers, seven bits per byte, lowest
 * first.
 *
 * <pre>
 * first number    raw length * 2, plus 1 if the block is stored uncompressed
 * second number   length of the ZSTD frame; omitted if the block is stored
 * </pre>
 *
 * The frame or the raw bytes follow. The frame has no magic number, content size, checksum or
 * dictionary id.
 */
public final class BlockFrame {
  /** Maximum header length in bytes. */
  public static final int MAX = 10;

  private BlockFrame() {}

  /**
   * Writes the header of a compressed block to the start of {@code target} and returns its length.
   */
  public static int putCompressed(byte[] target, long rawLength, long frameLength) {
    return put(target, put(target, 0, rawLength << 1), frameLength);
  }

  /** Writes the header of a stored block to the start of {@code target} and returns its length. */
  public static int putStored(byte[] target, long rawLength) {
    return put(target, 0, rawLength << 1 | 1);
  }

  private static int put(byte[] target, int offset, long value) {
    int at = offset;
    long rest = value;
    while (rest > 0x7F) {
      target[at++] = (byte) (rest | 0x80);
      rest >>>= 7;
    }
    target[at++] = (byte) rest;
    return at;
  }
}
