package tech.bsdb.tools.serve.batch;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.serve.batch.Projection.NotJsonException;
import tech.bsdb.tools.text.JsonBuffer;
import tech.bsdb.tools.text.JsonCopier;

/**
 * Writes answers as JSON lines: {@code {"key":"...","value":"..."}}, with the value {@code null} if
 * the key is absent. Bytes that are not UTF-8 become {@code {"base64":"..."}}. Not thread-safe.
 *
 * <p>JSON values are copied verbatim, except for white space between tokens. An invalid value makes
 * the line {@code {"key":"...","error":"..."}}.
 */
public final class AnswerLines extends AnswerWriter {
  private static final byte[] KEY = "{\"key\":".getBytes(US_ASCII);
  private static final byte[] COUNT = "{\"count\":".getBytes(US_ASCII);
  private static final byte[] VALUE = ",\"value\":".getBytes(US_ASCII);
  private static final byte[] NO_VALUE = ",\"value\":null}\n".getBytes(US_ASCII);
  private static final byte[] END = "}\n".getBytes(US_ASCII);
  private static final byte[] ERROR = ",\"error\":".getBytes(US_ASCII);

  private static final byte[] VERSION = "{\"version\":".getBytes(US_ASCII);
  private static final byte[] ID = ",\"id\":".getBytes(US_ASCII);

  private final ValueJson writer;
  private KeyEncoding keyForm = KeyEncoding.TEXT;

  /** Writes values as JSON. */
  @FunctionalInterface
  public interface ValueJson {
    /**
     * Appends a value.
     *
     * @throws NotJsonException if the value cannot be written; anything appended so far must be
     *     discarded
     */
    void write(byte[] values, int offset, int length, JsonBuffer out) throws NotJsonException;
  }

  /**
   * Creates a writer.
   *
   * @param jsonValues whether values are JSON
   * @param fields the fields to keep of values, which are then JSON objects; null for the whole
   *     value
   */
  public AnswerLines(boolean jsonValues, @Nullable Projection fields) {
    JsonCopier copier = new JsonCopier(out);
    if (fields != null) {
      this.writer =
          (values, offset, length, to) ->
              Projection.require(copier.copyFields(values, offset, length, fields::wants));
    } else if (jsonValues) {
      this.writer =
          (values, offset, length, to) -> Projection.require(copier.copy(values, offset, length));
    } else {
      this.writer = (values, offset, length, to) -> to.putText(values, offset, length);
    }
  }

  /**
   * Creates a writer.
   *
   * @param values writes the values
   */
  public AnswerLines(ValueJson values) {
    this.writer = values;
  }

  /** Sets the encoding in which keys are written; by default they are text. */
  public void writeKeysIn(KeyEncoding encoding) {
    keyForm = encoding;
  }

  /** Writes a line with a key alone: {@code {"key":"..."}}. */
  public void writeKey(byte[] key) {
    putKey(key);
    out.put(END);
  }

  /**
   * Writes a value alone.
   *
   * @throws NotJsonException if it cannot be written; anything written so far must be discarded
   */
  public void writeValue(byte[] value) throws NotJsonException {
    writer.write(value, 0, value.length, out);
  }

  /** Writes a number of keys, which is the whole answer: {@code {"count":...}}. */
  public void writeCount(long count) {
    out.put(COUNT);
    out.putNumber(count);
    out.put('}');
  }

  private void putKey(byte[] key) {
    out.put(KEY);
    byte[] encoded = keyForm.encode(key);
    out.putText(encoded, 0, encoded.length);
  }

  @Override
  public void write(byte[] key, byte[] values, int offset, int length) {
    putKey(key);
    if (length == ABSENT) {
      out.put(NO_VALUE);
      return;
    }
    int keyEnd = out.length();
    out.put(VALUE);
    try {
      writer.write(values, offset, length, out);
    } catch (NotJsonException e) {
      out.truncate(keyEnd);
      out.put(ERROR);
      putText(e.getMessage());
    }
    out.put(END);
  }

  /** {@code {"version":"...","id":"..."}}, on its own line. */
  @Override
  public void writeVersion(String version, String id) {
    out.put(VERSION);
    putText(version);
    out.put(ID);
    putText(id);
    out.put(END);
  }

  private void putText(String text) {
    byte[] bytes = text.getBytes(UTF_8);
    out.putText(bytes, 0, bytes.length);
  }
}
