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
import tech.bsdb.tools.serve.batch.RequestRefusedException;
import tech.bsdb.tools.serve.client.Credentials;
import tech.bsdb.tools.serve.client.Scope;

/**
 * Reads a request's head: rejects a malformed or forbidden request, and finds the action that
 * answers it. Thread-safe.
 *
 * @param credentials what clients must have; null if they need nothing
 * @param bodyBytes maximum bytes of a body
 */
record RequestReader(Routes routes, @Nullable Credentials credentials, int bodyBytes) {
  private static final String UNKNOWN_CODING = "chunked is the only transfer coding supported";

  /** The syntax of a coding's name (RFC 9110, section 5.6.2). */
  private static final Pattern TOKEN = Pattern.compile("[!#$%&'*+.^_`|~0-9A-Za-z-]+");

  /** Creates the exchange for a request. */
  Exchange exchange(HttpConnection connection, HttpRequest request) {
    boolean broken = request.decoderResult().isFailure();
    return new Exchange(
        connection,
        broken ? "-" : request.method().name(),
        broken ? "-" : request.uri(),
        !broken && request.protocolVersion().equals(HttpVersion.HTTP_1_0),
        !broken && HttpUtil.isKeepAlive(request));
  }

  /** Sets the exchange's action, or returns the reply that rejects the request. */
  @Nullable Reply refusal(Exchange exchange, HttpRequest request) {
    try {
      checkHead(request);
    } catch (RequestRefusedException e) {
      return Reply.of(e);
    }
    Action action = action(exchange, request);
    exchange.action = action;
    return action instanceof Reply reply && hasBody(request)
        ? reply
        : null; // without a body to skip, the connection stays open
  }

  private Action action(Exchange exchange, HttpRequest request) {
    HttpHeaders headers = request.headers();
    try {
      RequestTarget target = RequestTarget.parse(request.uri());
      if (credentials != null) {
        String authorization = headers.get(HttpHeaderNames.AUTHORIZATION);
        Scope scope = credentials.ofHeader(authorization, exchange.connection.certificate());
        if (scope == null && !routes.open(target)) {
          return Reply.error(
              401,
              "this needs a token: Authorization: Bearer TOKEN",
              "www-authenticate: Bearer realm=\"bsdb\"\r\n");
        }
        exchange.scope = scope == null ? credentials.ofStrangers() : scope;
      }
      if (target.isServer()) {
        return exchange.refuseMethod("GET, HEAD, POST");
      }
      Action action = routes.action(target, exchange, headers);
      if (action.plainRoutes() != null && isPlain(exchange, target, headers)) {
        exchange.connection.plain(action.plainRoutes());
      }
      return action;
    } catch (RequestRefusedException e) {
      return Reply.of(e);
    }
  }

  /** Whether nothing but the action determines the answer, and nothing follows it. */
  private static boolean isPlain(Exchange exchange, RequestTarget target, HttpHeaders headers) {
    return exchange.method.equals("GET")
        && !exchange.http10
        && exchange.keepAlive
        && target.query() == null
        && !headers.contains(HttpHeaderNames.CONTENT_LENGTH)
        && !headers.contains(HttpHeaderNames.TRANSFER_ENCODING)
        && !headers.contains(HttpHeaderNames.EXPECT);
  }

  private static RequestRefusedException malformed(HttpRequest request) {
    Throwable cause = request.decoderResult().cause();
    if (cause instanceof TooLongHttpLineException) {
      return new RequestRefusedException(
          414, "the request line is longer than " + RequestDecoder.MAX_LINE + " octets");
    }
    if (cause instanceof TooLongHttpHeaderException || cause instanceof TooLongFrameException) {
      return new RequestRefusedException(
          431, "the headers are longer than " + RequestDecoder.MAX_HEADERS + " octets");
    }
    return hasUnsupportedCoding(request)
        ? new RequestRefusedException(501, UNKNOWN_CODING)
        : new RequestRefusedException("not a well-formed HTTP request");
  }

  /**
   * Whether the transfer codings are well-formed but not all supported, and no length contradicts
   * them.
   */
  private static boolean hasUnsupportedCoding(HttpRequest request) {
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

  private void checkHead(HttpRequest request) throws RequestRefusedException {
    if (request.decoderResult().isFailure()) {
      throw malformed(request);
    }
    HttpVersion version = request.protocolVersion();
    boolean http10 = version.equals(HttpVersion.HTTP_1_0);
    if (!http10 && !version.equals(HttpVersion.HTTP_1_1)) {
      throw new RequestRefusedException(505, "only HTTP/1.1 and HTTP/1.0 are supported");
    }
    HttpHeaders headers = request.headers();
    Iterator<? extends CharSequence> hosts =
        headers.valueCharSequenceIterator(HttpHeaderNames.HOST);
    if (hosts.hasNext()) {
      if (!isHost(hosts.next())) {
        throw new RequestRefusedException(400, "the Host header is not a valid host");
      }
      if (hosts.hasNext()) {
        throw new RequestRefusedException(400, "more than one Host header");
      }
    } else if (!http10) {
      throw new RequestRefusedException(400, "no Host header");
    }
    if (headers.contains(HttpHeaderNames.TRANSFER_ENCODING)) {
      if (http10) {
        throw new RequestRefusedException(400, "HTTP/1.0 has no transfer codings");
      }
      if (!isChunkedAlone(headers)) {
        throw new RequestRefusedException(501, UNKNOWN_CODING);
      }
    }
    if (HttpUtil.getContentLength(request, 0L) > bodyBytes) {
      throw new RequestRefusedException(413, tooLarge());
    }
    String expect = headers.get(HttpHeaderNames.EXPECT);
    if (expect != null && !expect.equalsIgnoreCase("100-continue")) {
      throw new RequestRefusedException(417, "100-continue is the only expectation supported");
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

  /** Returns the message for a body beyond the limit. */
  String tooLarge() {
    return "the body is larger than " + bodyBytes + " bytes";
  }

  /** Whether the client waits for 100 Continue before it sends the body. */
  boolean expectsContinue(HttpRequest request) {
    return HttpUtil.is100ContinueExpected(request) && hasBody(request);
  }
}
