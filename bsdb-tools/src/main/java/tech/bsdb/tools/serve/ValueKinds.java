package tech.bsdb.tools.serve;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import java.io.IOException;
import tech.bsdb.Database;
import tech.bsdb.Database.RecordCursor;
import tech.bsdb.DuplicateKeyException;
import tech.bsdb.store.Lease;
import tech.bsdb.store.ReloadingDatabase;

/** Sees at the start whether a database is what the options say it is. */
final class ValueKinds {
  private static final int SAMPLE = 100;
  private static final JsonFactory JSON = new JsonFactory();

  private ValueKinds() {}

  /**
   * Checks the version that is served first.
   *
   * @throws IOException if it is not approximate though {@code -a} says so, or one of its first
   *     values is not JSON though {@code -json} says so
   */
  static void check(ServeOptions options, ReloadingDatabase database) throws IOException {
    try (Lease lease = database.acquire()) {
      boolean approximate = lease.database().statistics().approximateWidth() > 0;
      if (options.approximate() && !approximate) {
        throw new IOException(
            options.database() + " has no approximate index; leave -a out, or build it with -a");
      }
      if (options.json() && !approximate) {
        checkJson(lease.database());
      }
    }
  }

  private static void checkJson(Database database) throws IOException {
    try (RecordCursor records = database.scan()) {
      for (int i = 0; i < SAMPLE && records.next(); i++) {
        if (!isJson(records.value())) {
          throw new IOException(
              "-json: the value of "
                  + DuplicateKeyException.show(records.key())
                  + " is not JSON; leave -json out");
        }
      }
    }
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
