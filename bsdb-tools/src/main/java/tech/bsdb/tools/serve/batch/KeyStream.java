package tech.bsdb.tools.serve.batch;

import java.nio.ByteBuffer;

/**
 * Takes the body of a request in pieces and gives its keys. Not thread-safe. After an exception it
 * is of no more use.
 */
public sealed interface KeyStream permits KeyLines, KeyArray {
  /** The most bytes of a key in a body, without JSON's escapes; twice what a key can have. */
  int MAX_KEY = 200_000;

  /**
   * For a JSON array of strings in UTF-8.
   *
   * @param encoding what the strings stand for
   * @param limit the most keys
   */
  static KeyStream json(KeyEncoding encoding, int limit) {
    return new KeyArray(encoding, new KeyList(limit));
  }

  /**
   * For a key a line, which {@code \n} or {@code \r\n} ends; the last line may have no end. An
   * empty line is an empty key; an empty body has no key.
   *
   * @param encoding what the bytes of a line stand for
   * @param limit the most keys
   */
  static KeyStream lines(KeyEncoding encoding, int limit) {
    return new KeyLines(encoding, new KeyList(limit));
  }

  /**
   * Takes the next piece, of any length, and reads it to its limit.
   *
   * @throws BadRequestException if no whole body can begin so: 400; or if there are too many keys:
   *     413
   */
  void feed(ByteBuffer piece) throws BadRequestException;

  /**
   * Takes the end of the body.
   *
   * @throws BadRequestException if the body is not whole: 400; or if there are too many keys: 413
   */
  void end() throws BadRequestException;

  /** The keys so far, in their order. */
  KeyList keys();
}
