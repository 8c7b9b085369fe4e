package tech.bsdb.tools.inspect;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.nio.file.FileSystemException;
import org.jspecify.annotations.Nullable;
import tech.bsdb.Statistics;
import tech.bsdb.error.DuplicateKeyException;
import tech.bsdb.tools.input.Encoding;
import tech.bsdb.tools.rows.BadRowException;
import tech.bsdb.tools.rows.RowForm;
import tech.bsdb.tools.rows.RowJson;
import tech.bsdb.tools.text.JsonBuffer;

/**
 * Keys and values of one database as JSON. Rows are written as objects; other bytes as a string if
 * they are UTF-8, otherwise as {@code {"base64":"..."}}; with an encoding, always as a string. Not
 * thread-safe.
 */
final class RecordJson {
  private static final byte[] NULL = "null".getBytes(US_ASCII);

  private final RecordForm form;
  private final Statistics statistics;
  private final @Nullable RowJson rows;

  /**
   * Creates a writer.
   *
   * @param statistics of the database that the records are from
   * @param rows how to write values that are rows; null if they are bytes
   */
  RecordJson(RecordForm form, Statistics statistics, @Nullable RowForm rows) {
    this.form = form;
    this.statistics = statistics;
    this.rows = rows == null ? null : new RowJson(rows);
  }

  /** Writes a key. */
  void putKey(byte[] key, JsonBuffer line) {
    put(form.key(), key, line);
  }

  /**
   * Writes the value of a key; null where it is absent.
   *
   * @throws FileSystemException if the value should be a row but is not
   */
  void putValue(byte[] key, byte @Nullable [] value, JsonBuffer line) throws IOException {
    if (value == null) {
      line.put(NULL);
    } else if (rows == null) {
      put(form.value(), value, line);
    } else {
      putRow(rows, key, value, line);
    }
  }

  private static void put(Encoding encoding, byte[] bytes, JsonBuffer line) {
    byte[] text = RecordForm.shown(encoding, bytes);
    line.putText(text, 0, text.length);
  }

  private void putRow(RowJson writer, byte[] key, byte[] value, JsonBuffer line)
      throws IOException {
    try {
      writer.write(value, 0, value.length, line);
    } catch (BadRowException e) {
      int width = statistics.approximateWidth();
      String approximate =
          width == 0
              ? ""
              : "; this is an approximate database, which keeps at most "
                  + width
                  + " bytes of a value and may return bytes for an absent key";
      throw DatabaseOption.unfit(
          statistics,
          "the value of %s is not a row of the stored schema: %s%s"
              .formatted(DuplicateKeyException.show(key), e.getMessage(), approximate));
    }
  }
}
