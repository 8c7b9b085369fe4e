package tech.bsdb.tools.serve.batch;

/**
 * Reads the keys from a request body that arrives in pieces. Not thread-safe. Unusable after an
 * exception.
 */
public abstract sealed class KeyStream permits KeyLines, KeyArray {
  /**
   * The maximum bytes of an encoded key in a body, after JSON unescaping; twice the maximum key
   * length.
   */
  static final int MAX_KEY = 200_000;

  final KeyEncoding encoding;
  final KeyList keys;

  KeyStream(KeyEncoding encoding, KeyList keys) {
    this.encoding = encoding;
    this.keys = keys;
  }

  /**
   * Creates a reader for a JSON array of strings in UTF-8.
   *
   * @param encoding the encoding of the strings
   * @param limit the most keys
   */
  public static KeyStream json(KeyEncoding encoding, int limit) {
    return new KeyArray(encoding, new KeyList(limit));
  }

  /**
   * Creates a reader for one key per line, ended by {@code \n} or {@code \r\n}; the last line end
   * is optional. An empty line is an empty key; an empty body has no keys.
   *
   * @param encoding the encoding of the lines
   * @param limit the most keys
   */
  public static KeyStream lines(KeyEncoding encoding, int limit) {
    return new KeyLines(encoding, new KeyList(limit));
  }

  /**
   * Reads the next piece of the body, which is in a range of an array.
   *
   * @throws RequestRefusedException if no valid body can begin like this: 400; or if there are too
   *     many keys: 413
   */
  public abstract void take(byte[] bytes, int from, int to) throws RequestRefusedException;

  /**
   * Ends the body.
   *
   * @throws RequestRefusedException if the body is incomplete: 400; or if there are too many keys:
   *     413
   */
  public abstract void end() throws RequestRefusedException;

  /** Returns which key is open, and where it is, for an error. */
  abstract String place();

  final RequestRefusedException wrong(int status, String what) {
    return new RequestRefusedException(status, place() + " " + what);
  }

  /**
   * Requires that the open key is not too long.
   *
   * @param length in bytes
   */
  final void require(int length, int most) throws RequestRefusedException {
    if (length > most) {
      throw wrong(413, "is longer than " + MAX_KEY + " bytes");
    }
  }

  final void endKey() throws RequestRefusedException {
    require(keys.openLength(), MAX_KEY);
    if (!keys.end(encoding)) {
      throw wrong(400, encoding.refusal());
    }
  }

  /** Returns the keys so far, in order. */
  public final KeyList keys() {
    return keys;
  }
}
