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
 * A whole file mapped for reading, in overlapping pieces, so that every run of up to {@link
 * #OVERLAP} bytes lies in one buffer.
 *
 * <p>This version serves Java 22 and newer: a shared arena unmaps at a known time, and a read after
 * that throws an {@link IllegalStateException}. Where native access is allowed, the kernel is
 * advised not to read ahead; otherwise the first touch of a cold page reads megabytes. The class
 * must have the same members as the Java 17 class of the same name.
 */
public final class Mapping implements Closeable {
  /** Bytes that two adjacent pieces share. */
  public static final int OVERLAP = 1 << 20;

  private static final int SHIFT = 30;

  /**
   * The largest file that is read ahead, so that opening takes about the same time for every size.
   */
  private static final long MOST_AHEAD = 64L << 20;

  private final Arena arena;
  private final MemorySegment whole;
  private final ByteBuffer[] pieces;

  private Mapping(Arena arena, MemorySegment whole, ByteBuffer[] pieces) {
    this.arena = arena;
    this.whole = whole;
    this.pieces = pieces;
  }

  /** Maps the first {@code length} bytes of a file, at least 1, for random access. */
  public static Mapping open(Path file, long length) throws IOException {
    return open(file, length, SystemCalls.RANDOM);
  }

  /**
   * Maps a file that will soon be touched everywhere. Unless it is too large, the kernel starts
   * reading it; this method does not wait for that.
   */
  public static Mapping openSoonNeeded(Path file, long length) throws IOException {
    return open(file, length, length > MOST_AHEAD ? SystemCalls.RANDOM : SystemCalls.WILL_NEED);
  }

  /**
   * Maps a file that should be read into huge pages, so that each fault reads 2 MiB. Only for files
   * that are read completely.
   */
  static Mapping openInHugePages(Path file, long length) throws IOException {
    return open(file, length, SystemCalls.HUGE_PAGES);
  }

  /** Asks the kernel to read and map a part of the file without touching it, ignoring failure. */
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
        calls.advise(whole.address(), length, advice); // a refusal only costs time
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
   * Returns the buffer that holds the byte at {@code position}, at index {@link #offset};
   * little-endian, absolute gets only.
   */
  public ByteBuffer buffer(long position) {
    return pieces[(int) (position >>> SHIFT)];
  }

  /** All buffers, each of 1 GiB plus {@link #OVERLAP} bytes except the last. */
  ByteBuffer[] pieces() {
    return pieces;
  }

  /** Returns the index of the byte at {@code position} in its {@link #buffer}. */
  public static int offset(long position) {
    return (int) position & (1 << SHIFT) - 1;
  }

  /** Whether the page that starts at {@code position} is in memory, according to the system. */
  public boolean isResident(long position) {
    return isResident(position, PageSource.PAGE);
  }

  /** The same for a run of bytes within one {@link #buffer}. */
  boolean isResident(long position, long length) {
    return whole.asSlice(position, length).isLoaded();
  }

  /** Unmaps the file, even if others read it: from then on, that throws. */
  void release() {
    close();
  }

  /** Unmaps the file. */
  @Override
  public void close() {
    Arenas.close(arena);
  }
}
