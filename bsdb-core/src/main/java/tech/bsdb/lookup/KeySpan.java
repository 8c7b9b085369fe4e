package tech.bsdb.lookup;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A range of keys in the order of their bytes, which are unsigned.
 *
 * @param from the first key that is in it, or null for no lower bound
 * @param to the first key after it, or null for no upper bound
 */
@SuppressWarnings("ArrayRecordComponent") // private to the library; never compared
public record KeySpan(byte @Nullable [] from, byte @Nullable [] to) {
  /** All keys. */
  public static final KeySpan ALL = new KeySpan(null, null);

  /** Whether a key is in it. */
  public boolean contains(byte[] key) {
    return startsBefore(key) && endsAfter(key);
  }

  /** Whether no key can be in it. */
  boolean isEmpty() {
    return from != null && to != null && Arrays.compareUnsigned(from, to) >= 0;
  }

  /** Whether a key is before the end. */
  boolean endsAfter(byte[] key) {
    return to == null || Arrays.compareUnsigned(key, to) < 0;
  }

  /** Whether a key is not before the start. */
  boolean startsBefore(byte[] key) {
    return from == null || Arrays.compareUnsigned(key, from) >= 0;
  }
}
