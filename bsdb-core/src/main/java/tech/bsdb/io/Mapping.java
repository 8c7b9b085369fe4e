package tech.bsdb.io;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * A whole file mapped for reading, in pieces that overlap, so that every run of up to {@link
 * #OVERLAP} bytes lies in one buffer.
 *
 * <p>This is the one for Java 17 to 21; from Java 22 on the class of the same name in the overlay
 * takes its place. Reading is thread-safe. Nothing may be read while {@link #close} runs or later:
 * here that would crash the virtual machine, so the owner waits for its readers first.
 */
public final class Mapping implements Closeable {
  /** Bytes that two neighbouring pieces share. */
  public static final int OVERLAP = 1 << 20;

  private static final int SHIFT = 30;

  private final ByteBuffer[] pieces;
  private final MappedByteBuffer[] mapped;

  private Mapping(ByteBuffer[] pieces, MappedByteBuffer[] mapped) {
    this.pieces = pieces;
    this.mapped = mapped;
  }

  /**
   * Maps a file that will soon be touched everywhere. On Java 22 and newer the kernel begins to
   * read it; here it is left to its own ways.
   */
  public static Mapping openSoonNeeded(Path file, long length) throws IOException {
    return open(file, length);
  }

  /**
   * Maps a file whose pages are to be huge ones when they are read. On Java 22 and newer the kernel
   * is asked for that; here it is not.
   */
  static Mapping openInHugePages(Path file, long length) throws IOException {
    return open(file, length);
  }

  /**
   * Asks the kernel to read a part of the file and to map it, without touching it: nothing fails if
   * it cannot. Here nothing is asked.
   */
  void populate(long position, long length) {}

  /** Maps the first {@code length} bytes of a file, at least 1, of which any may be touched. */
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
    return mapped[(int) (position >>> SHIFT)].slice(offset(position), (int) length).isLoaded();
  }

  /** Unmaps the file. */
  @Override
  public void close() {
    for (int i = 0; i < mapped.length; i++) {
      MappedByteBuffer buffer = mapped[i];
      if (buffer != null) {
        BufferCleaner.free(buffer);
      }
    }
  }
}
