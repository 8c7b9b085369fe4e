package tech.bsdb.data;

import java.io.Closeable;
import java.io.IOException;
import org.jspecify.annotations.Nullable;
import tech.bsdb.format.Page;
import tech.bsdb.format.RecordAddress;
import tech.bsdb.io.Extent;
import tech.bsdb.io.Touches;

/**
 * Reads the value at an address, in one of the layouts: the address determines the extent, whose
 * bytes hold the record. Thread-safe; each thread passes its own extent and scratch.
 */
public interface RecordReader extends Closeable {
  /**
   * Sets the extent to the pages that hold the record at an address, or the beginning of a large
   * one.
   *
   * @throws tech.bsdb.error.CorruptDatabaseException if no record can be at that address
   */
  void locate(long address, Extent extent) throws IOException;

  /**
   * Touches the records at addresses, in files in memory: two cache lines of each, none of a
   * negative address or one outside of the files.
   *
   * @param scratch memory for as many numbers as there are addresses
   */
  default void touch(long[] addresses, long[] scratch, int from, int to) {
    DataFile[] files = files();
    Pieces pieces = pieces();
    RecordAddress packing = addresses();
    int count = 0;
    for (int i = from; i < to; i++) {
      int file = RecordAddress.file(addresses[i]);
      long position = packing.position(addresses[i]);
      if (addresses[i] >= 0
          && file < files.length
          && position >>> Page.SHIFT < files[file].pages().pages() - 1) { // so that a line follows
        scratch[count++] = pieces.place(file, position);
      }
    }
    Touches.loadTwo(pieces.all(), scratch, count);
  }

  /** The pieces of the files, if these are in memory. */
  Pieces pieces();

  /** The packing of addresses. */
  RecordAddress addresses();

  /** The data files, in order, not to be changed. */
  DataFile[] files();

  /**
   * Whether the pages read hold the whole record; {@link #decode} reads further pages of a larger
   * one.
   */
  boolean holds(long address, Extent extent) throws IOException;

  /**
   * Decodes the value of the record at an address, if the record has the given key.
   *
   * @param extent the record's pages, already read
   * @param values receives the value
   * @return the array that holds the value, or null if the record there has another key
   * @throws tech.bsdb.error.CorruptDatabaseException if there is no record at the address or the
   *     record is damaged
   */
  byte @Nullable [] decode(long address, byte[] key, Extent extent, Values values, Scratch scratch)
      throws IOException;

  /**
   * Reads and decodes the values of records, if they lie together: in few runs of pages, each of
   * which takes one read. Notes null for each record that has another key.
   *
   * @param anyway whether to read them even if they do not
   * @param extent for the reads
   * @return false if they do not lie together, and some values are missing
   * @throws tech.bsdb.error.CorruptDatabaseException if there is no record at an address or a
   *     record is damaged
   */
  boolean readTogether(PlacedRecords records, boolean anyway, Extent extent, Scratch scratch)
      throws IOException;

  @Override
  void close() throws IOException;
}
