package tech.bsdb.tools.serve.batch;

import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;

/**
 * Writes the answer to many keys, one after the other, into a growing array of bytes, which is used
 * again and again. Not thread-safe.
 *
 * <p>What does not fit in an array of 2 GiB is an {@link OutOfMemoryError}: empty the buffer before
 * large values. What it then holds of that answer is not whole; {@link #reset} forgets it.
 */
public sealed interface AnswerWriter permits AnswerLines, AnswerFrames {
  /**
   * Writes the answer for a key.
   *
   * @param key the key
   * @param value its value, or null if it is absent
   */
  default void write(byte[] key, byte @Nullable [] value) {
    if (value == null) {
      writeAbsent(key, 0, key.length);
    } else {
      write(key, 0, key.length, value, 0, value.length);
    }
  }

  /** Writes the answer for a key that is present, both in ranges of arrays. */
  void write(
      byte[] keys, int keyOffset, int keyLength, byte[] values, int valueOffset, int valueLength);

  /** Writes the answer for a key that is absent. */
  void writeAbsent(byte[] keys, int keyOffset, int keyLength);

  /**
   * Writes which version answers, in front of the first answer.
   *
   * @param version its name
   * @param id its database id
   */
  void writeVersion(String version, String id);

  /**
   * Has the writer ask before its array grows, as {@link tech.bsdb.tools.text.JsonBuffer#use} says.
   */
  void use(@Nullable LongPredicate budget);

  /** Has what was written at its start; valid until the next write or reset. */
  byte[] buffer();

  /** Bytes that were written. */
  int length();

  /** Forgets what was written, and a buffer of more than a MiB. */
  void reset();
}
