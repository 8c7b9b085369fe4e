package tech.bsdb.tools.serve;

import io.netty.handler.codec.TooLongFrameException;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.TooLongHttpHeaderException;
import io.netty.handler.codec.http.TooLongHttpLineException;
import java.util.Iterator;
import java.util.Locale;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.serve.batch.BadRequestException;

/**
 * Reads a request's head: refuses what is malformed or not allowed, and finds what answers it.
 * Thread-safe.
 */
final class RequestReader {
  private static final Reply UNKNOWN_CODING =
      Reply.error(501, "the only transfer coding known here is chunked");

  /** What a coding may be called (RFC 9110, section 5.6.2). */
  private static final Pattern TOKEN = Pattern.compile("[!#$%&'*+.^_`|~0-9A-Za-z-]+");

  private final Routes routes;
  private final @Nullable Credentials credentials;
  private final int bodyBytes;

  RequestReader(Routes routes, @Nullable Credentials credentials, int bodyBytes) {
    this.routes = routes;
    this.credentials = credentials;
    this.bodyBytes = bodyBytes;
  }

  /** A new exchange for a request. */
  Exchange exchange(HttpConnection conversation, HttpRequest request) {
    boolean broken = request.decoderResult().isFailure();
    return new Exchange(
        conversation,
        broken ? "-" : request.method().name(),
        broken ? "-" : request.uri(),
        !broken && request.protocolVersion().equals(HttpVersion.HTTP_1_0),
        !broken && HttpUtil.isKeepAlive(request));
  }

  /** Gives the exchange what answers it, or says why it is refused. */
  @Nullable Reply refusal(Exchange exchange, HttpRequest request) {
    if (request.decoderResult().isFailure()) {
      return malformed(request);
    }
    try {
      checkHead(request);
    } catch (RequestRefusedException e) {
      return e.reply();
    } catch (BadRequestException e) {
      return Reply.error(e.status(), String.valueOf(e.getMessage()));
    }
    Reply reply = route(exchange, request);
    if (reply != null && !hasBody(request)) {
      exchange.action(x -> x.complete(reply)); // nothing to be skipped: the connection goes on
      return null;
    }
    return reply;
  }

  private @Nullable Reply route(Exchange exchange, HttpRequest request) {
    HttpHeaders headers = request.headers();
    try {
      RequestTarget target = RequestTarget.parse(request.uri());
      if (credentials != null
          && !routes.open(target)
          && !credentials.admit(headers.get(HttpHeaderNames.AUTHORIZATION))) {
        return Reply.error(
            401,
            "this needs a token: Authorization: Bearer TOKEN",
            "www-authenticate: Bearer realm=\"bsdb\"\r\n");
      }
      exchange.action(routes.action(target, exchange, headers));
      return null;
    } catch (RequestRefusedException e) {
      return e.reply();
    } catch (BadRequestException e) {
      return Reply.error(e.status(), String.valueOf(e.getMessage()));
    }
  }

  private static Reply malformed(HttpRequest request) {
    Throwable cause = request.decoderResult().cause();
    if (cause instanceof TooLongHttpLineException) {
      return Reply.error(
          414, "the request line is longer than " + RequestDecoder.MAX_LINE + " octets");
    }
    if (cause instanceof TooLongHttpHeaderException || cause instanceof TooLongFrameException) {
      return Reply.error(
          431, "the headers are longer than " + RequestDecoder.MAX_HEADERS + " octets");
    }
    return asksForAnotherCoding(request)
        ? UNKNOWN_CODING
        : Reply.error(400, "not a well-formed HTTP request");
  }

  /**
   * Whether nothing is wrong with the transfer codings but that they are not all known here, and no
   * length contradicts them.
   */
  private static boolean asksForAnotherCoding(HttpRequest request) {
    HttpHeaders headers = request.headers();
    if (!request.protocolVersion().equals(HttpVersion.HTTP_1_1)
        || headers.contains(HttpHeaderNames.CONTENT_LENGTH)) {
      return false;
    }
    boolean another = false;
    for (String value : headers.getAll(HttpHeaderNames.TRANSFER_ENCODING)) {
      for (String coding : value.split(",", -1)) {
        String name = coding.split(";", 2)[0].strip();
        if (!TOKEN.matcher(name).matches()) {
          return false;
        }
        another |= !HttpHeaderValues.CHUNKED.contentEqualsIgnoreCase(name);
      }
    }
    return another;
  }

  private void checkHead(HttpRequest request) throws BadRequestException, RequestRefusedException {
    HttpVersion version = request.protocolVersion();
    boolean http10 = version.equals(HttpVersion.HTTP_1_0);
    if (!http10 && !version.equals(HttpVersion.HTTP_1_1)) {
      throw new BadRequestException(505, "only HTTP/1.1 and HTTP/1.0 are spoken here");
    }
    HttpHeaders headers = request.headers();
    Iterator<? extends CharSequence> hosts =
        headers.valueCharSequenceIterator(HttpHeaderNames.HOST);
    if (hosts.hasNext()) {
      if (!isHost(hosts.next())) {
        throw new BadRequestException(400, "the Host header is no host");
      }
      if (hosts.hasNext()) {
        throw new BadRequestException(400, "more than one Host header");
      }
    } else if (!http10) {
      throw new BadRequestException(400, "no Host header");
    }
    if (headers.contains(HttpHeaderNames.TRANSFER_ENCODING)) {
      if (http10) {
        throw new BadRequestException(400, "HTTP/1.0 has no transfer codings");
      }
      if (!isChunkedAlone(headers)) {
        throw new RequestRefusedException(UNKNOWN_CODING);
      }
    }
    if (HttpUtil.getContentLength(request, 0L) > bodyBytes) {
      throw new BadRequestException(413, tooLarge());
    }
    String expect = headers.get(HttpHeaderNames.EXPECT);
    if (expect != null && !expect.equalsIgnoreCase("100-continue")) {
      throw new BadRequestException(417, "the only expectation known here is 100-continue");
    }
  }

  private static boolean isHost(CharSequence text) {
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c <= ' ' || c >= 127 || "/?#@,\\\"<>{}|^`".indexOf(c) >= 0) {
        return false;
      }
    }
    return true;
  }

  private static boolean isChunkedAlone(HttpHeaders headers) {
    Iterator<? extends CharSequence> codings =
        headers.valueCharSequenceIterator(HttpHeaderNames.TRANSFER_ENCODING);
    CharSequence first = codings.next();
    return !codings.hasNext()
        && first
            .toString()
            .strip()
            .toLowerCase(Locale.ROOT)
            .contentEquals(HttpHeaderValues.CHUNKED);
  }

  private static boolean hasBody(HttpRequest request) {
    return HttpUtil.getContentLength(request, 0L) > 0
        || request.headers().contains(HttpHeaderNames.TRANSFER_ENCODING);
  }

  /** The words for a body beyond the limit. */
  String tooLarge() {
    return "the body is larger than " + bodyBytes + " bytes";
  }

  /** Whether the client waits for a word before it sends the body. */
  boolean expectsContinue(HttpRequest request) {
    return HttpUtil.is100ContinueExpected(request) && hasBody(request);
  }
}
