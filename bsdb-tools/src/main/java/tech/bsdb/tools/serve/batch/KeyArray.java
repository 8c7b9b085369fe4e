package tech.bsdb.tools.serve.batch;

import tech.bsdb.tools.text.JsonEscapes;
import tech.bsdb.tools.text.Utf8;

/**
 * Reads keys from a JSON array of strings.
 *
 * <p>Jackson's parser is not used because it accepts overlong forms and surrogates as UTF-8, and
 * creates a string for each key.
 */
final class KeyArray extends KeyStream {
  private enum State {
    BEFORE_ARRAY,
    FIRST_ELEMENT,
    ELEMENT,
    STRING,
    ESCAPE,
    AFTER_ELEMENT,
    AFTER_ARRAY
  }

  /** The most bytes of a character in an escape that stands for one byte. */
  private static final int LONGEST_ESCAPE = 6;

  private State state = State.BEFORE_ARRAY;

  /** Offsets in the body of the current piece and of the current string. */
  private long pieceStart;

  private long stringStart;
  private boolean ascii;
  private boolean escaped;

  KeyArray(KeyEncoding encoding, KeyList keys) {
    super(encoding, keys);
  }

  @Override
  public void take(byte[] bytes, int from, int to) throws RequestRefusedException {
    int at = from;
    while (at < to) {
      if (state == State.STRING) {
        int end = runEnd(bytes, at, to);
        append(bytes, at, end);
        at = end;
        if (at == to) {
          break;
        }
      }
      step(bytes, at, pieceStart + at - from);
      at++;
    }
    pieceStart += to - from;
  }

  /** Returns where a run of string bytes and whole escapes ends. */
  private int runEnd(byte[] bytes, int from, int to) {
    int at = from;
    int all = 0;
    while (at < to) {
      byte b = bytes[at];
      if (b == '\\' && at + 1 < to) {
        escaped = true;
        b = bytes[++at];
      } else if (b == '"' || b == '\\' || (b >= 0 && b < ' ')) {
        break;
      }
      all |= b;
      at++;
    }
    if (all < 0) {
      ascii = false;
    }
    return at;
  }

  /** Processes a structural byte. */
  private void step(byte[] bytes, int at, long place) throws RequestRefusedException {
    byte b = bytes[at];
    switch (state) {
      case BEFORE_ARRAY -> {
        if (b == '[') {
          state = State.FIRST_ELEMENT;
        } else if (!isBlank(b)) {
          throw new RequestRefusedException(
              "the body is not a JSON array of strings: no [ at byte " + place);
        }
      }
      case FIRST_ELEMENT, ELEMENT -> element(b, place);
      case STRING -> {
        if (b == '"') {
          if (escaped || !ascii) {
            requireText();
          }
          endKey();
          state = State.AFTER_ELEMENT;
        } else if (b == '\\') {
          escaped = true;
          append(bytes, at, at + 1);
          state = State.ESCAPE;
        } else {
          throw notJson("a control character in a string", place);
        }
      }
      case ESCAPE -> { // its backslash ended a piece
        ascii &= b >= 0;
        append(bytes, at, at + 1);
        state = State.STRING;
      }
      case AFTER_ELEMENT -> {
        if (b == ',') {
          state = State.ELEMENT;
        } else if (b == ']') {
          state = State.AFTER_ARRAY;
        } else if (!isBlank(b)) {
          throw notJson("neither , nor ] after an element", place);
        }
      }
      case AFTER_ARRAY -> {
        if (!isBlank(b)) {
          throw notJson("data after the array", place);
        }
      }
    }
  }

  private static boolean isBlank(byte b) {
    return b == ' ' || b == '\n' || b == '\r' || b == '\t';
  }

  private void element(byte b, long place) throws RequestRefusedException {
    if (b == '"') {
      state = State.STRING;
      stringStart = place;
      ascii = true;
      escaped = false;
    } else if (b == ']' && state == State.FIRST_ELEMENT) {
      state = State.AFTER_ARRAY;
    } else if (!isBlank(b)) {
      stringStart = place;
      throw wrong(400, "is not a string");
    }
  }

  /** Replaces the escapes of a string, and requires that it is well-formed. */
  private void requireText() throws RequestRefusedException {
    byte[] bytes = keys.bytes();
    int from = keys.openOffset();
    int to = from + keys.openLength();
    if (!ascii && !Utf8.isValid(bytes, from, to)) {
      throw wrong(400, "is not UTF-8");
    }
    if (escaped) {
      int end = JsonEscapes.unescape(bytes, from, to, bytes, from);
      if (end < 0) {
        String what =
            bytes[~end + 1] == 'u' ? "no four hexadecimal digits after \\u" : "unknown escape";
        throw notJson(what, stringStart + 1 + ~end - from);
      }
      if (!Utf8.isValid(bytes, from, end)) {
        throw wrong(400, "has a lone surrogate");
      }
      keys.shorten(end - from);
    }
  }

  private void append(byte[] bytes, int from, int to) throws RequestRefusedException {
    require(keys.openLength() + to - from, escaped ? LONGEST_ESCAPE * MAX_KEY : MAX_KEY);
    keys.append(bytes, from, to);
  }

  private static RequestRefusedException notJson(String what, long place) {
    return new RequestRefusedException("the body is not JSON: " + what + " at byte " + place);
  }

  @Override
  String place() {
    return "element " + keys.size() + " (at byte " + stringStart + ")";
  }

  @Override
  public void end() throws RequestRefusedException {
    if (state == State.BEFORE_ARRAY) {
      throw new RequestRefusedException("the body is not a JSON array of strings: it is empty");
    }
    if (state != State.AFTER_ARRAY) {
      throw notJson("it ends inside the array", pieceStart);
    }
  }
}
