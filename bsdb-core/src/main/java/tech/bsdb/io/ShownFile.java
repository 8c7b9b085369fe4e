package tech.bsdb.io;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A whole file in memory, mapped or loaded, in overlapping pieces, so that every range of up to
 * {@link Mapping#OVERLAP} bytes lies in one buffer. As thread-safe as {@link Mapping}.
 */
public final class ShownFile implements Closeable {
  private static final int SHIFT = 30;

  private final ByteBuffer[] pieces;
  private @Nullable Runnable free;
  private boolean lent;

  /**
   * Takes ownership of little-endian buffers and of the action that frees them. Each buffer except
   * the last has 1 GiB plus {@link Mapping#OVERLAP} bytes.
   */
  ShownFile(ByteBuffer[] pieces, Runnable free) {
    this.pieces = pieces;
    this.free = free;
  }

  /** Maps a file whose every page will soon be touched. */
  public static ShownFile mapped(Path file, long length) throws IOException {
    Mapping mapping = Mapping.openSoonNeeded(file, length);
    return new ShownFile(mapping.pieces(), mapping::close);
  }

  /** The buffers; null where they were dropped. */
  ByteBuffer[] pieces() {
    return pieces;
  }

  /** The number of pieces of a file. */
  static int pieces(long length) {
    return Math.toIntExact((length - 1 >>> SHIFT) + 1);
  }

  /** The first piece that contains the byte at {@code position}. */
  static int piece(long position) {
    return (int) (position >>> SHIFT);
  }

  /** The offset of a piece in the file. */
  static long start(int piece) {
    return (long) piece << SHIFT;
  }

  /** The size of a piece, in bytes. */
  static int size(long length, int piece) {
    return (int) Math.min(length - start(piece), (1L << SHIFT) + Mapping.OVERLAP);
  }

  /**
   * The buffer that contains the byte at {@code position}, at {@link #offset}; little-endian, for
   * absolute gets only.
   */
  public ByteBuffer buffer(long position) {
    return pieces[piece(position)];
  }

  /** The offset of the byte at {@code position} in its {@link #buffer}. */
  public static int offset(long position) {
    return (int) position & (1 << SHIFT) - 1;
  }

  /**
   * Notes that slices of the buffers, which must be garbage-collected ones, may be used after
   * {@link #close}, which then leaves freeing them to the garbage collector. The caller sees to it
   * that this happens before close.
   */
  void lend() {
    if (!lent) { // reading a shared cache line is cheaper than writing it
      lent = true;
    }
  }

  /** Frees the memory, or drops it if it was {@link #lend lent}; a second call does nothing. */
  @Override
  public void close() {
    Runnable last = free;
    free = null;
    if (lent) {
      Arrays.fill(pieces, null);
    } else if (last != null) {
      last.run();
    }
  }
}
