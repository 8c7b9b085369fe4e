package tech.bsdb.tools.input;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What was read.
 *
 * @param lines lines of all files, with CSV headers and each line of a CSV record that has several
 * @param records records handed on
 * @param rejectedByReason bad lines left out by their reason, in a fixed order of reasons, without
 *     those that did not occur
 * @param rejected all bad lines left out
 * @param bytes bytes read, compressed where the files are
 * @param files how many files were read and left out, or null where that is not counted
 */
public record InputReport(
    long lines,
    long records,
    Map<String, Long> rejectedByReason,
    long rejected,
    long bytes,
    @Nullable Files files) {

  /**
   * Files of the input.
   *
   * @param read those that were read
   * @param directoriesLeftOut directories that patterns left out, with all below them
   * @param leftOut files that patterns left out, without those below such a directory
   */
  public record Files(long read, long directoriesLeftOut, long leftOut) {}

  /** Keeps a copy of the map. */
  public InputReport {
    rejectedByReason = Collections.unmodifiableMap(new LinkedHashMap<>(rejectedByReason));
  }

  /** A report that does not count files. */
  public InputReport(
      long lines, long records, Map<String, Long> rejectedByReason, long rejected, long bytes) {
    this(lines, records, rejectedByReason, rejected, bytes, null);
  }

  /** The same with a count of files. */
  public InputReport withFiles(Files counted) {
    return new InputReport(lines, records, rejectedByReason, rejected, bytes, counted);
  }
}
