package tech.bsdb.io;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A whole file in memory, mapped or loaded, in overlapping pieces, so that every range of up to
 * {@link #OVERLAP} bytes lies in one buffer. Thread-safe.
 *
 * <p>It may be closed while others read it. On Java 22 and newer, its memory is released at once,
 * and they get an {@link IllegalStateException}. On Java 17 to 21, and where no native access is
 * allowed, the garbage collector releases it once nobody has a buffer of it. A buffer taken from a
 * closed file is null.
 */
public final class ShownFile implements PageSource {
  /** log2 of the bytes of a piece, without those that it shares with the next one. */
  public static final int PIECE_SHIFT = 30;

  /** Bytes that a piece shares with the next one. */
  public static final int OVERLAP = 1 << 20;

  /**
   * The largest file that is read ahead, so that opening takes about the same time for every size.
   */
  private static final long MOST_AHEAD = 64L << 20;

  private final ByteBuffer[] pieces;
  private final boolean loaded;
  private @Nullable Runnable free;

  /**
   * Takes ownership of buffers and of the action that frees them. Each buffer except the last has 1
   * GiB plus {@link #OVERLAP} bytes.
   *
   * @param loaded whether the whole file was read into memory, rather than mapped
   */
  ShownFile(ByteBuffer[] pieces, boolean loaded, Runnable free) {
    this.pieces = pieces;
    this.loaded = loaded;
    this.free = free;
    for (ByteBuffer piece : pieces) {
      piece.order(ByteOrder.LITTLE_ENDIAN);
    }
  }

  /** Maps the first {@code length} bytes of a file, at least 1, for random access. */
  public static ShownFile map(Path file, long length) throws IOException {
    return map(file, length, SystemCalls.RANDOM);
  }

  /**
   * Maps a file whose every page will soon be touched. The kernel, if it can be advised, starts
   * reading it unless it is too large; this method does not wait for that.
   */
  public static ShownFile mapSoonNeeded(Path file, long length) throws IOException {
    return map(file, length, length > MOST_AHEAD ? SystemCalls.RANDOM : SystemCalls.WILL_NEED);
  }

  /**
   * Maps a file for one thread; {@link #close} then unmaps it at once on every version of Java.
   *
   * @param advice what the kernel is told, if it can be advised: {@link SystemCalls#RANDOM}, since
   *     otherwise the first touch of a cold page reads megabytes, or another
   */
  static ShownFile mapForOne(Path file, long length, int advice) throws IOException {
    ShownFile mapped = map(file, length, advice);
    ByteBuffer[] pieces = mapped.pieces.clone();
    return new ShownFile(
        pieces,
        false,
        () -> {
          mapped.close();
          for (ByteBuffer piece : pieces) {
            BufferCleaner.free(piece);
          }
        });
  }

  private static ShownFile map(Path file, long length, int advice) throws IOException {
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
      if (channel.size() < length) {
        throw new IOException(file + ": shorter than " + length + " bytes");
      }
      ShownFile mapped = Mapping.map(channel, length);
      mapped.advise(0, length, advice);
      return mapped;
    }
  }

  /** Whether the whole file was read into memory when it was opened. */
  boolean isLoaded() {
    return loaded;
  }

  /** Advises the kernel, if possible, how a part of a mapped file will be used. */
  void advise(long position, long length, int advice) {
    SystemCalls calls = LinuxCalls.instance();
    if (calls != null) {
      long start = calls.address(pieces[0]);
      calls.advise(start + position, length, advice); // a refusal only costs time
    }
  }

  /** Whether a part of a mapped file, within one piece, is in memory according to the system. */
  boolean isResident(long position, long length) {
    MappedByteBuffer piece = (MappedByteBuffer) buffer(position);
    return piece.slice(offset(position), (int) length).isLoaded();
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
    return (int) Math.min(length - start(piece), (1L << PIECE_SHIFT) + OVERLAP);
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
