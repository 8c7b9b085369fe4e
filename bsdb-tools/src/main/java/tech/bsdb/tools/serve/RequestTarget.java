package tech.bsdb.tools.serve;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.netty.handler.codec.http.QueryStringDecoder;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.serve.batch.RequestRefusedException;

/**
 * The target of a request as received: path and query, each byte an ISO 8859-1 character, nothing
 * decoded.
 *
 * @param path begins with a slash; or {@code *}
 * @param query the text after the question mark; null if there is none
 */
record RequestTarget(String path, @Nullable String query) {
  /**
   * Parses a target: the origin form {@code /path?query}, the absolute form {@code
   * http://host/path?query}, or {@code *} (RFC 9112, section 3.2).
   *
   * @throws RequestRefusedException if it has none of these forms
   */
  static RequestTarget parse(String target) throws RequestRefusedException {
    int begin = 0;
    if (target.isEmpty() || target.charAt(0) != '/') {
      if (target.equals("*")) {
        return new RequestTarget(target, null);
      }
      begin = afterAuthority(target);
    }
    int mark = target.indexOf('?', begin);
    int end = mark < 0 ? target.length() : mark;
    String path = begin == end ? "/" : target.substring(begin, end);
    if (target.indexOf('#', begin) >= 0) {
      throw new RequestRefusedException(
          400, "a request target cannot have a fragment: write # as %23");
    }
    return new RequestTarget(path, mark < 0 ? null : target.substring(mark + 1));
  }

  /** Whether this is {@code *}, the server as a whole. */
  boolean isServer() {
    return path.equals("*");
  }

  private static int afterAuthority(String target) throws RequestRefusedException {
    String scheme = target.substring(0, Math.min(8, target.length())).toLowerCase(Locale.ROOT);
    int authority = scheme.startsWith("http://") ? 7 : scheme.startsWith("https://") ? 8 : -1;
    if (authority < 0
        || authority == target.length()
        || "/?#".indexOf(target.charAt(authority)) >= 0) {
      throw new RequestRefusedException(400, "the request's target is neither a path nor a URL");
    }
    for (int i = authority; i < target.length(); i++) {
      if ("/?#".indexOf(target.charAt(i)) >= 0) {
        return i;
      }
    }
    return target.length();
  }

  /**
   * Returns the decoded names of the query parameters, in order.
   *
   * @throws RequestRefusedException if a percent-encoding is malformed
   */
  List<String> names() throws RequestRefusedException {
    List<String> names = new ArrayList<>();
    if (query != null) {
      for (String pair : query.split("&", -1)) {
        if (!pair.isEmpty()) {
          names.add(text(name(pair)));
        }
      }
    }
    return names;
  }

  private static String name(String pair) {
    int equals = pair.indexOf('=');
    return equals < 0 ? pair : pair.substring(0, equals);
  }

  /**
   * Returns the decoded value of a query parameter; null if it is not given.
   *
   * @throws RequestRefusedException if it is given twice, or a percent-encoding is malformed
   */
  @Nullable String parameter(String name) throws RequestRefusedException {
    String found = encoded(name);
    return found == null ? null : text(found);
  }

  /** Returns the value of a query parameter as received; null if it is not given. */
  private @Nullable String encoded(String name) throws RequestRefusedException {
    String found = null;
    if (query == null) {
      return null;
    }
    for (String pair : query.split("&", -1)) {
      String encoded = name(pair);
      if (name.equals(text(encoded))) {
        if (found != null) {
          throw new RequestRefusedException(400, "the parameter " + name + " is given twice");
        }
        found = pair.substring(Math.min(encoded.length() + 1, pair.length()));
      }
    }
    return found;
  }

  /**
   * Returns the bytes of a query parameter, percent-decoded once; null if it is not given.
   *
   * @throws RequestRefusedException if it is given twice, or a percent-encoding is malformed
   */
  byte @Nullable [] bytes(String name) throws RequestRefusedException {
    String found = encoded(name);
    return found == null ? null : decode(found);
  }

  private static String text(String encoded) throws RequestRefusedException {
    return new String(decode(encoded), UTF_8);
  }

  /**
   * Returns the bytes of a part of a path, percent-decoded once.
   *
   * @throws RequestRefusedException if a percent sign is not followed by two hexadecimal digits
   */
  static byte[] decode(String path, int from) throws RequestRefusedException {
    return decode(path.substring(from).replace("+", "%2B")); // a plus is a blank in queries alone
  }

  private static byte[] decode(String encoded) throws RequestRefusedException {
    try {
      return QueryStringDecoder.decodeComponent(encoded, ISO_8859_1).getBytes(ISO_8859_1);
    } catch (IllegalArgumentException e) {
      throw new RequestRefusedException(
          400, "a percent sign is not followed by two hexadecimal digits; write % as %25");
    }
  }
}
