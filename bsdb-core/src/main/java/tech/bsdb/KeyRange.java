package tech.bsdb;

import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import tech.bsdb.lookup.KeySpan;

/**
 * A range of keys in the order of their bytes, which are compared as unsigned numbers; a key comes
 * before those that it is the start of. Immutable; copies the keys that it is given.
 *
 * <pre>{@code
 * KeyRange.prefix(bytes("user:42:"))
 * KeyRange.all().from(bytes("2026-11-01")).to(bytes("2026-12-01"))
 * }</pre>
 */
public final class KeyRange {
  private static final KeyRange ALL = new KeyRange(KeySpan.ALL);

  private final KeySpan span;

  private KeyRange(KeySpan span) {
    this.span = span;
  }

  /** All keys. */
  public static KeyRange all() {
    return ALL;
  }

  /**
   * The keys that start with some bytes.
   *
   * @param prefix the bytes; all keys start with none
   */
  public static KeyRange prefix(byte[] prefix) {
    return new KeyRange(new KeySpan(prefix.clone(), successor(prefix)));
  }

  /** The least key that is greater than all that start with a prefix, or null if there is none. */
  private static byte @Nullable [] successor(byte[] prefix) {
    int length = prefix.length;
    while (length > 0 && prefix[length - 1] == (byte) 0xFF) {
      length--;
    }
    if (length == 0) {
      return null;
    }
    byte[] next = Arrays.copyOf(prefix, length);
    next[length - 1]++;
    return next;
  }

  /**
   * The keys of this range that are not less than a key.
   *
   * @param key the first key that can be in the range
   */
  public KeyRange from(byte[] key) {
    byte[] from = span.from();
    boolean less = from == null || Arrays.compareUnsigned(from, key) < 0;
    return less ? new KeyRange(new KeySpan(key.clone(), span.to())) : this;
  }

  /**
   * The keys of this range that are greater than a key.
   *
   * @param key the last key before the range
   */
  public KeyRange after(byte[] key) {
    return from(Arrays.copyOf(key, key.length + 1)); // no key lies between
  }

  /**
   * The keys of this range that are less than a key.
   *
   * @param key the first key that is no longer in the range
   */
  public KeyRange to(byte[] key) {
    byte[] to = span.to();
    boolean greater = to == null || Arrays.compareUnsigned(to, key) > 0;
    return greater ? new KeyRange(new KeySpan(span.from(), key.clone())) : this;
  }

  /**
   * The keys of this range that are not greater than a key.
   *
   * @param key the last key that can be in the range
   */
  public KeyRange through(byte[] key) {
    return to(Arrays.copyOf(key, key.length + 1));
  }

  /** Whether a key is in the range. */
  public boolean contains(byte[] key) {
    return span.contains(Objects.requireNonNull(key, "key"));
  }

  /** The range as lookups know it. */
  KeySpan span() {
    return span;
  }
}
