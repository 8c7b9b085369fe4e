package tech.bsdb.tools.inspect;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Reads keys, one per line. Lines end with {@code \n} or {@code \r\n}; the last may lack its end. A
 * leading byte-order mark is not part of the first key.
 */
public final class KeyReader {
  private static final byte[] MARK = {(byte) 0xEF, (byte) 0xBB, (byte) 0xBF};

  private final InputStream in;
  private final byte[] buffer = new byte[1 << 16];
  private final ByteArrayOutputStream line = new ByteArrayOutputStream();
  private boolean started;
  private int from;
  private int to;

  /** Reads keys from a stream, which its opener closes. */
  public KeyReader(InputStream in) {
    this.in = in;
  }

  /** The bytes of the next line, or null at the end. */
  public byte @Nullable [] next() throws IOException {
    line.reset();
    if (!started) {
      started = true;
      skipByteOrderMark();
    }
    boolean any = false;
    while (from < to || fill()) {
      any = true;
      int end = from;
      while (end < to && buffer[end] != '\n') {
        end++;
      }
      line.write(buffer, from, end - from);
      from = Math.min(end + 1, to);
      if (end < to) {
        return withoutCarriageReturn(line.toByteArray());
      }
    }
    return any ? line.toByteArray() : null;
  }

  /** Whether the buffer is exhausted, so that {@link #next} may wait for more. */
  boolean drained() {
    return from == to;
  }

  private void skipByteOrderMark() throws IOException {
    while (to < MARK.length && Arrays.mismatch(buffer, 0, to, MARK, 0, to) < 0) {
      int count = in.read(buffer, to, buffer.length - to);
      if (count < 0) {
        return;
      }
      to += count;
    }
    boolean marked =
        to >= MARK.length && Arrays.equals(buffer, 0, MARK.length, MARK, 0, MARK.length);
    from = marked ? MARK.length : 0;
  }

  private boolean fill() throws IOException {
    from = 0;
    to = Math.max(0, in.read(buffer));
    return to > 0;
  }

  private static byte[] withoutCarriageReturn(byte[] bytes) {
    boolean ends = bytes.length > 0 && bytes[bytes.length - 1] == '\r';
    return ends ? Arrays.copyOf(bytes, bytes.length - 1) : bytes;
  }
}
