package tech.bsdb.tools.input;

import com.fasterxml.jackson.core.JsonProcessingException;
import java.io.IOException;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.rows.BadFieldException;
import tech.bsdb.tools.rows.JsonParsers;
import tech.bsdb.tools.rows.JsonRows;

/** Finds the key and the value in a line; for use by one thread. */
@FunctionalInterface
interface LineFields {
  /**
   * Passes the line's record on.
   *
   * @param bytes contains the line, valid UTF-8, without its end and empty only if {@link
   *     #takesEmptyLines}, in {@code from} to {@code to}
   * @return why it is not a record, or null if it was passed on
   */
  @Nullable Defect handOn(byte[] bytes, int from, int to, RecordVisitor records) throws IOException;

  /** Whether a line without any character is passed on, too. */
  default boolean takesEmptyLines() {
    return false;
  }

  /** Takes a more specific error message for the last defect returned, or null if there is none. */
  default @Nullable String takeDetail() {
    return null;
  }

  /**
   * Lines of a key, a separator and a value: the text before and after the first separator,
   * untrimmed.
   */
  static LineFields separated(byte[] separator, Admission admission) {
    return (bytes, from, to, records) -> {
      int at = ByteSearch.indexOf(bytes, from, to, separator);
      if (at < 0) {
        return Defect.NO_SEPARATOR;
      }
      int valueFrom = at + separator.length;
      return admission.admit(bytes, from, at - from, bytes, valueFrom, to - valueFrom, records);
    };
  }

  /**
   * Lines of one JSON object each: the key is the text of one of its fields, the value is the whole
   * line.
   */
  static LineFields json(JsonMembers members, Admission admission) {
    return (bytes, from, to, records) -> {
      Defect defect = members.read(bytes, from, to);
      if (defect != null) {
        return defect;
      }
      byte[] key = members.key();
      return members.deletes()
          ? admission.admitDeletion(key, 0, key.length, records)
          : admission.admit(key, 0, key.length, bytes, from, to - from, records);
    };
  }

  /** Lines of one key each, which is to be deleted. */
  static LineFields keys(Admission admission, boolean takesEmptyLines) {
    return new LineFields() {
      @Override
      public @Nullable Defect handOn(byte[] bytes, int from, int to, RecordVisitor records)
          throws IOException {
        return admission.admitDeletion(bytes, from, to - from, records);
      }

      @Override
      public boolean takesEmptyLines() {
        return takesEmptyLines;
      }
    };
  }

  /**
   * Lines of one JSON object each: the key is the text of one of its fields, the value is the typed
   * row that the object represents.
   */
  final class JsonRowFields implements LineFields {
    private final JsonRows rows;
    private final @Nullable JsonMembers members;
    private final Admission admission;

    JsonRowFields(String keyField, Format.Rows rows, InputOptions options) {
      DeleteField deleteField = options.deleteField();
      String marker = deleteField == null ? null : deleteField.field();
      this.rows = new JsonRows(rows.schema(), keyField, marker, rows.ignoreExtraFields());
      this.members = deleteField == null ? null : new JsonMembers(keyField, deleteField);
      this.admission = new Admission(options);
    }

    @Override
    public @Nullable Defect handOn(byte[] bytes, int from, int to, RecordVisitor records)
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

    @Override
    public @Nullable String takeDetail() {
      return admission.takeDetail();
    }
  }
}
