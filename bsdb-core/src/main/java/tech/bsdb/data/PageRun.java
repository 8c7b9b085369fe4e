package tech.bsdb.data;

import java.io.IOException;
import tech.bsdb.format.Page;
import tech.bsdb.format.RecordAddress;
import tech.bsdb.io.Extent;

/** Records in pages that follow one another, so that one read takes them all. Not thread-safe. */
final class PageRun {
  /** The most pages of a run, unless its only record has more. */
  private static final int MOST = 64;

  /** A read of fewer records does not pay if reads can overlap. */
  private static final int FEW = 8;

  private final PlacedRecords records;
  private final DataFile[] files;
  private final RecordAddress addresses;
  private final int ahead;

  /** The records of the run. */
  private int start;

  private int end;

  /** The pages of the run: the first, and the last, which may lie behind the end of the file. */
  private long first;

  private long last;

  /**
   * Creates an empty run before the first record.
   *
   * @param ahead the longest block, in bytes, if addresses are those of blocks; otherwise 0, and
   *     addresses tell how many pages a record spans
   */
  PageRun(PlacedRecords records, DataFile[] files, RecordAddress addresses, int ahead) {
    this.records = records;
    this.files = files;
    this.addresses = addresses;
    this.ahead = ahead;
  }

  /** Moves to the run that starts where this one ends; returns whether there is one. */
  boolean next() {
    start = end;
    if (start == records.size()) {
      return false;
    }
    long address = records.address(start);
    first = page(address);
    last = first + further(address);
    long before = address;
    for (end = start + 1; end < records.size(); end++) {
      long other = records.address(end);
      if (addresses.page(other) == addresses.page(before) && further(other) == 0) {
        continue; // as most are
      }
      before = other;
      long from = page(other);
      long to = from + further(other);
      if (from > last + 1 || to < first - 1 || !isSameFile(address, other)) {
        break;
      }
      long lower = Math.min(first, from);
      long upper = Math.max(last, to);
      if (upper - lower >= MOST) {
        break;
      }
      first = lower;
      last = upper;
    }
    return true;
  }

  private static boolean isSameFile(long address, long other) {
    return RecordAddress.file(address) == RecordAddress.file(other);
  }

  /** Whether this run and the next one are so short that reads of their records should overlap. */
  boolean isScattered() {
    if (end - start >= FEW || end == records.size()) {
      return false;
    }
    PageRun behind = new PageRun(records, files, addresses, ahead);
    behind.end = end;
    return behind.next() && behind.end - behind.start < FEW;
  }

  private long page(long address) {
    return addresses.position(address) >>> Page.SHIFT;
  }

  /** The number of pages that may belong to a record, besides its first one. */
  private int further(long address) {
    if (ahead == 0) {
      return addresses.detail(address);
    }
    int inPage = (int) addresses.position(address) & Page.SIZE - 1;
    return (inPage + ahead - 1) / Page.PAYLOAD;
  }

  /** The number of the first record. */
  int start() {
    return start;
  }

  /** The number of the first record behind the run. */
  int end() {
    return end;
  }

  /** Reads the pages into an extent. */
  void read(Extent extent) throws IOException {
    DataFile file = PlainReader.file(files, records.address(start));
    PlainReader.locate(file, first << Page.SHIFT, (int) (last - first + 1), extent);
    extent.forget();
    extent.readOnce();
  }
}
