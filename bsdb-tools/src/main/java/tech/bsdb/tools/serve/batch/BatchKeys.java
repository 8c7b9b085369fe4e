package tech.bsdb.tools.serve.batch;

import java.util.Arrays;
import java.util.Objects;
import tech.bsdb.tools.text.JsonEscapes;
import tech.bsdb.tools.text.Utf8;

/**
 * The keys of a batch, read from a body that arrives in pieces. Not thread-safe until the body has
 * ended; then safe for concurrent readers. Unusable after an exception.
 *
 * <p>The body is kept as it is, and each key is decoded where it stands. What arrives is read at
 * once, up to a key that is not complete, so that a wrong body is rejected at its first wrong byte.
 *
 * <p>Jackson's parser is not used for arrays because it accepts overlong forms and surrogates as
 * UTF-8, and creates a string for each key.
 */
public final class BatchKeys {
  /**
   * The maximum bytes of an encoded key in a body, after JSON unescaping; twice the maximum key
   * length.
   */
  static final int MAX_KEY = 200_000;

  /** The most bytes of a character in an escape that stands for one byte. */
  private static final int LONGEST_ESCAPE = 6;

  /** What comes next in a JSON array, besides white space. */
  private enum Next {
    ARRAY,
    FIRST_ELEMENT,
    ELEMENT,
    COMMA,
    NOTHING
  }

  private final boolean json;
  private final KeyEncoding encoding;
  private final int limit;

  /** Begins with the part of the body that has arrived. */
  private byte[] bytes = {};

  private int length;

  /** Where the first byte is that was not read, and how far the end of its key was sought. */
  private int at;

  private int sought;
  private boolean escaped;
  private Next next = Next.ARRAY;

  /** Where each key begins and ends. */
  private int[] bounds = new int[32];

  private int size;

  private BatchKeys(boolean json, KeyEncoding encoding, int limit) {
    if (limit < 0) {
      throw new IllegalArgumentException("limit " + limit + ", not 0 or more");
    }
    this.json = json;
    this.encoding = encoding;
    this.limit = limit;
  }

  /**
   * Creates a reader for a JSON array of strings in UTF-8.
   *
   * @param encoding the encoding of the strings
   * @param limit the most keys
   */
  public static BatchKeys array(KeyEncoding encoding, int limit) {
    return new BatchKeys(true, encoding, limit);
  }

  /**
   * Creates a reader for one key per line, ended by {@code \n} or {@code \r\n}; the last line end
   * is optional. An empty line is an empty key; an empty body has no keys.
   *
   * @param encoding the encoding of the lines
   * @param limit the most keys
   */
  public static BatchKeys lines(KeyEncoding encoding, int limit) {
    return new BatchKeys(false, encoding, limit);
  }

  /**
   * Reads the next piece of the body, an array that must not be used afterwards.
   *
   * @throws RequestRefusedException if no valid body can begin like this: 400; or if there are too
   *     many keys: 413
   */
  public void take(byte[] piece) throws RequestRefusedException {
    int all = length + piece.length;
    if (length == 0) {
      bytes = piece;
    } else {
      if (all > bytes.length) {
        bytes = Arrays.copyOf(bytes, all + all / 2);
      }
      System.arraycopy(piece, 0, bytes, length, piece.length);
    }
    length = all;
    if (json) {
      readArray();
    } else {
      readLines();
    }
  }

  /**
   * Ends the body.
   *
   * @throws RequestRefusedException if the body is incomplete: 400; or if there are too many keys:
   *     413
   */
  public void end() throws RequestRefusedException {
    if (!json) {
      if (at < length) {
        add(at, length);
      }
    } else if (next == Next.ARRAY) {
      throw new RequestRefusedException("the body is not a JSON array of strings: it is empty");
    } else if (next != Next.NOTHING) {
      throw notJson("it ends inside the array", length);
    }
  }

  /** Returns the number of keys. */
  public int size() {
    return size;
  }

  /** Returns the bytes kept besides the body: for short keys, many more than it has. */
  public long kept() {
    return (long) Integer.BYTES * bounds.length;
  }

  /** Returns a copy of a key. */
  public byte[] key(int number) {
    int place = 2 * Objects.checkIndex(number, size);
    return Arrays.copyOfRange(bytes, bounds[place], bounds[place + 1]);
  }

