package tech.bsdb.tools.serve;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.netty.handler.codec.http.HttpResponseStatus;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;

/** The heads of responses (RFC 9112). */
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
  private static final String LENGTH = "content-length: ";
  private static volatile Clock clock = Clock.at(Instant.EPOCH.getEpochSecond());

  private ResponseHead() {}

  /** The date header line for one second. */
  private record Clock(long second, byte[] line) {
    static Clock at(long second) {
      String line = "date: " + DATE.format(Instant.ofEpochSecond(second)) + "\r\n";
      return new Clock(second, line.getBytes(ISO_8859_1));
    }
  }

  /**
   * Returns the head of an answer.
   *
   * @param length bytes of the body, or {@link #CHUNKED}, or {@link #TO_THE_END}, or {@link
   *     #NO_BODY}
   */
  static String of(Reply reply, long length, Exchange exchange) {
    String body =
        length >= 0
            ? LENGTH + length + "\r\n"
            : length == CHUNKED ? "transfer-encoding: chunked\r\n" : "";
    String connection =
        !exchange.keepAlive
            ? "connection: close\r\n"
            : exchange.http10 ? "connection: keep-alive\r\n" : "";
    return statusLine(reply.status())
        + (length == NO_BODY ? "" : reply.type().line())
        + body
        + new String(dateLine(), ISO_8859_1)
        + connection
        + reply.headers()
        + "\r\n";
  }

  /** Returns the lines of a head up to the value of the length. */
  static String untilLength(int status, MediaType type) {
    return statusLine(status) + type.line() + LENGTH;
  }

  private static String statusLine(int status) {
    return "HTTP/1.1 " + HttpResponseStatus.valueOf(status) + "\r\n";
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
}
