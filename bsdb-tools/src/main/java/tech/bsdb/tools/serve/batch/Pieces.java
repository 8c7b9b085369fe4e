package tech.bsdb.tools.serve.batch;

import java.nio.ByteBuffer;

/** Presents the bytes of heap and direct buffers as array ranges. */
final class Pieces {
  private static final int CHUNK = 1 << 13;

  private byte[] chunk = {};

  /** Takes a range of bytes. */
  @FunctionalInterface
  interface Taker {
    void take(byte[] bytes, int from, int to) throws BadRequestException;
  }

  /** Reads a buffer to its limit. */
  void feed(ByteBuffer piece, Taker taker) throws BadRequestException {
    if (piece.hasArray()) {
      int from = piece.arrayOffset() + piece.position();
      int to = piece.arrayOffset() + piece.limit();
      piece.position(piece.limit());
      taker.take(piece.array(), from, to);
      return;
    }
    while (piece.hasRemaining()) {
      int length = Math.min(piece.remaining(), CHUNK);
      if (chunk.length < length) {
        chunk = new byte[CHUNK];
      }
      piece.get(chunk, 0, length);
      taker.take(chunk, 0, length);
    }
  }
}
