package tech.bsdb.io;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;

/**
 * Where the bytes of a read lie: a little-endian buffer and an offset in it.
 *
 * <p>A window belongs to one thread at a time. What it shows stays valid until the next read into
 * it, or until the source is closed. Memory of its own is kept for the next read, at most {@link
 * PageSource#MAX_RUN} pages, and freed when the window is garbage.
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
  private final CRC32C crc = new CRC32C();

  /**
   * The CRC32C of {@code length} bytes from {@code at} on in the {@link #buffer}. Allocates nothing
   * once the window has been used so before.
   *
   * <p>Memory of its own is read where it lies. What lies in a file's mapping is copied first: if
   * the file was cut short, or the device fails, the copy ends by an {@link InternalError} that can
   * be caught, where the processor's own instructions for checksums would crash the virtual
   * machine.
   */
  @SuppressWarnings("ReferenceEquality") // is it the very buffer?
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

  /** The buffer; only absolute gets may be used. */
  public ByteBuffer buffer() {
    return buffer;
  }

  /** Where the first byte of the read stands in the buffer. */
  public int offset() {
    return offset;
  }

  /**
   * Points this window at an array of its own, with room for {@code bytes}, for a source to fill
   * from its start.
   */
  byte[] prepare(int bytes) {
    if (own.length < bytes) {
      own = new byte[bytes];
      ownBuffer = ByteBuffer.wrap(own).order(ByteOrder.LITTLE_ENDIAN);
    }
    buffer = ownBuffer;
    offset = 0;
    return own;
  }

  /**
   * Points this window at memory of its own that starts at a page boundary and is not in the heap,
   * with room for {@code bytes}, for a source to fill from its start. Its limit must be its
   * capacity again when the source is done.
   */
  @SuppressWarnings("ReferenceEquality") // a store of the same reference would cost a barrier
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

  /** Lets go of memory of its own of more than so many bytes; whether there was some. */
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

  /** The same memory, by its address. */
  long prepareNative(int bytes, SystemCalls calls) {
    ByteBuffer memory = prepareAligned(bytes);
    if (address == 0) {
      address = calls.address(memory);
    }
    return address;
  }
}
