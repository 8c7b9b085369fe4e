package tech.bsdb.tools.input;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.util.zip.CRC32;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;
import java.util.zip.ZipException;

/**
 * Decompresses a gzip file (RFC 1952) with any number of members.
 *
 * <p>The JDK's {@code GZIPInputStream} takes bytes after a member that are not another member for
 * the end of the file, even if they are a truncated member, and stops after a member if its source
 * has no bytes {@code available()} at that moment. Here the file ends where its bytes end, which
 * must be after a member.
 */
final class GzipMembers extends InputStream {
  private static final int HEADER_CHECKSUM = 2;
  private static final int EXTRA = 4;
  private static final int NAME = 8;
  private static final int COMMENT = 16;
  private static final int RESERVED = 0xE0;

  private final InputStream in;
  private final Inflater inflater = new Inflater(/* nowrap= */ true);
  private final CRC32 checksum = new CRC32();
  private final byte[] buffer = new byte[1 << 16];
  private int next;
  private int limit;
  private int members;
  private boolean inMember;
  private boolean closed;

  GzipMembers(InputStream in) {
    this.in = in;
  }

  @Override
  public int read() throws IOException {
    byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
  }

  @Override
  public int read(byte[] to, int from, int length) throws IOException {
    if (closed) {
      throw new IOException("closed");
    }
    if (length == 0) {
      return 0;
    }
    while (inMember || startMember()) {
      int inflated = inflate(to, from, length);
      if (inflated > 0) {
        checksum.update(to, from, inflated);
        return inflated;
      }
      if (inflater.finished()) {
        endMember();
      } else if (inflater.needsDictionary()) {
        throw new ZipException("damaged gzip data: it requires a dictionary");
      } else if (inflater.needsInput()) {
        if (!fill()) {
          throw truncated();
        }
        inflater.setInput(buffer, 0, limit);
        next = limit;
      }
    }
    return -1;
  }

  private int inflate(byte[] to, int from, int length) throws ZipException {
    try {
      return inflater.inflate(to, from, length);
    } catch (DataFormatException damaged) {
      throw (ZipException)
          new ZipException("damaged gzip data: " + damaged.getMessage()).initCause(damaged);
    }
  }

  /** Reads a member's header; false if the file ends instead, as it may after a member. */
  private boolean startMember() throws IOException {
    if (next == limit && !fill()) {
      if (members == 0) {
        throw truncated();
      }
      return false;
    }
    if (members > 0 && buffer[next] == 0) {
      skipPadding();
      return false;
    }
    checksum.reset();
    if (headerByte() != 0x1F || headerByte() != 0x8B) {
      throw new ZipException(
          members == 0 ? "not in gzip format" : "garbage after the end of the gzip data");
    }
    if (headerByte() != 8) {
      throw new ZipException("damaged gzip data: unknown compression method");
    }
    int flags = headerByte();
    if ((flags & RESERVED) != 0) {
      throw new ZipException("damaged gzip data: unknown flags in a header");
    }
    skipHeader(6); // time, extra flags, operating system
    if ((flags & EXTRA) != 0) {
      skipHeader(headerByte() | headerByte() << 8);
    }
    if ((flags & NAME) != 0) {
      skipHeaderText();
    }
    if ((flags & COMMENT) != 0) {
      skipHeaderText();
    }
    if ((flags & HEADER_CHECKSUM) != 0) {
      int expected = (int) checksum.getValue() & 0xFFFF;
      if ((headerByte() | headerByte() << 8) != expected) {
        throw new ZipException("damaged gzip data: wrong checksum of a header");
      }
    }
    checksum.reset();
    inflater.reset();
    inflater.setInput(buffer, next, limit - next);
    next = limit;
    members++;
    inMember = true;
    return true;
  }

  /** Zeros up to the end are padding, as on tapes and block devices. */
  private void skipPadding() throws IOException {
    do {
      while (next < limit) {
        if (buffer[next++] != 0) {
          throw new ZipException("garbage after the end of the gzip data");
        }
      }
    } while (fill());
  }

  private void endMember() throws IOException {
    next = limit - inflater.getRemaining();
    inMember = false;
    if (trailerInt() != (int) checksum.getValue()) {
      throw new ZipException("damaged gzip data: wrong checksum");
    }
    if (trailerInt() != (int) inflater.getBytesWritten()) {
      throw new ZipException("damaged gzip data: wrong length");
    }
  }

  private int trailerInt() throws IOException {
    return nextByte() | nextByte() << 8 | nextByte() << 16 | nextByte() << 24;
  }

  private void skipHeader(int bytes) throws IOException {
    for (int i = 0; i < bytes; i++) {
      headerByte();
    }
  }

  private void skipHeaderText() throws IOException {
    while (headerByte() != 0) {
      // up to the zero
    }
  }

  private int headerByte() throws IOException {
    int b = nextByte();
    checksum.update(b);
    return b;
  }

  private int nextByte() throws IOException {
    if (next == limit && !fill()) {
      throw truncated();
    }
    return buffer[next++] & 0xFF;
  }

  private boolean fill() throws IOException {
    next = 0;
    limit = Math.max(0, in.read(buffer, 0, buffer.length));
    return limit > 0;
  }

  private static EOFException truncated() {
    return new EOFException("truncated: the gzip data ends before its end");
  }

  @Override
  public void close() throws IOException {
    if (!closed) {
      closed = true;
      inflater.end();
      in.close();
    }
  }
}
