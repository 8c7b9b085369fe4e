package tech.bsdb.tools.text;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.util.Arrays;

/**
 * Copies JSON texts (RFC 8259, UTF-8) without the white space between tokens, and validates them in
 * the same pass. Tokens are copied byte for byte, so number digits and escapes do not change. Not
 * thread-safe.
 *
 * <p>Depth and length are unlimited: nesting takes one bit per level. An error anywhere rejects the
 * whole text, and nothing is written.
 */
public final class JsonCopier {
  /** The outcome of copying a text. */
  public enum Outcome {
    /** It was copied. */
    COPIED,
    /** It is not JSON. */
    NOT_JSON,
    /** It is JSON, but not an object. */
    NOT_OBJECT
  }

  /** Selects fields of an object. */
  @FunctionalInterface
  public interface Fields {
    /** Whether a field is wanted, by its name without escapes. */
    boolean wants(byte[] name, int offset, int length);
  }

  private static final int WRONG = -1;

  /** Room for longer names is not kept. */
  private static final int KEPT = 1 << 10;

  private static final byte[] NOTHING = {};
  private static final byte[] TRUE = "true".getBytes(US_ASCII);
  private static final byte[] FALSE = "false".getBytes(US_ASCII);
  private static final byte[] NULL = "null".getBytes(US_ASCII);

  private final JsonBuffer out;
  private byte[] json = NOTHING;
  private int end;
  private byte[] unescaped = new byte[KEPT];

  /** A bit for each open object or array: 1 for an object. */
  private long[] open = new long[4];

  private int depth;

  /** Creates a copier into the buffer. */
  public JsonCopier(JsonBuffer out) {
    this.out = out;
  }

  /** Copies a text. */
  public Outcome copy(byte[] source, int offset, int length) {
    int start = begin(source, offset, length);
    return finish(start, copyValue(blanksEnd(offset)) ? Outcome.COPIED : Outcome.NOT_JSON);
  }

  private boolean copyValue(int from) {
    int at = value(from);
    return at != WRONG && blanksEnd(at) == end;
  }

  /**
   * Copies the wanted fields of the top-level object, in the order of the text and as often as they
   * occur.
   */
  public Outcome copyFields(byte[] source, int offset, int length, Fields fields) {
    int start = begin(source, offset, length);
    int at = blanksEnd(offset);
    if (at < end && json[at] == '{') {
      return finish(start, copyFields(at, fields) ? Outcome.COPIED : Outcome.NOT_JSON);
    }
    return finish(start, copyValue(at) ? Outcome.NOT_OBJECT : Outcome.NOT_JSON);
  }

  private int begin(byte[] source, int offset, int length) {
    json = source;
    end = offset + length;
    depth = 0;
    return out.length();
  }

  private Outcome finish(int start, Outcome outcome) {
    if (outcome != Outcome.COPIED) {
      out.truncate(start);
    }
    json = NOTHING;
    if (unescaped.length > KEPT) {
      unescaped = new byte[KEPT];
    }
    return outcome;
  }

  private boolean copyFields(int from, Fields fields) {
    out.put('{');
    boolean first = true;
    int at = blanksEnd(from + 1);
    if (at < end && json[at] == '}') {
      out.put('}');
      return blanksEnd(at + 1) == end;
    }
    while (true) {
      int mark = out.length();
      if (!first) {
        out.put(',');
      }
      int name = out.length();
      at = name(at);
      if (at == WRONG) {
        return false;
      }
      boolean wanted = wants(fields, name);
      at = value(at);
      if (at == WRONG) {
        return false;
      }
      if (wanted) {
        first = false;
      } else {
        out.truncate(mark);
      }
      at = blanksEnd(at);
      if (at == end || json[at] != ',') {
        break;
      }
      at = blanksEnd(at + 1);
    }
    out.put('}');
    return at < end && json[at] == '}' && blanksEnd(at + 1) == end;
  }

  /* Each of these methods takes the start of an item and returns its end, or WRONG. */

  /** Copies a value with everything nested in it. */
  private int value(int from) {
    int at = from;
    while (true) {
      if (at == end) {
        return WRONG;
      }
      byte b = json[at];
      if (b == '{' || b == '[') {
        open(b);
        at = blanksEnd(at + 1);
        if (at == end || json[at] != closing()) {
          at = element(at);
          if (at == WRONG) {
            return WRONG;
          }
          continue;
        }
      } else {
        at = scalar(at);
      }
      at = at == WRONG ? WRONG : close(at);
      if (at == WRONG || depth == 0) {
        return at;
      }
    }
  }

  /** Copies an element's name, if it has one; returns where its value begins. */
  private int element(int from) {
    return isObject() ? name(from) : from;
  }

