package tech.bsdb.io;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;

/**
 * A whole file mapped for reading, in overlapping pieces, so that every run of up to {@link
 * #OVERLAP} bytes lies in one buffer.
 *
 * <p>This version serves Java 17 to 21; on Java 22 and newer, the overlay class of the same name
 * replaces it. Reading is thread-safe. Reading during or after {@link #close} would crash the
 * virtual machine here; who cannot exclude that must {@link #release} the file instead.
 */
public final class Mapping implements Closeable {
  /** Bytes that two adjacent pieces share. */
  public static final int OVERLAP = 1 << 20;

  private static final int SHIFT = 30;

  private final ByteBuffer[] pieces;
  private final MappedByteBuffer[] mapped;

  private Mapping(ByteBuffer[] pieces, MappedByteBuffer[] mapped) {
    this.pieces = pieces;
    this.mapped = mapped;
  }

  /**
   * Maps a file that will soon be touched everywhere. On Java 22 and newer, the kernel starts
   * reading it; here it does not.
   */
  public static Mapping openSoonNeeded(Path file, long length) throws IOException {
    return open(file, length);
  }

  /**
   * Maps a file that should be read into huge pages. On Java 22 and newer, the kernel is advised to
   * do so; here it is not.
   */
  static Mapping openInHugePages(Path file, long length) throws IOException {
    return open(file, length);
  }

  /**
   * Asks the kernel to read and map a part of the file without touching it, ignoring failure. Does
   * nothing here.
   */
  void populate(long position, long length) {}

  /** Maps the first {@code length} bytes of a file, at least 1, for random access. */
  public static Mapping open(Path file, long length) throws IOException {
    int count = Math.toIntExact((length - 1 >>> SHIFT) + 1);
    ByteBuffer[] pieces = new ByteBuffer[count];
    MappedByteBuffer[] mapped = new MappedByteBuffer[count];
    Mapping mapping = new Mapping(pieces, mapped);
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
      if (channel.size() < length) {
        throw new IOException(file + ": shorter than " + length + " bytes");
      }
      for (int i = 0; i < count; i++) {
        long from = (long) i << SHIFT;
        long size = Math.min(length - from, (1L << SHIFT) + OVERLAP);
        mapped[i] = channel.map(FileChannel.MapMode.READ_ONLY, from, size);
        pieces[i] = mapped[i].order(ByteOrder.LITTLE_ENDIAN);
      }
    } catch (IOException | RuntimeException e) {
      mapping.close();
      throw e;
    }
    return mapping;
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
    return mapped[(int) (position >>> SHIFT)].slice(offset(position), (int) length).isLoaded();
  }

  /**
   * Drops the buffers, even if others read them. The file is unmapped when the garbage collector
   * finds that nobody has a buffer of it.
   */
  void release() {
    Arrays.fill(mapped, null);
    Arrays.fill(pieces, null);
  }

  /** Unmaps the file, which nobody may read any more. */
  @Override
  public void close() {
    for (MappedByteBuffer buffer : mapped) {
      if (buffer != null) {
        BufferCleaner.free(buffer);
      }
    }
    release();
  }
}
