package tech.bsdb.tools.serve;

import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.serve.batch.RequestRefusedException;
import tech.bsdb.tools.serve.client.FailureReports;

/**
 * A request's conditions on the version that answers it (RFC 9110, section 13).
 *
 * @param version the version that must answer, by name or database id; null for any
 * @param ifMatch the tags, one of which the answer must have; null for any
 * @param ifNoneMatch the tags that the client has; null for none
 */
record Conditions(
    @Nullable String version, @Nullable String ifMatch, @Nullable String ifNoneMatch) {
  /** No conditions. */
  static final Conditions NONE = new Conditions(null, null, null);

  private static final String ANY = "*";

  /**
   * The conditions of a request for one key.
   *
   * @throws RequestRefusedException if the version is given twice, or malformed
   */
  static Conditions of(RequestTarget target, HttpHeaders headers) throws RequestRefusedException {
    String version = target.parameter("version");
    String ifMatch = list(headers, HttpHeaderNames.IF_MATCH);
    String ifNoneMatch = list(headers, HttpHeaderNames.IF_NONE_MATCH);
    return version == null && ifMatch == null && ifNoneMatch == null
        ? NONE
        : new Conditions(version, ifMatch, ifNoneMatch);
  }

  /**
   * The conditions of a request for many keys: the answer has no tag, so only a version can be
   * required.
   *
   * @throws RequestRefusedException if the version is given twice, or malformed
   */
  static Conditions ofBatch(RequestTarget target) throws RequestRefusedException {
    String version = target.parameter("version");
    return version == null ? NONE : new Conditions(version, null, null);
  }

  private static @Nullable String list(HttpHeaders headers, CharSequence name) {
    return headers.contains(name) ? String.join(",", headers.getAll(name)).strip() : null;
  }

  /**
   * Rejects a request that requires another version.
   *
   * @throws RequestRefusedException that names the version being served
   */
  void check(Served served) throws RequestRefusedException {
    if (version != null && !served.isNamed(version)) {
      throw new RequestRefusedException(
          412,
          "version "
              + FailureReports.printable(version)
              + " was requested, but version "
              + served.version().name
              + " is served");
    }
  }

  /**
   * Whether the client already has the value, so that it need not be read. A client that sends a
   * value's tag was sent that value, so the value exists.
   */
  boolean clientHas(String tag) {
    return ifNoneMatch != null
        && !ANY.equals(ifNoneMatch)
        && has(ifNoneMatch, tag, true)
        && ifMatchHolds(tag);
  }

  /** Returns the answer to send instead of a present value; null to send the value. */
  @Nullable Reply insteadOf(String tag, String headers) {
    if (!ifMatchHolds(tag)) {
      return Reply.error(412, "the value does not match If-Match", headers);
    }
    return ifNoneMatch != null && (ANY.equals(ifNoneMatch) || has(ifNoneMatch, tag, true))
        ? Reply.unchanged(headers)
        : null;
  }

  private boolean ifMatchHolds(String tag) {
    return ifMatch == null || ANY.equals(ifMatch) || has(ifMatch, tag, false);
  }

  /**
   * Whether a list contains a tag. The tag includes its quotes, so it cannot match part of another.
   */
  private static boolean has(String list, String tag, boolean weak) {
    for (int at = list.indexOf(tag); at >= 0; at = list.indexOf(tag, at + 1)) {
      if (weak || at == 0 || list.charAt(at - 1) != '/') {
        return true;
      }
    }
    return false;
  }
}
