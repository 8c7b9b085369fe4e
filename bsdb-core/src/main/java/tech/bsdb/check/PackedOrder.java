package tech.bsdb.check;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tech.bsdb.data.RecordScanner;
import tech.bsdb.directory.DatabaseDirectory;
import tech.bsdb.format.PackedPage;
import tech.bsdb.hash.Signature;
import tech.bsdb.index.BinIndex;
import tech.bsdb.index.FilterWriter;
import tech.bsdb.lookup.PackedLocator;

/**
 * Checks that a packed database is in order: every bin is where the index says, and holds the
 * records whose signatures lead to it, by ascending signature and with different keys. Then a
 * lookup finds every key. Not thread-safe.
 */
final class PackedOrder {
  private final RecordScanner scanner;
  private final DatabaseDirectory directory;
  private final PackedLocator locator;
  private final @Nullable FilterWriter filter;
  private final Signature signature = new Signature();

  /** The keys of the last records, which all have the same signature. */
  private final Set<ByteBuffer> sameSignature = new HashSet<>();

  private long lastHigh;
  private long lastLow;

  /**
   * Creates a check.
   *
   * @param filter receives the signatures of all records, in order, unless it is null
   */
  PackedOrder(
      RecordScanner scanner,
      DatabaseDirectory directory,
      PackedLocator locator,
      @Nullable FilterWriter filter) {
    this.scanner = scanner;
    this.directory = directory;
    this.locator = locator;
    this.filter = filter;
  }

  /** Checks all bins and returns the number of records. */
  long check() throws IOException {
    BinIndex index = locator.index();
    long records = 0;
    long bin = 0;
    while (scanner.nextBin()) {
      if (bin == index.bins()) {
        throw scanner.corrupt(index.bins() + " bins", "more");
      }
      long place = index.placeOf(bin);
      if (BinIndex.firstPage(place) != scanner.firstPage()
          || BinIndex.slot(place) != scanner.slot()) {
        throw scanner.corrupt(
            "bin " + bin + " in page " + BinIndex.firstPage(place) + ", as the index says",
            "page " + scanner.firstPage());
      }
      int filter = 0;
      while (scanner.nextInBin()) {
        checkRecord(bin, index);
        filter |= PackedPage.filterBit(signature.low);
        records++;
      }
      if (scanner.filter() != 0 && scanner.filter() != filter) {
        throw scanner.corrupt("the filter " + filter + " of bin " + bin, scanner.filter() + "");
      }
      if (scanner.page() - scanner.firstPage() >= BinIndex.pages(place)
          && BinIndex.pages(place) < BinIndex.MOST_PAGES) {
        throw scanner.corrupt(
            "bin " + bin + " to end within " + BinIndex.pages(place) + " pages, as the index says",
            "page " + scanner.page());
      }
      bin++;
    }
    if (bin != index.bins()) {
      throw scanner.corrupt(index.bins() + " bins", bin + "");
    }
    return records;
  }

  private void checkRecord(long bin, BinIndex index) throws IOException {
    byte[] key = scanner.key();
    directory.requireRoutedHere(key);
    locator.sign(key, signature);
    long own = BinIndex.bin(signature.high, index.bins());
    if (own != bin) {
      throw scanner.corrupt("a record of bin " + bin, "one of bin " + own);
    }
    int part = BinIndex.part(signature.high, index.bins());
    if (!scanner.leadsTo(part)) {
      throw scanner.corrupt("a block with a record in part " + part, "another block");
    }
    int byHigh = Long.compareUnsigned(lastHigh, signature.high);
    if (byHigh > 0 || (byHigh == 0 && Long.compareUnsigned(lastLow, signature.low) > 0)) {
      throw scanner.corrupt("records in the order of their signatures", "another order");
    }
    if (lastHigh != signature.high || lastLow != signature.low) {
      sameSignature.clear();
    }
    if (!sameSignature.add(ByteBuffer.wrap(key))) {
      throw scanner.corrupt("records with different keys", "two with the same key");
    }
    lastHigh = signature.high;
    lastLow = signature.low;
    if (filter != null) {
      filter.add(signature.high, signature.low);
    }
  }
}
