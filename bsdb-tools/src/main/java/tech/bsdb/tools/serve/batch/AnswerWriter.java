package tech.bsdb.tools.serve.batch;

import tech.bsdb.tools.text.JsonBuffer;

/**
 * Writes the answers to many keys, one after another, into a growing, reusable byte array. Not
 * thread-safe.
 *
 * <p>An answer that does not fit in an array of 2 GiB causes an {@link OutOfMemoryError}: empty the
 * buffer before large values. The buffer then holds a partial answer; its {@code reset} discards
 * it.
 */
public abstract sealed class AnswerWriter permits AnswerLines, AnswerFrames {
  /** The length of a value that does not exist. */
  static final int ABSENT = -1;

  final JsonBuffer out = new JsonBuffer();

  AnswerWriter() {}

  /**
   * Writes the answer for a key, whose value is in a range of an array.
   *
   * @param length the bytes of the value, or -1 if the key is absent
   */
  public abstract void write(byte[] key, byte[] values, int offset, int length);

  /**
   * Writes the version that answers, before the first answer.
   *
   * @param version its name
   * @param id its database id
   */
  public abstract void writeVersion(String version, String id);

  /** Returns what is written so far. */
  public JsonBuffer out() {
    return out;
  }
}
