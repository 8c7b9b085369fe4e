package tech.bsdb.data;

import java.io.Closeable;
import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tech.bsdb.error.CorruptDatabaseException;
import tech.bsdb.format.Page;
import tech.bsdb.format.RecordAddress;
import tech.bsdb.io.Extent;
import tech.bsdb.io.PageSource;
import tech.bsdb.io.Touches;

/**
 * Reads the value at an address, in one of the layouts: the address determines the extent, whose
 * bytes hold the record. Thread-safe; each thread passes its own extent and scratch.
 */
public abstract class RecordReader implements Closeable {
  private final DataFile[] files;
  private final Pieces pieces;
  final RecordAddress addresses;

  /** Creates a reader, which closes the files. */
  RecordReader(List<DataFile> files, RecordAddress addresses) {
    this.files = files.toArray(DataFile[]::new);
    this.pieces = new Pieces(this.files);
    this.addresses = addresses;
  }

  /**
   * Sets the extent to the pages that hold the record at an address, or the beginning of a large
   * one.
   *
   * @throws CorruptDatabaseException if no record can be at that address
   */
  public final void locate(long address, Extent extent) throws IOException {
    locate(address, page(address), 1 + further(address), extent);
  }

  /** Sets the extent to pages of the file of an address, or fewer at the end of the file. */
  final void locate(long address, long first, int count, Extent extent) throws IOException {
    DataFile file = file(address);
    long left = file.pages().pages() - 1 - first;
    if (first < 1 || left < 1 || inPage(address) >= Page.PAYLOAD) {
      throw file.corrupt(
          addresses.position(address), "a record", "an address outside of the records");
    }
    extent.set(file.pages(), first, (int) Math.min(Math.min(count, PageSource.MAX_RUN), left));
  }

  /** The number of pages that may belong to the record at an address, besides its first one. */
  abstract int further(long address);

  /** The page in which the record at an address, or its block, starts. */
  final long page(long address) {
    return addresses.position(address) >>> Page.SHIFT;
  }

  /** Where in that page it starts. */
  final int inPage(long address) {
    return (int) addresses.position(address) & Page.SIZE - 1;
  }

  /** The file that an address refers to. */
  final DataFile file(long address) throws CorruptDatabaseException {
    int number = RecordAddress.file(address);
    if (address < 0 || number >= files.length) {
      throw files[0].corrupt(
          0, "one of " + files.length + " data files", "an address in file " + number);
    }
    return files[number];
  }

  /**
   * Touches the records at addresses, in files in memory: two cache lines of each, none of a
   * negative address or one outside of the files.
   *
   * @param scratch memory for as many numbers as there are addresses
   */
  public final void touch(long[] places, long[] scratch, int from, int to) {
    int count = 0;
    for (int i = from; i < to; i++) {
      int file = RecordAddress.file(places[i]);
      long position = addresses.position(places[i]);
      if (places[i] >= 0
          && file < files.length
          && position >>> Page.SHIFT < files[file].pages().pages() - 1) { // so that a line follows
        scratch[count++] = pieces.place(file, position);
      }
    }
    Touches.loadTwo(pieces.all(), scratch, count);
  }

  /** The packing of addresses. */
  public final RecordAddress addresses() {
    return addresses;
  }

  /** The data files, in order, not to be changed. */
  public final DataFile[] files() {
    return files;
  }

  /**
   * Whether the pages read hold the whole record; {@link #decode} reads further pages of a larger
   * one.
   */
  public abstract boolean holds(long address, Extent extent) throws IOException;

  /**
   * Decodes the value of the record at an address, if the record has the given key.
   *
   * @param extent the record's pages, already read
   * @param values receives the value
   * @return the array that holds the value, or null if the record there has another key
   * @throws CorruptDatabaseException if there is no record at the address or the record is damaged
   */
  public abstract byte @Nullable [] decode(
      long address, byte[] key, Extent extent, Values values, Scratch scratch) throws IOException;

  /**
   * Reads and decodes the values of records, if they lie together: in few runs of pages, each of
   * which takes one read. Notes null for each record that has another key.
   *
   * @param anyway whether to read them even if they do not
   * @param extent for the reads
   * @return false if they do not lie together, and some values are missing
   * @throws CorruptDatabaseException if there is no record at an address or a record is damaged
   */
  public final boolean readTogether(
      PlacedRecords records, boolean anyway, Extent extent, Scratch scratch) throws IOException {
    PageRun run = new PageRun(records, this);
    while (run.next()) {
      if (!anyway && run.isScattered()) {
        return false;
      }
      run.locate(extent);
      for (int number = run.start(); number < run.end(); ) {
        extent.readOnce(); // and again if a large record took pages of its own
        number = take(records, number, run.end(), extent, scratch);
      }
    }
    return true;
  }

  /**
   * Takes the values of some records, whose pages have been read, until one of them may have read
   * others.
   *
   * @param from the number of the first record
   * @param to the end of the records whose pages were read
   * @return the number of the first record that is left
   */
  abstract int take(PlacedRecords records, int from, int to, Extent extent, Scratch scratch)
      throws IOException;

  @Override
  public void close() throws IOException {
    pieces.drop();
    DataFile.closeAll(List.of(files));
  }
}
