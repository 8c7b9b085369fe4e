package tech.bsdb.tools.input;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The bad records of a chunk, in order: the reason, the line of the chunk (from 0), and the range
 * of its bytes.
 */
final class BadRecords {
  private Defect[] defects = new Defect[4];
  private int[] lines = new int[4];
  private int[] starts = new int[4];
  private int[] ends = new int[4];
  private @Nullable String[] details = new @Nullable String[4];
  private int count;

  void add(Defect defect, int line, int from, int to) {
    add(defect, null, line, from, to);
  }

  /** Adds one with a more specific error message than that of its defect, if there is one. */
  void add(Defect defect, @Nullable String detail, int line, int from, int to) {
    if (count == lines.length) {
      defects = Arrays.copyOf(defects, count * 2);
      lines = Arrays.copyOf(lines, count * 2);
      starts = Arrays.copyOf(starts, count * 2);
      ends = Arrays.copyOf(ends, count * 2);
      details = Arrays.copyOf(details, count * 2);
    }
    defects[count] = defect;
    lines[count] = line;
    starts[count] = from;
    ends[count] = to;
    details[count] = detail;
    count++;
  }

  int count() {
    return count;
  }

  Defect defect(int i) {
    return defects[i];
  }

  /** The reason, as an error message. */
  String reason(int i, InputOptions options) {
    String detail = details[i];
    return detail == null ? defects[i].describe(options) : detail;
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
    Arrays.fill(details, 0, count, null);
    count = 0;
  }
}
