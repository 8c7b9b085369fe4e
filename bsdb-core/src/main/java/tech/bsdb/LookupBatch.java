package tech.bsdb;

import java.io.IOException;
import org.jspecify.annotations.Nullable;
import tech.bsdb.lookup.KeyBatch;
import tech.bsdb.lookup.Lookup;

/**
 * A batch of keys that are looked up together, and their values. The caller owns and reuses the
 * batch: once it has grown to its largest size, a round of {@link #clear}, {@link #add} and {@link
 * #get} allocates nothing. Not thread-safe.
 *
 * <pre>{@code
 * LookupBatch batch = database.batch();
 * batch.add(key);
 * batch.get();
 * if (batch.isPresent(0)) {
 *   output.write(batch.values(), batch.offset(0), batch.length(0));
 * }
 * }</pre>
 */
public final class LookupBatch {
  private final Lookup lookup;
  private final KeyBatch batch = new KeyBatch();

  LookupBatch(Lookup lookup) {
    this.lookup = lookup;
  }

  /**
   * Adds a key.
   *
   * @param key 0 to 65,535 bytes; it is not copied and must not change until {@link #get} has
   *     returned
   * @return its number in the batch, from 0
   */
  public int add(byte[] key) {
    return batch.add(key);
  }

  /** Removes all keys and values. */
  public void clear() {
    batch.clear();
  }

  /** The number of keys added. */
  public int size() {
    return batch.size();
  }

  /**
   * Looks up all keys.
   *
   * @throws IOException if any read fails; no results are available then
   * @throws tech.bsdb.error.CorruptDatabaseException if a lookup meets damaged bytes
   * @throws tech.bsdb.error.MemoryBudgetExceededException if the {@link #use budget} has no room;
   *     try again later
   * @throws IllegalStateException if the database is closed
   */
  public void get() throws IOException {
    lookup.getAll(batch);
  }

  /**
   * Sets the budget from which later lookups reserve memory; null for no budget.
   *
   * @see MemoryBudget
   */
  public void use(@Nullable MemoryBudget budget) {
    batch.use(budget == null ? null : budget::reserve);
  }

  /** Whether the key with the given number is present. */
  public boolean isPresent(int number) {
    return batch.isPresent(number);
  }

  /**
   * Returns the array that holds the values, valid until the next {@link #get} or {@link #clear}.
   */
  public byte[] values() {
    return batch.values();
  }

  /** Returns the offset of a present key's value in {@link #values}. */
  public int offset(int number) {
    return batch.offset(number);
  }

  /** Returns the length of a key's value in bytes, or -1 if the key is absent. */
  public int length(int number) {
    return batch.length(number);
  }

  /** Returns a copy of a key's value, or null if the key is absent. */
  public byte @Nullable [] value(int number) {
    return batch.value(number);
  }
}
