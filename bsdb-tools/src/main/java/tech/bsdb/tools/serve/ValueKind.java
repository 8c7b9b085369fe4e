package tech.bsdb.tools.serve;

import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import tech.bsdb.Database;
import tech.bsdb.Database.RecordCursor;
import tech.bsdb.error.DuplicateKeyException;
import tech.bsdb.tools.rows.BadRowException;
import tech.bsdb.tools.rows.RowForm;
import tech.bsdb.tools.rows.RowJson;
import tech.bsdb.tools.rows.RowSchema;
import tech.bsdb.tools.text.JsonBuffer;
import tech.bsdb.tools.text.JsonCopier;
import tech.bsdb.tools.text.JsonCopier.Outcome;

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
   * Checks that the first values of a database can be answered like this.
   *
   * @throws IOException if one is neither JSON nor a row, though it has to be
   */
  void check(Path directory, Database database) throws IOException {
    if (this == BYTES) {
      return;
    }
    RowForm rows = rows(directory, database);
    if (database.statistics().approximateWidth() > 0) {
      return; // it has no values to look at
    }
    try (RecordCursor records = database.scan()) {
      for (int i = 0; i < CHECKED && records.next(); i++) {
        String wrong = wrong(records.value(), rows);
        if (!wrong.isEmpty()) {
          throw new IOException(
              "-json: the value of "
                  + DuplicateKeyException.show(records.key())
                  + wrong
                  + "; leave -json out");
        }
      }
    }
  }

  private @Nullable RowForm rows(Path directory, Database database) throws IOException {
    try {
      RowSchema schema = RowSchema.stored(database.statistics());
      return schema == null ? null : form(schema);
    } catch (IllegalArgumentException e) {
      throw new IOException(
          "-json: " + directory + " has an invalid stored schema: " + e.getMessage(), e);
    }
  }

  /** Returns why a value is not as it has to be; empty if it is. */
  private static String wrong(byte[] value, @Nullable RowForm rows) {
    JsonBuffer out = new JsonBuffer();
    if (rows == null) {
      boolean json = new JsonCopier(out).copy(value, 0, value.length) == Outcome.COPIED;
      return json ? "" : " is not JSON";
    }
    try {
      new RowJson(rows).write(value, 0, value.length, out);
      return "";
    } catch (BadRowException e) {
      return " is not a row of the stored schema: " + e.getMessage();
    }
  }
}
