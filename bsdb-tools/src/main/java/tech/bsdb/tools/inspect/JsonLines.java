package tech.bsdb.tools.inspect;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.FileSystemException;
import org.jspecify.annotations.Nullable;
import tech.bsdb.Statistics;
import tech.bsdb.tools.rows.RowForm;
import tech.bsdb.tools.text.JsonBuffer;

/**
 * Writes records as objects, {@code {"key":...,"value":...}}, one per line, as {@link RecordJson}
 * writes keys and values. Not thread-safe.
 */
final class JsonLines {
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
