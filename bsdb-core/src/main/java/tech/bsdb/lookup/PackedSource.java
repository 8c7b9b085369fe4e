package tech.bsdb.lookup;

import java.io.Closeable;
import java.io.IOException;
import java.util.List;
import tech.bsdb.data.DataFile;
import tech.bsdb.format.Facts;
import tech.bsdb.index.BinIndex;

/**
 * A packed database to read from front to back: its data files, and the index that leads to a
 * signature. Thread-safe.
 *
 * @param files its data files, closed with it
 * @param index the index of its pages
 * @param facts the facts of its manifest
 */
public record PackedSource(List<DataFile> files, BinIndex index, Facts facts) implements Closeable {
  /**
   * Opens one of the databases of a lookup, through descriptors held since its opening.
   *
   * @param number the number of the database, 0 for a single one
   * @throws IllegalStateException if its layout has no bins, or the lookup is closed
   */
  public static PackedSource open(Lookup lookup, int number) throws IOException {
    OpenPart part = lookup.part(number);
    Facts facts = part.directory.facts();
    if (part.locator instanceof PackedLocator packed) {
      return new PackedSource(lookup.dataFiles(number), packed.index(), facts);
    }
    throw new IllegalStateException("the layout " + facts.layoutId() + " has no bins");
  }

  /** The page where a bin starts among {@code bins}, or one before it. */
  long page(long bin, long bins) {
    // floor(h * bins) >= bin means h >= bin / bins, so floor(h * own) >= floor(bin * own / bins),
    // which the product of doubles, each less than 2^53, misses by less than one
    long own = (long) ((double) bin / bins * index.bins()) - 1;
    return BinIndex.firstPage(index.placeOf(Math.max(0, Math.min(own, index.bins() - 1))));
  }

  /** The number of pages that hold the records of a range of bins among {@code bins}. */
  public long pages(long bins, long fromBin, long toBin) {
    return page(toBin, bins) - page(fromBin, bins) + 1;
  }

  @Override
  public void close() throws IOException {
    DataFile.closeAll(files);
  }
}
