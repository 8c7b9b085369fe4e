package tech.bsdb.tools.serve;

import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tech.bsdb.KeyRange;
import tech.bsdb.tools.serve.batch.KeyEncoding;
import tech.bsdb.tools.serve.batch.RequestRefusedException;
import tech.bsdb.tools.serve.client.FailureReports;

/**
 * What a request for a range of keys asks for.
 *
 * @param range the keys
 * @param descending whether the greatest key comes first
 * @param limit the most records in the answer
 * @param keysOnly whether the answer has no values
 * @param countsOnly whether the answer is the number of keys in the range, whatever the limit
 * @param encoding the encoding of the keys in the request and the answer
 */
record RangeRequest(
    KeyRange range,
    boolean descending,
    int limit,
    boolean keysOnly,
    boolean countsOnly,
    KeyEncoding encoding) {
  /** The largest limit of all servers. */
  static final int MOST = 10_000;

  private static final int DEFAULT_LIMIT = 100;

  /** A request with one of these is for a range. */
  private static final List<String> PARAMETERS =
      List.of("prefix", "from", "to", "after", "limit", "reverse", "keys_only", "count");

  /** The parameters of requests at the prefix that read. */
  static final List<String> KNOWN =
      Stream.concat(PARAMETERS.stream(), Stream.of("key_encoding", "fields", "version")).toList();

  /**
   * Whether the query of a request at the prefix asks for a range.
   *
   * @throws RequestRefusedException if it has an unknown parameter: ignoring a misspelled one would
   *     answer another range, or the empty key
   */
  static boolean isIn(RequestTarget target) throws RequestRefusedException {
    boolean range = false;
    for (String name : target.names()) {
      if (!KNOWN.contains(name)) {
        throw new RequestRefusedException(
            "unknown parameter "
                + FailureReports.printable(name)
                + "; the parameters here are "
                + String.join(", ", KNOWN));
      }
      range |= PARAMETERS.contains(name);
    }
    return range;
  }

  /**
   * Reads a query.
   *
   * @param most the largest limit
   * @throws RequestRefusedException if a parameter is malformed or given twice
   */
  static RangeRequest of(RequestTarget target, KeyEncoding encoding, int most)
      throws RequestRefusedException {
    boolean descending = flag(target, "reverse");
    byte[] prefix = key(target, "prefix", encoding);
    byte[] from = key(target, "from", encoding);
    byte[] to = key(target, "to", encoding);
    byte[] after = key(target, "after", encoding);
    KeyRange range = prefix == null ? KeyRange.all() : KeyRange.prefix(prefix);
    range = from == null ? range : range.from(from);
    range = to == null ? range : range.to(to);
    range = after == null ? range : behind(range, after, descending);
    return new RangeRequest(
        range,
        descending,
        limit(target, most),
        flag(target, "keys_only"),
        flag(target, "count"),
        encoding);
  }

  /** Returns the keys of a range that come behind a key in the order of the answer. */
  static KeyRange behind(KeyRange range, byte[] key, boolean descending) {
    return descending ? range.to(key) : range.after(key);
  }

  private static byte @Nullable [] key(RequestTarget target, String name, KeyEncoding encoding)
      throws RequestRefusedException {
    byte[] given = target.bytes(name);
    return given == null ? null : encoding.decode(given);
  }

  private static int limit(RequestTarget target, int most) throws RequestRefusedException {
    String given = target.parameter("limit");
    if (given == null) {
      return Math.min(DEFAULT_LIMIT, most);
    }
    int limit = given.matches("[0-9]{1,9}") ? Integer.parseInt(given) : 0;
    if (limit < 1 || limit > most) {
      throw new RequestRefusedException("limit must be a number from 1 to " + most);
    }
    return limit;
  }

  private static boolean flag(RequestTarget target, String name) throws RequestRefusedException {
    String given = target.parameter(name);
    if (given != null && !given.equals("true") && !given.equals("false")) {
      throw new RequestRefusedException(name + " must be true or false");
    }
    return "true".equals(given);
  }
}
