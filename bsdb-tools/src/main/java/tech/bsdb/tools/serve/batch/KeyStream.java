package tech.bsdb.tools.serve.batch;

import java.nio.ByteBuffer;

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

  private static final int CHUNK = 1 << 13;

  final KeyEncoding encoding;
  final KeyList keys;
  private byte[] chunk = {};

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
   * Reads the next piece, of any length, to its limit.
   *
   * @throws BadRequestException if no valid body can begin like this: 400; or if there are too many
   *     keys: 413
   */
  public final void feed(ByteBuffer piece) throws BadRequestException {
    if (piece.hasArray()) {
      int from = piece.arrayOffset() + piece.position();
      int to = piece.arrayOffset() + piece.limit();
      piece.position(piece.limit());
      take(piece.array(), from, to);
      return;
    }
    while (piece.hasRemaining()) {
      int length = Math.min(piece.remaining(), CHUNK);
      if (chunk.length < length) {
        chunk = new byte[CHUNK];
      }
      piece.get(chunk, 0, length);
      take(chunk, 0, length);
    }
  }

  /** Reads the next bytes, which are in a range of an array. */
  abstract void take(byte[] bytes, int from, int to) throws BadRequestException;

  /**
   * Ends the body.
   *
   * @throws BadRequestException if the body is incomplete: 400; or if there are too many keys: 413
   */
  public abstract void end() throws BadRequestException;

  /** Returns which key is open, and where it is, for an error. */
  abstract String place();

  final BadRequestException wrong(int status, String what) {
    return new BadRequestException(status, place() + " " + what);
  }

  /**
   * Requires that the open key is not too long.
   *
   * @param length in bytes
   */
  final void require(int length, int most) throws BadRequestException {
    if (length > most) {
      throw wrong(413, "is longer than " + MAX_KEY + " bytes");
    }
  }

  final void endKey() throws BadRequestException {
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
