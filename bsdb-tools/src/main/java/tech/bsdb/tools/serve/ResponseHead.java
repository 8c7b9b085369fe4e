package tech.bsdb.tools.serve;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;

/**
 * Writes the head of a response (RFC 9112). The parts that most responses share are encoded once;
 * the head of a value costs about 50 ns.
 */
final class ResponseHead {
  /** A body of unknown length. */
  static final long CHUNKED = -1;

  /** A body terminated by closing the connection, for HTTP/1.0. */
  static final long TO_THE_END = -2;

  /** A response without a body, whatever the request's method (RFC 9110, section 15.4.5). */
  static final long NO_BODY = -3;

  private static final DateTimeFormatter DATE =
      DateTimeFormatter.ofPattern("EEE, dd MMM yyyy HH:mm:ss 'GMT'", Locale.ROOT)
          .withZone(ZoneOffset.UTC);
  private static final byte[][] STATUS_LINES = new byte[600][];
  private static final byte[] LENGTH = bytes("content-length: ");
  private static final byte[] CHUNKS = bytes("transfer-encoding: chunked\r\n");
  private static final byte[] CLOSE = bytes("connection: close\r\n");
  private static final byte[] KEEP = bytes("connection: keep-alive\r\n");
  private static volatile Clock clock = Clock.at(Instant.EPOCH.getEpochSecond());

  static {
    for (int status = 100; status < STATUS_LINES.length; status++) {
      String reason = HttpResponseStatus.valueOf(status).reasonPhrase();
      STATUS_LINES[status] = bytes("HTTP/1.1 " + status + " " + reason + "\r\n");
    }
  }

  private ResponseHead() {}

  /** The date header line for one second. */
  private record Clock(long second, byte[] line) {
    static Clock at(long second) {
      return new Clock(
          second, bytes("date: " + DATE.format(Instant.ofEpochSecond(second)) + "\r\n"));
    }
  }

  /**
   * Writes a head.
   *
   * @param length bytes of the body, or {@link #CHUNKED}, or {@link #TO_THE_END}, or {@link
   *     #NO_BODY}
   * @param keepAlive whether the connection stays open
   * @param http10 whether the client speaks HTTP/1.0
   * @param headers further lines, each ending in CRLF
   */
  static void write(
      ByteBuf out,
      int status,
      MediaType type,
      long length,
      boolean keepAlive,
      boolean http10,
      String headers) {
    out.writeBytes(STATUS_LINES[status]);
    if (length != NO_BODY) {
      out.writeBytes(type.line());
    }
    if (length >= 0) {
      out.writeBytes(LENGTH);
      writeDecimal(out, length);
      out.writeByte('\r').writeByte('\n');
    } else if (length == CHUNKED) {
      out.writeBytes(CHUNKS);
    }
    out.writeBytes(dateLine());
    if (!keepAlive) {
      out.writeBytes(CLOSE);
    } else if (http10) {
      out.writeBytes(KEEP);
    }
    if (!headers.isEmpty()) {
      out.writeCharSequence(headers, ISO_8859_1);
    }
    out.writeByte('\r').writeByte('\n');
  }

  /** Returns the header lines up to the value of the length. */
  static byte[] untilLength(int status, MediaType type) {
    String line = new String(STATUS_LINES[status], ISO_8859_1);
    return bytes(line + new String(type.line(), ISO_8859_1) + new String(LENGTH, ISO_8859_1));
  }

  /** Returns the header line with the current date; do not modify it. */
  static byte[] dateLine() {
    long second = System.currentTimeMillis() / 1000;
    Clock known = clock;
    if (known.second != second) {
      known = Clock.at(second);
      clock = known;
    }
    return known.line;
  }

  private static void writeDecimal(ByteBuf out, long number) {
    if (number < 10) {
      out.writeByte('0' + (int) number);
      return;
    }
    long divisor = 1;
    while (number / divisor >= 10) {
      divisor *= 10;
    }
    for (; divisor > 0; divisor /= 10) {
      out.writeByte('0' + (int) (number / divisor % 10));
    }
  }

  private static byte[] bytes(String text) {
    return text.getBytes(ISO_8859_1);
  }
}
