package tech.bsdb.tools.rows;

import java.util.List;
import tech.bsdb.tools.rows.RowType.Column;
import tech.bsdb.tools.rows.RowType.Scalar;
import tech.bsdb.tools.text.JsonBuffer;

/**
 * The text that values of a type have as keys: their JSON form (docs/guides/rows.md) without
 * quotes. Not thread-safe.
 */
public final class KeyText {
  private static final int BEGIN = "{\"k\":".length();

  private final RowJson form;
  private final JsonBuffer json = new JsonBuffer();

  /** Creates the text of one type's values. */
  public KeyText(Scalar type) {
    this.form = new RowJson(RowForm.of(AvroSchemas.of(List.of(new Column("k", type, false)))));
  }

  /**
   * Writes the text of a value.
   *
   * @param value the value in Avro's encoding
   * @throws BadRowException if it is not valid
   */
  public void write(RowBuffer value, RowBuffer out) throws BadRowException {
    json.reset();
    form.write(value.bytes(), 0, value.length(), json);
    int quote = json.bytes()[BEGIN] == '"' ? 1 : 0;
    out.put(json.bytes(), BEGIN + quote, json.length() - BEGIN - 1 - 2 * quote);
  }
}
