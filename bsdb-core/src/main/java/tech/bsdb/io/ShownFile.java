package tech.bsdb.io;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * A whole file that lies in memory, mapped or loaded, in pieces that overlap, so that every run of
 * up to {@link Mapping#OVERLAP} bytes lies in one buffer. Thread-safe as {@link Mapping} is.
 */
public final class ShownFile implements Closeable {
  private static final int SHIFT = 30;

  private final ByteBuffer[] pieces;
  private @Nullable Runnable free;

  /**
   * Takes over little-endian buffers of 1 GiB and {@link Mapping#OVERLAP} bytes each, but the last,
   * and what frees them.
   */
  ShownFile(ByteBuffer[] pieces, Runnable free) {
    this.pieces = pieces;
    this.free = free;
  }

  /** A file that is mapped, and will soon be touched everywhere. */
  public static ShownFile mapped(Path file, long length) throws IOException {
    Mapping mapping = Mapping.openSoonNeeded(file, length);
    return new ShownFile(mapping.pieces(), mapping::close);
  }

  /** How many pieces a file has. */
  static int pieces(long length) {
    return Math.toIntExact((length - 1 >>> SHIFT) + 1);
  }

  /** The first piece that has the byte at {@code position}. */
  static int piece(long position) {
    return (int) (position >>> SHIFT);
  }

  /** Where a piece begins in the file. */
  static long start(int piece) {
    return (long) piece << SHIFT;
  }

  /** Bytes of a piece. */
  static int size(long length, int piece) {
    return (int) Math.min(length - start(piece), (1L << SHIFT) + Mapping.OVERLAP);
  }

  /**
   * The buffer in which the byte at {@code position} stands, at {@link #offset}; little-endian,
   * absolute gets only.
   */
  public ByteBuffer buffer(long position) {
    return pieces[piece(position)];
  }

  /** Where in its {@link #buffer} the byte at {@code position} stands. */
  public static int offset(long position) {
    return (int) position & (1 << SHIFT) - 1;
  }

  /** Gives the memory back; a second call does nothing. */
  @Override
  public void close() {
    Runnable last = free;
    free = null;
    if (last != null) {
      last.run();
    }
  }
}
