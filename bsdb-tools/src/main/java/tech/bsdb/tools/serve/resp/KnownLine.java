package tech.bsdb.tools.serve.resp;

import io.netty.buffer.ByteBuf;

/**
 * A short line that states a number, as it was last received: the next command most often states
 * the same, which one comparison of eight bytes finds out. Not thread-safe.
 */
final class KnownLine {
  private static final int LONGEST = Long.BYTES;

  /** The line with its CR and LF in the lowest bytes, the first byte lowest. */
  private long line = -1;

  /** Covers the bytes of the line; 0 with a line that nothing equals if none is known. */
  private long mask;

  private int length;
  private long number;

  /** Whether the line comes next. */
  boolean isNext(ByteBuf in) {
    return in.readableBytes() >= LONGEST && (in.getLongLE(in.readerIndex()) & mask) == line;
  }

  /** The bytes of the line, with its CR and LF. */
  int length() {
    return length;
  }

  /** The number that the line states. */
  long number() {
    return number;
  }

  /** Remembers the next line, which is valid, if it is short. */
  void learn(ByteBuf in, int bytes, long stated) {
    if (bytes <= LONGEST && in.readableBytes() >= LONGEST) {
      mask = -1L >>> Long.SIZE - Byte.SIZE * bytes;
      line = in.getLongLE(in.readerIndex()) & mask;
      length = bytes;
      number = stated;
    }
  }
}
