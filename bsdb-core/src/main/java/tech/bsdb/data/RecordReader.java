package tech.bsdb.data;

import java.io.Closeable;
import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tech.bsdb.io.Extent;
import tech.bsdb.io.ShownFile;
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

  /** The data files in memory, in order; null for each whose reads do not show memory. */
  List<@Nullable ShownFile> shown();

  /**
   * Collects the start of the record at an address. At least one cache line follows that of the
   * start in its file, because of the footer.
   *
   * @param first the number of the first data file in {@code touches}
   * @throws tech.bsdb.error.CorruptDatabaseException if there is no such data file
   */
  void aim(long address, Touches touches, int first) throws IOException;

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
