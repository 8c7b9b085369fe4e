package tech.bsdb.tools.inspect;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.io.OutputStream;
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

  /**
   * Writes records as objects, {@code {"key":...,"value":...}}, one per line, as {@link RecordJson}
   * writes keys and values. Not thread-safe.
   */
  static final class JsonLines {
    private static final byte[] KEY = "{\"key\":".getBytes(US_ASCII);
    private static final byte[] VALUE = ",\"value\":".getBytes(US_ASCII);
    private static final byte[] END = "}\n".getBytes(US_ASCII);

    private final OutputStream out;
    private final RecordJson json;
    private final JsonBuffer line = new JsonBuffer();

    /**
     * Creates a writer.
     *
     * @param statistics of the database that the records are from
     * @param rows how to write values that are rows; null if they are bytes
     */
    JsonLines(OutputStream out, RecordForm form, Statistics statistics, @Nullable RowForm rows) {
      this.out = out;
      this.json = new RecordJson(form, statistics, rows);
    }

    /**
     * Writes a record; the value is null where the key is absent.
     *
     * @throws FileSystemException if the value should be a row but is not
     */
    void write(byte[] key, byte @Nullable [] value) throws IOException {
      begin(key);
      line.put(VALUE);
      json.putValue(key, value, line);
      end();
    }

    /** Writes a key without a value: {@code {"key":...}}. */
    void writeKey(byte[] key) throws IOException {
      begin(key);
      end();
    }

    private void begin(byte[] key) {
      line.reset();
      line.put(KEY);
      json.putKey(key, line);
    }

    private void end() throws IOException {
      line.put(END);
      out.write(line.bytes(), 0, line.length());
    }
  }
}
