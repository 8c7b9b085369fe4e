package tech.bsdb.tools.serve;

import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.serve.batch.BatchKeys;
import tech.bsdb.tools.serve.batch.KeyEncoding;
import tech.bsdb.tools.serve.batch.Projection;
import tech.bsdb.tools.serve.batch.RequestRefusedException;
import tech.bsdb.tools.serve.client.Scope.Permission;
import tech.bsdb.tools.serve.cluster.Cluster.ElsewhereException;
import tech.bsdb.tools.serve.telemetry.Route;

/**
 * The routes of the keys of a data set: single keys below a prefix, batches and ranges at the
 * prefix.
 *
 * @param prefix with a slash at both ends
 * @param batchKeys the maximum number of keys in a batch or a page of a range
 * @param many the route of batches and ranges
 * @param one the route of single keys
 */
record KeyRoutes(String prefix, Lookups lookups, int batchKeys, Route many, Route one) {
  /** Returns the action of a request whose path begins with the prefix. */
  Action action(RequestTarget target, Exchange exchange, HttpHeaders headers)
      throws RequestRefusedException {
    String path = target.path();
    boolean toMany = path.length() == prefix.length();
    exchange.route = toMany ? many : one;
    boolean reads = exchange.method.equals("GET") || exchange.isHead();
    if (reads) {
      boolean range = toMany && RangeRequest.isIn(target);
      exchange.require(range ? Permission.SCAN : Permission.GET);
      return range ? range(target, exchange) : lookup(target, exchange, headers);
    }
    if (!toMany || !exchange.method.equals("POST")) {
      return exchange.refuseMethod(toMany ? "GET, HEAD, POST" : "GET, HEAD");
    }
    exchange.require(Permission.GET);
    return batch(target, exchange, headers);
  }

  private Action lookup(RequestTarget target, Exchange exchange, HttpHeaders headers)
      throws RequestRefusedException {
    byte[] encoded = RequestTarget.decode(target.path(), prefix.length());
    Conditions conditions = Conditions.of(target, headers);
    byte[] key = encoding(target).decode(encoded);
    Projection fields = fields(target);
    try {
      lookups.requireHere(key);
    } catch (ElsewhereException e) {
      return lookups.misdirected(e);
    }
    return new KeyLookup(this, exchange, key, fields, conditions);
  }

  private Action range(RequestTarget target, Exchange exchange) throws RequestRefusedException {
    RangeRequest request =
        RangeRequest.of(target, encoding(target), Math.min(RangeRequest.MOST, batchKeys));
    Projection fields = fields(target);
    return new RangeLookup(lookups, exchange, Conditions.ofBatch(target), request, fields);
  }

  private static KeyEncoding encoding(RequestTarget target) throws RequestRefusedException {
    String name = target.parameter("key_encoding");
    return name == null ? KeyEncoding.TEXT : KeyEncoding.of(name);
  }

  private @Nullable Projection fields(RequestTarget target) throws RequestRefusedException {
    String fields = target.parameter("fields");
    if (fields == null) {
      return null;
    }
    if (!lookups.json()) {
      throw new RequestRefusedException(
          400, "fields requires JSON values, and the server was started without -json");
    }
    return Projection.parse(fields);
  }

  private Action batch(RequestTarget target, Exchange exchange, HttpHeaders headers)
      throws RequestRefusedException {
    requireNoCoding(headers);
    KeyEncoding encoding = encoding(target);
    Projection fields = fields(target);
    Conditions conditions = Conditions.ofBatch(target);
    boolean withVersion = withVersion(target);
    BatchKeys keys =
        switch (mediaType(headers.get(HttpHeaderNames.CONTENT_TYPE))) {
          case "application/json" -> BatchKeys.array(encoding, batchKeys);
          case "text/plain" -> BatchKeys.lines(encoding, batchKeys);
          default ->
              throw new RequestRefusedException(
                  415,
                  "send keys as application/json (an array of strings) or text/plain"
                      + " (one per line)",
                  "accept-post: application/json, text/plain\r\n");
        };
    String accept = headers.get(HttpHeaderNames.ACCEPT);
    boolean frames =
        accept != null && accept.toLowerCase(Locale.ROOT).contains("application/vnd.bsdb.frames");
    BatchLookup.Form form = new BatchLookup.Form(withVersion, frames, fields);
    return new BatchLookup(lookups, exchange, conditions, keys, form);
  }

  /** Whether the answer begins with the version. */
  private static boolean withVersion(RequestTarget target) throws RequestRefusedException {
    String with = target.parameter("with");
    if (with != null && !with.equals("version")) {
      throw new RequestRefusedException(400, "with must be version");
    }
    return with != null;
  }

  /** Rejects a body with a content coding: its bytes would be taken for keys. */
  private static void requireNoCoding(HttpHeaders headers) throws RequestRefusedException {
    for (String value : headers.getAll(HttpHeaderNames.CONTENT_ENCODING)) {
      for (String coding : value.split(",", -1)) {
        if (!coding.isBlank() && !coding.strip().equalsIgnoreCase("identity")) {
          throw new RequestRefusedException(
              415, "bodies must be sent without Content-Encoding", "accept-encoding: identity\r\n");
        }
      }
    }
  }

  private static String mediaType(@Nullable String contentType) {
    String type = contentType == null ? "" : contentType;
    int parameters = type.indexOf(';');
    return (parameters < 0 ? type : type.substring(0, parameters)).strip().toLowerCase(Locale.ROOT);
  }
}
