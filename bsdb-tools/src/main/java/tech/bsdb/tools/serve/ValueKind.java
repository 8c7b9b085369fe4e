package tech.bsdb.tools.serve;

import tech.bsdb.tools.rows.RowForm;
import tech.bsdb.tools.rows.RowSchema;

/** The form in which values are answered. */
public enum ValueKind {
  /** Raw bytes. */
  BYTES,
  /** JSON: the rows of a database with a schema as objects, other values unchanged. */
  JSON,
  /** Like {@link #JSON}, but numbers in rows that a double cannot hold exactly become strings. */
  SAFE_JSON;

  /** Returns how rows are written. */
  RowForm form(RowSchema schema) {
    return RowForm.of(schema).withSafeIntegers(this == SAFE_JSON);
  }
}
