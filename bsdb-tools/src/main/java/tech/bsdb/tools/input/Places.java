package tech.bsdb.tools.input;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The places of records, kept as runs of records on consecutive lines of a file. Beyond a fixed
 * number of runs, the places of further records are not known.
 */
final class Places {
  /** 20 MiB of runs. */
  static final int MOST_RUNS = 1 << 20;

  /** The index of a file, and a line in it, from 1. */
  record Place(int file, long line) {}

  private final int mostRuns;
  private long[] firstRecords = new long[16];
  private long[] firstLines = new long[16];
  private int[] files = new int[16];
  private int runs;
  private long known;
  private boolean full;

  /** Keeps at most {@code mostRuns} runs. */
  Places(int mostRuns) {
    this.mostRuns = mostRuns;
  }

  /** Adds records on consecutive lines; their numbers continue those added before. */
  void add(long firstRecord, long records, int file, long firstLine) {
    if (full) {
      return;
    }
    boolean goesOn =
        runs > 0
            && files[runs - 1] == file
            && firstLines[runs - 1] + (firstRecord - firstRecords[runs - 1]) == firstLine;
    if (!goesOn) {
      if (runs == mostRuns) {
        full = true;
        return;
      }
      if (runs == files.length) {
        firstRecords = Arrays.copyOf(firstRecords, runs * 2);
        firstLines = Arrays.copyOf(firstLines, runs * 2);
        files = Arrays.copyOf(files, runs * 2);
      }
      firstRecords[runs] = firstRecord;
      firstLines[runs] = firstLine;
      files[runs] = file;
      runs++;
    }
    known = firstRecord + records;
  }

  /** Adds the places of records in lines that follow others, as those of the next records. */
  void addAll(Places next, long firstRecord, int file, long linesBefore) {
    for (int run = 0; run < next.runs; run++) {
      long first = next.firstRecords[run];
      long end = run + 1 < next.runs ? next.firstRecords[run + 1] : next.known;
      add(firstRecord + first, end - first, file, linesBefore + next.firstLines[run]);
    }
  }

  /** The number of records whose places are known. */
  long records() {
    return known;
  }

  /** Forgets all places. */
  void clear() {
    runs = 0;
    known = 0;
    full = false;
  }

  /** The place of the record, or null if it is not known. */
  @Nullable Place of(long record) {
    if (record < 0 || record >= known) {
      return null;
    }
    int found = Arrays.binarySearch(firstRecords, 0, runs, record);
    int run = found >= 0 ? found : -found - 2;
    return new Place(files[run], firstLines[run] + (record - firstRecords[run]));
  }
}
