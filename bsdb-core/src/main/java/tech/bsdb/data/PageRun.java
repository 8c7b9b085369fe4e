package tech.bsdb.data;

import java.io.IOException;
import tech.bsdb.format.RecordAddress;
import tech.bsdb.io.Extent;

/** Records in pages that follow one another, so that one read takes them all. Not thread-safe. */
final class PageRun {
  /** The most pages of a run, unless its only record has more. */
  private static final int MOST = 64;

  /** A read of fewer records does not pay if reads can overlap. */
  private static final int FEW = 8;

  private final PlacedRecords records;
  private final RecordReader reader;

  /** The records of the run. */
  private int start;

  private int end;

  /** The pages of the run: the first, and the last, which may lie behind the end of the file. */
  private long first;

  private long last;

  /** Creates an empty run before the first record. */
  PageRun(PlacedRecords records, RecordReader reader) {
    this.records = records;
    this.reader = reader;
  }

  /** Moves to the run that starts where this one ends; returns whether there is one. */
  boolean next() {
    start = end;
    if (start == records.size()) {
      return false;
    }
    long address = records.addresses()[start];
    first = reader.page(address);
    last = first + reader.further(address);
    long before = address;
    for (end = start + 1; end < records.size(); end++) {
      long other = records.addresses()[end];
      if (reader.addresses.page(other) == reader.addresses.page(before)
          && reader.further(other) == 0) {
        continue; // as most are
      }
      before = other;
      long from = reader.page(other);
      long to = from + reader.further(other);
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
    PageRun behind = new PageRun(records, reader);
    behind.end = end;
    return behind.next() && behind.end - behind.start < FEW;
  }

  /** The number of the first record. */
  int start() {
    return start;
  }

  /** The number of the first record behind the run. */
  int end() {
    return end;
  }

  /** Sets the extent to the pages. */
  void locate(Extent extent) throws IOException {
    reader.locate(records.addresses()[start], first, (int) (last - first + 1), extent);
  }
}
