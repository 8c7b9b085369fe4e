package tech.bsdb.lookup;

import java.io.Closeable;
import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tech.bsdb.data.Scratch;
import tech.bsdb.data.Values;
import tech.bsdb.error.CorruptDatabaseException;
import tech.bsdb.format.FileKind;
import tech.bsdb.format.RecordFrame;
import tech.bsdb.hash.HashFunction;
import tech.bsdb.hash.Signature;
import tech.bsdb.io.Extent;
import tech.bsdb.io.ShownFile;
import tech.bsdb.io.Touches;

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
 * how: one extent after the other, many in a queue, or many together in mapped memory, whose cache
 * lines they collect and load first. Thread-safe; each thread passes its own signatures, extents
 * and scratch memory.
 */
public interface Locator extends Closeable {
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
   * The files in memory in which a lookup can {@link #aim aim} at something; null for each whose
   * reads do not show memory. The locator numbers them from 0.
   */
  List<@Nullable ShownFile> shown();

  /**
   * Collects what {@link #candidate} will read of files in memory.
   *
   * @param high the first half of a signature
   * @param first the number of the locator's first file in {@code touches}
   */
  default void aimStart(long high, Touches touches, int first) {}

  /** Whether {@link #candidate} reads arrays that {@link #touchStart} loads. */
  default boolean touchesStart() {
    return false;
  }

  /**
   * Prefetches the arrays that {@link #candidate} will read, without waiting for them.
   *
   * @param high the first half of a signature
   * @return a meaningless number that the caller must use, so that the loads are not optimized away
   */
  default long touchStart(long high) {
    return 0;
  }

  /**
   * Returns the place of the first read for a signature, or {@link #ABSENT}.
   *
   * @throws IOException if the bytes of the hash function are damaged
   */
  default long start(long high, long low) throws IOException {
    long candidate = candidate(high, low);
    return candidate == ABSENT ? ABSENT : confirm(candidate, high, low);
  }

  /**
   * Returns the place of the first read if the key is present, or {@link #ABSENT}. It counts only
   * if {@link #confirm} confirms it.
   *
   * @throws IOException if the bytes of the hash function are damaged
   */
  long candidate(long high, long low) throws IOException;

  /** Collects what {@link #confirm} will read; see {@link #aimStart}. */
  default void aimCandidate(long candidate, long high, Touches touches, int first) {}

  /**
   * Returns a candidate if the key's checksum bits do not exclude it, otherwise {@link #ABSENT}.
   *
   * @throws IOException if the bytes of the hash function are damaged
   */
  default long confirm(long candidate, long high, long low) throws IOException {
    return candidate;
  }

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
   * Collects what a read will find at its place; see {@link #aimStart}.
   *
   * @throws CorruptDatabaseException if there can be nothing at that place
   */
  void aim(int read, long place, Touches touches, int first) throws IOException;

  /** Whether what is collected for the final read fills two cache lines rather than one. */
  boolean fillsTwoLines();

  /**
   * Whether the bytes that {@link #aim} collects for the final read say where more are needed,
   * which {@link #aimAgain} collects.
   */
  default boolean aimsTwice() {
    return false;
  }

  /**
   * Collects what the final read will find, as far as it depends on what {@link #aim} collected,
   * which has been loaded.
   */
  default void aimAgain(long place, Touches touches, int first) {}

  /**
   * Returns the place of the next read, which any number may be; {@link #locate} rejects those
   * where nothing can be.
   *
   * @param place the place of the last read
   * @param extent its pages, already read
   */
  long next(long place, Extent extent) throws IOException;

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

  @Override
  void close() throws IOException;
}
