package tech.bsdb.lake.arrow;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * Decompresses frames of LZ4 into an array of the known length. The blocks of Arrow's frames refer
 * to earlier ones, which the library for LZ4 does not support.
 *
 * @see <a href="https://github.com/lz4/lz4/blob/dev/doc/lz4_Frame_format.md">frames</a>
 * @see <a href="https://github.com/lz4/lz4/blob/dev/doc/lz4_Block_format.md">blocks</a>
 */
final class Lz4Frame {
  private static final int MAGIC = 0x184D2204;
  private static final int VERSION = 1;
  private static final int MIN_MATCH = 4;
  private static final int UNCOMPRESSED = 1 << 31;

  private final byte[] out;
  private int end;

  private Lz4Frame(int size) {
    this.out = new byte[size];
  }

  /**
   * Decompresses a frame. Checksums are not verified.
   *
   * @throws IllegalStateException if it is not valid, or does not have the expected size
   */
  static byte[] decompress(byte[] from, int offset, int size) {
    Lz4Frame frame = new Lz4Frame(size);
    try {
      frame.read(
          ByteBuffer.wrap(from, offset, from.length - offset).order(ByteOrder.LITTLE_ENDIAN));
    } catch (IndexOutOfBoundsException | java.nio.BufferUnderflowException e) {
      throw new IllegalStateException("a buffer's LZ4 data is not valid", e);
    }
    if (frame.end != size) {
      throw new IllegalStateException(
          "a buffer's LZ4 data has %s bytes, not %s".formatted(frame.end, size));
    }
    return frame.out;
  }

  private void read(ByteBuffer in) {
    int magic = in.getInt();
    int flags = in.get();
    if (magic != MAGIC || (flags >> 6 & 3) != VERSION || (flags & 1) != 0) {
      throw new IllegalStateException("a buffer's LZ4 data is not a frame that can be read");
    }
    in.get(); // the largest size of a block
    in.position(in.position() + ((flags & 8) != 0 ? Long.BYTES : 0) + 1); // size, header checksum
    for (int size = in.getInt(); size != 0; size = in.getInt()) {
      int length = size & ~UNCOMPRESSED;
      if (length > in.remaining()) {
        throw new IllegalStateException("a buffer's LZ4 data ends too early");
      }
      if ((size & UNCOMPRESSED) != 0) {
        in.get(out, end, length);
        end += length;
      } else {
        block(in, in.position() + length);
      }
      in.position(in.position() + ((flags & 16) != 0 ? Integer.BYTES : 0)); // the block's checksum
    }
  }

  private void block(ByteBuffer in, int to) {
    while (in.position() < to) {
      int token = in.get() & 0xFF;
      int literals = length(token >> 4, in);
      in.get(out, end, literals);
      end += literals;
      if (in.position() >= to) {
        break; // the last sequence has literals only
      }
      int distance = in.getShort() & 0xFFFF;
      copy(distance, Math.addExact(length(token & 15, in), MIN_MATCH));
    }
    if (in.position() != to) {
      throw new IllegalStateException("a buffer's LZ4 data is not valid");
    }
  }

  private static int length(int nibble, ByteBuffer in) {
    int length = nibble;
    if (nibble == 15) {
      int more;
      do {
        more = in.get() & 0xFF;
        length = Math.addExact(length, more);
      } while (more == 0xFF);
    }
    return length;
  }

  private void copy(int distance, int length) {
    if (distance == 0 || distance > end || length > out.length - end) {
      throw new IllegalStateException("a buffer's LZ4 data is not valid");
    }
    int from = end - distance;
    if (distance == 1) {
      Arrays.fill(out, end, end + length, out[from]);
    } else if (distance >= length) {
      System.arraycopy(out, from, out, end, length);
    } else {
      for (int i = 0; i < length; i++) { // it repeats what it writes
        out[end + i] = out[from + i];
      }
    }
    end += length;
  }
}
