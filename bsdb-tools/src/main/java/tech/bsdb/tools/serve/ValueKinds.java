package tech.bsdb.tools.serve;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import tech.bsdb.Database;
import tech.bsdb.Database.RecordCursor;
import tech.bsdb.error.DuplicateKeyException;
import tech.bsdb.store.Lease;
import tech.bsdb.store.ReloadingDatabase;
import tech.bsdb.tools.rows.BadRowException;
import tech.bsdb.tools.rows.RowForm;
import tech.bsdb.tools.rows.RowJson;
import tech.bsdb.tools.rows.RowSchema;
import tech.bsdb.tools.text.JsonBuffer;

/** Checks at startup that a database matches the options. */
final class ValueKinds {
  private static final int SAMPLE = 100;
  private static final JsonFactory JSON = new JsonFactory();

  private ValueKinds() {}

  /**
   * Checks the first version served.
   *
   * @throws IOException if it is not approximate though {@code -a} says so, or one of its first
   *     values is neither JSON nor a row though {@code -json} says so
   */
  static void check(ServeOptions options, ReloadingDatabase database) throws IOException {
    try (Lease lease = database.acquire()) {
      boolean approximate = lease.database().statistics().approximateWidth() > 0;
      if (options.approximate() && !approximate) {
        throw new IOException(
            database.directory() + " has no approximate index; leave -a out, or build it with -a");
      }
      if (options.values() != ValueKind.BYTES) {
        RowForm rows = rows(options, database.directory(), lease.database());
        if (!approximate) {
          checkFirst(lease.database(), rows);
        }
      }
    }
  }

  private static @Nullable RowForm rows(ServeOptions options, Path directory, Database database)
      throws IOException {
    try {
      RowSchema schema = RowSchema.stored(database.statistics());
      return schema == null ? null : options.values().form(schema);
    } catch (IllegalArgumentException e) {
      throw new IOException(
          "-json: " + directory + " has an invalid stored schema: " + e.getMessage(), e);
    }
  }

  private static void checkFirst(Database database, @Nullable RowForm rows) throws IOException {
    try (RecordCursor records = database.scan()) {
      for (int i = 0; i < SAMPLE && records.next(); i++) {
        String wrong = rows == null ? notJson(records.value()) : notRow(records.value(), rows);
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

  private static String notRow(byte[] value, RowForm rows) {
    try {
      new RowJson(rows).write(value, 0, value.length, new JsonBuffer());
      return "";
    } catch (BadRowException e) {
      return " is not a row of the stored schema: " + e.getMessage();
    }
  }

  private static String notJson(byte[] value) {
    return isJson(value) ? "" : " is not JSON";
  }

  private static boolean isJson(byte[] value) {
    try (JsonParser parser = JSON.createParser(value)) {
      if (parser.nextToken() == null) {
        return false;
      }
      parser.skipChildren();
      return parser.nextToken() == null;
    } catch (IOException e) {
      return false;
    }
  }
}
