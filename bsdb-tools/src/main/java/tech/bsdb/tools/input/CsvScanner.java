package tech.bsdb.tools.input;

import org.jspecify.annotations.Nullable;

/**
 * Finds the ends of CSV records, and the records that violate RFC 4180.
 *
 * <p>A quote opens a quoted field only as the field's first byte; elsewhere in an unquoted field it
 * is data. A record ends at a line feed outside quotes, with or without a carriage return before
 * it. After an error the record extends to the end of its line.
 */
final class CsvScanner implements RecordSyntax.RecordEnds {
  private enum State {
    RECORD_START,
    FIELD_START,
    PLAIN,
    QUOTED,
    AFTER_QUOTE,
    CARRIAGE_RETURN,
    MISTAKE
  }

  private final byte delimiter;
  private State state = State.RECORD_START;
  private @Nullable Defect defect;
  private int lineFeeds;

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
        at = endOfQuoted(bytes, at, to);
      }
      if (at == to) {
        break;
      }
      byte next = bytes[at++];
      State after = after(next);
      state = after;
      if (next == '\n') {
        lineFeeds++;
        if (after == State.RECORD_START) {
          return at;
        }
      }
    }
    return -1;
  }

  private State after(byte next) {
    return switch (state) {
      case RECORD_START -> {
        defect = null;
        lineFeeds = 0;
        yield next == '"' ? State.QUOTED : afterUnquoted(next);
      }
      case FIELD_START -> next == '"' ? State.QUOTED : afterUnquoted(next);
      case PLAIN -> afterUnquoted(next);
      case QUOTED -> next == '"' ? State.AFTER_QUOTE : State.QUOTED;
      case AFTER_QUOTE -> {
        State unquoted = next == '"' ? State.QUOTED : afterUnquoted(next);
        yield unquoted == State.PLAIN ? mistake(Defect.TEXT_AFTER_QUOTE) : unquoted;
      }
      case CARRIAGE_RETURN ->
          next == '\n' ? State.RECORD_START : mistake(Defect.LONE_CARRIAGE_RETURN);
      case MISTAKE -> next == '\n' ? State.RECORD_START : State.MISTAKE;
    };
  }

  private State afterUnquoted(byte next) {
    if (next == delimiter) {
      return State.FIELD_START;
    }
    return next == '\n' ? State.RECORD_START : next == '\r' ? State.CARRIAGE_RETURN : State.PLAIN;
  }

  private State mistake(Defect made) {
    defect = made;
    return State.MISTAKE;
  }

  private int endOfPlain(byte[] bytes, int from, int to) {
    int at = from;
    while (at < to && bytes[at] != delimiter && bytes[at] != '\n' && bytes[at] != '\r') {
      at++;
    }
    return at;
  }

  private int endOfQuoted(byte[] bytes, int from, int to) {
    int at = from;
    for (; at < to && bytes[at] != '"'; at++) {
      lineFeeds += bytes[at] == '\n' ? 1 : 0;
    }
    return at;
  }

  /** The defect of the record that ended last, if any. */
  @Nullable Defect defect() {
    return defect;
  }

  /** The number of lines of the record that ended last. */
  int lines() {
    return lineFeeds;
  }

  /**
   * Ends an unfinished record at the end of a file, by the same rules as any other.
   *
   * @param last its last byte
   */
  void end(byte last) {
    if (state == State.QUOTED) {
      defect = Defect.UNCLOSED_QUOTE;
    } else if (state == State.CARRIAGE_RETURN) {
      defect = Defect.LONE_CARRIAGE_RETURN;
    }
    lineFeeds += last == '\n' ? 0 : 1;
    state = State.RECORD_START;
  }
}
