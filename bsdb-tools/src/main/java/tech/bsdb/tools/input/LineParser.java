package tech.bsdb.tools.input;

import com.fasterxml.jackson.core.JsonProcessingException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.rows.BadFieldException;
import tech.bsdb.tools.rows.JsonParsers;
import tech.bsdb.tools.rows.JsonRows;
import tech.bsdb.tools.text.Utf8;

/**
 * Parses chunks with one record per line.
 *
 * <p>A line ends at a line feed, and a carriage return right before it belongs to the line end. A
 * carriage return anywhere else is data, even as the last byte of a file.
 */
abstract class LineParser implements RecordSyntax.ChunkParser {
  /** Checks the records and passes them on. */
  final Admission admission;

  private final boolean takesEmptyLines;
  private final boolean stopAtBad;

  private LineParser(InputOptions options, boolean takesEmptyLines) {
    this.admission = new Admission(options);
    this.takesEmptyLines = takesEmptyLines;
    this.stopAtBad = options.onBadLine() == InputOptions.OnBadLine.FAIL;
  }

  @Override
  public void parse(Chunk chunk) throws IOException {
    byte[] bytes = chunk.bytes;
    RecordVisitor records = chunk.records();
    boolean valid = Utf8.isValid(bytes, chunk.from, chunk.to);
    long line = chunk.units;
    for (int at = chunk.from; at < chunk.to; line++) {
      int lineFeed = ByteSearch.indexOf(bytes, at, chunk.to, (byte) '\n');
      int end =
          lineFeed < 0
              ? chunk.to
              : lineFeed > at && bytes[lineFeed - 1] == '\r' ? lineFeed - 1 : lineFeed;
      Defect defect = parse(bytes, at, end, valid, records);
      if (defect == null) {
        chunk.addGood(line);
      } else {
        chunk.addBad(defect, admission.takeDetail(), line, at, end);
        if (stopAtBad) {
          return;
        }
      }
      at = lineFeed < 0 ? chunk.to : lineFeed + 1;
    }
    chunk.units = line;
  }

  private @Nullable Defect parse(
      byte[] bytes, int from, int to, boolean valid, RecordVisitor records) throws IOException {
    if (from == to && !takesEmptyLines) {
      return Defect.EMPTY_LINE;
    }
    if (!valid && !Utf8.isValid(bytes, from, to)) {
      return Defect.INVALID_ENCODING;
    }
    return handOn(bytes, from, to, records);
  }

  /**
   * Passes a line's record on.
   *
   * @param bytes contains the line, valid UTF-8, without its end, in {@code from} to {@code to}
   * @return why it is not a record, or null if it was passed on
   */
  abstract @Nullable Defect handOn(byte[] bytes, int from, int to, RecordVisitor records)
      throws IOException;

  /**
   * Lines of a key, a separator and a value: the text before and after the first separator,
   * untrimmed.
   */
  static final class Separated extends LineParser {
    private final byte[] separator;

    Separated(Format.Text format, InputOptions options) {
      super(options, false);
      this.separator = format.separator().getBytes(StandardCharsets.UTF_8);
    }

    @Override
    @Nullable Defect handOn(byte[] bytes, int from, int to, RecordVisitor records)
        throws IOException {
      int at = ByteSearch.indexOf(bytes, from, to, separator);
      if (at < 0) {
        return Defect.NO_SEPARATOR;
      }
      int valueFrom = at + separator.length;
      return admission.admit(bytes, from, at - from, bytes, valueFrom, to - valueFrom, records);
    }
  }

  /** Lines of one key each, which is to be deleted. */
  static final class Keys extends LineParser {
    Keys(InputOptions options) {
      super(options, options.allowEmptyKey());
    }

    @Override
    @Nullable Defect handOn(byte[] bytes, int from, int to, RecordVisitor records)
        throws IOException {
      return admission.admitDeletion(bytes, from, to - from, records);
    }
  }

  /**
   * Lines of one JSON object each: the key is the text of one of its fields, the value is the whole
   * line.
   */
  static final class Json extends LineParser {
    private final JsonMembers members;

    Json(Format.JsonLines format, InputOptions options) {
      super(options, false);
      this.members = new JsonMembers(format.keyField(), options.deleteField());
    }

    @Override
    @Nullable Defect handOn(byte[] bytes, int from, int to, RecordVisitor records)
        throws IOException {
      Defect defect = members.read(bytes, from, to);
      if (defect != null) {
        return defect;
      }
      byte[] key = members.key();
      return members.deletes()
          ? admission.admitDeletion(key, 0, key.length, records)
          : admission.admit(key, 0, key.length, bytes, from, to - from, records);
    }
  }

  /**
   * Lines of one JSON object each: the key is the text of one of its fields, the value is the typed
   * row that the object represents.
   */
  static final class TypedJson extends LineParser {
    private final JsonRows rows;
    private final @Nullable JsonMembers members;

    TypedJson(Format.JsonLines format, Format.Rows typed, InputOptions options) {
      super(options, false);
      DeleteField deleteField = options.deleteField();
      String marker = deleteField == null ? null : deleteField.field();
      this.rows =
          new JsonRows(typed.schema(), format.keyField(), marker, typed.ignoreExtraFields());
      this.members = deleteField == null ? null : new JsonMembers(format.keyField(), deleteField);
    }

    @Override
    @Nullable Defect handOn(byte[] bytes, int from, int to, RecordVisitor records)
        throws IOException {
      if (members != null) { // first, because the rest of a deletion need not be a row
        Defect defect = members.read(bytes, from, to);
        if (members.deletes()) {
          byte[] gone = members.key();
          return defect == null ? admission.admitDeletion(gone, 0, gone.length, records) : defect;
        }
      }
      if (!JsonParsers.beginsAsObject(bytes, from, to)) {
        return Defect.NOT_JSON;
      }
      JsonRows.Key key;
      try {
        key = rows.encode(bytes, from, to);
      } catch (JsonProcessingException malformed) {
        return Defect.NOT_JSON;
      } catch (BadFieldException bad) {
        return admission.refuse(bad);
      }
      return switch (key) {
        case ABSENT -> Defect.NO_KEY_FIELD;
        case TWICE -> Defect.KEY_FIELD_TWICE;
        case NOT_TEXT -> Defect.KEY_FIELD_NOT_TEXT;
        case NOT_UNICODE -> Defect.KEY_NOT_IN_ENCODING;
        case FOUND ->
            admission.admitRow(rows.key().bytes(), 0, rows.key().length(), rows.row(), records);
      };
    }
  }
}
