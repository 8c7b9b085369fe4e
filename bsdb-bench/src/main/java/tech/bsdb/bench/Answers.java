package tech.bsdb.bench;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.util.Arrays;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;
import tech.bsdb.error.DuplicateKeyException;

/**
 * Compares answers with the source's values. Immutable, thread-safe.
 *
 * @param width 0 for an exact database, otherwise the bytes that an approximate one keeps of a
 *     value
 */
record Answers(KeySet keys, int width) {
  private static final int SHOWN = 40;

  /**
   * Checks one answer, or does nothing if the source's values are not held. An approximate database
   * may legitimately answer for an absent key.
   *
   * @throws WrongAnswerException if it contradicts the source
   */
  void check(int request, byte @Nullable [] answer) throws WrongAnswerException {
    byte[][] values = keys.values();
    if (values == null) {
      return;
    }
    if (request < 0) {
      if (answer != null && width == 0) {
        throw wrong(request, "absent", answer);
      }
      return;
    }
    byte[] expected = values[request];
    int length = width == 0 ? expected.length : Math.min(width, expected.length);
    if (answer == null || !Arrays.equals(answer, 0, answer.length, expected, 0, length)) {
      throw wrong(request, shown(Arrays.copyOf(expected, length)), answer);
    }
  }

  private WrongAnswerException wrong(int request, String expected, byte @Nullable [] answer) {
    return new WrongAnswerException(
        "wrong answer for key %s: expected %s, got %s"
            .formatted(
                DuplicateKeyException.show(keys.key(request)),
                expected,
                answer == null ? "absent" : shown(answer)));
  }

  private static String shown(byte[] value) {
    boolean whole = value.length <= SHOWN;
    byte[] part = whole ? value : Arrays.copyOf(value, SHOWN);
    for (byte b : part) {
      if (b < ' ' || b == 0x7F) {
        return "hex " + HexFormat.of().formatHex(part) + tail(value.length, whole);
      }
    }
    return '"' + new String(part, US_ASCII) + '"' + tail(value.length, whole);
  }

  private static String tail(int length, boolean whole) {
    return whole ? "" : "... (" + length + " bytes)";
  }

  /**
   * Thrown when the database returns a value that contradicts the source. The message names the
   * key.
   */
  static final class WrongAnswerException extends IOException {
    private static final long serialVersionUID = 1L;

    WrongAnswerException(String message) {
      super(message);
    }
  }
}
