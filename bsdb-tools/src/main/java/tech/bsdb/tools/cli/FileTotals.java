package tech.bsdb.tools.cli;

import java.util.LinkedHashMap;
import java.util.Map;

/** The sizes of a database's files for people, who want one line for each shard of a set. */
public final class FileTotals {
  private FileTotals() {}

  /** Adds up the files of each subdirectory; files without one stay as they are. */
  public static Map<String, Long> byDirectory(Map<String, Long> fileBytes) {
    Map<String, Long> totals = new LinkedHashMap<>();
    fileBytes.forEach(
        (file, bytes) -> {
          int slash = file.indexOf('/');
          totals.merge(slash < 0 ? file : file.substring(0, slash + 1), bytes, Long::sum);
        });
    return totals;
  }
}
