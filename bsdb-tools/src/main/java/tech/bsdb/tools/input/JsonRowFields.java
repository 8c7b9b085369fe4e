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
