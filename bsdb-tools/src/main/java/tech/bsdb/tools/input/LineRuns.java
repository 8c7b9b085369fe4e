package tech.bsdb.tools.input;

import java.util.Arrays;

/**
 * The line of each record of a chunk, kept as runs of records on consecutive lines. Most records
 * are on consecutive lines, and a run costs the same whatever its length.
 */
final class LineRuns {
  private int[] firstRecords = new int[4];
  private int[] firstLines = new int[4];
  private int runs;
  private int records;

  /** Adds the next record; both numbers count from the chunk's start, from 0. */
  void add(int line) {
    if (runs == 0 || line != firstLines[runs - 1] + (records - firstRecords[runs - 1])) {
      if (runs == firstLines.length) {
        firstRecords = Arrays.copyOf(firstRecords, runs * 2);
        firstLines = Arrays.copyOf(firstLines, runs * 2);
      }
      firstRecords[runs] = records;
      firstLines[runs] = line;
      runs++;
    }
    records++;
  }

  int records() {
    return records;
  }

  int runs() {
    return runs;
  }

  int firstRecord(int run) {
    return firstRecords[run];
  }

  int firstLine(int run) {
    return firstLines[run];
  }

  void clear() {
    runs = 0;
    records = 0;
  }
}
