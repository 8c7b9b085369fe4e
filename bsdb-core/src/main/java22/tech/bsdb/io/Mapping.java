package tech.bsdb.io;

import java.io.Closeable;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * A whole file mapped for reading, in pieces that overlap, so that every run of up to {@link
 * #OVERLAP} bytes lies in one buffer.
 *
 * <p>This is the one for Java 22 and newer: a shared arena unmaps at a known time, and a read after
 * that is an {@link IllegalStateException}. Where native access is allowed, the kernel is advised
 * to read nothing ahead: else the first touch of a cold page brings megabytes. It must have the
 * same members as the class of the same name for Java 17.
 */
public final class Mapping implements Closeable {
  /** Bytes that two neighbouring pieces share. */
  public static final int OVERLAP = 1 << 20;

  private static final int SHIFT = 30;

  /** So much is read ahead at most, so that opening takes the same time for every size. */
  private static final long MOST_AHEAD = 64L << 20;

  private final Arena arena;
  private final MemorySegment whole;
  private final ByteBuffer[] pieces;

  private Mapping(Arena arena, MemorySegment whole, ByteBuffer[] pieces) {
    this.arena = arena;
    this.whole = whole;
    this.pieces = pieces;
  }

  /** Maps the first {@code length} bytes of a file, at least 1, of which any may be touched. */
  public static Mapping open(Path file, long length) throws IOException {
    return open(file, length, SystemCalls.RANDOM);
  }

  /**
   * Maps a file that will soon be touched everywhere: if it is not too large, the kernel begins to
   * read it now. Does not wait for it.
   */
  public static Mapping openSoonNeeded(Path file, long length) throws IOException {
    return open(file, length, length > MOST_AHEAD ? SystemCalls.RANDOM : SystemCalls.WILL_NEED);
  }

  /**
   * Maps a file whose pages are to be huge ones when they are read: so each fault reads 2 MiB. Only
   * for what is read in whole.
   */
  static Mapping openInHugePages(Path file, long length) throws IOException {
    return open(file, length, SystemCalls.HUGE_PAGES);
  }

  /**
   * Asks the kernel to read a part of the file and to map it, without touching it: nothing fails if
   * it cannot.
   */
  void populate(long position, long length) {
    SystemCalls calls = LinuxCalls.instance();
    if (calls != null) {
      calls.advise(whole.address() + position, length, SystemCalls.POPULATE);
    }
  }

  private static Mapping open(Path file, long length, int advice) throws IOException {
    ByteBuffer[] pieces = new ByteBuffer[Math.toIntExact((length - 1 >>> SHIFT) + 1)];
    Arena arena = Arena.ofShared();
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
      if (channel.size() < length) {
        throw new IOException(file + ": shorter than " + length + " bytes");
      }
      MemorySegment whole = channel.map(FileChannel.MapMode.READ_ONLY, 0, length, arena);
      SystemCalls calls = LinuxCalls.instance();
      if (calls != null) {
        calls.advise(whole.address(), length, advice); // a refusal costs time only
      }
      for (int i = 0; i < pieces.length; i++) {
        long from = (long) i << SHIFT;
        long size = Math.min(length - from, (1L << SHIFT) + OVERLAP);
        pieces[i] = whole.asSlice(from, size).asByteBuffer().order(ByteOrder.LITTLE_ENDIAN);
      }
      return new Mapping(arena, whole, pieces);
    } catch (IOException | RuntimeException e) {
      arena.close();
      throw e;
    }
  }

  /**
   * The buffer in which the byte at {@code position} stands, at {@link #offset}; little-endian,
   * absolute gets only.
   */
  public ByteBuffer buffer(long position) {
    return pieces[(int) (position >>> SHIFT)];
  }

  /** All buffers, each of 1 GiB and {@link #OVERLAP} bytes but the last. */
  ByteBuffer[] pieces() {
    return pieces;
  }

  /** Where in its {@link #buffer} the byte at {@code position} stands. */
  public static int offset(long position) {
    return (int) position & (1 << SHIFT) - 1;
  }

  /** Whether the page that starts at {@code position} is in memory, as far as the system says. */
  public boolean isResident(long position) {
    return isResident(position, PageSource.PAGE);
  }

  /** The same of a run of bytes that lies in one {@link #buffer}. */
  boolean isResident(long position, long length) {
    return whole.asSlice(position, length).isLoaded();
  }

  /** Unmaps the file. */
  @Override
  public void close() {
    if (arena.scope().isAlive()) {
      arena.close();
    }
  }
}
