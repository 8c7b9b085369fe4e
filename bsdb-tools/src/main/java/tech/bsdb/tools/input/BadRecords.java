package tech.bsdb.tools.input;

import java.util.Arrays;

/**
 * The bad records of a chunk, in their order: why, on which line of the chunk (from 0), and where
 * in its bytes.
 */
final class BadRecords {
  private Defect[] defects = new Defect[4];
  private int[] lines = new int[4];
  private int[] starts = new int[4];
  private int[] ends = new int[4];
  private int count;

  void add(Defect defect, int line, int from, int to) {
    if (count == lines.length) {
      defects = Arrays.copyOf(defects, count * 2);
      lines = Arrays.copyOf(lines, count * 2);
      starts = Arrays.copyOf(starts, count * 2);
      ends = Arrays.copyOf(ends, count * 2);
    }
    defects[count] = defect;
    lines[count] = line;
    starts[count] = from;
    ends[count] = to;
    count++;
  }

  int count() {
    return count;
  }

  Defect defect(int i) {
    return defects[i];
  }

  int line(int i) {
    return lines[i];
  }

  int from(int i) {
    return starts[i];
  }

  int to(int i) {
    return ends[i];
  }

  void clear() {
    count = 0;
  }
}
