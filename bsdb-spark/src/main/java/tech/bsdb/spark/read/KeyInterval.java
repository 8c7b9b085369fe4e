package tech.bsdb.spark.read;

import java.io.Serializable;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import tech.bsdb.KeyRange;

/**
 * A range of keys on its way to the executors. Immutable.
 *
 * @param prefix what all its keys start with
 * @param from the first key that can be in it
 * @param to the first key that is no longer in it; null if there is none
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
record KeyInterval(byte[] prefix, byte[] from, byte @Nullable [] to) implements Serializable {
  private static final long serialVersionUID = 1L;
  private static final byte[] LEAST = {};

  /** All keys. */
  static final KeyInterval ALL = new KeyInterval(LEAST, LEAST, null);

  /** Those of its keys that start with some bytes. */
  KeyInterval startingWith(byte[] start) {
    if (isStart(prefix, start)) {
      return new KeyInterval(start, from, to);
    }
    return isStart(start, prefix) ? this : before(LEAST); // no key starts with both
  }

  private static boolean isStart(byte[] start, byte[] key) {
    return start.length <= key.length
        && Arrays.equals(start, 0, start.length, key, 0, start.length);
  }

  /** Those of its keys that are not less than a key. */
  KeyInterval notBefore(byte[] key) {
    return Arrays.compareUnsigned(from, key) < 0 ? new KeyInterval(prefix, key, to) : this;
  }

  /** Those of its keys that are less than a key. */
  KeyInterval before(byte[] key) {
    return to == null || Arrays.compareUnsigned(to, key) > 0
        ? new KeyInterval(prefix, from, key)
        : this;
  }

  /** The least key that is greater than another. */
  static byte[] next(byte[] key) {
    return Arrays.copyOf(key, key.length + 1);
  }

  /** The range as databases know it. */
  KeyRange range() {
    KeyRange range = KeyRange.prefix(prefix).from(from);
    return to == null ? range : range.to(to);
  }
}
