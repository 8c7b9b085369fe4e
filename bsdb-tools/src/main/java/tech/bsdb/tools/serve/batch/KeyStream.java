package tech.bsdb.tools.serve.batch;

import java.nio.ByteBuffer;

/**
 * Reads the keys from a request body that arrives in pieces. Not thread-safe. Unusable after an
 * exception.
 */
public sealed interface KeyStream permits KeyLines, KeyArray {
  /**
   * The maximum bytes of an encoded key in a body, after JSON unescaping; twice the maximum key
   * length.
   */
  int MAX_KEY = 200_000;

  /**
   * Creates a reader for a JSON array of strings in UTF-8.
   *
   * @param encoding the encoding of the strings
   * @param limit the most keys
   */
  static KeyStream json(KeyEncoding encoding, int limit) {
    return new KeyArray(encoding, new KeyList(limit));
  }

  /**
   * Creates a reader for one key per line, ended by {@code \n} or {@code \r\n}; the last line end
   * is optional. An empty line is an empty key; an empty body has no keys.
   *
   * @param encoding the encoding of the lines
   * @param limit the most keys
   */
  static KeyStream lines(KeyEncoding encoding, int limit) {
    return new KeyLines(encoding, new KeyList(limit));
  }

  /**
   * Reads the next piece, of any length, to its limit.
   *
   * @throws BadRequestException if no valid body can begin like this: 400; or if there are too many
   *     keys: 413
   */
  void feed(ByteBuffer piece) throws BadRequestException;

  /**
   * Ends the body.
   *
   * @throws BadRequestException if the body is incomplete: 400; or if there are too many keys: 413
   */
  void end() throws BadRequestException;

  /** Returns the keys so far, in order. */
  KeyList keys();
}
