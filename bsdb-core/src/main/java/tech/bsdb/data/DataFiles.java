package tech.bsdb.data;

import java.util.List;
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
