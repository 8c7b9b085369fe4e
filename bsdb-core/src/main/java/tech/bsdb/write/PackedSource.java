package tech.bsdb.write;

import java.io.Closeable;
import java.io.IOException;
import java.util.List;
import tech.bsdb.data.DataFile;
import tech.bsdb.format.Facts;
import tech.bsdb.index.BinIndex;

/**
 * A packed database to merge: its data files, and the index that leads to a signature. Thread-safe.
 *
 * @param files its data files, closed with it
 * @param index the index of its pages
 * @param facts the facts of its manifest
 */
record PackedSource(List<DataFile> files, BinIndex index, Facts facts) implements Closeable {
  /** The page where a bin starts among {@code bins}, or one before it. */
  long page(long bin, long bins) {
    // floor(h * bins) >= bin means h >= bin / bins, so floor(h * own) >= floor(bin * own / bins),
    // which the product of doubles, each less than 2^53, misses by less than one
    long own = (long) ((double) bin / bins * index.bins()) - 1;
    return BinIndex.firstPage(index.placeOf(Math.max(0, Math.min(own, index.bins() - 1))));
  }

  /** The number of pages that hold the records of a range of bins among {@code bins}. */
  long pages(long bins, long fromBin, long toBin) {
    return page(toBin, bins) - page(fromBin, bins) + 1;
  }

  @Override
  public void close() throws IOException {
    DataFile.closeAll(files);
  }
}