  private void readLines() throws RequestRefusedException {
    while (true) {
      int end = Math.max(at, sought);
      while (end < length && bytes[end] != '\n') {
        end++;
      }
      require(end - at, MAX_KEY + 1); // may include a carriage return
      sought = end;
      if (end == length) {
        return;
      }
      add(at, end > at && bytes[end - 1] == '\r' ? end - 1 : end);
      at = end + 1;
    }
  }

  private void readArray() throws RequestRefusedException {
    while (at < length) {
      byte b = bytes[at];
      if (b == '"' && (next == Next.FIRST_ELEMENT || next == Next.ELEMENT)) {
        if (!readString()) {
          return;
        }
        next = Next.COMMA;
      } else if (b != ' ' && b != '\n' && b != '\r' && b != '\t') {
        next = after(b);
      }
      at++;
    }
  }

  /** Returns what comes next after a byte of an array that is not white space or in a string. */
  private Next after(byte b) throws RequestRefusedException {
    return switch (next) {
      case ARRAY -> {
        if (b == '[') {
          yield Next.FIRST_ELEMENT;
        }
        throw new RequestRefusedException(
            "the body is not a JSON array of strings: no [ at byte " + at);
      }
      case FIRST_ELEMENT, ELEMENT -> {
        if (b == ']' && next == Next.FIRST_ELEMENT) {
          yield Next.NOTHING;
        }
        throw wrong(400, "is not a string");
      }
      case COMMA -> {
        if (b == ',' || b == ']') {
          yield b == ',' ? Next.ELEMENT : Next.NOTHING;
        }
        throw notJson("neither , nor ] after an element", at);
      }
      case NOTHING -> throw notJson("data after the array", at);
    };
  }

  /** Reads a string up to its last quote; returns false if that has not arrived. */
  private boolean readString() throws RequestRefusedException {
    int from = at + 1;
    int end = Math.max(from, sought);
    for (; end < length; end++) {
      byte b = bytes[end];
      if (b == '\\') {
        if (end + 1 == length) {
          break;
        }
        escaped = true;
        end++;
      } else if (b == '"' || (b >= 0 && b < ' ')) {
        break;
      }
    }
    require(end - from, escaped ? LONGEST_ESCAPE * MAX_KEY : MAX_KEY);
    sought = end;
    if (end == length || bytes[end] == '\\') {
      return false;
    }
    if (bytes[end] != '"') {
      throw notJson("a control character in a string", end);
    }
    add(from, unescape(from, end));
    escaped = false;
    at = end;
    return true;
  }

  /** Replaces the escapes of a string, and requires that it is text; returns where it ends then. */
  private int unescape(int from, int to) throws RequestRefusedException {
    if (!Utf8.isValid(bytes, from, to)) {
      throw wrong(400, "is not UTF-8");
    }
    if (!escaped) {
      return to;
    }
    int end = JsonEscapes.unescape(bytes, from, to, bytes, from);
    if (end < 0) {
      boolean unicode = bytes[~end + 1] == 'u';
      throw notJson(unicode ? "no four hexadecimal digits after \\u" : "unknown escape", ~end);
    }
    if (!Utf8.isValid(bytes, from, end)) {
      throw wrong(400, "has a lone surrogate");
    }
    return end;
  }

  private void add(int from, int to) throws RequestRefusedException {
    require(to - from, MAX_KEY);
    if (size == limit) {
      throw new RequestRefusedException(
          413, "there are more than " + limit + " keys in one request");
    }
    int end = encoding.decodeInPlace(bytes, from, to);
    if (end < 0) {
      throw wrong(400, encoding.refusal);
    }
    if (2 * size == bounds.length) {
      bounds = Arrays.copyOf(bounds, 4 * size);
    }
    bounds[2 * size] = from;
    bounds[2 * size + 1] = end;
    size++;
  }

  /** Requires that the key being read is not longer than it may be. */
  private void require(int bytesOfKey, int most) throws RequestRefusedException {
    if (bytesOfKey > most) {
      throw wrong(413, "is longer than " + MAX_KEY + " bytes");
    }
  }

  private RequestRefusedException wrong(int status, String what) {
    String which = json ? "element " + size : "line " + (size + 1);
    return new RequestRefusedException(status, which + " (at byte " + at + ") " + what);
  }

  private static RequestRefusedException notJson(String what, int place) {
    return new RequestRefusedException("the body is not JSON: " + what + " at byte " + place);
  }
}
