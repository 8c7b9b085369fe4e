package tech.bsdb.io;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;

/**
 * The bytes of a read: a little-endian buffer and an offset in it.
 *
 * <p>Used by one thread at a time. The contents stay valid until the next read into the window or
 * until the source is closed. The window keeps its own memory, at most {@link PageSource#MAX_RUN}
 * pages, for the next read; it is freed when the window is garbage-collected.
 */
public final class Window {
  private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);
  private static final byte[] NO_BYTES = new byte[0];

  ByteBuffer buffer = NOTHING;
  int offset;
  private byte[] own = NO_BYTES;
  private ByteBuffer ownBuffer = NOTHING;
  private ByteBuffer aligned = NOTHING;
  private long address;
  private byte[] copy = NO_BYTES;

  /** How often pages were read into it; may wrap around. */
  int reads;

  private final CRC32C crc = new CRC32C();

  /**
   * Returns the CRC32C of {@code length} bytes of the {@link #buffer}, starting at {@code at}.
   * Allocates nothing after the first such call.
   *
   * <p>Checksums the window's own memory in place. Copies bytes in a file mapping first: if the
   * file was cut short or the device fails, the copy throws an {@link InternalError} that can be
   * caught, whereas the CRC intrinsic would crash the virtual machine.
   */
  @SuppressWarnings("ReferenceEquality") // identity is meant
  public int crc32c(int at, int length) {
    crc.reset();
    if (buffer == ownBuffer) {
      crc.update(own, at, length);
    } else if (buffer == aligned) {
      crc.update(aligned.limit(at + length).position(at));
      aligned.clear();
    } else {
      if (copy.length < length) {
        copy = new byte[Math.max(length, PageSource.PAGE)];
      }
      buffer.get(at, copy, 0, length);
      crc.update(copy, 0, length);
    }
    return (int) crc.getValue();
  }

  /** Points this window at a file in memory. */
  @SuppressWarnings(
      "ReferenceEquality") // storing a reference costs a barrier, with a fence under G1
  void show(ByteBuffer file, int at) {
    if (buffer != file) {
      buffer = file;
    }
    offset = at;
  }

  /** The buffer; only absolute gets may be used. */
  public ByteBuffer buffer() {
    return buffer;
  }

  /** The index of the read's first byte in the buffer. */
  public int offset() {
    return offset;
  }

  /**
   * Points this window at its own array with room for {@code bytes} bytes, which the source fills
   * from the start.
   */
  byte[] prepare(int bytes) {
    if (own.length < bytes) {
      byte[] larger = new byte[bytes];
      ownBuffer = ByteBuffer.wrap(larger).order(ByteOrder.LITTLE_ENDIAN);
      own = larger; // last, so that both change or neither if memory runs out
    }
    buffer = ownBuffer;
    offset = 0;
    return own;
  }

  /**
   * Points this window at its own page-aligned off-heap memory with room for {@code bytes} bytes,
   * which the source fills from the start. The source must reset the limit to the capacity when
   * done.
   */
  @SuppressWarnings("ReferenceEquality") // storing the same reference would cost a barrier
  ByteBuffer prepareAligned(int bytes) {
    if (aligned.capacity() < bytes) {
      int room = Integer.highestOneBit(bytes - 1) << 1;
      aligned =
          ByteBuffer.allocateDirect(room + PageSource.PAGE)
              .alignedSlice(PageSource.PAGE)
              .slice(0, room)
              .order(ByteOrder.LITTLE_ENDIAN);
      address = 0;
    }
    if (buffer != aligned) {
      buffer = aligned;
    }
    offset = 0;
    return aligned;
  }

  /** Releases the window's own memory if it exceeds {@code most} bytes; returns whether it did. */
  boolean trim(int most) {
    boolean much = own.length > most || aligned.capacity() > most;
    if (much) {
      own = NO_BYTES;
      ownBuffer = NOTHING;
      aligned = NOTHING;
      address = 0;
      buffer = NOTHING;
    }
    return much;
  }

  /** Like {@link #prepareAligned}, but returns the memory's address. */
  long prepareNative(int bytes, SystemCalls calls) {
    ByteBuffer memory = prepareAligned(bytes);
    if (address == 0) {
      address = calls.address(memory);
    }
    return address;
  }
}
