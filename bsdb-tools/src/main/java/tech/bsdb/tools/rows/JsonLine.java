package tech.bsdb.tools.rows;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * A JSON text on its way to become a row: where the parser is, what was written, and how deep it
 * is. Used again and again; not thread-safe.
 */
final class JsonLine {
  /** The most records, lists and maps within each other; a small stack has room for four times. */
  static final int MAX_DEPTH = 256;

  /** How many times its bytes a line may be read to find the branches of unions. */
  private static final long REREADINGS = 256;

  /** What a try costs beside its bytes, as bytes. */
  private static final int TRY_COST = 64;

  private static final byte[] NOTHING = {};

  /** What is written. */
  final RowBuffer out = new RowBuffer();

  /** For a record's fields while they are put in order. */
  final RowBuffer sorted = new RowBuffer();

  /** Whether fields that the schema does not have are passed over, here. */
  private boolean ignoring;

  /** Where the reading is. */
  JsonParser json = JsonParsers.ofNothing();

  private final List<Level> levels = new ArrayList<>();
  private byte[] bytes = NOTHING;
  private int base;
  private int end;
  private int depth;
  private long rereadable;

  JsonLine(boolean ignoreExtraFields) {
    this.ignoring = ignoreExtraFields;
  }

  /** Begins a text; the parser is the caller's to close. */
  void begin(byte[] source, int from, int to, JsonParser parser) {
    bytes = source;
    base = from;
    end = to;
    json = parser;
    depth = 0;
    rereadable = REREADINGS * (to - from);
    out.reset();
    sorted.reset();
  }

  /** Forgets the text. */
  void release() {
    bytes = NOTHING;
  }

  /** Goes one record, list or map deeper. */
  Level enter() throws BadFieldException {
    if (depth == MAX_DEPTH) {
      throw BadFieldException.because(" is nested more than " + MAX_DEPTH + " levels deep");
    }
    if (depth == levels.size()) {
      levels.add(new Level());
    }
    return levels.get(depth++);
  }

  /** Goes back up. */
  void leave() {
    depth--;
  }

  /** Records, lists and maps that the reading is in. */
  int depth() {
    return depth;
  }

  /**
   * Reads the object or array that begins at the parser with another type that it may be of; if it
   * is, the parser is at its end afterwards, else still where it was, and nothing written.
   *
   * @param before is written before it
   * @param ignore whether fields that the schema does not have may be passed over in it
   */
  boolean tryAs(JsonType type, int before, boolean ignore) throws IOException, BadFieldException {
    if (rereadable < 0) {
      throw BadFieldException.because(
          " has unions in unions that would have to be read again too often");
    }
    JsonParser first = json;
    int firstBase = base;
    int firstDepth = depth;
    boolean firstIgnoring = ignoring;
    int mark = out.length();
    base += Math.toIntExact(first.currentTokenLocation().getByteOffset());
    try (JsonParser again = JsonParsers.of(bytes, base, end)) {
      json = again;
      ignoring = ignore;
      out.putLong(before);
      JsonToken token = again.nextToken();
      try {
        type.put(token, this);
        first.skipChildren();
        return true;
      } catch (BadFieldException another) {
        out.truncate(mark);
        return false;
      } finally {
        rereadable -= TRY_COST + again.currentLocation().getByteOffset();
      }
    } finally {
      json = first;
      base = firstBase;
      depth = firstDepth;
      ignoring = firstIgnoring;
    }
  }

  /** Whether fields that the schema does not have are passed over where the reading is. */
  boolean ignoresExtraFields() {
    return ignoring;
  }

  /** What the value at the parser looks like, for a message. */
  String shown(JsonToken token) throws IOException {
    return switch (token) {
      case START_OBJECT -> "an object";
      case START_ARRAY -> "a list";
      case VALUE_STRING -> {
        int from = json.getTextOffset();
        yield BadFieldException.shown(json.getTextCharacters(), from, from + json.getTextLength());
      }
      default -> {
        String text = json.getText();
        yield text.length() <= 60 ? text : text.substring(0, 60) + "...";
      }
    };
  }

  /** Sees that nothing stands behind the object. */
  void finish() throws IOException {
    if (json.nextToken() != null) {
      throw new NotOneObject("text behind the object", json);
    }
  }

  /** The text is something else. */
  JsonProcessingException notAnObject() {
    return new NotOneObject("not an object", json);
  }

  /** What a record or map that is being read remembers. */
  static final class Level {
    private static final int KEPT = 1 << 10;

    /** Of each field of a record, where its bytes begin, or -1. */
    int[] starts = {};

    /** Of each field of a record that is there, where its bytes end. */
    int[] ends = {};

    private Set<String> keys = new HashSet<>();

    /** Begins a record of so many fields. */
    void begin(int fields) {
      if (starts.length < fields) {
        starts = new int[fields];
        ends = new int[fields];
      }
      Arrays.fill(starts, 0, fields, -1);
    }

    /** Begins a map; its keys are to be told from each other. */
    Set<String> begin() {
      if (keys.size() > KEPT) {
        keys = new HashSet<>();
      }
      keys.clear();
      return keys;
    }
  }

  /** A text is not an object and nothing else. */
  private static final class NotOneObject extends JsonProcessingException {
    private static final long serialVersionUID = 1L;

    NotOneObject(String message, JsonParser json) {
      super(message, json.currentLocation());
    }
  }
}
