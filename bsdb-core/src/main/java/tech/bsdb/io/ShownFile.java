package tech.bsdb.io;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A whole file in memory, mapped or loaded, in overlapping pieces, so that every range of up to
 * {@link Mapping#OVERLAP} bytes lies in one buffer. Thread-safe.
 *
 * <p>It may be closed while others read it. On Java 22 and newer, its memory is released at once,
 * and they get an {@link IllegalStateException}. On Java 17 to 21, and where no native access is
 * allowed, the garbage collector releases it once nobody has a buffer of it. A buffer taken from a
 * closed file is null.
 */
public final class ShownFile implements PageSource {
  /** log2 of the bytes of a piece, without those that it shares with the next one. */
  public static final int PIECE_SHIFT = 30;

  private final ByteBuffer[] pieces;
  private @Nullable Runnable free;

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
    return of(Mapping.openSoonNeeded(file, length));
  }

  /** Takes over a mapping. */
  static ShownFile of(Mapping mapping) {
    return new ShownFile(mapping.pieces(), mapping::release);
  }

  /** The buffers; null where they were dropped. */
  public @Nullable ByteBuffer[] pieces() {
    return pieces;
  }

  /** The number of pieces of a file. */
  static int pieces(long length) {
    return Math.toIntExact((length - 1 >>> PIECE_SHIFT) + 1);
  }

  /** The first piece that contains the byte at {@code position}. */
  public static int piece(long position) {
    return (int) (position >>> PIECE_SHIFT);
  }

  /** The offset of a piece in the file. */
  static long start(int piece) {
    return (long) piece << PIECE_SHIFT;
  }

  /** The size of a piece, in bytes. */
  static int size(long length, int piece) {
    return (int) Math.min(length - start(piece), (1L << PIECE_SHIFT) + Mapping.OVERLAP);
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
    return (int) position & (1 << PIECE_SHIFT) - 1;
  }

  @Override
  public void read(long first, int count, Window window) {
    long position = first * PAGE;
    window.show(buffer(position), offset(position));
  }

  @Override
  public ShownFile shown() {
    return this;
  }

  /** Frees the memory, or leaves that to the garbage collector; a second call does nothing. */
  @Override
  public void close() {
    Runnable last = free;
    free = null;
    try {
      if (last != null) {
        last.run();
      }
    } finally {
      Arrays.fill(pieces, null);
    }
  }
}
