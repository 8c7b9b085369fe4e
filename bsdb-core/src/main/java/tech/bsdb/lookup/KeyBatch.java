package tech.bsdb.lookup;

import java.util.Arrays;
import java.util.Objects;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;
import tech.bsdb.data.Values;
import tech.bsdb.error.MemoryBudgetExceededException;

/**
 * Keys that are looked up together by {@link Lookup#getAll(KeyBatch)}, and their values. Not
 * thread-safe.
 */
public final class KeyBatch implements QueuedLookups.Request {
  private static final int ABSENT = -1;

  private final Values values;
  private final byte @Nullable [] @Nullable [] apart;
  private final long @Nullable [] places;
  private byte[][] keys;
  private int[] offsets;
  private int[] lengths;
  private int size;
  private boolean answered;

  private @Nullable Throwable failure;

  /** Creates a batch that collects its values in one array. */
  public KeyBatch() {
    this.values = Values.contiguous();
    this.apart = null;
    this.places = null;
    this.keys = new byte[64][];
    this.offsets = new int[64];
    this.lengths = new int[64];
  }

  /**
   * Creates a batch that puts each value into {@code values} as a separate array.
   *
   * @param places the places of the final reads, at which the records are known to be, if they are
   *     anywhere; null if they are not known
   * @param size the number of keys
   */
  KeyBatch(
      byte[][] keys, long @Nullable [] places, int size, byte @Nullable [] @Nullable [] values) {
    this.values = Values.separate();
    this.keys = keys;
    this.places = places;
    this.size = size;
    this.apart = values;
    this.offsets = new int[0];
    this.lengths = new int[0];
  }

  /**
   * Adds a key.
   *
   * @param key 0 to 65,535 bytes; not copied, so it must not change until {@link
   *     Lookup#getAll(KeyBatch)} has returned
   * @return its number, starting at 0
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

  /** Whether the keys have places. */
  boolean isPlaced() {
    return places != null;
  }

  /** The place of the final read for a key. */
  long place(int number) {
    return Objects.requireNonNull(places)[number];
  }

  /**
   * Sets the budget that must grant memory as {@link #values} grows, or null for none. If it
   * refuses, {@link Lookup#getAll(KeyBatch)} throws a {@link MemoryBudgetExceededException} and may
   * be called again.
   */
  public void use(@Nullable LongPredicate budget) {
    values.use(budget);
  }

  /** Removes all keys and values. */
  public void clear() {
    size = 0;
    values.clear();
    answered = false;
  }

  /** The number of keys added. */
  public int size() {
    return size;
  }

  /** Drops the answers; new ones will be {@link #note noted}. */
  void begin() {
    answered = false;
    failure = null;
    values.clear();
  }

  /** Makes the answers available. */
  void end() {
    answered = true;
  }

  /** Whether the key with this number has a value. */
  public boolean isPresent(int number) {
    return length(number) != ABSENT;
  }

  /** The array that holds the values until the next lookup or {@link #clear}. */
  public byte[] values() {
    return values.array();
  }

  /** The offset in {@link #values} of a present key's value. */
  public int offset(int number) {
    check(number);
    return offsets[number];
  }

  /** The length of a key's value in bytes; -1 if the key is absent. */
  public int length(int number) {
    check(number);
    return lengths[number];
  }

  /** Returns a copy of a key's value, or null if the key is absent. */
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

  /** The destination of the values. */
  Values destination() {
    return values;
  }

  @Override
  public Values destination(Values separate) {
    return values;
  }

  @Override
  public void answer(int number, byte @Nullable [] array, @Nullable Throwable why) {
    if (why != null) {
      failure = failure == null ? why : failure;
    } else {
      note(number, array);
    }
  }

  @Override
  public boolean takesOver() {
    return false;
  }

  /** Why a lookup through a queue failed, the first of several; null if none did. */
  @Nullable Throwable failure() {
    return failure;
  }

  /** Records the value just put into {@link #destination()}, or its absence. */
  void note(int number, byte @Nullable [] array) {
    if (apart != null) {
      apart[number] = array;
    } else {
      lengths[number] = array == null ? ABSENT : values.length(array);
      offsets[number] = values.offset();
    }
  }
}
