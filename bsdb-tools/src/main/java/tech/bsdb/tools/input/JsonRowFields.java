package tech.bsdb.tools.input;

import com.fasterxml.jackson.core.JsonProcessingException;
import java.io.IOException;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.rows.BadFieldException;
import tech.bsdb.tools.rows.JsonParsers;
import tech.bsdb.tools.rows.JsonRows;

/**
 * Lines of one JSON object each: the key is the text of one of its fields, the value is the typed
 * row that the object represents.
 */
final class JsonRowFields implements LineFields {
  private final JsonRows rows;
  private final int longest;
  private final Admission admission;
  private final boolean detailed;
  private @Nullable String detail;

  JsonRowFields(String keyField, Format.Rows rows, InputOptions options) {
    this.rows = new JsonRows(rows.schema(), keyField, rows.ignoreExtraFields());
    this.longest = rows.longest();
    this.admission = new Admission(options);
    this.detailed = options.showsBadLines();
  }

  @Override
  public @Nullable Defect handOn(byte[] bytes, int from, int to, RecordVisitor records)
      throws IOException {
    detail = null;
    if (!JsonParsers.beginsAsObject(bytes, from, to)) {
      return Defect.NOT_JSON;
    }
    JsonRows.Key key;
    try {
      key = rows.encode(bytes, from, to);
    } catch (JsonProcessingException malformed) {
      return Defect.NOT_JSON;
    } catch (BadFieldException bad) {
      detail = detailed ? bad.getMessage() : null;
      return Defect.of(bad);
    }
    return switch (key) {
      case ABSENT -> Defect.NO_KEY_FIELD;
      case TWICE -> Defect.KEY_FIELD_TWICE;
      case NOT_TEXT -> Defect.KEY_FIELD_NOT_TEXT;
      case NOT_UNICODE -> Defect.KEY_NOT_IN_ENCODING;
      case FOUND -> admit(records);
    };
  }

  private @Nullable Defect admit(RecordVisitor records) throws IOException {
    int length = rows.row().length();
    if (length > longest) {
      return Defect.ROW_TOO_LONG;
    }
    return admission.admit(
        rows.key().bytes(), 0, rows.key().length(), rows.row().bytes(), 0, length, records);
  }

  @Override
  public @Nullable String detail() {
    return detail;
  }
}
