package tech.bsdb.tools.serve;

import java.io.IOException;
import tech.bsdb.Database;
import tech.bsdb.Database.RecordCursor;
import tech.bsdb.error.DuplicateKeyException;
import tech.bsdb.store.Lease;
import tech.bsdb.tools.rows.RowForm;
import tech.bsdb.tools.rows.RowSchema;
import tech.bsdb.tools.serve.batch.AnswerLines;
import tech.bsdb.tools.serve.batch.Projection.NotJsonException;
import tech.bsdb.tools.serve.batch.RequestRefusedException;
import tech.bsdb.tools.serve.dataset.ServedVersion;

/** The form in which values are answered. */
public enum ValueKind {
  /** Raw bytes. */
  BYTES,
  /** JSON: the rows of a database with a schema as objects, other values unchanged. */
  JSON,
  /** Like {@link #JSON}, but numbers in rows that a double cannot hold exactly become strings. */
  SAFE_JSON;

  /** How many values are checked. */
  private static final int CHECKED = 100;

  /** Returns how rows are written. */
  RowForm form(RowSchema schema) {
    return RowForm.of(schema).withSafeIntegers(this == SAFE_JSON);
  }

  /**
   * Checks that the first values of a version can be answered like this.
   *
   * @throws IOException if one is neither JSON nor a row, though it has to be
   */
  void check(String location, Lease version) throws IOException {
    if (this == BYTES) {
      return;
    }
    AnswerLines lines;
    try {
      lines = Served.of(new ServedVersion(version), this).lines(null);
    } catch (RequestRefusedException e) {
      throw new IOException("-json: " + location + ": " + e.getMessage(), e);
    }
    Database database = version.database();
    if (database.statistics().approximateWidth() > 0) {
      return; // it has no values to look at
    }
    try (RecordCursor records = database.scan()) {
      for (int i = 0; i < CHECKED && records.next(); i++) {
        lines.out().reset();
        try {
          lines.writeValue(records.value());
        } catch (NotJsonException e) {
          throw new IOException(
              "-json: key "
                  + DuplicateKeyException.show(records.key())
                  + ": "
                  + e.getMessage()
                  + "; leave -json out",
              e);
        }
      }
    }
  }
}
