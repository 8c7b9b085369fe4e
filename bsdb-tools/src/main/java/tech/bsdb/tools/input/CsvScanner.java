package tech.bsdb.tools.input;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.text.GrowableBytes;
import tech.bsdb.tools.text.Utf8;

/**
 * Finds CSV records in bytes, their fields, and the records that violate RFC 4180. Not thread-safe.
 *
 * <p>A quote opens a quoted field only as the field's first byte; elsewhere in an unquoted field it
 * is data. A record ends at a line feed outside quotes, with or without a carriage return before
 * it. After an error the record extends to the end of its line.
 *
 * <p>{@link #next} reads whole records. The methods of {@link RecordSyntax.RecordEnds} find only
 * their ends, but piece by piece, and have a state of their own.
 */
final class CsvScanner implements RecordSyntax.RecordEnds {
  private enum State {
    FIELD_START,
    PLAIN,
    QUOTED,
    AFTER_QUOTE,
    CARRIAGE_RETURN,
    MISTAKE
  }

  private final byte delimiter;
  private State state = State.FIELD_START;

  private byte[] bytes = {};
  private int start;
  private int textEnd;
  private int lines;
  private @Nullable Defect defect;

  /** The record's fields that have quotes in quotes. */
  private final GrowableBytes unquoted = new GrowableBytes("a CSV record", 1 << 10) {};

  /** Where each field begins and ends; in {@link #unquoted} if both are complements. */
  private int[] bounds = new int[32];

  private int fields;

  CsvScanner(char delimiter) {
    this.delimiter = (byte) delimiter;
  }

  @Override
  public int lastEnd(byte[] bytes, int from, int to) {
    int last = -1;
    for (int end = firstEnd(bytes, from, to); end >= 0; end = firstEnd(bytes, end, to)) {
      last = end;
    }
    return last;
  }

  @Override
  public int firstEnd(byte[] bytes, int from, int to) {
    int at = from;
    while (at < to) {
      if (state == State.PLAIN) {
        at = endOfPlain(bytes, at, to);
      } else if (state == State.QUOTED) {
        int quote = ByteSearch.indexOf(bytes, at, to, (byte) '"');
        at = quote < 0 ? to : quote;
      }
      if (at == to) {
        break;
      }
      byte next = bytes[at++];
      if (next == '\n' && state != State.QUOTED) {
        state = State.FIELD_START;
        return at;
      }
      state = after(next);
    }
    return -1;
  }

  private State after(byte next) {
    return switch (state) {
      case FIELD_START -> next == '"' ? State.QUOTED : afterField(next, State.PLAIN);
      case PLAIN -> afterField(next, State.PLAIN);
      case QUOTED -> next == '"' ? State.AFTER_QUOTE : State.QUOTED;
      case AFTER_QUOTE -> next == '"' ? State.QUOTED : afterField(next, State.MISTAKE);
      case CARRIAGE_RETURN, MISTAKE -> State.MISTAKE;
    };
  }

  private State afterField(byte next, State otherwise) {
    return next == delimiter ? State.FIELD_START : next == '\r' ? State.CARRIAGE_RETURN : otherwise;
  }

  private int endOfPlain(byte[] bytes, int from, int to) {
    int at = from;
    while (at < to && bytes[at] != delimiter && bytes[at] != '\n' && bytes[at] != '\r') {
      at++;
    }
    return at;
  }

  /**
   * Reads a record. What the other methods then return is valid until the next one.
   *
   * @param from where it begins, less than {@code to}
   * @param to where the bytes end: with a record, or with the file
   * @return where the next record begins
   */
  int next(byte[] bytes, int from, int to) {
    this.bytes = bytes;
    start = from;
    lines = 1;
    defect = null;
    fields = 0;
    unquoted.reset();
    int end = endOfField(from, to);
    while (end < to && bytes[end] == delimiter) {
      end = endOfField(end + 1, to);
    }
    int next = end < to ? endOfRecord(end, to) : to;
    textEnd = next;
    if (bytes[next - 1] == '\n') {
      textEnd = next - 1 > from && bytes[next - 2] == '\r' ? next - 2 : next - 1;
    }
    return next;
  }

  private int endOfField(int from, int to) {
    if (from < to && bytes[from] == '"') {
      return endOfQuoted(from + 1, to);
    }
    int end = endOfPlain(bytes, from, to);
    addField(from, end);
    return end;
  }

  private int endOfQuoted(int from, int to) {
    int firstUnquoted = unquoted.length();
    int rest = from;
    for (int at = from; at < to; at++) {
      if (bytes[at] == '\n') {
        lines++;
      } else if (bytes[at] == '"') {
        if (at + 1 == to || bytes[at + 1] != '"') {
          addQuoted(firstUnquoted, from, rest, at);
          return at + 1;
        }
        at++;
        unquoted.put(bytes, rest, at - rest);
        rest = at + 1;
      }
    }
    defect = Defect.UNCLOSED_QUOTE;
    lines -= bytes[to - 1] == '\n' ? 1 : 0; // after it no line begins
    return to;
  }

  /** Adds a field of which all before {@code rest} has been unquoted. */
  private void addQuoted(int firstUnquoted, int from, int rest, int to) {
    if (rest == from) {
      addField(from, to);
      return;
    }
    unquoted.put(bytes, rest, to - rest);
    addField(~firstUnquoted, ~unquoted.length());
  }

  private void addField(int from, int to) {
    if (2 * fields == bounds.length) {
      bounds = Arrays.copyOf(bounds, 4 * fields);
    }
    bounds[2 * fields] = from;
    bounds[2 * fields + 1] = to;
    fields++;
  }

  /** The end of a record after a field that no delimiter follows. */
  private int endOfRecord(int at, int to) {
    if (bytes[at] == '\n') {
      return at + 1;
    }
    if (bytes[at] == '\r' && at + 1 < to && bytes[at + 1] == '\n') {
      return at + 2;
    }
    defect = bytes[at] == '\r' ? Defect.LONE_CARRIAGE_RETURN : Defect.TEXT_AFTER_QUOTE;
    int lineFeed = ByteSearch.indexOf(bytes, at + 1, to, (byte) '\n');
    return lineFeed < 0 ? to : lineFeed + 1;
  }

  /**
   * What is wrong with the record, or null.
   *
   * @param valid whether it is known to be UTF-8
   */
  @Nullable Defect defect(boolean valid) {
    if (defect != null) {
      return defect;
    }
    if (start == textEnd) {
      return Defect.EMPTY_LINE;
    }
    return valid || Utf8.isValid(bytes, start, textEnd) ? null : Defect.INVALID_ENCODING;
  }

  /** The number of lines of the record. */
  int lines() {
    return lines;
  }

  /** The end of the record without its line end. */
  int textEnd() {
    return textEnd;
  }

  /** The number of fields of the record, if it has no defect. */
  int fields() {
    return fields;
  }

  /** The array with a field. */
  byte[] bytes(int field) {
    return bounds[2 * field] < 0 ? unquoted.bytes() : bytes;
  }

  int from(int field) {
    int from = bounds[2 * field];
    return from < 0 ? ~from : from;
  }

  int length(int field) {
    return Math.abs(bounds[2 * field + 1] - bounds[2 * field]);
  }

  /** The fields as text. */
  List<String> texts() {
    List<String> texts = new ArrayList<>();
    for (int field = 0; field < fields; field++) {
      texts.add(new String(bytes(field), from(field), length(field), StandardCharsets.UTF_8));
    }
    return texts;
  }
}
