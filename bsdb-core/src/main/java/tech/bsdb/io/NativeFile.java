package tech.bsdb.io;

import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/**
 * The pages of a file, read by {@code pread} without locks and unaffected by thread interrupts.
 * Reads fill the window's page-aligned memory. As thread-safe as {@link PageSource} requires.
 */
final class NativeFile implements PageSource {
  private final SystemCalls calls;
  private final Path file;
  private final boolean direct;
  private int descriptor;

  private NativeFile(SystemCalls calls, Path file, boolean direct, int descriptor) {
    this.calls = calls;
    this.file = file;
    this.direct = direct;
    this.descriptor = descriptor;
  }

  /**
   * Opens a file.
   *
   * @param direct whether its reads bypass the page cache
   */
  static NativeFile open(SystemCalls calls, Path file, boolean direct) throws IOException {
    byte[] path = bytes(file);
    int descriptor;
    do {
      descriptor = calls.open(path, direct);
    } while (descriptor == -Errno.EINTR);
    if (descriptor < 0) {
      throw Errno.cannotOpen(file, -descriptor, direct);
    }
    return new NativeFile(calls, file, direct, descriptor);
  }

  /**
   * Returns the bytes of a path as stored in the file system, regardless of the locale. They come
   * from the path's URI, which also preserves bytes that are not valid text.
   */
  static byte[] bytes(Path file) {
    byte[] uri = file.toAbsolutePath().toUri().getRawPath().getBytes(StandardCharsets.US_ASCII);
    ByteArrayOutputStream path = new ByteArrayOutputStream(uri.length);
    for (int i = 0; i < uri.length; i++) {
      if (uri[i] == '%') {
        path.write(Character.digit(uri[i + 1], 16) << 4 | Character.digit(uri[i + 2], 16));
        i += 2;
      } else {
        path.write(uri[i]);
      }
    }
    return path.toByteArray();
  }

  @Override
  public void read(long first, int count, Window window) throws IOException {
    int length = count * PAGE;
    read(first * PAGE, length, window.prepareNative(length, calls));
  }

  /** Reads {@code length} bytes to {@code address}. */
  void read(long position, int length, long address) throws IOException {
    int done = 0;
    while (done < length) {
      long got = calls.pread(descriptor, address + done, length - done, position + done);
      done += progress(got, length - done, position + done);
    }
  }

  /**
   * Returns how many of the {@code wanted} bytes at {@code position} a read fetched, or 0 to retry.
   *
   * @param got the result of the system call: a byte count or a negated error number
   * @throws IOException if retrying is pointless
   */
  int progress(long got, int wanted, long position) throws IOException {
    if (got == wanted) {
      return wanted;
    }
    if (got == -Errno.EINTR || got == -Errno.EAGAIN || got == -Errno.ECANCELED) {
      return 0;
    }
    if (got < 0) {
      throw new IOException(
          file + ": cannot be read at byte " + position + ": " + Errno.text((int) -got));
    }
    int whole = (int) (direct ? got & -PAGE : got); // a direct read resumes only at a page
    if (whole == 0) {
      throw endsAt(got, position + wanted);
    }
    return whole;
  }

  private IOException endsAt(long got, long end) {
    long size = calls.size(descriptor);
    if (size >= end) {
      return new IOException(
          file
              + ": cannot be read before byte "
              + end
              + ": the device returned only "
              + got
              + " bytes");
    }
    return cutShort(file, end);
  }

  /** Returns the exception for a file that ends too early. */
  static EOFException cutShort(Path file, long end) {
    return new EOFException(file + ": ends before byte " + end + "; it was cut short while open");
  }

  /** The descriptor, for a ring. */
  int descriptor() {
    return descriptor;
  }

  @Override
  public void close() throws IOException {
    int closing = descriptor;
    descriptor = -1;
    if (closing >= 0) {
      int result = calls.close(closing);
      if (result < 0 && result != -Errno.EINTR) { // EINTR: Linux has closed it anyway
        throw new IOException(file + ": cannot be closed: " + Errno.text(-result));
      }
    }
  }
}
