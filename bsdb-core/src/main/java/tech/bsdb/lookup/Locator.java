package tech.bsdb.lookup;

import java.io.IOException;
import org.jspecify.annotations.Nullable;
import tech.bsdb.data.Scratch;
import tech.bsdb.data.Values;
import tech.bsdb.error.CorruptDatabaseException;
import tech.bsdb.format.FileKind;
import tech.bsdb.format.RecordFrame;
import tech.bsdb.hash.HashFunction;
import tech.bsdb.hash.Signature;
import tech.bsdb.io.Extent;

/**
 * Finds the values of keys in one kind of database. A lookup makes a fixed number of {@link #reads
 * reads}, each at a <em>place</em>: a number whose meaning only the locator knows. It proceeds as
 * follows:
 *
 * <ol>
 *   <li>{@link #start(byte[], Signature)} computes the key's signature and the place of the first
 *       read, or finds that the key is absent.
 *   <li>{@link #locate} gives the extent of a read, and the caller reads it.
 *   <li>{@link #next} gives the place of the next read, from the bytes of the last one.
 *   <li>{@link #value} gives the value, from the bytes of the final read.
 * </ol>
 *
 * <p>The locator decides what is read. The caller, one of the drivers in {@code lookup}, decides
 * how: one extent after the other, or many in a queue. Only files in memory are read by the locator
 * itself: single keys by a {@link MemoryGet}, many keys in {@link #stage stages}. Thread-safe; each
 * thread passes its own signatures, extents and scratch memory.
 */
public interface Locator {
  /** Instead of a place: the key is certainly absent. */
  long ABSENT = HashFunction.ABSENT;

  /**
   * Single lookups that need no working memory, if the files are in memory and the layout allows
   * it; otherwise null.
   */
  default @Nullable MemoryGet inMemory() {
    return null;
  }

  /** The number of reads of a lookup that {@link #start(long, long)} does not end, 1 or 2. */
  int reads();

  /** The kind of file that a read goes to; reads are numbered from 0. */
  FileKind file(int read);

  /** Computes the signature of a key. */
  void sign(byte[] key, Signature signature);

  /**
   * Returns the place of the first read for a signature, or {@link #ABSENT}.
   *
   * @throws IOException if the bytes of the hash function are damaged
   */
  long start(long high, long low) throws IOException;

  /** Returns the place of the first read for a key, or {@link #ABSENT}. */
  default long start(byte[] key, Signature signature) throws IOException {
    if (key.length > RecordFrame.MAX_KEY) {
      return ABSENT;
    }
    sign(key, signature);
    return start(signature.high, signature.low);
  }

  /**
   * Sets the extent to the pages of a read. For the final read of a large value, these may be its
   * first pages only; see {@link #holds}.
   *
   * @throws CorruptDatabaseException if there can be nothing at that place
   */
  void locate(int read, long place, Extent extent) throws IOException;

  /**
   * Takes keys through a stage of their lookups in memory. {@link Staged#VALUES}, the last one,
   * notes the values; the one before it touches the records at the places of the final reads.
   *
   * @param stage the number of the stage, 0 for the first, which computes the signatures
   * @param keys the keys, which are in this database
   * @param from the first of those to take
   * @param to the end of them
   */
  void stage(int stage, Staged keys, int from, int to) throws IOException;

  /**
   * Returns the place of the next read, which any number may be; {@link #locate} rejects those
   * where nothing can be.
   *
   * @param place the place of the last read
   * @param extent its pages, already read
   */
  default long next(long place, Extent extent) throws IOException {
    throw new IllegalStateException("there is no read after the one at " + place);
  }

  /** Whether the pages of the final read hold the whole value; {@link #value} reads the others. */
  boolean holds(long place, Extent extent) throws IOException;

  /**
   * Decodes the value, if the record at the place of the final read has the key.
   *
   * @param extent the pages of the final read, already read
   * @param values receives the value
   * @return the array that holds the value, or null if the key is absent
   * @throws CorruptDatabaseException if the bytes are damaged
   */
  byte @Nullable [] value(long place, byte[] key, Extent extent, Values values, Scratch scratch)
      throws IOException;
}
