package tech.bsdb.tools.serve;

import tech.bsdb.tools.rows.RowForm;
import tech.bsdb.tools.rows.RowSchema;

/** What values are answered as. */
public enum ValueKind {
  /** Bytes, whatever they are. */
  BYTES,
  /** JSON: the rows of a database with a schema as objects, other values as they are. */
  JSON,
  /** The same, but the rows' numbers that a double cannot hold exactly are strings. */
  SAFE_JSON;

  /** How rows are written. */
  RowForm form(RowSchema schema) {
    return RowForm.of(schema).withSafeIntegers(this == SAFE_JSON);
  }
}