  /**
   * Continues after a value: closes the objects and arrays that end there, and returns where the
   * next value begins, or where the outermost one ended.
   */
  private int close(int from) {
    int at = from;
    while (depth > 0) {
      at = blanksEnd(at);
      if (at == end) {
        return WRONG;
      }
      byte b = json[at++];
      if (b == ',') {
        out.put(',');
        return element(blanksEnd(at));
      }
      if (b != closing()) {
        return WRONG;
      }
      out.put(b);
      depth--;
    }
    return at;
  }

  /** Copies a name and its colon; returns where the value begins. */
  private int name(int from) {
    if (from == end || json[from] != '"') {
      return WRONG;
    }
    int at = string(from);
    if (at == WRONG) {
      return WRONG;
    }
    out.put(json, from, at - from);
    at = blanksEnd(at);
    if (at == end || json[at] != ':') {
      return WRONG;
    }
    out.put(':');
    return blanksEnd(at + 1);
  }

  private int scalar(int from) {
    int at =
        switch (json[from]) {
          case '"' -> string(from);
          case 't' -> word(from, TRUE);
          case 'f' -> word(from, FALSE);
          case 'n' -> word(from, NULL);
          default -> number(from);
        };
    if (at != WRONG) {
      out.put(json, from, at - from);
    }
    return at;
  }

  private int word(int from, byte[] word) {
    int to = from + word.length;
    return word.length <= end - from && Arrays.equals(json, from, to, word, 0, word.length)
        ? to
        : WRONG;
  }

  private int number(int from) {
    int at = json[from] == '-' ? from + 1 : from;
    int digits = digitsEnd(at);
    if (digits == at || (json[at] == '0' && digits > at + 1)) {
      return WRONG;
    }
    at = digits;
    if (at < end && json[at] == '.') {
      digits = digitsEnd(at + 1);
      if (digits == at + 1) {
        return WRONG;
      }
      at = digits;
    }
    if (at < end && (json[at] | ' ') == 'e') {
      at++;
      if (at < end && (json[at] == '+' || json[at] == '-')) {
        at++;
      }
      digits = digitsEnd(at);
      return digits == at ? WRONG : digits;
    }
    return at;
  }

  private int digitsEnd(int from) {
    int at = from;
    while (at < end && json[at] >= '0' && json[at] <= '9') {
      at++;
    }
    return at;
  }

  private int string(int from) {
    int at = from + 1;
    while (true) {
      at = JsonBuffer.plainEnd(json, at, end);
      if (at == end) {
        return WRONG;
      }
      byte b = json[at];
      if (b == '"') {
        return at + 1;
      }
      int length = b == '\\' ? escape(at) : b < 0 ? Utf8.sequence(json, at, end) : 0;
      if (length == 0) {
        return WRONG;
      }
      at += length;
    }
  }

  /** The length of an escape in bytes, or 0 if it is invalid. */
  private int escape(int from) {
    if (end - from < 2) {
      return 0;
    }
    return switch (json[from + 1]) {
      case 'u' -> end - from >= 6 && JsonEscapes.fourDigits(json, from + 2) >= 0 ? 6 : 0;
      default -> JsonEscapes.simple(json[from + 1]) != 0 ? 2 : 0;
    };
  }

  private int blanksEnd(int from) {
    int at = from;
    while (at < end
        && (json[at] == ' ' || json[at] == '\n' || json[at] == '\r' || json[at] == '\t')) {
      at++;
    }
    return at;
  }

  private void open(byte b) {
    if (depth == open.length * Long.SIZE) {
      open = Arrays.copyOf(open, 2 * open.length);
    }
    long bit = 1L << depth; // shifts by depth % 64
    int word = depth >>> 6;
    open[word] = b == '{' ? open[word] | bit : open[word] & ~bit;
    depth++;
    out.put(b);
  }

  private boolean isObject() {
    int top = depth - 1;
    return (open[top >>> 6] & 1L << top) != 0;
  }

  private byte closing() {
    return (byte) (isObject() ? '}' : ']');
  }

  /** Whether the field is wanted whose name was written last, with quotes and a colon. */
  private boolean wants(Fields fields, int start) {
    byte[] bytes = out.bytes();
    int from = start + 1;
    int to = out.length() - 2;
    for (int at = from; at < to; at++) {
      if (bytes[at] == '\\') {
        if (unescaped.length < to - from) {
          unescaped = new byte[to - from];
        }
        return fields.wants(unescaped, 0, JsonEscapes.unescape(bytes, from, to, unescaped, 0));
      }
    }
    return fields.wants(bytes, from, to - from);
  }
}
