package tech.bsdb.tools.serve.batch;

import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.text.JsonBuffer;

/**
 * Writes the answers to many keys, one after another, into a growing, reusable byte array. Not
 * thread-safe.
 *
 * <p>An answer that does not fit in an array of 2 GiB causes an {@link OutOfMemoryError}: empty the
 * buffer before large values. The buffer then holds a partial answer; {@link #reset} discards it.
 */
public abstract sealed class AnswerWriter permits AnswerLines, AnswerFrames {
  final JsonBuffer out = new JsonBuffer();

  AnswerWriter() {}

  /** Writes the answer for a key that is present, both in ranges of arrays. */
  public abstract void write(
      byte[] keys, int keyOffset, int keyLength, byte[] values, int valueOffset, int valueLength);

  /** Writes the answer for a key that is absent. */
  public abstract void writeAbsent(byte[] keys, int keyOffset, int keyLength);

  /**
   * Writes the version that answers, before the first answer.
   *
   * @param version its name
   * @param id its database id
   */
  public abstract void writeVersion(String version, String id);

  /** Sets the budget consulted before the array grows, as in {@link JsonBuffer#use}. */
  public void use(@Nullable LongPredicate budget) {
    out.use(budget);
  }

  /** Returns the array that starts with the written bytes; valid until the next write or reset. */
  public byte[] buffer() {
    return out.bytes();
  }

  /** Returns the number of bytes written. */
  public int length() {
    return out.length();
  }

  /** Discards the written bytes, and a buffer larger than 1 MiB. */
  public void reset() {
    out.reset();
  }

  /** Discards the written bytes, and the buffer. */
  public void drop() {
    out.drop();
  }
}
