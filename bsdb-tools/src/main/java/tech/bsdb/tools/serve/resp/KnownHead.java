package tech.bsdb.tools.serve.resp;

import io.netty.buffer.ByteBuf;

/**
 * All bytes before the last argument of a command of two, as they were last received: in a
 * pipeline, most commands differ only in their key, which three comparisons of eight bytes find
 * out. Not thread-safe.
 */
final class KnownHead {
  private static final int LONGEST = 3 * Long.BYTES;

  private long first;
  private long second;
  private long third;
  private long thirdMask;
  private int length;
  private int keyLength;

  /** Whether a command with this head comes next, and all of it has arrived. */
  boolean isNext(ByteBuf in) {
    int known = length;
    int readable = in.readableBytes();
    if (known == 0 || readable < LONGEST || readable < known + keyLength + 2) {
      return false;
    }
    int at = in.readerIndex();
    return in.getLongLE(at) == first
        && in.getLongLE(at + Long.BYTES) == second
        && (in.getLongLE(at + 2 * Long.BYTES) & thirdMask) == third;
  }

  /** Consumes the command that comes next; returns its last argument. */
  byte[] readKey(ByteBuf in) {
    int at = in.readerIndex();
    byte[] key = new byte[keyLength];
    in.getBytes(at + length, key);
    in.readerIndex(at + length + keyLength + 2);
    return key;
  }

  /** Returns the length of the last argument. */
  int keyLength() {
    return keyLength;
  }

  /**
   * Remembers the head of a command that was read as a whole.
   *
   * @param start where the command begins
   * @param bytes the length of its head
   * @param last the length of its last argument
   */
  void learn(ByteBuf in, int start, int bytes, int last) {
    if (bytes <= 2 * Long.BYTES || bytes > LONGEST || in.writerIndex() - start < LONGEST) {
      length = 0;
      return;
    }
    first = in.getLongLE(start);
    second = in.getLongLE(start + Long.BYTES);
    thirdMask = -1L >>> Byte.SIZE * (LONGEST - bytes);
    third = in.getLongLE(start + 2 * Long.BYTES) & thirdMask;
    length = bytes;
    keyLength = last;
  }

  /** Forgets what was remembered. */
  void forget() {
    length = 0;
  }
}
