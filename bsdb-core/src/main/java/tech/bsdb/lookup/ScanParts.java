package tech.bsdb.lookup;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import tech.bsdb.data.FileRange;
import tech.bsdb.format.Manifest.FileEntry;
import tech.bsdb.format.Page;
import tech.bsdb.format.RecordAddress;

/**
 * Divides the data files of a database into parts of about the same size, which scans read apart.
 * Bins of the packed layouts can be found from any page. Records of the other layouts cannot, so
 * parts start at addresses that the index holds: those of its first slots, which lie anywhere. Any
 * two scans of the same database find the same parts. Immutable.
 *
 * @param number the number of the part, from 0
 * @param count the number of parts
 */
record ScanParts(int number, int count) {
  /** Whether there is only one part. */
  boolean isWhole() {
    return count == 1;
  }

  /** The ranges of the part in files of a packed layout. */
  List<FileRange> ofPages(List<FileEntry> files) {
    List<FileRange> ranges = new ArrayList<>();
    for (FileEntry file : files) {
      long pages = file.pages() - 2;
      ranges.add(new FileRange(page(pages, number), page(pages, number + 1)));
    }
    return ranges;
  }

  private long page(long pages, int part) {
    return 1 + pages * part / count << Page.SHIFT;
  }

  /**
   * The ranges of the part in files of records that have addresses.
   *
   * @param sample addresses of some records
   */
  List<FileRange> ofAddresses(int files, RecordAddress addresses, long[] sample) {
    List<FileRange> ranges = new ArrayList<>();
    for (int i = 0; i < files; i++) {
      int file = i;
      long[] starts =
          Arrays.stream(sample)
              .filter(address -> RecordAddress.file(address) == file)
              .map(addresses::position)
              .sorted()
              .toArray();
      ranges.add(new FileRange(start(starts, number), start(starts, number + 1)));
    }
    return ranges;
  }

  private long start(long[] starts, int part) {
    if (part == count) {
      return Long.MAX_VALUE;
    }
    int at = (int) ((long) starts.length * part / count);
    return part == 0 || at >= starts.length ? Page.SIZE : starts[at];
  }
}
