package tech.bsdb.tools.input;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What was read.
 *
 * @param lines lines of all files, including CSV headers and every line of a CSV record of several
 *     lines
 * @param records records passed on
 * @param rejectedByReason bad lines left out, by reason, in a fixed order of reasons, without those
 *     that did not occur
 * @param rejected all bad lines left out
 * @param bytes bytes read, before decompression
 * @param keysToDelete lines of files of keys to delete, which are not among the lines
 * @param files how many files were read and left out, or null if that is not counted
 * @param leftOut what a condition left out, or null if there was none
 */
public record InputReport(
    long lines,
    long records,
    Map<String, Long> rejectedByReason,
    long rejected,
    long bytes,
    long keysToDelete,
    @Nullable Files files,
    @Nullable LeftOut leftOut) {

  /**
   * Files of the input.
   *
   * @param read those that were read
   * @param directoriesLeftOut directories that patterns left out, with everything below them
   * @param leftOut files that patterns left out, without those below such a directory
   */
  public record Files(long read, long directoriesLeftOut, long leftOut) {}

  /**
   * What a condition left out.
   *
   * @param rows rows of the files that were opened, also of those parts that were not read
   * @param files files that were not opened
   * @param parts parts of files, such as row groups, that were not read
   */
  public record LeftOut(long rows, long files, long parts) {}

  /** Keeps a copy of the map. */
  public InputReport {
    rejectedByReason = Collections.unmodifiableMap(new LinkedHashMap<>(rejectedByReason));
  }

  /** A report that does not count files. */
  public InputReport(
      long lines, long records, Map<String, Long> rejectedByReason, long rejected, long bytes) {
    this(lines, records, rejectedByReason, rejected, bytes, 0, null, null);
  }

  /** The same with a count of files. */
  public InputReport withFiles(Files counted) {
    return new InputReport(
        lines, records, rejectedByReason, rejected, bytes, keysToDelete, counted, leftOut);
  }

  /** The same with what a condition left out. */
  public InputReport withLeftOut(LeftOut counted) {
    return new InputReport(
        lines, records, rejectedByReason, rejected, bytes, keysToDelete, files, counted);
  }

  /** The same with what was read from files of keys to delete. */
  public InputReport withKeysToDelete(InputReport keys) {
    return new InputReport(
        lines,
        records,
        rejectedByReason,
        rejected,
        bytes + keys.bytes,
        keys.records,
        files,
        leftOut);
  }
}
