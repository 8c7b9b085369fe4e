package tech.bsdb.tools.rows;

import com.fasterxml.jackson.core.JsonParseException;
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
 * The state of converting a JSON text to a row: parser, output and nesting depth. Reusable; not
 * thread-safe.
 */
final class JsonLine {
  /**
   * The maximum nesting of records, lists and maps; a small stack has room for four times as many.
   */
  static final int MAX_DEPTH = 256;

  /** How many times over a line's bytes may be reread to find the branches of unions. */
  private static final long MAX_REREADS = 256;

  /** The cost of an attempt, in bytes, besides the bytes it reads. */
  private static final int TRY_COST = 64;

  private static final byte[] NOTHING = {};

  /** The output. */
  final RowBuffer out = new RowBuffer();

  /** Holds a record's fields while they are sorted. */
  final RowBuffer sorted = new RowBuffer();

  /** Whether fields that are not in the schema are currently ignored. */
  private boolean ignoring;

  /** The parser at the current position. */
  JsonParser json = JsonParsers.ofNothing();

  private final List<Level> levels = new ArrayList<>();
  private byte[] bytes = NOTHING;
  private int base;
  private int end;
  private int depth;
  private long rereadBudget;

  JsonLine(boolean ignoreExtraFields) {
    this.ignoring = ignoreExtraFields;
  }

  /** Starts a text; the caller closes the parser. */
  void begin(byte[] source, int from, int to, JsonParser parser) {
    bytes = source;
    base = from;
    end = to;
    json = parser;
    depth = 0;
    rereadBudget = MAX_REREADS * (to - from);
    out.reset();
    sorted.reset();
  }

  /** Releases the text. */
  void release() {
    bytes = NOTHING;
  }

  /** Enters a record, list or map. */
  Level enter() throws BadFieldException {
    if (depth == MAX_DEPTH) {
      throw BadFieldException.because(" is nested more than " + MAX_DEPTH + " levels deep");
    }
    if (depth == levels.size()) {
      levels.add(new Level());
    }
    return levels.get(depth++);
  }

  /** Leaves a record, list or map. */
  void leave() {
    depth--;
  }

  /**
   * Tries to read the object or array at the parser as a given type. On success the parser is at
   * its end; on failure the parser has not moved and nothing is written.
   *
   * @param before the number written before it
   * @param ignore whether fields that are not in the schema may be ignored in it
   */
  boolean tryAs(JsonType type, int before, boolean ignore) throws IOException, BadFieldException {
    if (rereadBudget < 0) {
      throw BadFieldException.because(" has nested unions that would have to be reread too often");
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
        rereadBudget -= TRY_COST + again.currentLocation().getByteOffset();
      }
    } finally {
      json = first;
      base = firstBase;
      depth = firstDepth;
      ignoring = firstIgnoring;
    }
  }

  /** Whether fields that are not in the schema are ignored at the current position. */
  boolean ignoresExtraFields() {
    return ignoring;
  }

  /** Returns a description of the value at the parser, for a message. */
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

  /** Checks that nothing follows the object. */
  void finish() throws IOException {
    if (json.nextToken() != null) {
      throw new JsonParseException(json, "text after the object", json.currentLocation());
    }
  }

  /** Creates the exception for a text that is not an object. */
  JsonProcessingException notAnObject() {
    return new JsonParseException(json, "not an object", json.currentLocation());
  }

  /** The state of a record or map being read. */
  static final class Level {
    private static final int KEPT = 1 << 10;

    /** For each field of a record, where its bytes begin, or -1. */
    int[] starts = {};

    /** For each present field of a record, where its bytes end. */
    int[] ends = {};

    private Set<String> keys = new HashSet<>();

    /** Begins a record with this many fields. */
    void begin(int fields) {
      if (starts.length < fields) {
        starts = new int[fields];
        ends = new int[fields];
      }
      Arrays.fill(starts, 0, fields, -1);
    }

    /** Begins a map and returns an empty set for its keys. */
    Set<String> begin() {
      if (keys.size() > KEPT) {
        keys = new HashSet<>();
      }
      keys.clear();
      return keys;
    }
  }
}
