package tech.bsdb.tools.serve.batch;

import static java.nio.charset.StandardCharsets.US_ASCII;

import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.text.JsonBuffer;
import tech.bsdb.tools.text.JsonCopier;

/**
 * Answers as lines of JSON: {@code {"key":"...","value":"..."}}, the value {@code null} where the
 * key is absent. What is not UTF-8 is {@code {"base64":"..."}}. Not thread-safe.
 *
 * <p>Where values are JSON, they stand in the line as they are, but for white space between their
 * tokens. A value that is not what it should be makes the line {@code {"key":"...","error":"..."}}.
 */
public final class AnswerLines implements AnswerWriter {
  private static final byte[] KEY = "{\"key\":".getBytes(US_ASCII);
  private static final byte[] VALUE = ",\"value\":".getBytes(US_ASCII);
  private static final byte[] ABSENT = ",\"value\":null}\n".getBytes(US_ASCII);
  private static final byte[] END = "}\n".getBytes(US_ASCII);
  private static final byte[] NOT_JSON =
      (",\"error\":\"" + Projection.NOT_JSON + "\"}\n").getBytes(US_ASCII);
  private static final byte[] NOT_OBJECT =
      (",\"error\":\"" + Projection.NOT_OBJECT + "\"}\n").getBytes(US_ASCII);

  private final JsonBuffer out = new JsonBuffer();
  private final JsonCopier copier = new JsonCopier(out);
  private final boolean jsonValues;
  private final JsonCopier.@Nullable Fields fields;

  /**
   * A writer.
   *
   * @param jsonValues whether values are JSON
   * @param fields the fields that are wanted of values, which are then JSON objects; null for all
   *     of the value
   */
  public AnswerLines(boolean jsonValues, @Nullable Projection fields) {
    this.jsonValues = jsonValues;
    this.fields = fields == null ? null : fields::wants;
  }

  @Override
  public void write(
      byte[] keys, int keyOffset, int keyLength, byte[] values, int valueOffset, int valueLength) {
    out.put(KEY);
    out.putText(keys, keyOffset, keyLength);
    int keyEnd = out.length();
    out.put(VALUE);
    if (fields == null && !jsonValues) {
      out.putText(values, valueOffset, valueLength);
      out.put(END);
      return;
    }
    JsonCopier.Outcome outcome =
        fields == null
            ? copier.copy(values, valueOffset, valueLength)
            : copier.copyFields(values, valueOffset, valueLength, fields);
    switch (outcome) {
      case COPIED -> out.put(END);
      case NOT_JSON -> error(keyEnd, NOT_JSON);
      case NOT_OBJECT -> error(keyEnd, NOT_OBJECT);
    }
  }

  private void error(int keyEnd, byte[] error) {
    out.truncate(keyEnd);
    out.put(error);
  }

  @Override
  public void writeAbsent(byte[] keys, int keyOffset, int keyLength) {
    out.put(KEY);
    out.putText(keys, keyOffset, keyLength);
    out.put(ABSENT);
  }

  @Override
  public byte[] buffer() {
    return out.bytes();
  }

  @Override
  public int length() {
    return out.length();
  }

  @Override
  public void reset() {
    out.reset();
  }
}
