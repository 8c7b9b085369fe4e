package tech.bsdb.tools.cli;

import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.LongSummaryStatistics;
import java.util.Map;

/**
 * The sizes of a database's files for people: a line for each file or, in a set, for each shard's
 * directory, and one line for all of them if they are many.
 */
public final class FileTotals {
  private static final int MANY = 100;

  private FileTotals() {}

  /**
   * Returns the lines in the order of the files: a name, and a size in bytes.
   *
   * @param fileBytes the sizes by name, where a name may begin with a directory and a slash
   */
  public static Map<String, String> forPeople(Map<String, Long> fileBytes) {
    Map<String, Long> directories = new LinkedHashMap<>();
    fileBytes.forEach(
        (file, bytes) -> {
          if (file.indexOf('/') >= 0) {
            directories.merge(directory(file), bytes, Long::sum);
          }
        });
    Map<String, String> lines = new LinkedHashMap<>();
    if (directories.size() > MANY) {
      lines.put(count(directories.size()) + " directories", range(directories));
    } else {
      directories.forEach((name, bytes) -> lines.put(name, count(bytes)));
    }
    fileBytes.forEach(
        (file, bytes) -> {
          if (file.indexOf('/') < 0) {
            lines.put(file, count(bytes));
          }
        });
    return lines;
  }

  private static String directory(String file) {
    return file.substring(0, file.indexOf('/') + 1);
  }

  private static String range(Map<String, Long> directories) {
    LongSummaryStatistics sizes =
        directories.values().stream().mapToLong(Long::longValue).summaryStatistics();
    return count(sizes.getMin()) + " to " + count(sizes.getMax()) + " each";
  }

  /** A number with commas. */
  public static String count(long number) {
    return String.format(Locale.ROOT, "%,d", number);
  }
}
