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
    DIGITS,
    AFTER_ELEMENT,
    AFTER_ARRAY
  }

  private final byte[] character = new byte[4];
  private State state = State.BEFORE_ARRAY;

  /** Offsets in the body of the current piece and of the current string. */
  private long pieceStart;

  private long stringStart;
  private boolean ascii;

  /** State of a Unicode escape: digits read, their value, and the preceding high surrogate or 0. */
  private int digits;

  private int number;
  private int highSurrogate;

  KeyArray(KeyEncoding encoding, KeyList keys) {
    super(encoding, keys);
  }

  @Override
  void take(byte[] bytes, int from, int to) throws BadRequestException {
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
      step(bytes[at], pieceStart + at - from);
      at++;
    }
    pieceStart += to - from;
  }

  /** Returns where a run of unescaped string bytes ends. */
  private int runEnd(byte[] bytes, int from, int to) {
    int at = from;
    int all = 0;
    while (at < to) {
      byte b = bytes[at];
      if (b == '"' || b == '\\' || (b >= 0 && b < ' ')) {
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
  private void step(byte b, long place) throws BadRequestException {
    switch (state) {
      case BEFORE_ARRAY -> {
        if (b == '[') {
          state = State.FIRST_ELEMENT;
        } else if (!isBlank(b)) {
          throw new BadRequestException(
              "the body is not a JSON array of strings: no [ at byte " + place);
        }
      }
      case FIRST_ELEMENT, ELEMENT -> element(b, place);
      case STRING -> string(b, place);
      case ESCAPE -> escape(b, place);
      case DIGITS -> digit(b, place);
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

  private void element(byte b, long place) throws BadRequestException {
    if (b == '"') {
      state = State.STRING;
      stringStart = place;
      ascii = true;
    } else if (b == ']' && state == State.FIRST_ELEMENT) {
      state = State.AFTER_ARRAY;
    } else if (!isBlank(b)) {
      throw wrong("is not a string", place);
    }
  }

  private void string(byte b, long place) throws BadRequestException {
    if (b == '\\') {
      state = State.ESCAPE;
      return;
    }
    if (b != '"') {
      throw notJson("a control character in a string", place);
    }
    rejectLoneSurrogate();
    int from = keys.openOffset();
    if (!ascii && !Utf8.isValid(keys.bytes(), from, from + keys.openLength())) {
      throw wrong("is not UTF-8", stringStart);
    }
    if (!keys.end(encoding)) {
      throw wrong(encoding.refusal(), stringStart);
    }
    state = State.AFTER_ELEMENT;
  }

  private void escape(byte b, long place) throws BadRequestException {
    if (b == 'u') {
      state = State.DIGITS;
      digits = 0;
      number = 0;
      return;
    }
    character[0] = JsonEscapes.simple(b);
    if (character[0] == 0) {
      throw notJson("unknown escape", place);
    }
    state = State.STRING;
    append(character, 0, 1);
  }

  private void digit(byte b, long place) throws BadRequestException {
    int digit = JsonEscapes.digit(b);
    if (digit < 0) {
      throw notJson("not four hexadecimal digits after \\u", place);
    }
    number = number << 4 | digit;
    if (++digits < 4) {
      return;
    }
    state = State.STRING;
    if (Character.isHighSurrogate((char) number)) {
      rejectLoneSurrogate();
      highSurrogate = number;
      return;
    }
    if (Character.isLowSurrogate((char) number)) {
      if (highSurrogate == 0) {
        throw loneSurrogate();
      }
      number = Character.toCodePoint((char) highSurrogate, (char) number);
      highSurrogate = 0;
    }
    ascii &= number < 0x80;
    append(character, 0, JsonEscapes.encode(number, character, 0));
  }

  private void append(byte[] bytes, int from, int to) throws BadRequestException {
    if (from == to) {
      return;
    }
    rejectLoneSurrogate();
    if (to - from > MAX_KEY - keys.openLength()) {
      throw wrong(413, "is longer than " + MAX_KEY + " bytes", stringStart);
    }
    keys.append(bytes, from, to);
  }

  private void rejectLoneSurrogate() throws BadRequestException {
    if (highSurrogate != 0) {
      throw loneSurrogate();
    }
  }

  private BadRequestException loneSurrogate() {
    return wrong("has a lone surrogate", stringStart);
  }

  private static BadRequestException notJson(String what, long place) {
    return new BadRequestException("the body is not JSON: " + what + " at byte " + place);
  }

  private BadRequestException wrong(String what, long place) {
    return wrong(400, what, place);
  }

  private BadRequestException wrong(int status, String what, long place) {
    return new BadRequestException(
        status, "element " + keys.size() + " (at byte " + place + ") " + what);
  }

  @Override
  public void end() throws BadRequestException {
    if (state == State.BEFORE_ARRAY) {
      throw new BadRequestException("the body is not a JSON array of strings: it is empty");
    }
    if (state != State.AFTER_ARRAY) {
      throw notJson("it ends inside the array", pieceStart);
    }
  }
}
