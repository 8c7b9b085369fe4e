package tech.bsdb;

import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A range of keys in the order of their bytes, which are compared as unsigned numbers; a key comes
 * before the keys that begin with it. Immutable; copies the keys that it is given.
 *
 * <pre>{@code
 * KeyRange.prefix(bytes("user:42:"))
 * KeyRange.all().from(bytes("2026-11-01")).to(bytes("2026-12-01"))
 * }</pre>
 */
public final class KeyRange {
  private static final KeyRange ALL = new KeyRange(null, null);

  private final byte @Nullable [] from;
  private final byte @Nullable [] to;

  private KeyRange(byte @Nullable [] from, byte @Nullable [] to) {
    this.from = from;
    this.to = to;
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
    return new KeyRange(prefix.clone(), successor(prefix));
  }

  /** The smallest key that is greater than all keys with a prefix, or null if there is none. */
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
    boolean less = from == null || Arrays.compareUnsigned(from, key) < 0;
    return less ? new KeyRange(key.clone(), to) : this;
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
    boolean greater = to == null || Arrays.compareUnsigned(to, key) > 0;
    return greater ? new KeyRange(from, key.clone()) : this;
  }

  /**
   * The keys of this range that are not greater than a key.
   *
   * @param key the last key that can be in the range
   */
  public KeyRange through(byte[] key) {
    return to(Arrays.copyOf(key, key.length + 1));
  }

  /** The first key that can be in the range, or null if there is no lower bound. */
  public byte @Nullable [] from() {
    return from == null ? null : from.clone();
  }

  /** The first key after the range, or null if there is no upper bound. */
  public byte @Nullable [] to() {
    return to == null ? null : to.clone();
  }

  /** Whether a key is in the range. */
  public boolean contains(byte[] key) {
    Objects.requireNonNull(key, "key");
    return startsBefore(key) && endsAfter(key);
  }

  /** Whether no key can be in the range. */
  public boolean isEmpty() {
    return from != null && to != null && Arrays.compareUnsigned(from, to) >= 0;
  }

  /** Whether a key is less than the upper bound. */
  public boolean endsAfter(byte[] key) {
    return to == null || Arrays.compareUnsigned(key, to) < 0;
  }

  /** Whether a key is not less than the lower bound. */
  public boolean startsBefore(byte[] key) {
    return from == null || Arrays.compareUnsigned(from, key) <= 0;
  }
}
