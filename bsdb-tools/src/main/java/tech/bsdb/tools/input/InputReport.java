package tech.bsdb.tools.input;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What was read.
 *
 * @param lines lines of all files, with CSV headers and each line of a CSV record that has several
 * @param records records handed on
 * @param rejectedByReason bad lines left out by their reason, in a fixed order of reasons, without
 *     those that did not occur
 * @param rejected all bad lines left out
 * @param bytes bytes read, compressed where the files are
 */
public record InputReport(
    long lines, long records, Map<String, Long> rejectedByReason, long rejected, long bytes) {
  /** Keeps a copy of the map. */
  public InputReport {
    rejectedByReason = Collections.unmodifiableMap(new LinkedHashMap<>(rejectedByReason));
  }
}
