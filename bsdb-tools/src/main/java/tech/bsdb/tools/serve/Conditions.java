package tech.bsdb.tools.serve;

import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.serve.batch.BadRequestException;

/**
 * What a request demands of the version that answers it (RFC 9110, section 13).
 *
 * @param version the version that must answer, by its name or its database id; null for any
 * @param ifMatch the tags of which the answer must have one; null for any
 * @param ifNoneMatch the tags that the client has; null for none
 */
record Conditions(
    @Nullable String version, @Nullable String ifMatch, @Nullable String ifNoneMatch) {
  /** Nothing is demanded. */
  static final Conditions NONE = new Conditions(null, null, null);

  private static final String ANY = "*";

  /**
   * The conditions of a request for one key.
   *
   * @throws BadRequestException if the version is given twice, or malformed
   */
  static Conditions of(RequestTarget target, HttpHeaders headers) throws BadRequestException {
    String version = target.parameter("version");
    String ifMatch = list(headers, HttpHeaderNames.IF_MATCH);
    String ifNoneMatch = list(headers, HttpHeaderNames.IF_NONE_MATCH);
    return version == null && ifMatch == null && ifNoneMatch == null
        ? NONE
        : new Conditions(version, ifMatch, ifNoneMatch);
  }

  /**
   * The conditions of a request for many keys: their answer has no tag, so that only a version can
   * be demanded.
   *
   * @throws BadRequestException if the version is given twice, or malformed
   */
  static Conditions ofBatch(RequestTarget target) throws BadRequestException {
    String version = target.parameter("version");
    return version == null ? NONE : new Conditions(version, null, null);
  }

  private static @Nullable String list(HttpHeaders headers, CharSequence name) {
    if (!headers.contains(name)) {
      return null;
    }
    List<String> lines = headers.getAll(name);
    return (lines.size() == 1 ? lines.get(0) : String.join(",", lines)).strip();
  }

  /**
   * Refuses a request that demands another version.
   *
   * @throws RequestRefusedException with the version that is served
   */
  void check(Identity served) throws RequestRefusedException {
    if (version != null && !served.isCalled(version)) {
      throw new RequestRefusedException(
          Reply.error(
              412,
              "version "
                  + Requests.printable(version)
                  + " is asked for, but version "
                  + served.version()
                  + " is served",
              served.header()));
    }
  }

  /**
   * Whether the client has the value already, so that it need not be read. Who sends the tag of a
   * value was sent that value: it is there.
   */
  boolean isKnown(String tag) {
    return ifNoneMatch != null
        && !ANY.equals(ifNoneMatch)
        && has(ifNoneMatch, tag, true)
        && matchesIf(tag);
  }

  /** What answers instead of a value that is there; null where the value does. */
  @Nullable Reply insteadOf(String tag, String headers) {
    if (!matchesIf(tag)) {
      return Reply.error(412, "the value is not, or no more, the one of If-Match", headers);
    }
    return ifNoneMatch != null && (ANY.equals(ifNoneMatch) || has(ifNoneMatch, tag, true))
        ? Reply.unchanged(headers)
        : null;
  }

  private boolean matchesIf(String tag) {
    return ifMatch == null || ANY.equals(ifMatch) || has(ifMatch, tag, false);
  }

  /** Whether a list has a tag, in its quotes, which cannot be part of another. */
  private static boolean has(String list, String tag, boolean weak) {
    for (int at = list.indexOf(tag); at >= 0; at = list.indexOf(tag, at + 1)) {
      if (weak || at == 0 || list.charAt(at - 1) != '/') {
        return true;
      }
    }
    return false;
  }
}
