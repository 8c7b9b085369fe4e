package tech.bsdb.data;

import java.util.List;
import tech.bsdb.format.Page;
import tech.bsdb.format.PageEncoder;
import tech.bsdb.format.RecordAddress;

/**
 * The data files that a build writes in turn: one stripe of each, then the next stripe of each
 * (FORMAT.md §4). The addresses of the records thus determine their order. Not thread-safe.
 */
public final class DataFiles {
  private final List<PageEncoder> files;
  private final long[] ends;
  private int current;
  private long stripeEnd = RecordAddress.STRIPE;

  /** Creates data files that write through these encoders. */
  public DataFiles(List<PageEncoder> files) {
    this.files = List.copyOf(files);
    this.ends = new long[files.size()];
    for (int i = 0; i < ends.length; i++) {
      ends[i] = files.get(i).position();
    }
  }

  /**
   * The largest byte offset of a record or block, at most.
   *
   * @param pages the most content pages in all files
   * @param longestPages the most pages that a record or block takes
   */
  public static long mostPosition(long pages, long longestPages, int files) {
    // A file is behind the others by no more than a stripe, and by what exceeds it at its end.
    long ahead = RecordAddress.STRIPE + (longestPages + 1) * Page.SIZE;
    return (1 + pages / files) * Page.SIZE + (files == 1 ? 0 : ahead);
  }

  /** Selects the file for the next record or block. */
  PageEncoder next() {
    if (files.size() > 1) {
      while (files.get(current).position() >= stripeEnd) {
        current++;
        if (current == files.size()) {
          current = 0;
          stripeEnd += RecordAddress.STRIPE;
        }
      }
    }
    return files.get(current);
  }

  /** The number of the file that {@link #next} selected. */
  int current() {
    return current;
  }

  /** Updates the end of the current file after a record or block was written. */
  void wrote() {
    ends[current] = files.get(current).position();
  }

  /** The byte offset after the last payload byte of a file. */
  public long end(int file) {
    return ends[file];
  }
}
