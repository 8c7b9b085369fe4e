package tech.bsdb.lookup;

import java.io.IOException;
import java.util.Arrays;
import java.util.Objects;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;
import tech.bsdb.data.Values;
import tech.bsdb.error.MemoryBudgetExceededException;

/** The keys and values of a {@code LookupBatch} or of {@link Lookup#getAll}. Not thread-safe. */
public final class KeyBatch {
  private static final int ABSENT = -1;

  private final Lookup lookup;
  private final Values values;
  private final byte @Nullable [] @Nullable [] apart;
  private byte[][] keys = new byte[64][];
  private int[] offsets = new int[64];
  private int[] lengths = new int[64];
  private int size;
  private boolean answered;

  /** For values that lie in one array. */
  KeyBatch(Lookup lookup) {
    this.lookup = lookup;
    this.values = Values.contiguous();
    this.apart = null;
  }

  /** For values in arrays of their own, which are put into {@code values}. */
  KeyBatch(Lookup lookup, byte[][] keys, byte @Nullable [] @Nullable [] values) {
    this.lookup = lookup;
    this.values = Values.separate();
    this.keys = keys;
    this.size = keys.length;
    this.apart = values;
    this.offsets = new int[0];
    this.lengths = new int[0];
  }

  /**
   * Adds a key.
   *
   * @param key 0 to 65,535 bytes; it is not copied and must stay as it is until {@link #get} has
   *     returned
   * @return its number, from 0 on
   */
  public int add(byte[] key) {
    Objects.requireNonNull(key, "key");
    if (size == keys.length) {
      keys = Arrays.copyOf(keys, 2 * size);
      offsets = Arrays.copyOf(offsets, 2 * size);
      lengths = Arrays.copyOf(lengths, 2 * size);
    }
    answered = false;
    keys[size] = key;
    return size++;
  }

  /**
   * Has a budget asked for the memory that values take, as {@link #values} grows; null for none. A
   * batch that was refused is a {@link MemoryBudgetExceededException} and may be asked for again.
   */
  public void use(@Nullable LongPredicate budget) {
    values.use(budget);
  }

  /** Forgets keys and values. */
  public void clear() {
    size = 0;
    values.clear();
    answered = false;
  }

  /** Keys that were added. */
  public int size() {
    return size;
  }

  /**
   * Looks all keys up.
   *
   * @throws IOException if one of them cannot be read; then there are no values
   * @throws tech.bsdb.error.CorruptDatabaseException if bytes on the way are damaged
   * @throws IllegalStateException if the database is closed, or the values take more than 2 GiB
   */
  public void get() throws IOException {
    answered = false;
    values.clear();
    lookup.getAll(this);
    answered = true;
  }

  /** Whether the key with that number has a value. */
  public boolean isPresent(int number) {
    return length(number) != ABSENT;
  }

  /** The array in which the values stand, until the next {@link #get} or {@link #clear}. */
  public byte[] values() {
    return values.array();
  }

  /** Where in {@link #values} a present key's value begins. */
  public int offset(int number) {
    check(number);
    return offsets[number];
  }

  /** Bytes of a key's value; -1 if the key is absent. */
  public int length(int number) {
    check(number);
    return lengths[number];
  }

  /** A copy of a key's value, or null if the key is absent. */
  public byte @Nullable [] value(int number) {
    int length = length(number);
    return length == ABSENT
        ? null
        : Arrays.copyOfRange(values.array(), offsets[number], offsets[number] + length);
  }

  private void check(int number) {
    Objects.checkIndex(number, size);
    if (!answered) {
      throw new IllegalStateException("the batch has no answers; call get()");
    }
  }

  byte[] key(int number) {
    return keys[number];
  }

  /** Where the values go. */
  Values destination() {
    return values;
  }

  /** Notes the value that was just put into {@link #destination}, or that there is none. */
  void note(int number, byte @Nullable [] array) {
    if (apart != null) {
      apart[number] = array;
    } else {
      lengths[number] = array == null ? ABSENT : values.length(array);
      offsets[number] = values.offset();
    }
  }
}
