package tech.bsdb.tools.input;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.Arrays;

/**
 * The mark of records that stand for the deletion of their key: a field that has one value.
 *
 * @param field the field or column
 * @param value its value as text, as a key would be written
 */
public record DeleteField(String field, String value) {
  /**
   * Reads {@code FIELD=VALUE}, which is split at the first equals sign.
   *
   * @throws IllegalArgumentException if there is none, or no field before it
   */
  public static DeleteField parse(String text) {
    int equals = text.indexOf('=');
    if (equals <= 0) {
      throw new IllegalArgumentException("takes FIELD=VALUE, such as op=D, not \"" + text + "\"");
    }
    return new DeleteField(text.substring(0, equals), text.substring(equals + 1));
  }

  /** Creates the comparison with the value, for any number of threads. */
  public Mark mark() {
    return new Mark(value.getBytes(UTF_8));
  }

  /** The value in UTF-8, to be compared with fields. */
  public static final class Mark {
    private final byte[] value;

    private Mark(byte[] value) {
      this.value = value;
    }

    /** Whether a field's text is the value. */
    public boolean is(byte[] text, int from, int length) {
      return Arrays.equals(value, 0, value.length, text, from, from + length);
    }
  }
}
