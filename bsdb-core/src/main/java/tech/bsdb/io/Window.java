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
public sealed class Window permits Extent {
  private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);
  private static final byte[] NO_BYTES = new byte[0];

  ByteBuffer buffer = NOTHING;
  int offset;

  /** Its own memory, on the heap or off it, as its sources need; and the address if off it. */
  private ByteBuffer own = NOTHING;

  private long address;
  private byte[] copy = NO_BYTES;

  /** How often reads, other than those of queues, or a trim changed the bytes; may wrap around. */
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
    if (buffer == own) {
      crc.update(own.limit(at + length).position(at));
      own.clear();
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
    if (own.isDirect() || own.capacity() < bytes) {
      own = ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }
    show(own, 0);
    return own.array();
  }

  /** Makes an array this window's own and points at it. */
  void adopt(byte[] bytes) {
    own = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    show(own, 0);
  }

  /**
   * Points this window at its own page-aligned off-heap memory with room for {@code bytes} bytes,
   * which the source fills from the start. The source must reset the limit to the capacity when
   * done.
   */
  ByteBuffer prepareAligned(int bytes) {
    if (!own.isDirect() || own.capacity() < bytes) {
      int room = Integer.highestOneBit(bytes - 1) << 1;
      address = 0;
      own =
          ByteBuffer.allocateDirect(room + PageSource.PAGE)
              .alignedSlice(PageSource.PAGE)
              .slice(0, room)
              .order(ByteOrder.LITTLE_ENDIAN);
    }
    show(own, 0);
    return own;
  }

  /** Like {@link #prepareAligned}, but returns the memory's address. */
  long prepareNative(int bytes, SystemCalls calls) {
    ByteBuffer memory = prepareAligned(bytes);
    if (address == 0) {
      address = calls.address(memory);
    }
    return address;
  }

  /** Releases the window's own memory if it exceeds {@code most} bytes. */
  public void trim(int most) {
    if (own.capacity() > most) {
      reads++;
      own = NOTHING;
      address = 0;
      buffer = NOTHING;
    }
  }
}
